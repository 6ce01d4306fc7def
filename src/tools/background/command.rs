//! A shell command as a background task.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Ended, TaskHandle, output};
use crate::tools::bash::Decoder;
use crate::tools::birth::Birth;
use crate::tools::process::{Running, spawn_waiting, spawn_waiting_into};
use crate::wire::TaskState;

const READ_BYTES: usize = 16 * 1024;
/// How often the file of a command that writes it by itself is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long output is waited for when the shell has ended but something still holds the pipe.
const PIPE_GRACE: Duration = Duration::from_millis(200);

/// A command to run in the background.
pub(crate) struct CommandTask {
    pub command: String,
    pub work_dir: std::path::PathBuf,
    /// How long it may take.
    pub limit: Duration,
}

impl CommandTask {
    /// The work of the task.
    pub(crate) fn run(self, handle: TaskHandle) -> BoxFuture<'static, Ended> {
        Box::pin(async move {
            // Through a pipe the budget holds; a command that goes on without us has to write its
            // file by itself.
            let outlives = handle.config().keep_alive_on_exit;
            let path = handle.output_path();
            let running = if outlives {
                spawn_waiting_into(&self.command, &self.work_dir, &path)
            } else {
                spawn_waiting(&self.command, &self.work_dir)
            };
            match running {
                Ok(mut running) => {
                    let pid = running.child.id().and_then(|pid| i32::try_from(pid).ok());
                    handle.runs_in(pid.and_then(Birth::of));
                    running.begin().await;
                    self.follow(running, &handle, outlives.then_some(path.as_path())).await
                }
                Err(error) => Ended::failed(format!(
                    "The shell could not be started in `{}`: {error}.",
                    self.work_dir.display()
                )),
            }
        })
    }

    async fn follow(
        &self,
        mut running: Running,
        handle: &TaskHandle,
        file: Option<&Path>,
    ) -> Ended {
        let deadline = Instant::now() + self.limit;
        let grace = handle.config().kill_grace;
        let most = handle.config().max_output_bytes;
        let (mut decoder, mut buffer, mut open) =
            (Decoder::default(), vec![0; READ_BYTES], file.is_none());
        let mut seen = 0;
        let mut why = String::new();
        let status = loop {
            tokio::select! {
                status = running.child.wait() => break status,
                () = handle.cancelled().cancelled() => {
                    break end(&mut running, grace).await;
                }
                () = handle.released().cancelled(), if file.is_some() => {
                    running.group.release();
                    return Ended { state: TaskState::Running, exit: None, reason: String::new() };
                }
                () = sleep_until(deadline) => {
                    why = format!("It was stopped after {} seconds, its limit.", self.limit.as_secs());
                    break end(&mut running, grace).await;
                }
                () = tokio::time::sleep(LOOK_AGAIN), if file.is_some() => {
                    seen = show_new(handle, file, seen);
                    if seen > most {
                        why = format!("It was stopped: it printed more than {most} bytes.");
                        break end(&mut running, grace).await;
                    }
                }
                read = running.output.read(&mut buffer), if open => match read {
                    Ok(count @ 1..) => handle.write(&decoder.push(&buffer[..count])),
                    Ok(0) | Err(_) => open = false,
                },
            }
        };
        if status.is_ok() {
            running.group.leader_ended();
        }
        while open
            && let Ok(Ok(count @ 1..)) = timeout(PIPE_GRACE, running.output.read(&mut buffer)).await
        {
            handle.write(&decoder.push(&buffer[..count]));
        }
        handle.write(decoder.finish());
        show_new(handle, file, seen);
        running.group.end_rest(grace).await;
        ended(status, why, handle.cancelled().is_cancelled())
    }
}

fn show_new(handle: &TaskHandle, file: Option<&Path>, seen: u64) -> u64 {
    let Some(path) = file else { return seen };
    let length = std::fs::metadata(path).map_or(seen, |data| data.len());
    if length > seen {
        handle.show(&output::tail(path, (length - seen).min(64 * 1024)).unwrap_or_default());
    }
    length
}

/// Ends the command, gently for `grace`.
async fn end(running: &mut Running, grace: Duration) -> std::io::Result<ExitStatus> {
    running.group.terminate();
    if let Ok(status) = timeout(grace, running.child.wait()).await {
        return status;
    }
    running.group.kill();
    running.child.wait().await
}

fn ended(status: std::io::Result<ExitStatus>, why: String, was_stopped: bool) -> Ended {
    let exit = status.as_ref().ok().and_then(|status| {
        use std::os::unix::process::ExitStatusExt;
        status.code().or_else(|| status.signal().map(|signal| -signal))
    });
    if was_stopped {
        return Ended::killed(exit);
    }
    match status {
        _ if !why.is_empty() => Ended { exit, ..Ended::failed(why) },
        Ok(status) if status.success() => Ended::completed(exit),
        Ok(_) => {
            let code = exit.unwrap_or(-1);
            Ended { exit, ..Ended::failed(format!("It ended with exit code {code}.")) }
        }
        Err(error) => Ended::failed(format!("Its end could not be awaited: {error}.")),
    }
}
