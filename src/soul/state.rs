//! The session's `state.json` while the session is open: one copy, shared by the loop, the
//! approvals and the tools, written at each change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::SessionState;
use crate::wire::{DoorMessage, Hub};

/// A shared handle to the session's state.
#[derive(Debug, Clone)]
pub(crate) struct SharedState(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    hub: Hub,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    state: SessionState,
    /// Is there a change that is not in the file?
    is_behind: bool,
}

impl Kept {
    /// Stores the state, and tells the person once when that fails.
    fn store(&mut self, inner: &Inner) -> io::Result<()> {
        let stored = self.state.save(&inner.dir);
        match &stored {
            Ok(()) => self.is_behind = false,
            Err(error) if !self.is_behind => {
                self.is_behind = true;
                inner.hub.tell(DoorMessage::Refused(format!(
                    "The session's settings (state.json) could not be stored: {error}. They hold \
                     until the session ends; storing them is tried again after each turn."
                )));
            }
            Err(_) => {}
        }
        stored
    }
}

impl SharedState {
    /// `state`, which was read from the session folder `dir`. Failures are told through `hub`.
    pub(crate) fn new(dir: &Path, state: SessionState, hub: Hub) -> Self {
        let kept = Mutex::new(Kept { state, is_behind: false });
        Self(Arc::new(Inner { dir: dir.to_owned(), hub, kept }))
    }

    /// Looks at the state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&SessionState) -> T) -> T {
        look(&self.lock().state)
    }

    /// Changes the state and stores it. The change holds for this session even when it cannot be
    /// stored; the person is told, and [`Self::catch_up`] tries again.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SessionState)) -> io::Result<()> {
        let mut kept = self.lock();
        change(&mut kept.state);
        kept.store(&self.0)
    }

    /// Stores what could not be stored before, if there is room now.
    pub(crate) fn catch_up(&self) {
        let mut kept = self.lock();
        if kept.is_behind
            && let Err(error) = kept.store(&self.0)
        {
            tracing::warn!(%error, "the session's state is still not stored");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A change is a few assignments: a panic in one leaves a state that is still a state.
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
