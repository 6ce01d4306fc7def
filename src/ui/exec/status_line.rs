//! The person's command for the last line, run with a time limit; and the git branch.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Done, Executor, sh};
use crate::ui::effect::EffectId;
use crate::ui::msg::Msg;

/// Bytes of output that are read; a line of a screen needs fewer, colours included.
const MOST_BYTES: u64 = 8 * 1024;

impl Executor {
    pub(super) fn run_status(&mut self, id: EffectId, command: String, limit: u64, input: String) {
        let (work_dir, done) = (self.host.work_dir().to_path_buf(), self.done.clone());
        self.tasks.spawn(async move {
            let result = run(&command, &work_dir, Duration::from_millis(limit), &input).await;
            let _ = done.send(Done::Msg(Msg::StatusLine { id, result }));
        });
    }

    pub(super) fn read_branch(&mut self, folder: PathBuf) {
        let done = self.done.clone();
        self.tasks.spawn_blocking(move || {
            let _ = done.send(Done::Msg(Msg::Branch(branch(&folder))));
        });
    }
}

/// Ends all processes of a group when it is dropped: at the time limit, and when the program ends.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The first line `command` prints in `folder` when it reads `input`.
///
/// # Errors
/// Why there is none, in words for a person.
async fn run(command: &str, folder: &Path, limit: Duration, input: &str) -> Result<String, String> {
    let (mut child, group) = sh::start(command, folder, Stdio::piped())?;
    let mut group = Group(group);
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let work = async {
        let write = async {
            if let Some(mut stdin) = stdin {
                // A command that does not read what it is told is no failure.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let read = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                let _ = stdout.take(MOST_BYTES).read_to_end(&mut bytes).await;
            }
            bytes
        };
        let ((), bytes) = tokio::join!(write, read);
        (bytes, child.wait().await)
    };
    let Ok((bytes, status)) = tokio::time::timeout(limit, work).await else {
        return Err(format!("it took longer than {} ms and was ended", limit.as_millis()));
    };
    // It is over, and its number may be another process's soon.
    group.0 = None;
    let status = status.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The branch that is checked out in `folder`, or the beginning of the commit when none is.
fn branch(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists())?;
    let dir = if git.is_dir() {
        git
    } else {
        // A worktree or a submodule says where its folder is.
        let text = std::fs::read_to_string(&git).ok()?;
        let place = text.strip_prefix("gitdir:")?.trim();
        git.parent()?.join(place)
    };
    let head = std::fs::read_to_string(dir.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
        }
        None => Some(head.chars().take(8).collect::<String>()).filter(|head| !head.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(command: &str, ms: u64) -> Result<String, String> {
        let folder = tempfile::tempdir().expect("a folder");
        run(command, folder.path(), Duration::from_millis(ms), r#"{"model":"k2"}"#).await
    }

    #[tokio::test]
    async fn its_first_line_is_taken_and_it_reads_the_state() {
        assert_eq!(said("cat; echo; echo two", 30_000).await, Ok(r#"{"model":"k2"}"#.to_owned()));
        assert_eq!(said("echo unread", 30_000).await, Ok("unread".to_owned()));
        assert_eq!(said("true", 30_000).await, Ok(String::new()));
        let failed = said("echo x; exit 3", 30_000).await.expect_err("a failure");
        assert!(failed.contains("exit status: 3"), "{failed}");
    }

    #[tokio::test]
    async fn at_the_time_limit_all_of_its_processes_are_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pid");
        let command = format!("sleep 600 & echo $! > '{}'; wait", file.display());
        let limit = Duration::from_secs(2);
        let failed = run(&command, folder.path(), limit, "").await.expect_err("too late");
        assert!(failed.contains("2000 ms"), "{failed}");
        let pid = std::fs::read_to_string(&file).expect("it began").trim().parse().expect("a pid");
        let pid = Pid::from_raw(pid).expect("a pid");
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid) {
            assert!(std::time::Instant::now() < deadline, "it goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Is it over, though nobody has asked how it ended?
    fn is_zombie(pid: Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.contains(") Z "))
    }

    #[test]
    fn the_branch_of_folders_worktrees_and_detached_heads() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = folder.path().join(".git");
        std::fs::create_dir(&git).expect("made");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/feature/x\n").expect("written");
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).expect("made");
        assert_eq!(branch(&deep).as_deref(), Some("feature/x"));
        std::fs::write(deep.join(".git"), "gitdir: ../../.git\n").expect("written");
        assert_eq!(branch(&deep).as_deref(), Some("feature/x"));
        std::fs::write(git.join("HEAD"), "0123456789abcdef\n").expect("written");
        assert_eq!(branch(&deep).as_deref(), Some("01234567"));
        std::fs::write(git.join("HEAD"), "").expect("written");
        assert_eq!(branch(&deep), None);
    }
}
