//! kimi-tui: the Kimi CLI agent with a full-screen terminal interface.
//!
//! Every front end holds the same door, the [`wire`]: the engine speaks typed events and requests,
//! a front end sends commands back. `docs/architecture.md` has the map and who may use whom.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr,
        missing_docs
    )
)]

pub mod acp;
pub mod agent;
pub mod cli;
pub mod config;
pub mod context;
pub mod engine;
pub mod error;
pub mod files;
pub mod hooks;
pub mod llm;
pub mod log;
pub mod mcp;
pub mod message;
pub mod paths;
pub mod permission;
pub mod prompts;
pub mod remote;
pub mod rpc;
pub mod server;
pub mod session;
pub mod skill;
pub mod snapshot;
mod soul;
pub mod tools;
pub mod ui;
pub mod wire;
