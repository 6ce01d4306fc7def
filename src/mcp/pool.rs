//! The servers of one session: connected in the background, so that nothing waits for them but a
//! turn, and that only for a while.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use tokio::sync::{RwLock, watch};

use super::client::{CallError, Client, ConnectError, Found};
use super::config::McpServer;
use super::tool::McpTool;
use crate::config::NetworkConfig;
use crate::tools::Tool;
use crate::wire::{McpServerState, McpServerStatus, McpStatus};

/// Characters of a tool's name that every provider takes.
const MAX_NAME: usize = 64;

/// How long servers may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// For a connection, and for the list of tools.
    pub connect: Duration,
    /// For a call.
    pub call: Duration,
    /// How long the first turn waits for servers that are still being connected.
    pub turn: Duration,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            // A package runner may have to fetch the server first.
            connect: Duration::from_secs(60),
            call: Duration::from_secs(60),
            turn: Duration::from_secs(10),
        }
    }
}

/// What all connections of a session share.
#[derive(Debug, Clone, Default)]
pub struct McpOptions {
    /// Where servers run.
    pub work_dir: PathBuf,
    /// Where logins are kept.
    pub logins: PathBuf,
    /// Tools that are not taken over, by the servers' names for them.
    pub exclude: Vec<String>,
    /// Names that are taken: the built-in tools'.
    pub reserved: Vec<String>,
    /// How servers on the web are reached.
    pub network: NetworkConfig,
    /// Limits.
    pub limits: McpLimits,
}

/// The servers of a session. Cheap to clone; the servers end with the last clone.
#[derive(Clone)]
pub struct McpPool(Arc<Pool>);

struct Pool {
    slots: Vec<Arc<Slot>>,
    /// Tools in the order they became known, which never changes.
    tools: Mutex<Vec<Arc<McpTool>>>,
    options: McpOptions,
    changes: watch::Sender<u64>,
}

/// One server and how far it is.
pub(super) struct Slot {
    server: McpServer,
    options: McpOptions,
    client: RwLock<Option<Client>>,
    progress: Mutex<Progress>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Clone)]
struct Progress {
    state: McpServerState,
    found: Vec<Found>,
    reason: Option<String>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for McpPool {
    /// No servers.
    fn default() -> Self {
        Self::start(Vec::new(), McpOptions::default())
    }
}

impl McpPool {
    /// Begins to connect `servers`. Needs a tokio runtime.
    #[must_use]
    pub fn start(servers: Vec<McpServer>, options: McpOptions) -> Self {
        let (changes, _) = watch::channel(0);
        let slots: Vec<_> = servers
            .into_iter()
            .map(|server| Arc::new(Slot::new(server, options.clone(), changes.clone())))
            .collect();
        for slot in &slots {
            let slot = Arc::clone(slot);
            tokio::spawn(async move { slot.connect().await });
        }
        Self(Arc::new(Pool { slots, tools: Mutex::default(), options, changes }))
    }

    /// Are there no servers at all?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.slots.is_empty()
    }

    /// How far they are.
    #[must_use]
    pub fn status(&self) -> McpStatus {
        let servers: Vec<_> = self.0.slots.iter().map(|slot| slot.status()).collect();
        let is = |wanted| move |server: &&McpServerStatus| server.status == wanted;
        McpStatus {
            loading: self.is_loading(),
            connected: servers.iter().filter(is(McpServerState::Connected)).count() as u64,
            total: servers.len() as u64,
            tools: servers.iter().map(|server| server.tools.len() as u64).sum(),
            servers,
        }
    }

    /// Is one still being connected?
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.0.slots.iter().any(|slot| {
            matches!(
                held(&slot.progress).state,
                McpServerState::Pending | McpServerState::Connecting
            )
        })
    }

    /// What went wrong so far: server and reason, in the order of the servers.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, String)> {
        let reason = |slot: &Arc<Slot>| {
            let reason = held(&slot.progress).reason.clone()?;
            Some((slot.server.name.clone(), reason))
        };
        self.0.slots.iter().filter_map(reason).collect()
    }

    /// Wakes at every change of [`McpPool::status`].
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Waits until no server is being connected, for as long as a turn may be kept waiting.
    pub async fn settle(&self) {
        let mut changes = self.changes();
        let settled = async {
            while self.is_loading() {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(self.0.options.limits.turn, settled).await;
    }

    /// Asks servers that said so for their new tools.
    pub async fn refresh(&self) {
        for slot in &self.0.slots {
            // Held while the server is being connected, which may take as long as it likes: a turn
            // does not wait for that.
            let Ok(client) = slot.client.try_read() else { continue };
            let found = match client.as_ref() {
                Some(client) => client.changed_tools().await,
                None => None,
            };
            drop(client);
            if let Some(found) = found {
                held(&slot.progress).found = found;
                slot.tell();
            }
        }
    }

    /// [`McpPool::tools`] without those that a server calls by one of these names.
    #[must_use]
    pub fn tools_without(&self, excluded: &[String]) -> Vec<Arc<dyn Tool>> {
        let all = self.tools();
        let known = held(&self.0.tools);
        let is_wanted = |tool: &Arc<McpTool>| !excluded.iter().any(|name| name == tool.own_name());
        all.into_iter()
            .zip(known.iter())
            .filter_map(|(tool, known)| is_wanted(known).then_some(tool))
            .collect()
    }

    /// The tools of all servers that were ever connected. One that is known keeps its place and its
    /// name, so that what a provider has cached holds.
    #[must_use]
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = held(&self.0.tools);
        for slot in &self.0.slots {
            let found = held(&slot.progress).found.clone();
            for one in found {
                let is_known = tools.iter().any(|tool| tool.is(slot, &one.name));
                if is_known || self.0.options.exclude.contains(&one.name) {
                    continue;
                }
                let name = self.free_name(&tools, &slot.server.name, &one.name);
                tools.push(Arc::new(McpTool::new(name, one, Arc::clone(slot))));
            }
        }
        tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect()
    }

    /// The tool's own name where it is free and every provider takes it, else one with the server's.
    fn free_name(&self, tools: &[Arc<McpTool>], server: &str, name: &str) -> String {
        let is_free = |name: &str| {
            !self.0.options.reserved.iter().any(|taken| taken == name)
                && tools.iter().all(|tool| tool.name() != name)
        };
        let plain = plain(name);
        if is_free(&plain) {
            return plain;
        }
        let long = self::plain(&format!("{server}_{name}"));
        (2..)
            .map(|n| format!("{}_{n}", long.chars().take(MAX_NAME - 4).collect::<String>()))
            .find(|name| is_free(name))
            .filter(|_| !is_free(&long))
            .unwrap_or(long)
    }
}

impl std::fmt::Debug for McpPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.slots.iter().map(|slot| &slot.server.name)).finish()
    }
}

/// `name` with letters, digits, `_` and `-` only, and not too long.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let text: String =
        name.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
    if text.is_empty() { "tool".to_owned() } else { text }
}

impl Slot {
    fn new(server: McpServer, options: McpOptions, changes: watch::Sender<u64>) -> Self {
        let progress = Progress { state: McpServerState::Pending, found: Vec::new(), reason: None };
        Self { server, options, client: RwLock::new(None), progress: Mutex::new(progress), changes }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn set(&self, state: McpServerState, reason: Option<String>) {
        {
            let mut progress = held(&self.progress);
            progress.state = state;
            progress.reason = reason;
        }
        self.tell();
    }

    fn status(&self) -> McpServerStatus {
        let progress = held(&self.progress);
        McpServerStatus {
            name: self.server.name.clone(),
            status: progress.state,
            tools: progress.found.iter().map(|found| found.name.clone()).collect(),
        }
    }

    async fn connect(&self) {
        let mut client = self.client.write().await;
        self.set(McpServerState::Connecting, None);
        match Client::connect(&self.server, &self.options).await {
            Ok((connected, found)) => {
                *client = Some(connected);
                held(&self.progress).found = found;
                self.set(McpServerState::Connected, None);
            }
            Err(error) => {
                *client = None;
                tracing::warn!(server = self.server.name, %error, "an MCP server is not there");
                let state = match error {
                    ConnectError::Failed(_) => McpServerState::Failed,
                    ConnectError::Unauthorized(_) => McpServerState::Unauthorized,
                };
                self.set(state, Some(error.to_string()));
            }
        }
    }

    /// Calls a tool. A server that has died since the last call is started again first; one that
    /// dies of this call is not asked again, as it may have done half of it.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, CallError> {
        if self.client.read().await.as_ref().is_none_or(Client::is_closed) {
            self.connect().await;
        }
        match self.client.read().await.as_ref() {
            Some(client) => client.call(tool, arguments, self.options.limits.call).await,
            None => {
                let reason = held(&self.progress).reason.clone().unwrap_or_default();
                Err(CallError::Refused(format!("it is gone and could not be started: {reason}")))
            }
        }
    }
}
