//! Files as they were: what is needed to take a session's own changes of files back, and to bring
//! them forth again.
//!
//! [`Tracker`] is one session's: it hears of checkpoints, of files a tool writes, and of commands,
//! around which it scans the workspace ([`scan`]). What the session changed goes to its [`journal`],
//! contents to the folder's [`store`]. [`plan`] says, without touching anything, what going back
//! means; [`restore`] does it. What others change between the session's calls is seen by the scan
//! before each call, is never recorded, and so is never taken back.

mod capture;
pub mod gc;
pub mod journal;
pub mod node;
pub mod plan;
pub mod restore;
mod rewind;
pub mod scan;
pub mod store;
#[cfg(test)]
mod tests;
mod worker;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub use gc::disk_use;
pub use node::{BlobId, Node};
pub use plan::{Conflict, Item, Plan};
pub use worker::Worker;

pub(crate) use node::path_text::{decode as path_from_text, encode as path_text};

use crate::config::SnapshotConfig;
use crate::message::{CheckpointId, CheckpointRef, Generation};
use capture::{Keep, capture};
use journal::{By, Change, Journal, Record};
use plan::World;
use restore::{Gate, open_gate};
use scan::{ScanError, Tree};
use store::Store;

/// Where a session keeps what.
#[derive(Debug, Clone)]
pub struct Place {
    /// The session's folder: the journal.
    pub session_dir: PathBuf,
    /// The folder of the contents, shared by the sessions of a workspace.
    pub store: PathBuf,
}

/// Why files cannot be taken back. The words are for a person.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// The checkpoint is not known.
    #[error(
        "No snapshot knows checkpoint {0}: it was made before snapshots were, or by another program"
    )]
    Unknown(CheckpointRef),
    /// It is too long ago.
    #[error("The files of checkpoint {0} are no longer kept (snapshots.keep_turns, keep_days)")]
    Forgotten(CheckpointRef),
    /// There is nothing to bring forth.
    #[error("No files were taken back that could be brought forth again")]
    NothingToRedo,
    /// The disk failed, or something has changed just now.
    #[error("Nothing was changed: {0}")]
    Io(#[from] io::Error),
}

/// What going back to a checkpoint means for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Path by path.
    pub plan: Plan,
    /// What is not known in full, for a person.
    pub gaps: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Paths that are again what they were.
    pub restored: Vec<PathBuf>,
    /// Paths that are gone again.
    pub removed: Vec<PathBuf>,
    /// What was left alone.
    pub left: Vec<Item>,
    /// Was the conversation taken back with the files?
    pub with_conversation: bool,
}

/// One session's snapshots.
#[derive(Debug)]
pub struct Tracker {
    place: Place,
    roots: Vec<PathBuf>,
    limits: SnapshotConfig,
    store: Store,
    journal: Journal,
    tree: Tree,
    /// Calls that may be changing files now, and the moment each began in.
    windows: Vec<(String, u64)>,
    /// Paths a tool is writing, and what stood there.
    writing: HashMap<PathBuf, Node>,
    told: HashSet<String>,
    notices: Vec<String>,
}

impl Tracker {
    /// The snapshots of a session, and what a kill had left undone.
    ///
    /// # Errors
    /// When the journal is there and cannot be read.
    pub fn open(place: Place, roots: Vec<PathBuf>, limits: SnapshotConfig) -> io::Result<Self> {
        let journal = Journal::open(&place.session_dir, &place.store)?;
        let store = Store::new(&journal.store);
        let mut tracker = Self {
            place,
            roots,
            limits,
            store,
            journal,
            tree: Tree::default(),
            windows: Vec::new(),
            writing: HashMap::new(),
            told: HashSet::new(),
            notices: Vec::new(),
        };
        tracker.recover(&mut open_gate);
        if tracker.journal.bad_lines > 0 {
            let lines = tracker.journal.bad_lines;
            tracker.notice(format!(
                "{lines} damaged lines of snapshots.jsonl were passed over: not every file can be taken back."
            ));
        }
        Ok(tracker)
    }

    fn recover(&mut self, gate: Gate<'_>) {
        let dir = self.place.session_dir.clone();
        match restore::recover(&dir, &mut self.store, &mut self.journal, gate) {
            Ok(None | Some(0)) => {}
            Ok(Some(left)) => self.notice(format!(
                "Taking files back had been cut off and is finished now; {left} files that were \
                 changed meanwhile were left alone."
            )),
            Err(error) => self.notice(format!(
                "Taking files back had been cut off and could not be finished: {error}. \
                 It is tried again at the next start."
            )),
        }
    }

    /// What a person should know; each is given once.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn notice(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.notices.push(text);
        }
    }

    /// The workspace has further folders.
    pub fn add_root(&mut self, root: PathBuf) {
        self.roots.push(root);
    }

    /// A checkpoint was made; `turn` says whether it begins a turn.
    pub fn mark(&mut self, at: CheckpointRef, turn: bool) {
        let moment = self.journal.moment + 1;
        self.note(vec![Record::Mark { at, moment, turn, time: seconds_now() }]);
    }

    /// Checkpoints of a resumed session that no journal knows: nothing was changed since.
    pub fn mark_known(&mut self, checkpoints: &[CheckpointRef]) {
        if !self.journal.is_empty() {
            return;
        }
        let moment = self.journal.moment;
        let marks = checkpoints
            .iter()
            .filter(|at| self.journal.moment_of(**at).is_none())
            .map(|&at| Record::Mark { at, moment, turn: false, time: 0 })
            .collect();
        self.note(marks);
    }

    /// The context went from one generation to another and took checkpoints along.
    pub fn carry(&mut self, from: Generation, to: Generation, below: Option<CheckpointId>) {
        self.note(vec![Record::Carried { from, to, below }]);
    }

    fn note(&mut self, records: Vec<Record>) {
        if let Err(error) = self.journal.add(records) {
            self.notice(format!(
                "Snapshots cannot be written ({error}): files changed from now on may not be \
                 restorable after a restart."
            ));
        }
    }

    fn gap(&mut self, moment: u64, reason: String) {
        self.notice(format!("{reason}. What commands change cannot be taken back."));
        if !self.journal.gaps.iter().any(|(at, _)| *at == moment) {
            self.note(vec![Record::Gap { moment, reason }]);
        }
    }

    /// Takes the workspace down for the first time, so that the first command need not wait.
    pub fn warm_up(&mut self) {
        if self.tree.is_empty() {
            // A failure is told when it matters: before a command.
            let _ = self.scan();
        }
    }

    fn scan(&mut self) -> Result<Vec<scan::Difference>, ScanError> {
        self.tree.scan(&self.roots, &self.limits, &mut self.store)
    }

    /// A call that may change any file begins: what has changed since the last one is others' work.
    pub fn open_window(&mut self, call: &str) {
        let moment = self.journal.moment;
        match self.scan() {
            Ok(differences) => {
                self.keep(differences);
                self.windows.push((call.to_owned(), moment));
            }
            Err(error) => self.gap(moment, capitalised(&error.to_string())),
        }
    }

    /// It ended: what has changed since is its work.
    pub fn close_window(&mut self, call: &str) {
        let Some(at) = self.windows.iter().position(|(open, _)| open == call) else { return };
        match self.scan() {
            Ok(differences) => self.keep(differences),
            Err(error) => self.gap(self.windows[at].1, capitalised(&error.to_string())),
        }
        self.windows.remove(at);
    }

    /// The call was never made: nothing is its work.
    pub fn forget_window(&mut self, call: &str) {
        self.windows.retain(|(open, _)| open != call);
    }

    /// All calls have ended.
    pub fn close_windows(&mut self) {
        while let Some((call, _)) = self.windows.last().cloned() {
            self.close_window(&call);
        }
    }

    /// Differences while a call runs are its work; without one they are somebody else's.
    fn keep(&mut self, differences: Vec<scan::Difference>) {
        let Some(&(_, moment)) = self.windows.first() else { return };
        let records: Vec<Record> = differences
            .into_iter()
            .map(|difference| {
                let scan::Difference { path, before, after } = difference;
                Record::Change(Change { moment, path, before, after, by: By::Shell })
            })
            .collect();
        if !records.is_empty() {
            self.note(records);
        }
        if let Some(nested) = self.tree.nested.first().cloned() {
            let count = self.tree.nested.len();
            self.notice(format!(
                "Repositories inside the workspace are left alone by snapshots: {}{}.",
                nested.display(),
                if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
            ));
        }
    }

    /// A tool is about to write `path`.
    pub fn begin_write(&mut self, path: &Path) {
        let before = self.before_write(path);
        self.writing.insert(path.to_owned(), before);
    }

    /// It is done with that.
    pub fn end_write(&mut self, path: &Path) {
        if let Some(before) = self.writing.remove(path) {
            self.after_write(path, before);
        }
    }

    /// What stands at `path`, which a tool is about to write.
    pub fn before_write(&mut self, path: &Path) -> Node {
        match self.capture(path) {
            Ok(node) => node,
            Err(error) => {
                let reason = format!("{} could not be kept: {error}", path.display());
                self.note(vec![Record::Gap { moment: self.journal.moment, reason }]);
                Node::Unkept { why: node::Unkept::Unreadable, mark: 0 }
            }
        }
    }

    /// The tool has written `path`, where `before` stood.
    pub fn after_write(&mut self, path: &Path, before: Node) {
        let after = match self.capture(path) {
            Ok(after) => after,
            Err(error) => {
                self.notice(format!("{} could not be kept: {error}.", path.display()));
                return;
            }
        };
        if after == before {
            return;
        }
        let moment = self.journal.moment;
        let path = path.to_owned();
        self.note(vec![Record::Change(Change { moment, path, before, after, by: By::Tool })]);
    }

    /// Takes down what stands at `path`, in the tree too, so that no scan finds it new.
    fn capture(&mut self, path: &Path) -> io::Result<Node> {
        let mut room = u64::MAX;
        let keep = Keep::Yes(&mut self.store, &mut room);
        let (node, stamp) = capture(path, self.limits.max_file_bytes, keep)?;
        if !self.tree.is_empty() && self.roots.iter().any(|root| path.starts_with(root)) {
            self.tree.note(path, &node, stamp);
        }
        Ok(node)
    }

    /// The text of a content, for showing differences; none when it is no text.
    #[must_use]
    pub fn text(&self, node: &Node, path: &Path) -> Option<String> {
        const MOST: u64 = 1 << 20;
        let content = match node {
            Node::File { size, .. } if *size > MOST => return None,
            Node::File { blob, .. } => match self.store.get(*blob) {
                Ok(content) => content,
                // Not in the store when only looked at: then it is on the disk.
                Err(_) => fs::read(path).ok().filter(|read| BlobId::of(read) == *blob)?,
            },
            Node::Absent => Vec::new(),
            Node::Link { target } => return Some(format!("-> {}\n", target.display())),
            Node::Folder { .. } | Node::Unkept { .. } => return None,
        };
        if content.contains(&0) { None } else { String::from_utf8(content).ok() }
    }

    /// Forgets what is older than is to be kept.
    pub fn forget_old(&mut self) {
        let oldest = seconds_now().saturating_sub(self.limits.keep_days.saturating_mul(86_400));
        if let Err(error) = self.journal.forget(self.limits.keep_turns, oldest) {
            tracing::warn!(%error, "old snapshots could not be forgotten");
        }
    }

    fn world(&self) -> Disk {
        Disk { max_file: self.limits.max_file_bytes }
    }
}

/// The files of this computer.
struct Disk {
    max_file: u64,
}

impl World for Disk {
    fn now(&self, path: &Path) -> Node {
        match capture(path, self.max_file, Keep::No) {
            Ok((node, _)) => node,
            Err(_) => Node::Unkept { why: node::Unkept::Unreadable, mark: 0 },
        }
    }

    fn entries(&self, path: &Path) -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
