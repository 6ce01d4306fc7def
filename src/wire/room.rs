//! Whether those who listen keep up: the engine waits for a slow reader instead of filling the
//! memory with what it has not read.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts who has to catch up first. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Room(Arc<watch::Sender<usize>>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Room {
    /// Asks for a pause until the hold is dropped.
    #[must_use]
    pub fn hold(&self) -> Hold {
        self.0.send_modify(|holds| *holds += 1);
        Hold(self.clone())
    }

    /// Waits until nobody asks for a pause.
    pub async fn wait(&self) {
        if *self.0.borrow() == 0 {
            return;
        }
        // The sender is `self`: it cannot be gone.
        let _ = self.0.subscribe().wait_for(|holds| *holds == 0).await;
    }
}

/// Somebody has to catch up first.
#[derive(Debug)]
pub struct Hold(Room);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.send_modify(|holds| *holds = holds.saturating_sub(1));
    }
}
