//! What a front end asks the engine about the context, and what a person hid from it: the price of
//! going back, the ledger of tokens.

use serde::{Deserialize, Serialize};

use super::extension::{ContextChange, ContextSize};
use crate::message::{CheckpointRef, Generation};

/// What going back to a checkpoint would cost. Nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertPreview {
    /// The checkpoint.
    pub to: CheckpointRef,
    /// What the context holds.
    pub before: ContextSize,
    /// What it would hold.
    pub after: ContextSize,
    /// Messages the model would forget; the program's notes of checkpoints not counted.
    pub messages: u64,
    /// Files the steps since then wrote, each once, as the calls named them. They stay as they are.
    #[serde(default)]
    pub files: Vec<String>,
}

/// Tool results gave way to a placeholder because a person wanted it. A new generation began, with
/// the same checkpoints; the old one has the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesHidden {
    /// Their numbers in the history, from 0, in order.
    pub messages: Vec<u64>,
    /// Sizes and generations.
    #[serde(flatten)]
    pub change: ContextChange,
}

/// What a part of the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerKind {
    /// The system prompt.
    System,
    /// The tools' names, descriptions and parameters.
    Tools,
    /// What a person said.
    User,
    /// What the program said in the person's place: notes of checkpoints, reminders.
    Note,
    /// What the model said, and what it called.
    Assistant,
    /// What the model thought. Most providers do not take it back, so it counts for nothing later.
    Thinking,
    /// What tools gave back.
    ToolResult,
}

/// Tokens of a kind, estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerShare {
    /// Which.
    pub kind: LedgerKind,
    /// Its tokens.
    pub tokens: u64,
    /// In how many messages.
    pub messages: u64,
}

/// One message of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerMessage {
    /// Its number in the history, from 0.
    pub index: u64,
    /// What it is.
    pub kind: LedgerKind,
    /// What it weighs, estimated; thinking is not counted.
    pub tokens: u64,
    /// Prompts of the person since: 0 in the latest turn.
    pub turns_ago: u64,
    /// The call a result answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool of that call, and what tells the call from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Does a placeholder stand in its place?
    #[serde(default)]
    pub is_hidden: bool,
    /// How its text begins, on one line.
    #[serde(default)]
    pub preview: String,
}

/// What the context consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLedger {
    /// The present generation.
    pub generation: Generation,
    /// What the context holds, as far as a provider counted, else estimated.
    pub size: ContextSize,
    /// Tokens by kind; a kind there is nothing of is left out.
    pub shares: Vec<LedgerShare>,
    /// Every message, oldest first.
    pub messages: Vec<LedgerMessage>,
}
