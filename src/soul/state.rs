//! The session's `state.json` while the session is open: one copy, shared by the loop, the
//! approvals and the tools, written at each change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::SessionState;

/// A shared handle to the session's state.
#[derive(Debug, Clone)]
pub(crate) struct SharedState(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    state: Mutex<SessionState>,
}

impl SharedState {
    /// `state`, which was read from the session folder `dir`.
    pub(crate) fn new(dir: &Path, state: SessionState) -> Self {
        Self(Arc::new(Inner { dir: dir.to_owned(), state: Mutex::new(state) }))
    }

    /// Looks at the state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&SessionState) -> T) -> T {
        look(&self.lock())
    }

    /// Changes the state and stores it. The change holds for this session even when it cannot be
    /// stored.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SessionState)) -> io::Result<()> {
        let mut state = self.lock();
        change(&mut state);
        state.save(&self.0.dir)
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        // A change is a few assignments: a panic in one leaves a state that is still a state.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
