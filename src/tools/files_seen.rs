//! What a session's tools know of files: how each was when it was last read or written, so that
//! nothing is overwritten that somebody else has changed since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A fingerprint of a file's whole content.
pub(crate) type Fingerprint = blake3::Hash;

/// Files by their path, links followed.
#[derive(Debug, Default)]
pub struct FilesSeen {
    files: Mutex<HashMap<PathBuf, Fingerprint>>,
}

impl FilesSeen {
    /// The file was read, or written, with this content.
    pub(crate) fn note(&self, path: &Path, content: Fingerprint) {
        self.files().insert(path.to_owned(), content);
    }

    /// Was the file read, and does it hold something else than `content` had then? A file that was
    /// touched but not changed is the same.
    pub(crate) fn has_changed(&self, path: &Path, content: &[u8]) -> bool {
        let known = self.files().get(path).copied();
        known.is_some_and(|known| known != blake3::hash(content))
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Fingerprint>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
