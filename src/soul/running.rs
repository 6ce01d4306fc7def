//! The calls that run, so that a person can stop one of them and let the others go on.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{AbortHandle, Id};

/// The running calls of a step. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// By the call's id; equal calls share a task.
    tasks: HashMap<String, AbortHandle>,
    stopped: HashSet<Id>,
}

impl Running {
    /// `task` carries out the call `id`.
    pub(super) fn add(&self, id: &str, task: AbortHandle) {
        self.lock().tasks.insert(id.to_owned(), task);
    }

    /// Stops the call `id`. False when no such call runs.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let mut state = self.lock();
        let Some(task) = state.tasks.get(id).filter(|task| !task.is_finished()) else {
            return false;
        };
        let task = task.clone();
        state.stopped.insert(task.id());
        task.abort();
        true
    }

    /// Was this task stopped for its own sake?
    pub(super) fn was_cancelled(&self, task: Id) -> bool {
        self.lock().stopped.contains(&task)
    }

    /// The step is over.
    pub(super) fn clear(&self) {
        *self.lock() = State::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
