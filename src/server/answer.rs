//! Answers to requests. A client that answers with an error, or with what is no answer, has said
//! the safe thing (`kimi-facts` C.5).

use serde_json::Value;

use crate::message::ToolReturn;
use crate::rpc::RpcError;
use crate::wire::{
    ApprovalChoice, ApprovalResponse, HookAction, HookAnswer, QuestionAnswer, Request, Response,
    SourceKind, ToolCallAnswer,
};

/// What an answer says.
pub(super) enum Answered {
    With(Response),
    /// Nothing anybody waits for.
    Nothing,
}

/// Reads the answer to `request`.
pub(super) fn read(request: &Request, result: Result<Value, RpcError>) -> Answered {
    Answered::With(match request {
        Request::ApprovalRequest(ask) => Response::Approval(read_as(result).map_or_else(
            |_| ApprovalResponse {
                request_id: ask.id.clone(),
                response: ApprovalChoice::Reject,
                feedback: String::new(),
            },
            |answer: ApprovalResponse| ApprovalResponse { request_id: ask.id.clone(), ..answer },
        )),
        Request::ToolCallRequest(call) => {
            let return_value = match read_as(result) {
                Ok(ToolCallAnswer { return_value, .. }) => return_value,
                Err(message) => ToolReturn::error(message.clone(), message),
            };
            Response::ToolCall(ToolCallAnswer { tool_call_id: call.id.clone(), return_value })
        }
        Request::QuestionRequest(ask) => {
            let answer: QuestionAnswer = read_as(result).unwrap_or_default();
            Response::Question(QuestionAnswer { request_id: ask.id.clone(), ..answer })
        }
        Request::HookRequest(ask) => {
            let answer = read_as(result).unwrap_or(HookAnswer {
                request_id: String::new(),
                action: HookAction::Allow,
                reason: String::new(),
            });
            Response::Hook(HookAnswer { request_id: ask.id.clone(), ..answer })
        }
        Request::Unknown(_) => return Answered::Nothing,
    })
}

fn read_as<T: serde::de::DeserializeOwned>(result: Result<Value, RpcError>) -> Result<T, String> {
    let value = result.map_err(|error| error.message)?;
    serde_json::from_value(value).map_err(|error| format!("Invalid response: {error}"))
}

/// Does it wait for longer than the turn?
pub(super) fn outlives_turn(request: &Request) -> bool {
    matches!(request, Request::ApprovalRequest(ask) if ask.source_kind != SourceKind::ForegroundTurn)
}
