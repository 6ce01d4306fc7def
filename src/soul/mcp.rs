//! MCP servers on the soul's way: their status is told as it changes, and their tools are taken in at
//! the beginning of a turn, never in the middle of one.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Soul;
use crate::mcp::McpPool;
use crate::tools::{Tool, Toolset};
use crate::wire::{DoorMessage, Empty, Event, Hub, StatusUpdate};

/// The servers of a session.
pub(super) struct Servers {
    pool: McpPool,
    /// The agent's own tools, which the servers' come behind.
    own: Toolset,
    /// Servers whose failure was told.
    told: Vec<String>,
    teller: Option<JoinHandle<()>>,
    /// When they are another agent's: tools of theirs that are not taken over. That agent tells of
    /// the servers.
    borrowed: Option<Vec<String>>,
}

impl Servers {
    pub(super) fn new(
        pool: McpPool,
        own: &Toolset,
        hub: &Hub,
        borrowed: Option<Vec<String>>,
    ) -> Self {
        let tells = borrowed.is_none() && !pool.is_empty();
        let teller = tells.then(|| tokio::spawn(tell(pool.clone(), hub.clone())));
        Self { pool, own: own.clone(), told: Vec::new(), teller, borrowed }
    }
}

impl Servers {
    /// `own` from now on, with the tools of the servers behind it.
    pub(super) fn behind(&mut self, own: Toolset) -> Toolset {
        self.own = own;
        self.own.with(self.tools())
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.pool.tools_without(self.borrowed.as_deref().unwrap_or_default())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // It holds the pool, which ends its servers when nobody holds it any more.
        if let Some(teller) = self.teller.take() {
            teller.abort();
        }
    }
}

/// Tells how far the servers are whenever it changes. Not part of the conversation, so not recorded.
async fn tell(pool: McpPool, hub: Hub) {
    let mut changes = pool.changes();
    loop {
        changes.mark_unchanged();
        hub.tell(DoorMessage::Event(status(&pool)));
        if changes.changed().await.is_err() {
            break;
        }
    }
}

fn status(pool: &McpPool) -> Event {
    Event::StatusUpdate(StatusUpdate { mcp_status: Some(pool.status()), ..StatusUpdate::default() })
}

impl Soul {
    /// Has the tools of all servers that are there. Waits a while for those still being connected,
    /// so that the first request already has them: a list that grows later costs the cache.
    pub(super) async fn load_mcp(&mut self, cancel: &CancellationToken) {
        let pool = self.mcp.pool.clone();
        if pool.is_empty() {
            return;
        }
        if self.mcp.borrowed.is_some() {
            tokio::select! {
                () = pool.settle() => {}
                () = cancel.cancelled() => {}
            }
        } else if pool.is_loading() {
            self.hub.event(status(&pool));
            self.hub.event(Event::MCPLoadingBegin(Empty {}));
            tokio::select! {
                () = pool.settle() => {}
                () = cancel.cancelled() => {}
            }
            self.hub.event(status(&pool));
            self.hub.event(Event::MCPLoadingEnd(Empty {}));
        }
        pool.refresh().await;
        for (server, reason) in pool.failures() {
            if self.mcp.borrowed.is_none() && !self.mcp.told.contains(&server) {
                self.notify(&format!("The MCP server {server} is not there"), &reason, "warning");
                self.mcp.told.push(server);
            }
        }
        let tools = self.mcp.tools();
        if self.mcp.own.specs().len() + tools.len() != self.tools.specs().len() {
            self.tools = Arc::new(self.mcp.own.with(tools));
        }
    }
}
