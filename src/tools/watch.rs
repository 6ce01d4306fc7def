//! A small process that outlives us for a moment: when this program is killed and can clean up nothing,
//! it ends the commands that the turn was waiting for.
//!
//! It is a shell that reads the numbers of process groups from a pipe, those that begin and those that
//! are over. The pipe ends with this program, in whatever way; then it kills what is left.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

use super::process::detached_std;

/// Every number stands between two blanks. Only what every POSIX shell has built in is used.
const SCRIPT: &str = r#"trap '' HUP INT TERM
cd /
groups=' '
while read -r sign id; do
    case $sign in
    +) groups="$groups$id " ;;
    -) case $groups in
        *" $id "*) groups="${groups%% $id *} ${groups#* $id }" ;;
        esac ;;
    esac
done
for id in $groups; do kill -s KILL -- "-$id"; done"#;

/// What it is called in lists of processes.
const NAME: &str = "kimi-tui-watch";

static WATCHER: Mutex<Option<Watcher>> = Mutex::new(None);

struct Watcher {
    /// Kept so that it is reaped when another one has to take its place.
    process: Child,
    pipe: ChildStdin,
}

/// A process group that is watched until this is dropped.
#[derive(Debug)]
pub(super) struct Watched(Pid);

impl Watched {
    /// Watches `group` from now on; none where nobody can.
    pub(super) fn begin(group: Pid) -> Option<Self> {
        let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.as_mut().is_none_or(|watcher| !watcher.is_there()) {
            *watcher = Watcher::start(Path::new("/bin/sh"))
                .inspect_err(|error| tracing::warn!(%error, "commands are not watched"))
                .ok();
        }
        watcher.as_mut()?.tell('+', group).then_some(Self(group))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = watcher.as_mut() {
            watcher.tell('-', self.0);
        }
    }
}

impl Watcher {
    fn start(shell: &Path) -> std::io::Result<Self> {
        let mut command = detached_std(shell);
        // Nothing in the environment may change what the shell does.
        command.args(["-c", SCRIPT, NAME]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let pipe = process.stdin.take().ok_or_else(|| std::io::Error::other("no pipe"))?;
        Ok(Self { process, pipe })
    }

    fn is_there(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    fn tell(&mut self, sign: char, group: Pid) -> bool {
        let line = format!("{sign} {}\n", group.as_raw_nonzero());
        self.pipe.write_all(line.as_bytes()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};

    use super::*;

    fn sleeper() -> (Child, Pid) {
        let mut command = std::process::Command::new("sleep");
        command.arg("1000").process_group(0);
        let child = command.spawn().expect("sleep");
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a number");
        (child, pid)
    }

    #[test]
    fn what_is_not_over_when_the_pipe_ends_is_killed() {
        let mut watcher = Watcher::start(Path::new("/bin/sh")).expect("a shell");
        let mut sleepers: Vec<_> = (0..4).map(|_| sleeper()).collect();
        for (_, pid) in &sleepers {
            assert!(watcher.tell('+', *pid));
        }
        for (_, pid) in &sleepers[1..3] {
            // The second time it is of no group that is known.
            assert!(watcher.tell('-', *pid) && watcher.tell('-', *pid));
        }
        let Watcher { mut process, pipe } = watcher;
        drop(pipe);
        assert!(process.wait().expect("its end").success());
        for (index, (child, _)) in sleepers.iter_mut().enumerate() {
            if matches!(index, 1 | 2) {
                assert_eq!(child.try_wait().expect("its state"), None, "it was over");
                child.kill().expect("killed");
            }
            assert_eq!(child.wait().expect("its end").signal(), Some(9));
        }
    }

    #[test]
    fn another_watcher_takes_the_place_of_one_that_was_killed() {
        let (mut child, pid) = sleeper();
        let watched = Watched::begin(pid).expect("watched");
        {
            let mut watcher = WATCHER.lock().expect("no panic");
            let watcher = watcher.as_mut().expect("there");
            watcher.process.kill().expect("killed");
            watcher.process.wait().expect("its end");
        }
        drop(watched);
        assert!(Watched::begin(pid).is_some());
        child.kill().expect("killed");
        child.wait().expect("its end");
    }
}
