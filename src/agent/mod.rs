//! Agents: who the model is told to be, and which tools it gets.
//!
//! An agent is an `agent.yaml` and a system prompt. The built-in ones live in `agents/` and are
//! embedded. `docs/agents.md` describes the format; here is how it is read:
//!
//! - [`yaml`]: text to a tree with lines; [`spec`]: the tree to one file's settings;
//! - [`source`]: where agents are found; [`resolve`]: `extend`, paths, the merged settings;
//! - [`vars`], [`instructions`], [`listing`]: what a prompt may mention about this run;
//! - [`template`]: the prompt's variables and blocks filled in.

mod builtin;
mod error;
mod instructions;
mod listing;
mod resolve;
mod source;
mod spec;
mod template;
mod tool_names;
mod vars;
mod yaml;

#[cfg(test)]
mod tests;

pub use error::AgentError;
pub use source::{AgentSource, known_names};
pub use vars::PromptVars;

use std::path::PathBuf;

use crate::paths::Paths;

/// Which agent a session gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentChoice {
    /// A built-in agent, or one in the agents folder of the share folder.
    Named(String),
    /// An agent file, or a folder with an `agent.yaml` in it.
    File(PathBuf),
}

impl Default for AgentChoice {
    fn default() -> Self {
        Self::Named("default".to_owned())
    }
}

/// An agent, ready for a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub description: Option<String>,
    /// What the model is told first, with all variables filled in.
    pub system_prompt: String,
    /// The tools it gets, as its file writes them: short names, the Python program's names or
    /// import paths. `allowed_tools` is already applied.
    pub tools: Vec<String>,
    /// Tools taken away from `tools`, written in the same ways.
    pub exclude_tools: Vec<String>,
    /// Key of the model it wants, for subagents.
    pub model: Option<String>,
    /// A file with MCP servers of its own.
    pub mcp: Option<PathBuf>,
    /// As a subagent: does it have the MCP servers of its caller?
    pub mcp_of_caller: bool,
    /// MCP tools it does not get.
    pub mcp_exclude: Vec<String>,
    /// The agents it may hand work to.
    pub subagents: Vec<Subagent>,
    /// What its files say that is ignored, one sentence each, with file and line.
    pub warnings: Vec<String>,
}

/// An agent another one may hand work to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// What the model calls it.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// Where it is.
    pub source: AgentSource,
}

/// Loads an agent: its file, what that extends, and its system prompt with `vars` filled in.
///
/// # Errors
/// When the name is unknown, a file cannot be read or is wrong, or the prompt uses a variable that
/// nobody defines. The message says where and what to write.
pub fn load(choice: &AgentChoice, paths: &Paths, vars: &PromptVars) -> Result<Agent, AgentError> {
    load_from(&source::find(choice, paths)?, paths, vars)
}

/// Loads the agent at `source`, a subagent for instance. Errors as [`load`] has them.
///
/// # Errors
/// When a file cannot be read or is wrong, or the prompt uses a variable that nobody defines.
pub fn load_from(
    source: &AgentSource,
    paths: &Paths,
    vars: &PromptVars,
) -> Result<Agent, AgentError> {
    let resolved = resolve::resolve(source, paths)?;
    let system_prompt = template::render(&resolved.prompt, vars, &resolved.args)?;
    Ok(Agent {
        name: resolved.name,
        description: resolved.description,
        system_prompt,
        tools: resolved.tools,
        exclude_tools: resolved.exclude_tools,
        model: resolved.model,
        mcp: resolved.mcp,
        mcp_of_caller: resolved.mcp_of_caller,
        mcp_exclude: resolved.mcp_exclude,
        subagents: resolved.subagents,
        warnings: resolved.warnings,
    })
}
