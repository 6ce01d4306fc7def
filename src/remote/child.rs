//! A server that was started for one screen: what it wrote to its standard error, and its end.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::error::user;
use crate::mcp::Tail;

/// How long it may take to leave by itself when its input has ended, and when it is told to.
const FAREWELL: Duration = Duration::from_secs(8);
const GRACE: Duration = Duration::from_secs(2);
/// Lines of its standard error that are told when it fails.
const LAST_LINES: usize = 3;

/// The process and what it started; all of it ends with this.
pub(super) struct Started {
    child: Child,
    group: Option<Pid>,
    said: Tail,
}

impl Started {
    /// Starts `program`.
    ///
    /// # Errors
    /// In words for a person.
    pub(super) fn new(
        program: &str,
        args: &[String],
        work_dir: &Path,
    ) -> anyhow::Result<(Self, ChildStdin, ChildStdout)> {
        let mut child = Command::new(program)
            .args(args)
            .current_dir(work_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What it says there would be written across the screen.
            .stderr(Stdio::piped())
            // Ctrl-C is for the screen.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                user(
                    format!("{program} cannot be started ({error})."),
                    "Check the command after --.",
                )
            })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            anyhow::bail!("a pipe is missing");
        };
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok((Self { child, group, said: Tail::read(errors) }, input, output))
    }

    /// What it said last, for a message; empty when it said nothing.
    pub(super) fn last_words(&self) -> String {
        match self.said.last_lines(LAST_LINES) {
            words if words.is_empty() => words,
            words => format!(" It said: {words}"),
        }
    }

    /// How it ended, when it ends within a moment: its output has ended already.
    pub(super) async fn status(&mut self) -> Option<ExitStatus> {
        let status = tokio::time::timeout(GRACE, self.child.wait()).await.ok()?.ok();
        // What it started may hold its standard error open.
        let _ = tokio::time::timeout(GRACE / 4, self.said.is_over()).await;
        status
    }

    /// Waits for its end, its input having ended; one that does not end is made to.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(FAREWELL, self.child.wait()).await.is_ok() {
            return;
        }
        tracing::warn!("the server did not end in time; it is told to");
        self.signal(Signal::TERM);
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            tracing::warn!("the server is killed");
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Failing means that nobody is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Once it was waited for its number may mean another process.
        if self.child.id().is_some() {
            self.signal(Signal::KILL);
        }
    }
}
