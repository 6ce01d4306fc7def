//! Background tasks as front ends hear of them.

use serde::{Deserialize, Serialize};

/// What a background task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A command.
    Bash,
    /// A subagent.
    Agent,
}

impl TaskKind {
    /// Its name on the wire and to the model.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Agent => "agent",
        }
    }
}

/// Where a background task stands (`kimi-cli` `background/models.py`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It runs.
    #[default]
    #[serde(alias = "created", alias = "starting", alias = "awaiting_approval")]
    Running,
    /// It has done its work.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Killed,
    /// The program ended without it; nobody knows what became of it.
    Lost,
}

impl TaskState {
    /// Its name on the wire and to the model.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Lost => "lost",
        }
    }
}

/// A background task began, or ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskChanged {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: TaskKind,
    /// What it is for.
    pub title: String,
    /// Where it stands.
    pub state: TaskState,
    /// When it began, seconds since 1970.
    pub started: f64,
    /// When it ended, seconds since 1970.
    #[serde(default)]
    pub ended: Option<f64>,
    /// The exit code of a command that ended by itself.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Why it failed or was stopped; empty when it was not.
    #[serde(default)]
    pub reason: String,
}

/// A background task printed something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskOutputChunk {
    /// The task.
    pub task_id: String,
    /// The text, not sanitised.
    pub text: String,
}
