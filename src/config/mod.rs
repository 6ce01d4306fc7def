//! Configuration: `config.toml` of the Python program, flags and environment, resolved into values.

mod background;
pub mod edit;
mod error;
mod hooks;
mod import;
mod load;
mod mcp;
mod names;
mod network;
mod oauth;
mod read;
mod resolve;
mod rules;
mod schema;
mod services;
mod snapshots;
mod status_line;
#[cfg(test)]
mod tests;
mod tree;
mod ui;
mod web;

pub use crate::message::Price;
pub use background::BackgroundConfig;
pub use error::{ConfigError, ConfigErrorKind};
pub use hooks::{HookConfig, HookEvent};
pub use import::import_yaml;
pub use load::{ConfigSource, Loaded};
pub use mcp::McpConfig;
pub use network::{NetworkConfig, without_login};
pub use oauth::{LoginCode, OauthConfig};
pub use resolve::{
    ANTHROPIC_BASE_URL, ASSUMED_CONTEXT, GEMINI_BASE_URL, KIMI_BASE_URL, OPENAI_BASE_URL,
};
pub use rules::{ProjectRules, RuleFiles};
pub use schema::{
    Capability, CompactionConfig, CompactionStrategyKind, Config, LoopControl, ModelConfig,
    ProviderConfig, ProviderKind, ResolvedModel,
};
pub use services::{KIMI_CODE, Offered, Secret, Service};
pub use snapshots::SnapshotConfig;
pub use status_line::{StatusConfig, StatusItem};
pub use ui::{Fold, OnExit, Switch, UiConfig};
pub use web::{ServiceConfig, WebConfig};
