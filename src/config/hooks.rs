//! Hooks as they are configured: which command runs at which event (`kimi-cli` `hooks/config.py`).

use serde::{Deserialize, Serialize};

/// When a hook may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HookEvent {
    /// Before a tool runs; can block it.
    PreToolUse,
    /// A tool has done its work.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// The person sent a prompt; can block it.
    UserPromptSubmit,
    /// The turn is about to end; can send the model on once.
    Stop,
    /// The turn failed.
    StopFailure,
    /// A session was opened.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A subagent begins; can block it.
    SubagentStart,
    /// A subagent is done.
    SubagentStop,
    /// Before the context is compacted.
    PreCompact,
    /// It was.
    PostCompact,
    /// The person is told something.
    Notification,
}

impl HookEvent {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
        Self::Stop,
        Self::StopFailure,
        Self::SessionStart,
        Self::SessionEnd,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
    ];

    /// Its name in the configuration, on the wire and in a hook's input.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
        }
    }

    /// The event called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// One command and when it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookConfig {
    /// When.
    pub event: HookEvent,
    /// A regular expression that must be found in what the event is about, a tool's name for
    /// instance; empty for everything.
    #[serde(default)]
    pub matcher: String,
    /// The command, for the shell.
    pub command: String,
    /// Seconds it may take, 1 to 600.
    #[serde(default = "half_a_minute")]
    pub timeout: u64,
}

/// Seconds a hook may take when nothing else is said.
pub(super) fn half_a_minute() -> u64 {
    30
}
