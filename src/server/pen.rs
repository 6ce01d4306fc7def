//! The pen: of several viewers of a session one at a time may act. The others look on.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// Who may act. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Pen(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    holder: watch::Sender<Option<u64>>,
    next: Mutex<u64>,
}

impl Pen {
    pub(super) fn new() -> Self {
        Self(Arc::new(Inner { holder: watch::Sender::new(None), next: Mutex::new(0) }))
    }

    /// Does it lie there?
    pub(super) fn is_free(&self) -> bool {
        self.0.holder.borrow().is_none()
    }

    /// News whenever it changes hands.
    pub(super) fn changes(&self) -> watch::Receiver<Option<u64>> {
        self.0.holder.subscribe()
    }

    /// A further viewer. It has the pen if nobody else has.
    pub(super) fn hand(&self) -> Hand {
        let mut next = self.0.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        let mut hand = Hand { pen: self.clone(), id: *next, changes: self.0.holder.subscribe() };
        hand.take_if_free();
        // What is so from the start is no news.
        hand.changes.mark_unchanged();
        hand
    }
}

/// One viewer's part in it. Dropping it lays the pen down.
#[derive(Debug)]
pub(super) struct Hand {
    pen: Pen,
    id: u64,
    changes: watch::Receiver<Option<u64>>,
}

impl Hand {
    /// May this viewer act? A pen that lies there is taken.
    pub(super) fn may_act(&self) -> bool {
        self.take_if_free();
        *self.pen.0.holder.borrow() == Some(self.id)
    }

    /// Takes the pen, whoever has it.
    pub(super) fn take(&self) {
        self.pen.0.holder.send_replace(Some(self.id));
    }

    /// Waits until the pen changes hands; says whether this viewer has it now.
    pub(super) async fn changed(&mut self) -> bool {
        loop {
            // The sender lives as long as `self`.
            let _ = self.changes.changed().await;
            if let Some(holder) = *self.changes.borrow_and_update() {
                return holder == self.id;
            }
        }
    }

    fn take_if_free(&self) {
        self.pen.0.holder.send_if_modified(|holder| {
            let is_free = holder.is_none();
            if is_free {
                *holder = Some(self.id);
            }
            is_free
        });
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.pen.0.holder.send_if_modified(|holder| {
            let was_ours = *holder == Some(self.id);
            if was_ours {
                *holder = None;
            }
            was_ours
        });
    }
}
