//! `[mcp.client]`: how long the tools of MCP servers may take. The servers are in `mcp.json`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[mcp.client]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpConfig {
    /// How long a call may take.
    pub tool_call_timeout: Duration,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { tool_call_timeout: Duration::from_secs(60) }
    }
}
