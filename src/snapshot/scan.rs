//! The workspace as it is: a walk that reads metadata, and contents only where those have changed.
//!
//! Ignore files are respected, `.git` folders and nested repositories are left alone. The tree is
//! kept between scans, so that a scan in which nothing has changed opens no file.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{WalkBuilder, WalkState};

use super::capture::{Keep, capture_known, look};
use super::node::{Node, Stamp, now_nanos};
use super::store::Store;
use crate::config::SnapshotConfig;

/// Threads that walk.
const THREADS: usize = 4;

/// Why there is no scan. The words are for a person.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The folder is no workspace.
    #[error("{} is {what}, not a workspace", .folder.display())]
    NoWorkspace {
        /// The folder.
        folder: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// There are too many files.
    #[error("the workspace has more than {0} files (snapshots.max_files)")]
    TooMany(u64),
    /// The store cannot be written.
    #[error("the snapshot cannot be written: {0}")]
    Io(#[from] std::io::Error),
}

/// A path whose node changed between two scans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path.
    pub path: PathBuf,
    /// What stood there.
    pub before: Node,
    /// What stands there.
    pub after: Node,
}

#[derive(Debug)]
struct Seen {
    node: Node,
    stamp: Stamp,
    /// Was it written so shortly before it was read that the stamp proves nothing?
    is_fresh: bool,
    round: u64,
}

/// The workspace as the last scan found it.
#[derive(Debug, Default)]
pub struct Tree {
    entries: HashMap<PathBuf, Seen>,
    round: u64,
    /// Repositories inside the workspace, which are left alone.
    pub nested: BTreeSet<PathBuf>,
}

impl Tree {
    /// Looks at `roots` again: what has changed since the last time. Contents go to `store`.
    ///
    /// # Errors
    /// When the workspace is none, is too large, or the store cannot be written.
    pub fn scan(
        &mut self,
        roots: &[PathBuf],
        limits: &SnapshotConfig,
        store: &mut Store,
    ) -> Result<Vec<Difference>, ScanError> {
        for root in roots {
            refuse_no_workspace(root)?;
        }
        let (found, nested) = walk(roots, limits.max_files, store.folder())?;
        self.nested = nested;
        self.round += 1;
        let mut room = limits.max_snapshot_bytes;
        let mut differences = Vec::new();
        for (path, meta) in found {
            let stamp = Stamp::of(&meta);
            let known = self.entries.get_mut(&path);
            if let Some(seen) = known
                && !seen.is_fresh
                && (seen.stamp == stamp
                    || (seen.node.is_folder() && meta.is_dir() && seen.stamp.mode == stamp.mode))
            {
                seen.round = self.round;
                continue;
            }
            let is_fresh = stamp.is_fresh(now_nanos()) && meta.is_file();
            let (node, _) =
                capture_known(&path, &meta, limits.max_file_bytes, Keep::Yes(store, &mut room))?;
            if node == Node::Absent {
                continue;
            }
            let seen = Seen { node: node.clone(), stamp, is_fresh, round: self.round };
            let before = self.entries.insert(path.clone(), seen).map_or(Node::Absent, |s| s.node);
            if before != node {
                differences.push(Difference { path, before, after: node });
            }
        }
        self.take_gone(&mut differences)?;
        self.leave_out_once_ignored(&mut differences, store);
        differences.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(differences)
    }

    /// What was not found this time: gone, or only out of sight.
    fn take_gone(&mut self, differences: &mut Vec<Difference>) -> Result<(), ScanError> {
        let round = self.round;
        let stale: Vec<PathBuf> = self
            .entries
            .iter()
            .filter(|(_, seen)| seen.round != round)
            .map(|(path, _)| path.clone())
            .collect();
        for path in stale {
            let Some(seen) = self.entries.remove(&path) else { continue };
            // What an ignore file hides now, or what is part of a new repository, is still there.
            if look(&path)?.is_none() {
                differences.push(Difference { path, before: seen.node, after: Node::Absent });
            }
        }
        Ok(())
    }

    /// A path that an ignore file hid until it was changed just now may have been there all along:
    /// nobody can say what it was before, so it is not called new.
    fn leave_out_once_ignored(&self, differences: &mut Vec<Difference>, store: &Store) {
        let old_rules: Vec<Gitignore> = differences
            .iter()
            .filter(|change| change.path.file_name().is_some_and(is_ignore_file))
            .filter_map(|change| {
                let content = store.get(change.before.blob()?).ok()?;
                let mut rules = GitignoreBuilder::new(change.path.parent()?);
                for line in String::from_utf8_lossy(&content).lines() {
                    // A line that is no rule hides nothing.
                    let _ = rules.add_line(None, line);
                }
                rules.build().ok()
            })
            .collect();
        if old_rules.is_empty() {
            return;
        }
        differences.retain(|change| {
            change.before != Node::Absent
                || !old_rules.iter().any(|rules| {
                    change.path.starts_with(rules.path())
                        && rules
                            .matched_path_or_any_parents(&change.path, change.after.is_folder())
                            .is_ignore()
                })
        });
    }

    /// Takes note of a path that this session itself has just written.
    pub(super) fn note(&mut self, path: &Path, node: &Node, stamp: Option<Stamp>) {
        match (node, stamp) {
            (Node::Absent, _) | (_, None) => {
                self.entries.remove(path);
            }
            (node, Some(stamp)) => {
                let seen = Seen { node: node.clone(), stamp, is_fresh: true, round: self.round };
                self.entries.insert(path.to_owned(), seen);
            }
        }
    }

    /// How many paths are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is none known?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn is_ignore_file(name: &std::ffi::OsStr) -> bool {
    name == ".gitignore" || name == ".ignore"
}

/// The home folder, what is above it, and the root of a disk are not scanned.
fn refuse_no_workspace(root: &Path) -> Result<(), ScanError> {
    let refuse = |what| Err(ScanError::NoWorkspace { folder: root.to_owned(), what });
    if root.parent().is_none() {
        return refuse("the root of the file system");
    }
    let home = crate::paths::home().map(|home| std::fs::canonicalize(&home).unwrap_or(home));
    match home {
        Some(home) if home == root => refuse("the home folder"),
        Some(home) if home.starts_with(root) => refuse("above the home folder"),
        _ => Ok(()),
    }
}

type Found = (Vec<(PathBuf, Metadata)>, BTreeSet<PathBuf>);

fn walk(roots: &[PathBuf], max_files: u64, own: &Path) -> Result<Found, ScanError> {
    let mut found = Vec::new();
    let nested = Arc::new(Mutex::new(BTreeSet::new()));
    for root in roots {
        let (sender, receiver) = mpsc::channel();
        let walker = walker(root, own, &nested);
        let max = max_files;
        let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
        walker.build_parallel().run(|| {
            let (sender, count) = (sender.clone(), Arc::clone(&count));
            Box::new(move |entry| {
                // What cannot be looked at is not there as far as a snapshot goes.
                let Ok(entry) = entry else { return WalkState::Continue };
                if entry.depth() == 0 {
                    return WalkState::Continue;
                }
                let Ok(meta) = entry.metadata() else { return WalkState::Continue };
                if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= max {
                    return WalkState::Quit;
                }
                let _ = sender.send((entry.into_path(), meta));
                WalkState::Continue
            })
        });
        drop(sender);
        found.extend(receiver);
        if count.load(std::sync::atomic::Ordering::Relaxed) > max {
            return Err(ScanError::TooMany(max));
        }
    }
    let nested = std::mem::take(&mut *nested.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((found, nested))
}

fn walker(root: &Path, own: &Path, nested: &Arc<Mutex<BTreeSet<PathBuf>>>) -> WalkBuilder {
    let (own, nested) = (own.to_owned(), Arc::clone(nested));
    let mut walker = WalkBuilder::new(root);
    walker.hidden(false).follow_links(false).require_git(false).threads(THREADS).filter_entry(
        move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            if entry.file_name() == ".git" || entry.path() == own {
                return false;
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if is_folder && entry.path().join(".git").symlink_metadata().is_ok() {
                let path = entry.path().to_owned();
                nested.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
                return false;
            }
            true
        },
    );
    walker
}
