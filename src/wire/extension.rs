//! News beyond protocol 1.10: what a screen needs to show checkpoints, reverts and live output.
//!
//! Front ends that did not ask never see these. The lasting ones (all but live output, side
//! answers and dry runs) are kept in
//! `timeline.jsonl`, never in `wire.jsonl`, so that other programs can go on reading the latter.

use serde::{Deserialize, Serialize};

use super::task::{TaskChanged, TaskOutputChunk};
use super::travel::{ContextLedger, MessagesHidden, RevertPreview};
use super::{FilesRewound, RewindPreview};
use crate::message::{CheckpointId, CheckpointRef, Generation, Role};

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
    /// What that did to each message; told right before it.
    ContextRewritten(ContextRewritten),
    /// An earlier context, or what a revert had dropped, is the context again.
    ContextRestored(ContextRestored),
    /// A person approved a call with other arguments than the model's.
    CallEdited(CallEdited),
    /// A person hid tool results; told right behind the `ContextRewritten` that names them.
    MessagesHidden(MessagesHidden),
    /// What going back would cost. Nothing was done.
    RevertPreview(RevertPreview),
    /// What the context consists of.
    ContextLedger(ContextLedger),
    /// What going back would do to files. Nothing was done.
    RewindPreview(RewindPreview),
    /// Files were taken back or brought forth.
    FilesRewound(FilesRewound),
    /// Messages that a compaction had taken away are in the context again.
    MessagesPinned(MessagesPinned),
    /// More of the answer to a side question.
    SideAnswer(SideAnswer),
    /// A background task began, or ended.
    TaskChanged(TaskChanged),
    /// A background task printed something.
    TaskOutput(TaskOutputChunk),
    /// A tool printed something while it runs.
    ToolOutput(ToolOutputChunk),
    /// The turn ends because something failed; told right before its `TurnEnd`.
    TurnFailed(TurnFailed),
    /// The turn ends though the model was not done; told right before its `TurnEnd`.
    TurnCut(TurnCut),
}

impl Extension {
    /// Does it belong in `timeline.jsonl`?
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        !matches!(
            self,
            Self::ToolOutput(_)
                | Self::SideAnswer(_)
                | Self::RevertPreview(_)
                | Self::ContextLedger(_)
                | Self::TaskOutput(_)
                | Self::RewindPreview(_)
        )
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

/// What became of a message that a compaction did not keep as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageFate {
    /// It is part of a summary.
    Summarised,
    /// A placeholder stands in its place.
    Hidden,
    /// It is gone.
    Dropped,
}

/// One message that a compaction did not keep as it was. It still stands in the context file of
/// the generation that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewrittenMessage {
    /// Its number in that history, from 0.
    pub index: u64,
    /// Whose it was.
    pub role: Role,
    /// What became of it.
    pub fate: MessageFate,
    /// What it weighed, estimated.
    pub tokens: u64,
    /// The call a result answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// How its text begins, on one line.
    #[serde(default)]
    pub preview: String,
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRewritten {
    /// The generation that ended, whose file has the messages.
    pub generation: Generation,
    /// The strategy's name in the configuration.
    pub strategy: String,
    /// Was it the fallback, after the strategy that was asked for had failed?
    #[serde(default)]
    pub is_fallback: bool,
    /// The messages that are not in the new context as they were.
    pub messages: Vec<RewrittenMessage>,
}

/// An earlier generation came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextRestored {
    /// The generation whose content the context has again.
    pub from: Generation,
    /// Did it take a person's last way back, rather than a choice of theirs (`/redo`)?
    #[serde(default)]
    pub is_redo: bool,
    /// Sizes and generations.
    #[serde(flatten)]
    pub change: ContextChange,
}

/// Why a turn ended before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailed {
    /// What happened and what to do, for a person.
    pub message: String,
}

/// The model was not done when its turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCut {
    /// The limit of steps that was reached; none where somebody stopped the turn.
    #[serde(default)]
    pub steps: Option<u64>,
}

/// A person approved a call with other arguments than the model's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEdited {
    /// The call.
    pub tool_call_id: String,
    /// JSON text of the arguments that count.
    pub arguments: String,
}

/// Messages of an earlier generation are quoted at the end of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesPinned {
    /// The generation whose file has them.
    pub generation: Generation,
    /// Their numbers in its history, from 0, in order.
    pub messages: Vec<u64>,
    /// What they weigh now, estimated.
    pub tokens: u64,
    /// What the context holds with them.
    pub size: ContextSize,
}

/// A piece of the answer to a side question, between its `BtwBegin` and its `BtwEnd`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideAnswer {
    /// The question's id.
    pub id: String,
    /// What comes next in it, not sanitised.
    #[serde(default)]
    pub text_delta: String,
    /// What had come is void: the provider failed, and the answer begins anew.
    #[serde(default)]
    pub restarted: bool,
    /// Nothing more comes; `BtwEnd` has the whole answer or the failure.
    #[serde(default)]
    pub done: bool,
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
