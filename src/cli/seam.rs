//! Stand-ins for parts that have not landed.

use std::path::{Path, PathBuf};

use crate::agent::AgentChoice;
use crate::config::Config;
use crate::message::SessionId;
use crate::paths::Paths;
use crate::wire::Door;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionChoice {
    New,
    Continue,
    Id(SessionId),
}

pub(super) struct HostOptions {
    pub paths: Paths,
    pub config: Config,
    pub work_dir: PathBuf,
    pub agent: AgentChoice,
    pub model: Option<String>,
    pub yolo: bool,
    pub thinking: Option<bool>,
    pub max_steps: Option<u64>,
}

#[derive(Clone)]
pub(super) struct Host;

impl Host {
    pub fn new(_: HostOptions) -> Self {
        Self
    }
    pub fn work_dir(&self) -> &Path {
        Path::new(".")
    }
    pub async fn open(&self, _: &SessionChoice, _: bool) -> anyhow::Result<Door> {
        anyhow::bail!("not built")
    }
}

pub(super) fn key_argument(_tool: &str, arguments: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(arguments).ok()?;
    ["command", "path", "pattern"].iter().find_map(|key| Some(value.get(key)?.as_str()?.to_owned()))
}
