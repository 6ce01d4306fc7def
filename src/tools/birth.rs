//! Which process a number means: numbers are given out again, a number and its birth are not.

use std::fs;
use std::path::Path;

/// A process that ran at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Birth {
    /// Its number.
    pub pid: i32,
    /// When it was born, as this system counts; a start of the system is part of it.
    pub when: String,
}

impl Birth {
    /// The birth of the process that has this number now; none where the system does not tell.
    pub fn of(pid: i32) -> Option<Self> {
        let when = born(Path::new("/proc"), pid)?;
        Some(Self { pid, when })
    }

    /// Does this process still run? One that has ended and was not waited for does not.
    pub fn is_alive(&self) -> bool {
        born(Path::new("/proc"), self.pid).is_some_and(|when| when == self.when)
    }
}

/// When the process was born, in ticks since the start of the system, and which start that was.
fn born(proc: &Path, pid: i32) -> Option<String> {
    let stat = fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    // Its name, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?;
    let boot = fs::read_to_string(proc.join("sys/kernel/random/boot_id")).unwrap_or_default();
    (!matches!(state, "Z" | "X" | "x")).then(|| format!("{ticks}@{}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_birth() {
        let own = i32::try_from(std::process::id()).expect("a number");
        let birth = Birth::of(own).expect("proc");
        assert!(birth.is_alive());
        assert!(!Birth { when: "1@x".into(), ..birth }.is_alive());
        let mut child = std::process::Command::new("true").spawn().expect("a child");
        let pid = i32::try_from(child.id()).expect("a number");
        let born = Birth::of(pid);
        child.wait().expect("its end");
        assert!(born.is_none_or(|birth| !birth.is_alive()));
    }

    #[test]
    fn a_name_with_parentheses_does_not_mislead() {
        let folder = tempfile::tempdir().expect("folder");
        let place = folder.path().join("7");
        fs::create_dir(&place).expect("folder");
        let rest: Vec<String> = (4..=22).map(|n| n.to_string()).collect();
        let write = |state: &str| {
            let line = format!("7 (a) Z (b) {state} {} 23 24", rest.join(" "));
            fs::write(place.join("stat"), line).expect("stat");
        };
        write("S");
        assert_eq!(born(folder.path(), 7).as_deref(), Some("22@"));
        write("Z");
        assert_eq!(born(folder.path(), 7), None);
        assert_eq!(born(folder.path(), 8), None);
    }
}
