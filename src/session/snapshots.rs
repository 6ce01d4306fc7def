//! Contents of snapshots that no session needs any more: gone with the session that needed them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::store::SessionStore;
use super::trash;
use crate::snapshot::gc::{self, Collected};

impl SessionStore {
    /// The folders of all sessions, those in the trash too: they may come back.
    ///
    /// # Errors
    /// When one of the folders they are in cannot be read.
    pub fn every_folder(&self) -> io::Result<Vec<PathBuf>> {
        let within = |folder: &Path| {
            trash::folders(folder).map_err(|error| io::Error::other(error.to_string()))
        };
        let mut buckets = within(&self.paths().sessions())?;
        for time in within(&self.trash())? {
            buckets.extend(within(&time)?);
        }
        let mut all = Vec::new();
        for bucket in buckets {
            all.extend(within(&bucket)?);
        }
        Ok(all)
    }

    /// Throws away contents of snapshots that no session names, in every store that nobody uses now.
    /// Tells for each store what was done; none where it is in use.
    pub fn collect_snapshots(&self) -> Vec<(PathBuf, io::Result<Option<Collected>>)> {
        let stores = trash::folders(&self.paths().snapshots()).unwrap_or_default();
        let one = |store: PathBuf| {
            let done = gc::collect(&store, || self.every_folder(), Duration::ZERO);
            (store, done)
        };
        stores.into_iter().map(one).collect()
    }

    /// After sessions with snapshots were removed for good: what only they named goes too. What is in
    /// use stays until `kimi-tui snapshots gc`, or the next time.
    pub(super) fn forget_snapshots(&self) {
        for (store, done) in self.collect_snapshots() {
            match done {
                Ok(Some(_)) => {}
                Ok(None) => tracing::debug!(store = %store.display(), "in use: contents stay"),
                Err(error) => tracing::warn!(store = %store.display(), %error, "contents stay"),
            }
        }
    }
}
