//! `[mcp.client]`.

use std::time::Duration;

use super::{Reader, Section};
use crate::config::{McpConfig, names};

impl Reader {
    /// `[mcp.client]`.
    pub(super) fn mcp(&mut self, top: &Section<'_>) -> McpConfig {
        let default = McpConfig::default();
        let Some(section) = self.section(top, "mcp") else { return default };
        self.warn_of_slips(&section, names::MCP);
        let Some(client) = self.section(&section, "client") else { return default };
        self.warn_of_slips(&client, names::MCP_CLIENT);
        let timeout = self.integer(&client, "tool_call_timeout_ms", 1).map(i64::unsigned_abs);
        McpConfig {
            tool_call_timeout: timeout.map_or(default.tool_call_timeout, Duration::from_millis),
        }
    }
}
