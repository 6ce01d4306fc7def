//! The connection once both sides have agreed: commands go out as methods, what comes goes to the
//! door.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::process::Child;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::infer::Inference;
use super::request_of;
use crate::rpc::{self, Id, Incoming, Line, LineReader, Outbox, RpcError};
use crate::wire::{Command, DoorMessage, Event, PromptOutcome, Response};

/// How long a server may take to leave when its input has ended.
const FAREWELL: Duration = Duration::from_secs(10);

/// What was asked of the server.
enum Asked {
    Prompt,
    Other,
}

pub(super) struct Link<R> {
    lines: LineReader<R>,
    outbox: Outbox,
    messages: UnboundedSender<DoorMessage>,
    inference: Inference,
    is_ours: bool,
    /// Do several screens take turns?
    has_pen: bool,
    asked: HashMap<String, Asked>,
    next: u64,
    child: Option<Child>,
}

impl<R: AsyncRead + Unpin> Link<R> {
    pub(super) fn new(
        lines: LineReader<R>,
        outbox: Outbox,
        messages: UnboundedSender<DoorMessage>,
        inference: Inference,
        (is_ours, has_pen): (bool, bool),
        child: Option<Child>,
    ) -> Self {
        let asked = HashMap::new();
        Self { lines, outbox, messages, inference, is_ours, has_pen, asked, next: 0, child }
    }

    /// Carries both ways until one side leaves.
    pub(super) async fn run(mut self, mut commands: UnboundedReceiver<Command>) {
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    None | Some(Command::Shutdown) => break,
                    Some(command) => self.send(command),
                },
                line = self.lines.next() => match line {
                    Ok(Some(Line::Whole(line))) => self.hear(&line),
                    Ok(Some(Line::TooLong)) => tracing::warn!("a line beyond the limit"),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!(%error, "the server can no longer be read");
                        break;
                    }
                },
            }
        }
        // The end of its input ends a server that was started for this; its last words do not count.
        self.outbox.close();
        if let Some(mut child) = self.child.take() {
            let end = async {
                while let Ok(Some(_)) = self.lines.next().await {}
                child.wait().await
            };
            if tokio::time::timeout(FAREWELL, end).await.is_err() {
                tracing::warn!("the server did not end in time; it is killed");
            }
        }
    }

    fn send(&mut self, command: Command) {
        match command {
            Command::Prompt(input) if self.has_pen && input.text().trim() == "/pen" => {
                self.ask("kimi_tui/take_pen", &json!({}), Asked::Other);
                self.tell(DoorMessage::PromptDone(PromptOutcome::Finished));
            }
            Command::Prompt(input) => {
                self.ask("prompt", &json!({ "user_input": input }), Asked::Prompt);
            }
            Command::Steer(input) => {
                self.ask("steer", &json!({ "user_input": input }), Asked::Other);
            }
            Command::Cancel => self.ask("cancel", &json!({}), Asked::Other),
            Command::SetPlanMode(on) => {
                self.ask("set_plan_mode", &json!({ "enabled": on }), Asked::Other);
            }
            Command::Respond(response) => self.respond(&response),
            Command::Shutdown | Command::Equip(_) => {}
            ours if self.is_ours => match serde_json::to_value(&ours) {
                Ok(value) => {
                    let name = value["method"].as_str().unwrap_or_default();
                    let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
                    self.ask(&format!("kimi_tui/{name}"), &params, Asked::Other);
                }
                Err(error) => tracing::error!(%error, "a command could not be written"),
            },
            _ => self.tell(DoorMessage::Refused(
                "The engine behind this screen cannot do that: it speaks the plain protocol."
                    .to_owned(),
            )),
        }
    }

    fn ask(&mut self, method: &str, params: &Value, asked: Asked) {
        self.next += 1;
        let id = format!("c{}", self.next);
        self.outbox.push(&rpc::request(&Id::Text(id.clone()), method, params));
        self.asked.insert(id, asked);
    }

    fn respond(&self, response: &Response) {
        let id = match response {
            Response::Approval(answer) => &answer.request_id,
            Response::ToolCall(answer) => &answer.tool_call_id,
            Response::Question(answer) => &answer.request_id,
            Response::Hook(answer) => &answer.request_id,
        };
        self.outbox.push(&rpc::success(&Id::Text(id.clone()), response));
    }

    fn tell(&self, message: DoorMessage) {
        // Nobody listens only while the screen goes.
        let _ = self.messages.send(message);
    }

    fn hear(&mut self, line: &[u8]) {
        match rpc::parse(line) {
            Ok(Incoming::Notification { method, params }) => self.note(&method, params),
            Ok(Incoming::Request { id: Id::Text(id), params, .. }) => match request_of(params) {
                Some(request) if request.id() == Some(&id) => {
                    self.tell(DoorMessage::Request(request));
                }
                _ => {
                    let error = RpcError::new(rpc::INVALID_PARAMS, "Not understood");
                    self.outbox.push(&rpc::error(Some(&Id::Text(id)), &error));
                }
            },
            Ok(Incoming::Response { id: Some(Id::Text(id)), result }) => {
                match (self.asked.remove(&id), result) {
                    (Some(Asked::Prompt), result) => {
                        self.tell(DoorMessage::PromptDone(outcome_of(result)));
                    }
                    (Some(Asked::Other), Err(error)) => {
                        self.tell(DoorMessage::Refused(error.message));
                    }
                    (Some(Asked::Other), Ok(_)) | (None, _) => {}
                }
            }
            Ok(Incoming::Request { .. } | Incoming::Response { .. }) => {}
            Err(fault) => tracing::warn!(%fault, "a line of the server"),
        }
    }

    fn note(&mut self, method: &str, params: Value) {
        let read = match method {
            "event" => {
                let Ok(event) = serde_json::from_value::<Event>(params) else { return };
                for event in self.inference.see(event) {
                    self.tell(DoorMessage::Event(event));
                }
                return;
            }
            "kimi_tui/info" => serde_json::from_value(params).map(DoorMessage::Info),
            "kimi_tui/prompt_done" => serde_json::from_value(params).map(DoorMessage::PromptDone),
            "kimi_tui/refused" => {
                let reason = params["reason"].as_str().unwrap_or_default().to_owned();
                Ok(DoorMessage::Refused(reason))
            }
            "kimi_tui/pen" => Ok(DoorMessage::Refused(if params["held"] == true {
                "You have the pen of this session now.".to_owned()
            } else {
                "Another screen has the pen of this session. /pen takes it back.".to_owned()
            })),
            _ => return,
        };
        match read {
            Ok(message) => self.tell(message),
            Err(error) => tracing::warn!(method, %error, "news that cannot be read"),
        }
    }
}

/// How a prompt ended, by its answer.
fn outcome_of(result: Result<Value, RpcError>) -> PromptOutcome {
    match result {
        Ok(result) => match result["status"].as_str() {
            Some("cancelled") => PromptOutcome::Cancelled,
            Some("max_steps_reached") => {
                PromptOutcome::MaxStepsReached { steps: result["steps"].as_u64().unwrap_or(0) }
            }
            _ => PromptOutcome::Finished,
        },
        Err(error) => match error.code {
            -32001 => PromptOutcome::ModelNotSet,
            -32003 => PromptOutcome::ProviderFailed {
                message: error.message,
                retryable: error.data.is_some_and(|data| data["retryable"] == true),
            },
            _ => PromptOutcome::Failed { message: error.message },
        },
    }
}
