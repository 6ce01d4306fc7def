//! A workspace, a session's tracker, and plain pictures of folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::SnapshotConfig;
use crate::message::{CheckpointId, CheckpointRef, Generation};
use crate::snapshot::{Place, Tracker};

/// A picture of a folder: every path below it and what stands there.
pub(super) type Picture = BTreeMap<PathBuf, Thing>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Folder,
}

pub(super) struct Rig {
    pub(super) home: tempfile::TempDir,
    pub(super) tracker: Tracker,
    marks: u64,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(SnapshotConfig::default())
    }

    pub(super) fn with(limits: SnapshotConfig) -> Self {
        // In memory where there is such a disk: thousands of sequences sync a lot.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let home = tempfile::tempdir_in(place).expect("folder");
        for name in ["work", "session"] {
            fs::create_dir(home.path().join(name)).expect("folder");
        }
        let tracker = open(home.path(), limits);
        Self { home, tracker, marks: 0 }
    }

    pub(super) fn reopen(&mut self) {
        self.tracker = open(self.home.path(), SnapshotConfig::default());
        // The engine tells the checkpoints of the conversation it resumes.
        let known: Vec<CheckpointRef> = (0..self.marks).map(checkpoint).collect();
        self.tracker.mark_known(&known);
    }

    /// The path of `name` in the workspace.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        root(self.home.path()).join(name)
    }

    pub(super) fn put(&self, name: &str, content: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("folder")).expect("folders");
        fs::write(path, content).expect("write");
    }

    pub(super) fn mark(&mut self) -> CheckpointRef {
        let at = checkpoint(self.marks);
        self.marks += 1;
        self.tracker.mark(at, self.marks % 2 == 1);
        at
    }

    /// What a file tool does.
    pub(super) fn tool(&mut self, name: &str, content: &str) {
        let path = self.at(name);
        let before = self.tracker.before_write(&path);
        self.put(name, content);
        self.tracker.after_write(&path, before);
    }

    /// What a command does.
    pub(super) fn shell(&mut self, work: impl FnOnce(&Path)) {
        self.tracker.open_window("call");
        work(&root(self.home.path()));
        self.tracker.close_window("call");
    }

    pub(super) fn picture(&self) -> Picture {
        picture(&root(self.home.path()))
    }
}

fn checkpoint(id: u64) -> CheckpointRef {
    CheckpointRef { generation: Generation(0), id: CheckpointId(id) }
}

fn root(home: &Path) -> PathBuf {
    fs::canonicalize(home.join("work")).expect("workspace")
}

pub(super) fn open(home: &Path, limits: SnapshotConfig) -> Tracker {
    let place = Place { session_dir: home.join("session"), store: home.join("store") };
    Tracker::open(place, vec![root(home)], limits).expect("tracker")
}

pub(super) fn picture(folder: &Path) -> Picture {
    let mut out = Picture::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).expect("list").map(|entry| entry.expect("entry")) {
            let (path, kind) = (entry.path(), entry.file_type().expect("kind"));
            let thing = if kind.is_symlink() {
                Thing::Link(fs::read_link(&path).expect("link"))
            } else if kind.is_dir() {
                todo.push(path.clone());
                Thing::Folder
            } else {
                let mode = crate::snapshot::node::mode_of(&entry.metadata().expect("meta"));
                Thing::File(fs::read(&path).expect("read"), mode)
            };
            out.insert(path, thing);
        }
    }
    out
}
