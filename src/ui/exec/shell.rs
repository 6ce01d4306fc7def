//! Runs a command of the person's: away from the terminal, its output told as it comes.

use std::path::Path;
use std::process::Stdio;

use rustix::process::{Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;

use super::sh;
use crate::message::ToolReturn;

/// Bytes of output kept; the end matters most.
const KEPT: usize = 200_000;

/// Runs `command` in `folder` until it ends or `stop` is sent, which ends all that it started.
///
/// # Errors
/// Why it could not be run, in words for a person.
pub(super) async fn run(
    command: &str,
    folder: &Path,
    mut stop: oneshot::Receiver<()>,
    tell: impl Fn(String),
) -> Result<ToolReturn, String> {
    let (mut child, group) = sh::start(&format!("exec 2>&1\n{command}"), folder, Stdio::null())?;
    let mut output = String::new();
    let mut stopped = false;
    if let Some(mut out) = child.stdout.take() {
        let mut read = Pieces::default();
        loop {
            tokio::select! {
                piece = read.next(&mut out) => match piece {
                    Some(piece) => {
                        output.push_str(&piece);
                        keep_end(&mut output);
                        tell(piece);
                    }
                    None => break,
                },
                // A stop that was dropped is none.
                Ok(()) = &mut stop, if !stopped => {
                    stopped = true;
                    if let Some(group) = group {
                        let _ = kill_process_group(group, Signal::TERM);
                    }
                    // What does not listen is ended all the same.
                    tokio::time::sleep(GRACE).await;
                    if let Some(group) = group {
                        let _ = kill_process_group(group, Signal::KILL);
                    }
                }
            }
        }
    }
    let status = child.wait().await.map_err(|error| format!("sh: {error}"))?;
    let mut result = if status.success() && !stopped {
        ToolReturn::ok(output, "")
    } else {
        let why = if stopped { "Stopped".to_owned() } else { status.to_string() };
        let mut failed = ToolReturn::error(why.clone(), why);
        failed.output = ToolReturn::ok(output, "").output;
        failed
    };
    result.message.clear();
    Ok(result)
}

/// What is said when the agent's folder is not on this machine: nothing is run anywhere else instead.
pub(super) fn not_here(folder: &Path) -> String {
    format!(
        "Commands for the shell run on this machine, and {} is not here: it was not run. The engine \
         is another process's; ask the agent to run it.",
        folder.display()
    )
}

/// How long a command that was told to stop gets.
const GRACE: std::time::Duration = std::time::Duration::from_millis(300);

fn keep_end(output: &mut String) {
    if output.len() > KEPT {
        let mut from = output.len() - KEPT / 2;
        while !output.is_char_boundary(from) {
            from += 1;
        }
        output.drain(..from);
    }
}

/// Reads text in pieces that end between characters.
#[derive(Default)]
struct Pieces {
    rest: Vec<u8>,
}

impl Pieces {
    async fn next(&mut self, out: &mut (impl AsyncRead + Unpin)) -> Option<String> {
        let mut buffer = [0_u8; 8192];
        loop {
            let count = out.read(&mut buffer).await.unwrap_or(0);
            if count == 0 {
                let rest = std::mem::take(&mut self.rest);
                return (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned());
            }
            self.rest.extend_from_slice(&buffer[..count]);
            let whole = match std::str::from_utf8(&self.rest) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => self.rest.len(),
            };
            if whole > 0 {
                let piece: Vec<u8> = self.rest.drain(..whole).collect();
                return Some(String::from_utf8_lossy(&piece).into_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn outcome(command: &str) -> ToolReturn {
        let folder = tempfile::tempdir().expect("a folder");
        let (_stop, stopped) = oneshot::channel();
        run(command, folder.path(), stopped, |_| {}).await.expect("it ran")
    }

    #[tokio::test]
    async fn both_streams_come_in_their_order_and_a_failure_is_one() {
        let result = outcome("echo one; echo zwei >&2; printf 三; exit 3").await;
        assert!(result.is_error);
        assert_eq!(result.output.text(), "one\nzwei\n三");
        let result = outcome("cat; echo done").await;
        assert!(!result.is_error, "nothing can be read from the terminal");
        assert_eq!(result.output.text(), "done\n");
    }

    #[tokio::test]
    async fn a_stop_ends_what_the_command_started_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let (stop, stopped) = oneshot::channel();
        let stop = std::sync::Mutex::new(Some(stop));
        let command = "trap '' TERM; echo up; (sleep 600) ; sleep 600";
        let result = run(command, folder.path(), stopped, |_| {
            if let Some(stop) = stop.lock().expect("stop").take() {
                let _ = stop.send(());
            }
        });
        let result = result.await.expect("it ran");
        assert!(result.is_error);
        assert_eq!(result.output.text(), "up\n");
    }
}
