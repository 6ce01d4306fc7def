//! Events: what the engine tells (`kimi-cli` `wire/types.py`, protocol 1.10).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Extension;
use crate::message::{ContentPart, DisplayBlock, TokenUsage, ToolCall, ToolReturn, UserInput};

/// One piece of news from the engine. `{"type": …, "payload": {…}}`.
///
/// A type we do not know, or one we know with a payload we cannot read, becomes
/// [`Event::Unknown`] and is never an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub enum Event {
    /// A turn begins.
    TurnBegin(TurnBegin),
    /// Text was put into the running turn; sent when it enters the context.
    SteerInput(TurnBegin),
    /// A turn is over, however it ended. Nested in flows: not the sign that the engine is idle.
    TurnEnd(Empty),
    /// A step begins.
    StepBegin(StepBegin),
    /// A step failed. Not sent when the person cancelled.
    StepInterrupted(Empty),
    /// The step's model call is tried again: what it had said so far is void.
    StepRetry(StepRetry),
    /// The context is being summarised.
    CompactionBegin(Empty),
    /// It was. Not sent when that failed.
    CompactionEnd(Empty),
    /// Hooks are running.
    HookTriggered(HookTriggered),
    /// They have decided.
    HookResolved(HookResolved),
    /// MCP servers are being connected.
    MCPLoadingBegin(Empty),
    /// They are, as far as they can be.
    MCPLoadingEnd(Empty),
    /// Numbers for the status line; an absent one is unchanged.
    StatusUpdate(StatusUpdate),
    /// Something a person may want to know.
    Notification(Notification),
    /// A plan to read.
    PlanDisplay(PlanDisplay),
    /// A side question was asked.
    BtwBegin(BtwBegin),
    /// It was answered.
    BtwEnd(BtwEnd),
    /// An event of a subagent.
    SubagentEvent(SubagentEvent),
    /// A piece of what the model says; adjacent pieces of a kind belong together.
    ContentPart(ContentPart),
    /// A tool call begins; its arguments may still be coming.
    ToolCall(ToolCall),
    /// More of the latest tool call's arguments.
    ToolCallPart(ToolCallPart),
    /// A tool call is over.
    ToolResult(ToolResult),
    /// Somebody answered an approval request; every front end can close its panel.
    #[serde(alias = "ApprovalRequestResolved")]
    ApprovalResponse(ApprovalResponse),
    /// News beyond protocol 1.10, or of a type nobody here knows.
    #[serde(untagged)]
    Extension(Extension),
    /// An event as it came.
    #[serde(untagged)]
    Unknown(Value),
}

impl Event {
    /// The payload-less events, by name.
    #[must_use]
    pub fn turn_end() -> Self {
        Self::TurnEnd(Empty {})
    }

    /// Is it part of protocol 1.10, so that every front end may see it?
    #[must_use]
    pub fn is_standard(&self) -> bool {
        !matches!(self, Self::Extension(_))
    }
}

/// A payload with nothing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Empty {}

/// What a turn begins with, or what was steered into it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnBegin {
    /// What the person sent.
    pub user_input: UserInput,
}

impl TurnBegin {
    /// Stands in the place of a prompt when a turn begins by itself (`kimi-cli`
    /// `ui/shell/__init__.py`).
    pub const TASKS_ENDED: &str =
        "<system-reminder>Background tasks completed while you were idle.</system-reminder>";
}

/// Number of a step in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepBegin {
    /// Counted from 1.
    pub n: u64,
}

/// A model call failed and will be made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRetry {
    /// The step.
    pub n: u64,
    /// The coming attempt, from 2.
    pub next_attempt: u64,
    /// The last attempt there will be.
    pub max_attempts: u64,
    /// Seconds until then.
    pub wait_s: f64,
    /// The kind of error.
    pub error_type: String,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
}

/// Hooks were started for an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookTriggered {
    /// The hook event.
    pub event: String,
    /// What it is about, a tool's name for instance.
    #[serde(default)]
    pub target: String,
    /// How many hooks run.
    #[serde(default)]
    pub hook_count: u64,
}

/// What hooks may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookAction {
    /// Go on.
    #[default]
    Allow,
    /// Do not.
    Block,
}

/// What the hooks of an event said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookResolved {
    /// The hook event.
    pub event: String,
    /// What it is about.
    #[serde(default)]
    pub target: String,
    /// Their verdict.
    #[serde(default)]
    pub action: HookAction,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// How long they took, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
}

/// How far an MCP server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServerState {
    /// Not begun.
    Pending,
    /// Being connected.
    Connecting,
    /// Ready.
    Connected,
    /// Could not be connected.
    Failed,
    /// Wants a login.
    Unauthorized,
}

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McpServerStatus {
    /// Its name in the configuration.
    pub name: String,
    /// How far it is.
    pub status: McpServerState,
    /// The names of its tools.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// All MCP servers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct McpStatus {
    /// Are some still being connected?
    #[serde(default)]
    pub loading: bool,
    /// How many are ready.
    #[serde(default)]
    pub connected: u64,
    /// How many there are.
    #[serde(default)]
    pub total: u64,
    /// How many tools they give.
    #[serde(default)]
    pub tools: u64,
    /// Each of them.
    #[serde(default)]
    pub servers: Vec<McpServerStatus>,
}

/// Numbers for the status line. `None` means unchanged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StatusUpdate {
    /// Part of the context window in use, 0 to 1.
    #[serde(default)]
    pub context_usage: Option<f64>,
    /// Tokens in the context.
    #[serde(default)]
    pub context_tokens: Option<u64>,
    /// Size of the context window in tokens.
    #[serde(default)]
    pub max_context_tokens: Option<u64>,
    /// Tokens of the last model call.
    #[serde(default)]
    pub token_usage: Option<TokenUsage>,
    /// The provider's id of the last answer.
    #[serde(default)]
    pub message_id: Option<String>,
    /// Is plan mode on?
    #[serde(default)]
    pub plan_mode: Option<bool>,
    /// MCP servers.
    #[serde(default)]
    pub mcp_status: Option<McpStatus>,
}

/// Something a person may want to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification {
    /// Its id.
    pub id: String,
    /// What area it is from, `task` for instance.
    #[serde(default)]
    pub category: String,
    /// What happened, `task.completed` for instance.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// What kind of thing it is about.
    #[serde(default)]
    pub source_kind: String,
    /// Which one.
    #[serde(default)]
    pub source_id: String,
    /// One line.
    #[serde(default)]
    pub title: String,
    /// The rest.
    #[serde(default)]
    pub body: String,
    /// `info`, `success`, `warning` or `error`.
    #[serde(default)]
    pub severity: String,
    /// Seconds since 1970.
    #[serde(default)]
    pub created_at: f64,
    /// Details.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

/// A plan to read before it is approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanDisplay {
    /// Markdown.
    pub content: String,
    /// The plan's file.
    #[serde(default)]
    pub file_path: String,
}

/// A side question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BtwBegin {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
}

/// The answer to a side question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BtwEnd {
    /// The question's id.
    pub id: String,
    /// The answer.
    #[serde(default)]
    pub response: Option<String>,
    /// Why there is none.
    #[serde(default)]
    pub error: Option<String>,
}

/// An event that happened in a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubagentEvent {
    /// The tool call that started the subagent.
    #[serde(default, alias = "task_tool_call_id")]
    pub parent_tool_call_id: Option<String>,
    /// The subagent's id.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// What kind of subagent it is.
    #[serde(default)]
    pub subagent_type: Option<String>,
    /// What happened.
    pub event: Box<Event>,
}

/// More of a tool call's arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallPart {
    /// The piece of JSON text.
    #[serde(default)]
    pub arguments_part: Option<String>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub tool_call_id: String,
    /// What came of it.
    pub return_value: ToolReturn,
}

/// What a person may say to an approval request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalChoice {
    /// This once.
    Approve,
    /// This, and every later request with the same action in this session.
    ApproveForSession,
    /// No.
    Reject,
}

/// An answer to an approval request: as a command to the engine, and as news to everybody else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalResponse {
    /// The request.
    pub request_id: String,
    /// The answer.
    pub response: ApprovalChoice,
    /// What to do instead, on a rejection.
    #[serde(default)]
    pub feedback: String,
}

/// Blocks of a result, for callers that hold the event only.
impl ToolResult {
    /// The blocks for the screen.
    #[must_use]
    pub fn display(&self) -> &[DisplayBlock] {
        &self.return_value.display
    }
}
