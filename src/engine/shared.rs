//! An open session that several front ends may join while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::wire::channel::CommandSender;
use crate::wire::record::StoryEnd;
use crate::wire::{DoorMessage, Hub, Joined, Room, SessionInfo};

/// An open session. Dropping every handle and command sender ends it.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// Facts about it as it was opened.
    pub info: Arc<SessionInfo>,
    /// Commands to its engine.
    pub commands: CommandSender,
    pub(super) hub: Hub,
    pub(super) start: Arc<Mutex<Option<oneshot::Sender<()>>>>,
}

impl OpenSession {
    /// A further front end: what was, and everything from now on. The first one starts the engine.
    #[must_use]
    pub fn join(&self, wants_extensions: bool) -> Joined {
        let joined = self.hub.join(wants_extensions);
        self.start();
        joined
    }

    /// Holds the engine back for a reader that is slower than the model.
    #[must_use]
    pub fn room(&self) -> Room {
        self.hub.room().clone()
    }

    /// How far the record goes that is written until now.
    #[must_use]
    pub fn join_point(&self) -> StoryEnd {
        self.hub.story_end()
    }

    pub(super) fn messages(&self, wants_extensions: bool) -> UnboundedReceiver<DoorMessage> {
        self.hub.subscribe(wants_extensions)
    }

    /// Lets the engine begin, if it has not.
    pub fn start(&self) {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Nobody listens when the runtime is ending.
        let _ = start.map(|start| start.send(()));
    }
}
