//! Starts a command of the person's in a shell, away from the terminal.

use std::path::Path;
use std::process::Stdio;

use rustix::process::Pid;
use tokio::process::{Child, Command};

/// Starts `command` in `folder`, in a group of processes of its own, which is named too.
///
/// # Errors
/// Why it could not be started, in words for a person.
pub(super) fn start(
    command: &str,
    folder: &Path,
    stdin: Stdio,
) -> Result<(Child, Option<Pid>), String> {
    let child = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("sh could not be started: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    Ok((child, group))
}
