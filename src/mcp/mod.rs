//! Tools of MCP servers: which servers there are, their connections, and their tools as ours.
//!
//! [`config`] reads `mcp.json`, [`edit`] changes it, [`pool`] keeps the connections of one session,
//! [`tool`] makes a server's tool one of ours. The SDK stays inside [`client`] and [`oauth`].

mod client;
pub mod config;
pub mod edit;
mod oauth;
mod output;
mod pool;
mod stderr;
#[cfg(test)]
mod tests;
mod tool;

pub use config::{McpConfigError, McpServer, McpSources, McpTransport};
pub use oauth::{Login, forget_login, login};
pub use pool::{McpLimits, McpOptions, McpPool};
pub use stderr::Tail;
