//! One hook: a process that reads JSON and answers with its exit code (`kimi-cli`
//! `hooks/runner.py:60-89`).

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::Verdict;
use crate::config::HookConfig;
use crate::tools::process::{Group, detached, shell};

/// Bytes of a hook's output that are read; more is thrown away.
const MAX_OUTPUT: u64 = 64 * 1024;
/// How long output may still come once the hook itself has ended: what it left running may hold
/// the pipe.
const REST_OF_OUTPUT: Duration = Duration::from_millis(200);
/// Exit code that blocks.
const BLOCK: i32 = 2;

/// Runs `hook` with `input`. Whatever goes wrong is no block.
pub(super) async fn run(hook: &HookConfig, input: &[u8], work_dir: &Path) -> Verdict {
    let limit = Duration::from_secs(hook.timeout);
    match tokio::time::timeout(limit, talk(hook, input, work_dir)).await {
        Ok(Ok(said)) => judge(&said),
        Ok(Err(error)) => {
            tracing::warn!(command = hook.command, %error, "a hook could not be run");
            Verdict::Allow
        }
        Err(_) => {
            tracing::warn!(command = hook.command, ?limit, "a hook took too long");
            Verdict::Allow
        }
    }
}

/// What a hook said.
struct Said {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

fn judge(said: &Said) -> Verdict {
    match said.status.code() {
        Some(BLOCK) => Verdict::Block { reason: said.stderr.trim().to_owned() },
        Some(0) => denied(&said.stdout).map_or(Verdict::Allow, |reason| Verdict::Block { reason }),
        _ => Verdict::Allow,
    }
}

/// The reason in `{"hookSpecificOutput": {"permissionDecision": "deny", …}}`.
fn denied(stdout: &str) -> Option<String> {
    let output: Value = serde_json::from_str(stdout.trim()).ok()?;
    let specific = output.get("hookSpecificOutput")?;
    (specific.get("permissionDecision")?.as_str()? == "deny").then(|| {
        let reason = specific.get("permissionDecisionReason").and_then(Value::as_str);
        reason.unwrap_or_default().to_owned()
    })
}

struct Running {
    /// First: it kills every process of the hook when this is dropped, before the child is reaped.
    group: Group,
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

fn start(command: &str, work_dir: &Path) -> io::Result<Running> {
    let mut child = detached(shell())
        .arg("-c")
        .arg(command)
        .current_dir(work_dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("GIT_TERMINAL_PROMPT", "0")
        .kill_on_drop(true)
        .spawn()?;
    let group = Group::of(&child);
    let missing = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stderr = child.stderr.take().ok_or_else(missing)?;
    Ok(Running { group, child, stdin, stdout, stderr })
}

async fn talk(hook: &HookConfig, input: &[u8], work_dir: &Path) -> io::Result<Said> {
    let Running { mut group, mut child, mut stdin, stdout, stderr } =
        start(&hook.command, work_dir)?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let write = async move {
        // A hook need not read what it is told.
        let _ = stdin.write_all(input).await;
        drop(stdin);
        std::future::pending::<()>().await;
    };
    let read = async {
        tokio::join!(keep(stdout, &mut out), keep(stderr, &mut err));
    };
    let ended = async {
        let status = child.wait().await;
        group.leader_ended();
        status
    };
    let status = {
        tokio::pin!(read, ended);
        let mut is_read = false;
        let status = tokio::select! {
            biased;
            // Never done: it only has to be polled.
            () = write => return Err(io::Error::other("the input ended twice")),
            status = async {
                loop {
                    tokio::select! {
                        status = &mut ended => break status,
                        () = &mut read, if !is_read => is_read = true,
                    }
                }
            } => status?,
        };
        if !is_read {
            let _ = tokio::time::timeout(REST_OF_OUTPUT, read).await;
        }
        status
    };
    drop(group);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Said { status, stdout: text(&out), stderr: text(&err) })
}

/// Reads to the end and keeps the beginning.
async fn keep(mut from: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    let _ = (&mut from).take(MAX_OUTPUT).read_to_end(kept).await;
    let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
}
