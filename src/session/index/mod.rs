//! What every session of every folder says, kept where it can be searched while a person types, and
//! what lists show of them.
//!
//! In the cache folder stand a catalog (`catalog.json`: what was seen of each session and how far it
//! was read) and one data file of segments: up to 64 KB of extracted text each, behind a signature of
//! its sequences of two to four bytes. A search looks at signatures first, which are in memory, and reads only
//! segments that may hold a word, newest sessions first. Sequences of bytes rather than of words: any
//! part of a word is found, and a word of two Chinese characters is six bytes.
//!
//! Sessions only grow at the end, so a session that changed is read on from where the index stopped;
//! one that was rewritten is read anew. The data file is only added to, and the catalog replaced as a
//! whole, so a reader in another process always sees one or the other. Everything here can be thrown
//! away: it is made again.

mod catalog;
mod data;
mod extract;
mod listing;
mod query;
mod refresh;
mod search;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock};

pub use extract::Speaker;
pub use query::Query;
pub use search::{Excerpt, Found, SearchOptions};

use super::SessionStore;
use catalog::Catalog;
use search::Snapshot;

/// The index over all sessions of a share folder. Cheap to clone; every method may block.
#[derive(Debug, Clone)]
pub struct SessionIndex {
    store: SessionStore,
    shared: Arc<RwLock<Option<Arc<Snapshot>>>>,
}

/// How far a refresh is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Sessions that were looked at.
    pub done: usize,
    /// Sessions there are.
    pub total: usize,
}

/// How a refresh ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// The index says what the sessions do.
    UpToDate {
        /// Sessions that were read or went away.
        changed: usize,
    },
    /// Another process is at it.
    Busy,
    /// It was stopped; what was read is kept.
    Stopped,
}

impl SessionIndex {
    /// The index of `store`'s sessions. Nothing is read yet.
    #[must_use]
    pub fn new(store: SessionStore) -> Self {
        Self { store, shared: Arc::default() }
    }

    /// What this process knows of the index, read from the cache folder the first time. A damaged
    /// index is an empty one.
    fn snapshot(&self) -> Arc<Snapshot> {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(snapshot) = known {
            return snapshot;
        }
        let folder = self.folder();
        let catalog = Catalog::load(&folder).unwrap_or_default();
        self.publish(catalog)
    }

    /// Makes `catalog` what searches of this process see.
    fn publish(&self, catalog: Catalog) -> Arc<Snapshot> {
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let snapshot = Arc::new(Snapshot::new(&self.folder(), catalog, shared.as_deref()));
        *shared = Some(Arc::clone(&snapshot));
        snapshot
    }

    fn folder(&self) -> std::path::PathBuf {
        self.store.paths().session_index()
    }
}
