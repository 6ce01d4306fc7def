//! News beyond protocol 1.10: what a screen needs to show checkpoints, reverts and live output.
//!
//! Front ends that did not ask never see these. The lasting ones (all but live output) are kept in
//! `timeline.jsonl`, never in `wire.jsonl`, so that other programs can go on reading the latter.

use serde::{Deserialize, Serialize};

use crate::message::{CheckpointId, CheckpointRef, Generation};

/// News beyond protocol 1.10. `{"type": …, "payload": {…}}`, like every event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub enum Extension {
    /// A checkpoint was made.
    CheckpointCreated(CheckpointCreated),
    /// The context went back to a checkpoint.
    ContextReverted(ContextReverted),
    /// The context was emptied.
    ContextCleared(ContextChange),
    /// The context was summarised: the token counts that `CompactionEnd` lacks.
    ContextCompacted(ContextChange),
    /// A tool printed something while it runs.
    ToolOutput(ToolOutputChunk),
}

impl Extension {
    /// Does it belong in `timeline.jsonl`?
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        !matches!(self, Self::ToolOutput(_))
    }
}

/// How much a context holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContextSize {
    /// Messages the model sees.
    pub messages: u64,
    /// Tokens, the estimate of what no provider has counted yet included.
    pub tokens: u64,
}

/// A checkpoint was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointCreated {
    /// Its address.
    pub at: CheckpointRef,
    /// The step that follows it, from 1; none for the checkpoint before a user message.
    #[serde(default)]
    pub step: Option<u64>,
    /// What the context held at it.
    pub size: ContextSize,
}

/// Who turned time back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevertCause {
    /// The model, with a D-Mail.
    AgentDMail,
    /// The person, with or without a message to the past.
    User,
}

/// The context went back to a checkpoint. Files were not touched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextReverted {
    /// The checkpoint gone back to, in the generation that ended.
    pub to: CheckpointRef,
    /// Who did it.
    pub cause: RevertCause,
    /// The message sent to the past.
    #[serde(default)]
    pub mail: Option<String>,
    /// Sizes and generations.
    #[serde(flatten)]
    pub change: ContextChange,
}

/// One generation of the context ended and the next began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextChange {
    /// The generation that ended.
    pub old_generation: Generation,
    /// The one that began.
    pub new_generation: Generation,
    /// What the old one held.
    pub before: ContextSize,
    /// What the new one begins with.
    pub after: ContextSize,
    /// The next checkpoint's id in the new generation.
    pub next_checkpoint: CheckpointId,
}

/// Which stream a tool's output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Output of a running tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOutputChunk {
    /// The call.
    pub tool_call_id: String,
    /// Where it came from.
    pub stream: OutputStream,
    /// The text, not sanitised.
    pub text: String,
}
