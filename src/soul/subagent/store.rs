//! What is kept of a subagent: `subagents/ID/{meta.json, prompt.txt, output}` beside its context and
//! its wire (`kimi-cli` `subagents/store.py`, `subagents/output.py`).

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::{self, NonAscii, python_json};

const META: &str = "meta.json";

/// Where a subagent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Idle,
    RunningForeground,
    RunningBackground,
    Completed,
    Failed,
    Killed,
}

/// `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub agent_id: String,
    pub subagent_type: String,
    pub status: Status,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub created_at: f64,
    #[serde(default)]
    pub updated_at: f64,
    #[serde(default)]
    pub last_task_id: Option<String>,
    #[serde(default)]
    pub launch_spec: LaunchSpec,
}

/// How it was begun.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LaunchSpec {
    pub agent_id: String,
    pub subagent_type: String,
    pub model_override: Option<String>,
    pub effective_model: Option<String>,
    pub created_at: f64,
}

/// The folder of one subagent.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub path: PathBuf,
    pub meta: Meta,
}

impl Folder {
    /// A new subagent's folder below `home`.
    pub fn create(home: &Path, kind: &str, title: &str, model: Option<&str>) -> io::Result<Self> {
        let id = format!("a{:08x}", fastrand::u32(..));
        let now = now();
        let launch_spec = LaunchSpec {
            agent_id: id.clone(),
            subagent_type: kind.to_owned(),
            model_override: model.map(str::to_owned),
            effective_model: model.map(str::to_owned),
            created_at: now,
        };
        let path = home.join(&id);
        fs::create_dir_all(&path)?;
        let meta = Meta {
            agent_id: id,
            subagent_type: kind.to_owned(),
            status: Status::Idle,
            description: title.to_owned(),
            created_at: now,
            updated_at: now,
            last_task_id: None,
            launch_spec,
        };
        Ok(Self { path, meta })
    }

    /// The folder of an earlier one; none when there is none of that id.
    pub fn find(home: &Path, id: &str) -> Option<Self> {
        let is_id = id.len() == 9
            && id.starts_with('a')
            && id.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit());
        let path = home.join(id);
        let meta = is_id.then(|| fs::read(path.join(META)).ok()).flatten()?;
        Some(Self { meta: serde_json::from_slice(&meta).ok()?, path })
    }

    /// Keeps where it stands. A failure is logged: the work goes on.
    pub fn set(&mut self, status: Status) {
        self.meta.status = status;
        self.meta.updated_at = now();
        let written = python_json(&self.meta, NonAscii::Keep)
            .map_err(io::Error::from)
            .and_then(|json| files::write_atomic(&self.path.join(META), json.as_bytes()));
        if let Err(error) = written {
            tracing::warn!(%error, "a subagent's record could not be written");
        }
    }

    /// Keeps what it was asked.
    pub fn keep_prompt(&self, prompt: &str) {
        if let Err(error) = fs::write(self.path.join("prompt.txt"), prompt) {
            tracing::warn!(%error, "a subagent's prompt could not be written");
        }
    }

    /// Adds to its readable story.
    pub fn tell(&self, text: &str) {
        let file = OpenOptions::new().create(true).append(true).open(self.path.join("output"));
        if let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
            tracing::debug!(%error, "a subagent's story could not be written");
        }
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
