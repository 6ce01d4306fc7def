//! What snapshots take up, and throwing away what nobody needs.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::journal::{JOURNAL_FILE, Journal};
use super::node::BlobId;
use super::store::Store;

/// What throwing away did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Contents that are gone.
    pub removed: u64,
    /// Bytes they took up.
    pub freed: u64,
    /// Contents that are kept.
    pub kept: u64,
    /// Bytes those take up.
    pub size: u64,
}

impl Collected {
    /// Adds what was done to another store.
    pub fn add(&mut self, other: Self) {
        self.removed += other.removed;
        self.freed += other.freed;
        self.kept += other.kept;
        self.size += other.size;
    }
}

/// Has the session in `session_dir` snapshots?
#[must_use]
pub fn has_any(session_dir: &Path) -> bool {
    session_dir.join(JOURNAL_FILE).is_file()
}

/// Bytes on the disk that the snapshots of the session in `session_dir` need: its journal and the
/// contents it names. Contents that other sessions need too count for each.
#[must_use]
pub fn disk_use(session_dir: &Path) -> u64 {
    let length = fs::metadata(session_dir.join(JOURNAL_FILE)).map_or(0, |meta| meta.len());
    length + contents_use(session_dir)
}

/// The same without the journal, which is in the session's folder.
#[must_use]
pub fn contents_use(session_dir: &Path) -> u64 {
    if !has_any(session_dir) {
        return 0;
    }
    let Ok(journal) = Journal::open(session_dir, Path::new("")) else { return 0 };
    let store = Store::new(&journal.store);
    journal.blobs().into_iter().map(|blob| store.size(blob)).sum()
}

/// Throws away what no journal in `sessions` names and what is older than `grace`, so that the next
/// session finds contents of files that have not changed. None when the store is in use. The sessions
/// are asked for when nobody can begin to use it any more, so that none is overlooked.
///
/// # Errors
/// When the store cannot be locked, or the sessions or a journal cannot be read: then everything
/// stays.
pub fn collect(
    store: &Path,
    sessions: impl FnOnce() -> io::Result<Vec<PathBuf>>,
    grace: Duration,
) -> io::Result<Option<Collected>> {
    if !store.is_dir() {
        return Ok(Some(Collected::default()));
    }
    let store = Store::new(store);
    let Some(_alone) = store.alone()? else { return Ok(None) };
    let mut needed: HashSet<BlobId> = HashSet::new();
    for session in sessions()?.iter().filter(|dir| dir.join(JOURNAL_FILE).is_file()) {
        needed.extend(Journal::open(session, store.folder())?.blobs());
    }
    let mut done = Collected::default();
    let now = SystemTime::now();
    for (id, path, size, written) in store.list() {
        let is_young = now.duration_since(written).is_ok_and(|age| age < grace);
        if id.is_some_and(|id| needed.contains(&id)) || is_young {
            done.kept += 1;
            done.size += size;
        } else {
            fs::remove_file(&path)?;
            done.removed += 1;
            done.freed += size;
        }
    }
    Ok(Some(done))
}
