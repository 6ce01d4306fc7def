//! `[ui.status]`: what the last line of the screen holds.

use serde::{Deserialize, Serialize};

/// Something the last line can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusItem {
    /// What runs, for how long, in which step.
    Activity,
    /// Keys that help here.
    Hints,
    /// Background tasks that run.
    Tasks,
    /// Prompts that wait for the end of the turn.
    Queue,
    /// Plan, yolo, away, shell, vim, mouse off.
    Modes,
    /// The model's name.
    Model,
    /// Does the model think?
    Thinking,
    /// How full the context is.
    Context,
    /// Tokens sent and received on this screen.
    Tokens,
    /// The part of the tokens sent that came from the provider's cache.
    Cache,
    /// What they cost.
    Cost,
    /// How long the turn runs, or the last one ran.
    Time,
    /// The session's title.
    Session,
    /// The work folder.
    Folder,
    /// The git branch.
    Branch,
    /// The agent's name.
    Agent,
    /// What `command` printed.
    Command,
}

impl StatusItem {
    /// Their names.
    pub const NAMES: [(&'static str, Self); 17] = [
        ("activity", Self::Activity),
        ("hints", Self::Hints),
        ("tasks", Self::Tasks),
        ("queue", Self::Queue),
        ("modes", Self::Modes),
        ("model", Self::Model),
        ("thinking", Self::Thinking),
        ("context", Self::Context),
        ("tokens", Self::Tokens),
        ("cache", Self::Cache),
        ("cost", Self::Cost),
        ("time", Self::Time),
        ("session", Self::Session),
        ("folder", Self::Folder),
        ("branch", Self::Branch),
        ("agent", Self::Agent),
        ("command", Self::Command),
    ];
}

/// What the last line of the screen holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusConfig {
    /// Items from the left edge.
    pub left: Vec<StatusItem>,
    /// Items up to the right edge.
    pub right: Vec<StatusItem>,
    /// A command for the shell whose first line of output is an item; empty for none.
    pub command: String,
    /// How long it may take, in milliseconds.
    pub time_limit_ms: u64,
    /// Seconds after which it runs again though nothing happened; 0 for never.
    pub interval_s: u64,
}

impl StatusConfig {
    /// The right side when the file says nothing about it, and when the command has failed.
    pub const RIGHT: [StatusItem; 4] =
        [StatusItem::Tasks, StatusItem::Model, StatusItem::Cost, StatusItem::Context];
    /// The same with a command, which stands for what it can say itself.
    pub const RIGHT_WITH_COMMAND: [StatusItem; 2] = [StatusItem::Tasks, StatusItem::Command];

    /// Is `item` somewhere in it?
    #[must_use]
    pub fn shows(&self, item: StatusItem) -> bool {
        self.left.contains(&item) || self.right.contains(&item)
    }
}

impl Default for StatusConfig {
    fn default() -> Self {
        Self {
            left: vec![StatusItem::Activity, StatusItem::Hints],
            right: Self::RIGHT.to_vec(),
            command: String::new(),
            time_limit_ms: 300,
            interval_s: 0,
        }
    }
}
