//! Blocks a tool hands to the screen (`kimi-cli` `tools/display.py`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where one todo stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    #[serde(alias = "in progress", alias = "In Progress")]
    InProgress,
    /// Done.
    #[serde(alias = "completed", alias = "Done")]
    Done,
}

/// One line of the agent's todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TodoItem {
    /// What is to be done.
    pub title: String,
    /// Where it stands.
    pub status: TodoStatus,
}

/// A piece of a change to a file: some lines before, and what stands there after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffBlock {
    /// The file, absolute.
    pub path: String,
    /// The old lines, without a last newline; empty for a new file.
    pub old_text: String,
    /// The new lines, without a last newline; empty for a deleted file.
    pub new_text: String,
    /// Number of the first old line, from 1.
    #[serde(default = "one")]
    pub old_start: u64,
    /// Number of the first new line, from 1.
    #[serde(default = "one")]
    pub new_start: u64,
    /// True when the texts are a summary ("(12345 lines)") because the file is too long.
    #[serde(default)]
    pub is_summary: bool,
}

fn one() -> u64 {
    1
}

/// A block for the screen. A block of a kind we do not know is kept as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DisplayBlock {
    /// One line that says how it went.
    Brief {
        /// The line.
        text: String,
    },
    /// A change to a file.
    Diff(DiffBlock),
    /// The whole todo list.
    Todo {
        /// Its lines.
        items: Vec<TodoItem>,
    },
    /// A command.
    Shell {
        /// The language to highlight it in.
        language: String,
        /// The command.
        command: String,
    },
    /// A background task that was started or looked at.
    BackgroundTask {
        /// Its id.
        task_id: String,
        /// `bash` or `agent`.
        kind: String,
        /// Where it stands.
        status: String,
        /// What it is for.
        description: String,
    },
    /// A block of a kind this version does not know, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

impl DisplayBlock {
    /// A `brief` block.
    #[must_use]
    pub fn brief(text: impl Into<String>) -> Self {
        Self::Brief { text: text.into() }
    }
}
