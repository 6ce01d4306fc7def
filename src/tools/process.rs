//! Child processes that cannot outlive whoever started them: each gets a process group of its own,
//! away from our terminal, and the whole group dies with its guard.

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use super::birth::Birth;
use super::watch::Watched;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How often the end of a group that was asked to end is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A running shell command.
pub(crate) struct Running {
    /// Kills the group when it is dropped. Before `child`: what is reaped must not be signalled.
    pub group: Group,
    /// The shell.
    pub child: Child,
    /// Standard output and standard error in one pipe, so that their order is the real one.
    pub output: ChildStdout,
    /// What the shell waits for before it runs the command.
    pub gate: Option<ChildStdin>,
    /// Behind `group`: what was killed is over.
    watched: Option<Watched>,
}

/// Waits for a line, then becomes the shell `$0` with the command `$1`. When nobody is left to
/// write the line, the command never runs.
const WAIT_FOR_LINE: &str = r#"IFS= read -r _ || exit 125; exec "$0" -c "$1" </dev/null"#;

/// Starts `command` in `work_dir` with bash, or sh where there is none.
///
/// Standard input is empty, nobody can ask on the terminal, and pagers do not page. When this program
/// is killed, so is the command.
///
/// # Errors
/// When the shell cannot be started or `work_dir` is gone.
pub(crate) async fn spawn_shell(command: &str, work_dir: &Path) -> io::Result<Running> {
    let mut running = spawn_waiting(command, work_dir)?;
    // Watched before it begins: there is no moment in which nobody knows of it.
    running.watched = running.group.number.and_then(Watched::begin);
    running.begin().await;
    Ok(running)
}

/// Like [`spawn_shell`], but the command does not begin before [`Running::begin`], so that it can be
/// written down first: a command nobody knows of cannot be stopped by a later run of the program. It
/// is not watched.
///
/// # Errors
/// As [`spawn_shell`].
pub(crate) fn spawn_waiting(command: &str, work_dir: &Path) -> io::Result<Running> {
    let (reader, writer) = io::pipe()?;
    spawn(waiting(command), work_dir, reader, writer.into())
}

/// Like [`spawn_waiting`], but the output goes to the end of `file`, so that the command can outlive
/// this program; `Running::output` has nothing.
///
/// # Errors
/// When the shell cannot be started, or `work_dir` or `file` cannot be used.
pub(crate) fn spawn_waiting_into(
    command: &str,
    work_dir: &Path,
    file: &Path,
) -> io::Result<Running> {
    let (reader, _) = io::pipe()?;
    let file = File::options().append(true).create(true).open(file)?;
    spawn(waiting(command), work_dir, reader, file.into())
}

impl Running {
    /// Lets the command begin. Failing means that the shell has ended already, which its status
    /// tells.
    pub(crate) async fn begin(&mut self) {
        if let Some(mut gate) = self.gate.take() {
            let _ = gate.write_all(b"\n").await;
        }
    }
}

fn waiting(command: &str) -> Command {
    // The smallest shell is there soonest.
    let mut gate = detached(Path::new("/bin/sh"));
    gate.arg("-c").arg(WAIT_FOR_LINE).arg(shell()).arg(command).stdin(Stdio::piped());
    gate
}

fn spawn(
    mut shell: Command,
    work_dir: &Path,
    reader: io::PipeReader,
    writer: OwnedFd,
) -> io::Result<Running> {
    shell
        .current_dir(work_dir)
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("PAGER", "cat")
        .env("GIT_PAGER", "cat");
    let mut child = shell.spawn()?;
    // The command still holds the pipe's other end: the output would never end.
    drop(shell);
    let group = Group::of(&child);
    let output = ChildStdout::from_std(OwnedFd::from(reader).into())?;
    let gate = child.stdin.take();
    Ok(Running { group, child, output, gate, watched: None })
}

/// A command for `program` that leads a process group. Where `setsid` exists it leads a session
/// too: then `/dev/tty` cannot be opened, and a password prompt fails instead of writing over the
/// screen and reading our keys.
pub(crate) fn detached(program: &Path) -> Command {
    detached_std(program).into()
}

/// Like [`detached`], for a process that no runtime waits for.
pub(super) fn detached_std(program: &Path) -> std::process::Command {
    static SETSID: OnceLock<Option<PathBuf>> = OnceLock::new();
    match SETSID.get_or_init(|| find_program("setsid")) {
        Some(setsid) => {
            let mut command = std::process::Command::new(setsid);
            command.arg(program);
            command
        }
        None => {
            let mut command = std::process::Command::new(program);
            command.process_group(0);
            command
        }
    }
}

/// Bash, or sh where there is none.
pub(crate) fn shell() -> &'static Path {
    static SHELL: OnceLock<PathBuf> = OnceLock::new();
    SHELL.get_or_init(|| find_program("bash").unwrap_or_else(|| PathBuf::from("/bin/sh")))
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    ["/bin", "/usr/bin"]
        .iter()
        .map(PathBuf::from)
        .chain(env::split_paths(&path).filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// A process group that is killed, every process of it, when this is dropped.
pub(crate) struct Group {
    /// `None` when nobody of the group is left.
    number: Option<Pid>,
    /// The leader was waited for: its number may belong to another process now. As long as another
    /// member lives, it belongs to no other group.
    leader_gone: bool,
}

impl Group {
    pub fn of(child: &Child) -> Self {
        let number = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { number, leader_gone: false }
    }

    /// The group that the shell of an earlier run of the program leads. None when it has ended.
    pub fn led_by(shell: &Birth) -> Option<Self> {
        let number = Pid::from_raw(shell.pid).filter(|_| shell.is_alive())?;
        Some(Self { number: Some(number), leader_gone: false })
    }

    /// Asks every process of the group to end.
    pub fn terminate(&self) {
        if let Some(number) = self.number {
            // Failing means that nobody is left, which is what is wanted.
            let _ = kill_process_group(number, Signal::TERM);
        }
    }

    /// Ends every process of the group at once.
    pub fn kill(&self) {
        let Some(number) = self.number else { return };
        if !self.leader_gone {
            // The leader first: it may not have made its group yet, and then has started nobody.
            let _ = kill_process(number, Signal::KILL);
        }
        let _ = kill_process_group(number, Signal::KILL);
    }

    /// Lets the group go on without its guard.
    pub fn release(&mut self) {
        self.number = None;
    }

    /// To be called as soon as the leader was waited for.
    pub fn leader_ended(&mut self) {
        self.leader_gone = true;
        if !self.is_alive() {
            self.number = None;
        }
    }

    /// Ends what the leader left behind, gently for `grace`. False when there is nothing.
    pub async fn end_rest(&mut self, grace: Duration) -> bool {
        if !self.is_alive() {
            self.number = None;
            return false;
        }
        self.terminate();
        let gone = async {
            while self.is_alive() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(grace, gone).await.is_err() {
            self.kill();
        }
        self.number = None;
        true
    }

    fn is_alive(&self) -> bool {
        self.number.is_some_and(|number| test_kill_process_group(number).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
