//! What a session is opened with beyond the configuration: what flags say, and what a front end says
//! that opens sessions in many folders.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Host, HostOptions};
use crate::config::Config;
use crate::mcp::{McpServer, McpSources};

/// What flags say about a session beyond the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFlags {
    /// Further folders of the workspace.
    pub added_dirs: Vec<PathBuf>,
    /// Where skills are looked for instead of the project's and the person's folders.
    pub skill_dirs: Vec<PathBuf>,
    /// Is plan mode on from the beginning?
    pub plan: bool,
    /// Is the person away from the beginning?
    pub afk: bool,
    /// How often a model call is tried again; none for what is configured.
    pub max_retries: Option<u64>,
}

/// Where a front end opens a session, and what it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// Where the agent works.
    pub work_dir: PathBuf,
    /// Further folders of the workspace.
    pub added_dirs: Vec<PathBuf>,
    /// The MCP servers, in the place of those that are configured.
    pub servers: Vec<McpServer>,
}

impl Host {
    /// The same host for a session elsewhere.
    #[must_use]
    pub fn elsewhere(&self, elsewhere: Elsewhere) -> Self {
        let mut options = HostOptions::clone(&self.0);
        options.work_dir = elsewhere.work_dir;
        options.flags.added_dirs.extend(elsewhere.added_dirs);
        options.mcp = McpSources { only: Some(elsewhere.servers), ..McpSources::default() };
        Self(Arc::new(options), self.1.clone())
    }

    /// Is there a model that could answer, besides the demo?
    ///
    /// # Errors
    /// When the one that is configured cannot be found.
    pub fn has_model(&self, config: &Config) -> anyhow::Result<bool> {
        let env = |name: &str| self.0.env.get(name);
        Ok(config.resolve_model(self.0.model.as_deref(), &env)?.is_some())
    }
}
