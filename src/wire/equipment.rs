//! What a front end can do and what it brings to a session: tools and hooks of its own
//! (`kimi-facts` C.2, `initialize`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a front end can do, and what it brings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Equipment {
    /// Can it show questions? If not the model is not offered to ask any.
    pub supports_question: bool,
    /// Can it show and switch plan mode?
    pub supports_plan_mode: bool,
    /// May the demo model answer when none is configured?
    pub takes_demo: bool,
    /// Tools that run at the front end.
    pub tools: Vec<ClientTool>,
    /// What it does in the engine's place.
    pub errands: Errands,
    /// Hooks the front end answers.
    pub hooks: Vec<HookSubscription>,
}

impl Equipment {
    /// That of a front end which can do everything and brings nothing.
    #[must_use]
    pub fn full() -> Self {
        Self {
            supports_question: true,
            supports_plan_mode: true,
            takes_demo: true,
            ..Self::default()
        }
    }
}

/// What a front end does in the engine's place. It is asked by `ToolCallRequest`s with the names
/// below; nothing else has such names. In this process only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Errands {
    /// Gives the text of files, what is not saved included: [`Errands::READ`].
    pub read_files: bool,
    /// Writes files: [`Errands::WRITE`].
    pub write_files: bool,
    /// Runs commands where the person sees them: [`Errands::RUN`].
    pub run_commands: bool,
}

impl Errands {
    /// Arguments: `path`. The output is the text.
    pub const READ: &str = "kimi_tui/read_text_file";
    /// Arguments: `path`, `text`.
    pub const WRITE: &str = "kimi_tui/write_text_file";
    /// Arguments: `command`, `timeout` in seconds, `work_dir`, `tool_call_id`. The output is the
    /// command's.
    pub const RUN: &str = "kimi_tui/run_command";
}

/// A tool that runs at the front end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientTool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its parameters.
    pub parameters: Value,
}

/// A hook the front end answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSubscription {
    /// The front end's name for it.
    pub id: String,
    /// The hook event's name.
    pub event: String,
    /// A regular expression on what the event is about; empty for everything.
    #[serde(default)]
    pub matcher: String,
    /// Seconds an answer may take.
    #[serde(default = "half_a_minute")]
    pub timeout: u64,
}

fn half_a_minute() -> u64 {
    30
}
