//! The methods a client calls, their results and their errors (`kimi-facts` C.2 and C.3).

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::replay::{self, Source};
use super::viewer::{Replaying, Role, Viewer};
use crate::message::UserInput;
use crate::rpc::{self, INTERNAL_ERROR, INVALID_PARAMS, Id, METHOD_NOT_FOUND, RpcError};
use crate::wire::{Command, PromptOutcome};

/// The request does not fit what happens just now.
pub(super) const WRONG_STATE: i64 = -32000;
/// No model is configured.
const NO_MODEL: i64 = -32001;
/// The model lacks something.
const NOT_SUPPORTED: i64 = -32002;
/// The provider failed.
const PROVIDER_FAILED: i64 = -32003;
/// Another viewer may act. Ours.
const PEN_ELSEWHERE: i64 = -32010;

const IN_PROGRESS: &str = "An agent turn is already in progress";
const NOT_IN_PROGRESS: &str = "No agent turn is in progress";
pub(super) const NO_PEN: &str =
    "Another viewer of this session may act. Take the pen from it first (/pen).";

/// What begins the names of our own methods.
pub(super) const PREFIX: &str = "kimi_tui/";
/// Commands of ours that a client may send, by their names behind the prefix.
pub(super) const OURS: [&str; 21] = [
    "revert",
    "restore",
    "add_rule",
    "approve_edited",
    "remove_rule",
    "pin",
    "side_question",
    "cancel_side_question",
    "set_away",
    "stop_task",
    "set_title",
    "import",
    "set_model",
    "reload",
    "preview_rewind",
    "rewind",
    "redo_rewind",
    "preview_revert",
    "ledger",
    "hide",
    "cancel_call",
];

/// When an answer comes.
pub(super) enum Reply {
    Now(Value),
    Later,
}

type Replied = Result<Reply, RpcError>;

#[derive(Deserialize)]
struct Input {
    user_input: UserInput,
}

#[derive(Deserialize)]
struct PlanMode {
    enabled: bool,
}

fn wrong_state(message: &str) -> RpcError {
    RpcError::new(WRONG_STATE, message)
}

fn read<T: serde::de::DeserializeOwned>(method: &str, params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| {
        tracing::info!(method, %error, "parameters that are not the method's");
        bad_params(method)
    })
}

pub(super) fn bad_params(method: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("Invalid parameters for method `{method}`"))
}

impl Viewer<'_> {
    /// Carries out a request; one without an id gets no answer.
    pub(super) fn request(&mut self, id: Option<Id>, method: &str, params: Value) {
        let replied = self.call(id.as_ref(), method, params);
        let Some(id) = id else { return };
        match replied {
            Ok(Reply::Now(result)) => self.outbox.push(&rpc::success(&id, &result)),
            Ok(Reply::Later) => {}
            Err(error) => self.outbox.push(&rpc::error(Some(&id), &error)),
        }
        if method == "initialize" && !self.awaits_replay {
            self.ask_again();
        }
    }

    fn call(&mut self, id: Option<&Id>, method: &str, params: Value) -> Replied {
        match method {
            "initialize" => self.initialize(params).map(Reply::Now),
            "prompt" => self.prompt(id, read(method, params)?),
            "steer" => self.steer(read(method, params)?),
            "cancel" => self.cancel(),
            "replay" => self.begin_replay(id),
            "set_plan_mode" => self.set_plan_mode(id, &read(method, params)?),
            _ => match method.strip_prefix(PREFIX).filter(|_| self.is_ours) {
                Some(name) => self.ours(name, params),
                None => Err(unknown(method)),
            },
        }
    }

    /// The client does something: it has seen what it wants to see of the past.
    fn acts(&mut self) -> Result<(), RpcError> {
        if !self.may_act() {
            return Err(RpcError::new(PEN_ELSEWHERE, NO_PEN));
        }
        if self.messages.is_none() {
            self.join();
        }
        self.awaits_replay = false;
        Ok(())
    }

    pub(super) fn is_busy(&self) -> bool {
        self.prompt.is_some() || self.is_working || self.replay.is_some()
    }

    fn prompt(&mut self, id: Option<&Id>, input: Input) -> Replied {
        self.acts()?;
        if self.is_busy() {
            return Err(wrong_state(IN_PROGRESS));
        }
        if input.user_input.is_blank() {
            return Err(bad_params("prompt"));
        }
        // A prompt nobody wants to hear the end of runs all the same.
        self.prompt = id.cloned();
        self.is_working = true;
        self.send(Command::Prompt(input.user_input));
        Ok(Reply::Later)
    }

    fn steer(&mut self, input: Input) -> Replied {
        self.acts()?;
        if !self.is_working {
            return Err(wrong_state(NOT_IN_PROGRESS));
        }
        if input.user_input.is_blank() {
            return Err(bad_params("steer"));
        }
        self.send(Command::Steer(input.user_input));
        Ok(Reply::Now(json!({ "status": "steered" })))
    }

    fn cancel(&mut self) -> Replied {
        if let Some(replay) = &self.replay {
            replay.cancel.cancel();
            return Ok(Reply::Now(json!({})));
        }
        self.acts()?;
        if !self.is_working {
            return Err(wrong_state(NOT_IN_PROGRESS));
        }
        self.send(Command::Cancel);
        Ok(Reply::Now(json!({})))
    }

    fn begin_replay(&mut self, id: Option<&Id>) -> Replied {
        // One that joins a running session sees what was before what is.
        if self.is_busy() && !self.awaits_replay {
            return Err(wrong_state(IN_PROGRESS));
        }
        let Some(id) = id.cloned() else { return Ok(Reply::Later) };
        let cancel = CancellationToken::new();
        let end = if self.awaits_replay { self.story } else { self.session.join_point() };
        let source = Source { folder: self.session.info.session_dir.clone(), end };
        let run = replay::tell(source, self.is_ours, self.outbox.clone(), cancel.clone());
        self.replay = Some(Replaying { id, cancel, run: Box::pin(run) });
        Ok(Reply::Later)
    }

    fn set_plan_mode(&mut self, id: Option<&Id>, wanted: &PlanMode) -> Replied {
        self.acts()?;
        self.plan.extend(id.cloned());
        self.send(Command::SetPlanMode(wanted.enabled));
        Ok(Reply::Later)
    }

    /// A method of ours (`docs/wire.md`).
    fn ours(&mut self, name: &str, params: Value) -> Replied {
        let method = format!("{PREFIX}{name}");
        match (name, &self.role) {
            ("take_pen", Role::OneOf(hand)) => {
                hand.take();
                return Ok(Reply::Now(json!({})));
            }
            ("shutdown", Role::OneOf(_)) => {
                self.send(Command::Shutdown);
                return Ok(Reply::Now(json!({})));
            }
            _ if !OURS.contains(&name) => return Err(unknown(&method)),
            _ => {}
        }
        self.acts()?;
        let params = if params.is_null() { json!({}) } else { params };
        let command: Command = ours(&method, name, params)?;
        self.send(command);
        Ok(Reply::Now(json!({})))
    }
}

/// One of our commands. One that takes nothing may come with empty parameters or without.
fn ours(method: &str, name: &str, params: Value) -> Result<Command, RpcError> {
    let is_bare = params.as_object().is_some_and(serde_json::Map::is_empty);
    let bare = json!({ "method": name });
    match serde_json::from_value(bare) {
        Ok(command) if is_bare => Ok(command),
        _ => read(method, json!({ "method": name, "params": params })),
    }
}

fn unknown(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, format!("Unexpected method received: {method}"))
}

/// The answer to a prompt.
pub(super) fn result_of(outcome: &PromptOutcome, is_ours: bool) -> Result<Value, RpcError> {
    let failure = |code, message: String| Err(RpcError::new(code, message));
    match outcome {
        PromptOutcome::Finished => Ok(json!({ "status": "finished" })),
        PromptOutcome::Cancelled => Ok(json!({ "status": "cancelled" })),
        PromptOutcome::MaxStepsReached { steps } => {
            Ok(json!({ "status": "max_steps_reached", "steps": steps }))
        }
        PromptOutcome::ModelNotSet => failure(NO_MODEL, "LLM is not set".to_owned()),
        PromptOutcome::NotSupported { capability, model } => failure(
            NOT_SUPPORTED,
            format!("LLM model '{model}' does not support required capability: {capability}."),
        ),
        PromptOutcome::ProviderFailed { message, retryable } => {
            let mut error = RpcError::new(PROVIDER_FAILED, message.clone());
            error.data = is_ours.then(|| json!({ "retryable": retryable }));
            Err(error)
        }
        PromptOutcome::LoggedOut { message } => failure(PROVIDER_FAILED, message.clone()),
        PromptOutcome::Failed { message } => {
            failure(INTERNAL_ERROR, format!("RuntimeError: {message}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_with_and_without_parameters() {
        let read = |name: &str, params: Value| ours("m", name, params);
        assert_eq!(read("ledger", json!({})).ok(), Some(Command::Ledger));
        assert_eq!(read("reload", json!({})).ok(), Some(Command::Reload));
        let restore = Command::Restore { generation: None };
        assert_eq!(read("restore", json!({})).ok(), Some(restore));
        assert_eq!(read("set_title", json!("x")).ok(), Some(Command::SetTitle("x".into())));
        assert!(read("stop_task", json!({})).is_err());
        assert!(read("ledger", json!({"a": 1})).is_err());
    }
}
