//! The engine: puts configuration, session, agent, model and soul together and hands out the door.
//!
//! [`Host::open`] is the one way in; what a front end holds afterwards is a [`Door`]. Opening is in
//! [`open`], leaving in [`Closing`].

mod chosen;
mod elsewhere;
mod env;
mod open;
mod setup;
mod shared;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;

use crate::agent::AgentChoice;
use crate::config::{Config, ConfigSource};
use crate::mcp::McpSources;
use crate::message::SessionId;
use crate::paths::Paths;
use crate::session::{Session, SessionLock, SessionStore};
use crate::soul::Soul;
use crate::wire::channel::CommandSender;
use crate::wire::{Door, Equipment, Hub};

pub use elsewhere::{Elsewhere, SessionFlags};
pub use env::Env;
pub use shared::OpenSession;

/// What a host is made from: flags, configuration and environment.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Where data lives.
    pub paths: Paths,
    /// What is configured.
    pub config: Config,
    /// Where the agent works.
    pub work_dir: PathBuf,
    /// Which agent. The default one gives way to `okabe` with the demo model, which shows D-Mail.
    pub agent: AgentChoice,
    /// A model's key, or name; none for the configured one.
    pub model: Option<String>,
    /// Is every action approved unasked? Not stored.
    pub yolo: bool,
    /// Should the model think? None for what is configured.
    pub thinking: Option<bool>,
    /// Steps in one turn, at most; none for what is configured.
    pub max_steps: Option<u64>,
    /// Extra rounds of the ralph loop, -1 for endless; none for what is configured.
    pub max_ralph_iterations: Option<i64>,
    /// Where MCP servers come from.
    pub mcp: McpSources,
    /// What flags say beyond that.
    pub flags: SessionFlags,
    /// Environment variables.
    pub env: Env,
}

impl HostOptions {
    /// What holds when no flag says anything else.
    #[must_use]
    pub fn new(paths: Paths, config: Config, work_dir: PathBuf, env: Env) -> Self {
        Self {
            paths,
            config,
            work_dir,
            agent: AgentChoice::default(),
            model: None,
            yolo: false,
            thinking: None,
            max_steps: None,
            max_ralph_iterations: None,
            mcp: McpSources::default(),
            flags: SessionFlags::default(),
            env,
        }
    }
}

/// Which session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one.
    New,
    /// The last one of the work folder.
    Continue,
    /// This one, by its id or a unique beginning of it.
    Id(SessionId),
}

/// What a front end can do. Tools that need more than it can are not offered to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrontEnd {
    /// Does it want news beyond protocol 1.10?
    pub wants_extensions: bool,
    /// Can it show questions?
    pub supports_question: bool,
    /// Can it show and switch plan mode?
    pub supports_plan_mode: bool,
}

/// A front end that wants news beyond the protocol is ours and can do everything; another one is
/// taken to be able to do nothing.
impl From<bool> for FrontEnd {
    fn from(is_ours: bool) -> Self {
        Self { wants_extensions: is_ours, supports_question: is_ours, supports_plan_mode: is_ours }
    }
}

impl FrontEnd {
    fn equipment(self) -> Equipment {
        Equipment {
            supports_question: self.supports_question,
            supports_plan_mode: self.supports_plan_mode,
            ..Equipment::full()
        }
    }
}

/// Opens sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Host(Arc<HostOptions>, Option<ConfigSource>);

impl Host {
    /// A host. Nothing is read yet.
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        Self(Arc::new(options), None)
    }

    /// Where data lives.
    #[must_use]
    pub fn paths(&self) -> &Paths {
        &self.0.paths
    }

    /// Where the agent works, as it was given.
    #[must_use]
    pub fn work_dir(&self) -> &Path {
        &self.0.work_dir
    }

    /// The same host in another folder: for a session that belongs there.
    #[must_use]
    pub fn in_folder(&self, work_dir: &Path) -> Self {
        let options = HostOptions { work_dir: work_dir.to_owned(), ..(*self.0).clone() };
        Self(Arc::new(options), self.1.clone())
    }

    /// What is configured.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Opens a session and starts its engine. Needs a tokio runtime with timers; the engine lives
    /// until `Command::Shutdown`, and the door's messages end when everything is written.
    ///
    /// # Errors
    /// An error for a person: no such folder, agent, model or session, a session that is open
    /// elsewhere, a folder that cannot be written.
    pub async fn open(
        &self,
        choice: &SessionChoice,
        front: impl Into<FrontEnd>,
    ) -> anyhow::Result<Door> {
        let front = front.into();
        let session = self.begin(choice, front.equipment()).await?;
        let messages = session.messages(front.wants_extensions);
        session.start();
        Ok(Door { info: session.info, commands: session.commands, messages })
    }

    /// Opens a session that several front ends may join. Nothing is told before the first has.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub async fn share(
        &self,
        choice: &SessionChoice,
        equipment: Equipment,
    ) -> anyhow::Result<OpenSession> {
        self.begin(choice, equipment).await
    }

    async fn begin(
        &self,
        choice: &SessionChoice,
        equipment: Equipment,
    ) -> anyhow::Result<OpenSession> {
        let (options, choice) = (self.fresh_options()?, choice.clone());
        let settings = self.settings();
        let opened = tokio::task::spawn_blocking(move || open::open(&options, &choice))
            .await
            .context("opening the session failed because of a defect in this program")??;
        let hub = opened.setup.hub.clone();
        let info = Arc::new(opened.setup.info.clone());
        let (commands, inbox) = CommandSender::channel();
        let mut soul = Soul::new(opened.setup);
        soul.take_settings_from(settings);
        soul.equip(equipment);
        let closing = opened.closing;
        let its_hub = hub.clone();
        let (start, started) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            // The first listener must not miss what a session begins with.
            let _ = started.await;
            soul.run(inbox).await;
            // Its files must be closed before the session may be removed.
            drop(soul);
            let _ = tokio::task::spawn_blocking(move || closing.close()).await;
            its_hub.close();
        });
        Ok(OpenSession { info, commands, hub, start: Arc::new(Mutex::new(Some(start))) })
    }
}

/// What is left to do when a session ends.
struct Closing {
    store: SessionStore,
    session: Session,
    /// Held until the end.
    lock: SessionLock,
    hub: Hub,
}

impl Closing {
    /// Removes a session nothing was said in; makes any other one the last of its folder.
    fn close(self) {
        self.hub.flush();
        match self.store.remove_if_empty(&self.session) {
            Ok(true) => {}
            Ok(false) => {
                if let Err(error) = self.store.mark_last(&self.session) {
                    tracing::warn!(%error, "the session could not be made the last one");
                }
            }
            Err(error) => tracing::warn!(%error, "the empty session could not be removed"),
        }
        drop(self.lock);
    }
}
