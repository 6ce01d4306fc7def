//! A share folder, a home and a work folder of the test's own, and an environment without anything
//! of the person who runs the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folders of one test; removed with it.
pub struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().expect("a folder") };
        for folder in [world.share(), world.home(), world.work()] {
            fs::create_dir(folder).expect("a folder");
        }
        world
    }

    pub fn share(&self) -> PathBuf {
        self.folder.path().join("share")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn write_config(&self, toml: &str) {
        fs::write(self.share().join("config.toml"), toml).expect("config.toml");
    }

    /// The whole environment of the program.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let text = |path: PathBuf| path.to_str().expect("a UTF-8 path").to_owned();
        vec![
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", text(self.home())),
            ("KIMI_SHARE_DIR", text(self.share())),
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ]
    }

    /// The program in the work folder, without a terminal.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.work()).env_clear().envs(self.environment());
        command
    }

    /// The folders of all sessions.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = entries(&self.share().join("sessions"))
            .iter()
            .flat_map(|bucket| entries(bucket))
            .filter(|path| path.is_dir())
            .collect();
        found.sort();
        found
    }
}

/// The program under test.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_kimi-tui")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(list) = fs::read_dir(folder) else { return Vec::new() };
    list.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The complete lines of a JSONL file; none when there is no file.
pub fn lines(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    String::from_utf8_lossy(&bytes[..complete]).lines().map(str::to_owned).collect()
}

/// The records of a JSONL file.
pub fn records(path: &Path) -> Vec<Value> {
    lines(path).iter().map(|line| serde_json::from_str(line).expect("a record")).collect()
}
