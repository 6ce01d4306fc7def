//! The door between the engine and every front end: wire protocol 1.10 of the Python program, typed.
//!
//! Engine to front end: [`Event`] (news) and [`Request`] (questions). Front end to engine:
//! [`Command`], which carries the [`Response`]s. [`channel`] is the door inside one process,
//! [`record`] keeps what went through it in `wire.jsonl`.
//!
//! What our engine tells beyond 1.10 is an [`Extension`] and reaches only front ends that ask for
//! it, because strict clients fail on event types they do not know.

pub mod channel;
mod command;
mod equipment;
mod event;
mod extension;
pub mod record;
mod request;
mod rewind;
mod room;
pub mod story;
mod task;
mod travel;

pub use channel::{
    Door, DoorClosed, DoorMessage, Hub, Joined, PromptOutcome, SessionInfo, SlashCommand,
};
pub use command::Command;
pub use equipment::{ClientTool, Equipment, Errands, HookSubscription};
pub use event::{
    ApprovalChoice, ApprovalResponse, BtwBegin, BtwEnd, Empty, Event, HookAction, HookResolved,
    HookTriggered, McpServerState, McpServerStatus, McpStatus, Notification, PlanDisplay,
    StatusUpdate, StepBegin, StepRetry, SubagentEvent, ToolCallPart, ToolResult, TurnBegin,
};
pub use extension::{
    CallEdited, CheckpointCreated, ContextChange, ContextRestored, ContextReverted,
    ContextRewritten, ContextSize, Extension, MessageFate, MessagesPinned, OutputStream,
    RevertCause, RewrittenMessage, SideAnswer, ToolOutputChunk, TurnCut, TurnFailed,
};
pub use request::{
    ApprovalRequest, HookAnswer, HookRequest, Question, QuestionAnswer, QuestionOption,
    QuestionRequest, Request, Response, SourceKind, ToolCallAnswer, ToolCallRequest,
};
pub use rewind::{FilesRewound, RewindDeed, RewindFile, RewindPreview, RewindScope};
pub use room::{Hold, Room};
pub use task::{TaskChanged, TaskKind, TaskOutputChunk, TaskState};
pub use travel::{
    ContextLedger, LedgerKind, LedgerMessage, LedgerShare, MessagesHidden, RevertPreview,
};

/// The protocol version this program speaks.
pub const PROTOCOL_VERSION: &str = "1.10";
/// The version of a `wire.jsonl` that does not say its own.
pub const LEGACY_PROTOCOL_VERSION: &str = "1.1";
