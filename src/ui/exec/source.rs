//! Where the screen gets its doors from: the engine in this process, or another one.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::config::Config;
use crate::engine::{Host, SessionChoice};
use crate::error::in_words;
use crate::paths::Paths;
use crate::wire::Door;
use crate::wire::story::Story;

/// Opens doors for the screen.
pub trait DoorSource: Send + Sync {
    /// Where data lives.
    fn paths(&self) -> &Paths;

    /// Where the agent works.
    fn work_dir(&self) -> &Path;

    /// What is configured.
    fn config(&self) -> &Config;

    /// The same in another folder; none where that cannot be chosen.
    fn in_folder(&self, _work_dir: &Path) -> Option<Arc<dyn DoorSource>> {
        None
    }

    /// The engine whose configuration can be read and changed here; none where it is another's.
    fn host(&self) -> Option<&Host> {
        None
    }

    /// Are the sessions in our data folder, so that their records can be read there?
    fn keeps_sessions(&self) -> bool {
        false
    }

    /// Opens a session: its door, and what happened in it before where that is not in its folder.
    fn open<'a>(
        &'a self,
        choice: &'a SessionChoice,
    ) -> BoxFuture<'a, Result<(Door, Option<Story>), String>>;
}

impl DoorSource for Host {
    fn paths(&self) -> &Paths {
        Host::paths(self)
    }

    fn work_dir(&self) -> &Path {
        Host::work_dir(self)
    }

    fn config(&self) -> &Config {
        Host::config(self)
    }

    fn host(&self) -> Option<&Host> {
        Some(self)
    }

    fn keeps_sessions(&self) -> bool {
        true
    }

    fn in_folder(&self, work_dir: &Path) -> Option<Arc<dyn DoorSource>> {
        Some(Arc::new(Host::in_folder(self, work_dir)))
    }

    fn open<'a>(
        &'a self,
        choice: &'a SessionChoice,
    ) -> BoxFuture<'a, Result<(Door, Option<Story>), String>> {
        Box::pin(async move {
            let door = Host::open(self, choice, true).await.map_err(|error| in_words(&error))?;
            Ok((door, None))
        })
    }
}
