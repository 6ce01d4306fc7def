//! Requests: what the engine asks a front end, and the answers (`kimi-facts` C.5; protocol 1.10).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApprovalResponse, HookAction};
use crate::message::{DisplayBlock, ToolReturn};

/// A question to the front end. `{"type": …, "payload": {…}}`; the payload's `id` names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub enum Request {
    /// May this be done?
    ApprovalRequest(ApprovalRequest),
    /// Run a tool the front end offered.
    ToolCallRequest(ToolCallRequest),
    /// Questions for the person.
    QuestionRequest(QuestionRequest),
    /// What does a hook the front end subscribed say?
    HookRequest(HookRequest),
    /// A request as it came.
    #[serde(untagged)]
    Unknown(Value),
}

impl Request {
    /// The request's id, where it has one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::ApprovalRequest(request) => Some(&request.id),
            Self::ToolCallRequest(request) => Some(&request.id),
            Self::QuestionRequest(request) => Some(&request.id),
            Self::HookRequest(request) => Some(&request.id),
            Self::Unknown(value) => value.pointer("/payload/id").and_then(Value::as_str),
        }
    }
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The turn on the screen.
    #[default]
    ForegroundTurn,
    /// An agent in the background.
    #[serde(other)]
    BackgroundAgent,
}

/// May this be done?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The request's id.
    pub id: String,
    /// The tool call that waits.
    pub tool_call_id: String,
    /// The tool's name as it was called.
    pub sender: String,
    /// The action's name, which "for this session" refers to.
    pub action: String,
    /// One line about it.
    pub description: String,
    /// Where it comes from.
    #[serde(default)]
    pub source_kind: SourceKind,
    /// The turn or agent it comes from.
    #[serde(default)]
    pub source_id: Option<String>,
    /// The subagent that asks.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// What kind of subagent that is.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// What that subagent is for.
    #[serde(default)]
    pub source_description: Option<String>,
    /// Blocks that show what would be done.
    #[serde(default)]
    pub display: Vec<DisplayBlock>,
}

/// Run a tool the front end offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRequest {
    /// The tool call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text.
    #[serde(default)]
    pub arguments: Option<String>,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    #[serde(default)]
    pub description: String,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// A word for its tab.
    #[serde(default)]
    pub header: String,
    /// The answers offered.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// May several be chosen?
    #[serde(default)]
    pub multi_select: bool,
    /// More to read.
    #[serde(default)]
    pub body: String,
    /// What the free answer is called.
    #[serde(default)]
    pub other_label: String,
    /// What the free answer means.
    #[serde(default)]
    pub other_description: String,
}

/// Questions for the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionRequest {
    /// The request's id.
    pub id: String,
    /// The tool call that waits.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// One to four questions.
    pub questions: Vec<Question>,
}

/// What does a subscribed hook say?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookRequest {
    /// The request's id.
    pub id: String,
    /// Which subscription.
    pub subscription_id: String,
    /// The hook event.
    pub event: String,
    /// What it is about.
    #[serde(default)]
    pub target: String,
    /// Details.
    #[serde(default)]
    pub input_data: Map<String, Value>,
}

/// The result of a front end's tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallAnswer {
    /// The call.
    pub tool_call_id: String,
    /// Its result.
    pub return_value: ToolReturn,
}

/// Answers to questions: question to label, labels joined by `, `, or free text. Empty: dismissed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// The request.
    pub request_id: String,
    /// Question text to answer.
    #[serde(default)]
    pub answers: BTreeMap<String, String>,
}

/// What a subscribed hook says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HookAnswer {
    /// The request.
    pub request_id: String,
    /// The verdict.
    #[serde(default)]
    pub action: HookAction,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// A front end's answer to a [`Request`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Response {
    /// To an approval request.
    Approval(ApprovalResponse),
    /// To a tool call request.
    ToolCall(ToolCallAnswer),
    /// To a question request.
    Question(QuestionAnswer),
    /// To a hook request.
    Hook(HookAnswer),
}
