//! Configuration: `config.toml` of the Python program, flags and environment, resolved into values.

mod error;
mod hooks;
mod load;
mod mcp;
mod names;
mod network;
mod read;
mod resolve;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod tree;
mod ui;
mod web;

pub use error::{ConfigError, ConfigErrorKind};
pub use hooks::{HookConfig, HookEvent};
pub use load::{ConfigSource, Loaded};
pub use mcp::McpConfig;
pub use network::{NetworkConfig, Price, without_login};
pub use resolve::{
    ANTHROPIC_BASE_URL, ASSUMED_CONTEXT, GEMINI_BASE_URL, KIMI_BASE_URL, OPENAI_BASE_URL,
};
pub use rules::{ProjectRules, RuleFiles};
pub use schema::{
    Capability, CompactionConfig, CompactionStrategyKind, Config, LoopControl, ModelConfig,
    ProviderConfig, ProviderKind, ResolvedModel,
};
pub use ui::{Fold, OnExit, UiConfig};
pub use web::{ServiceConfig, WebConfig};
