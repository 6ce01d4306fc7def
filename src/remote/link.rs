//! The connection once both sides have agreed: commands go out as methods, what comes goes to the
//! door.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::child::Started;
use super::infer::Inference;
use super::plain::{self, Instead, Open};
use super::request_of;
use crate::rpc::{self, Id, Incoming, Line, LineReader, Outbox, RpcError};
use crate::wire::{Command, DoorMessage, Event, PromptOutcome, Response};

/// What was asked of the server.
enum Asked {
    Prompt,
    Other,
    /// Nobody minds whether it was done.
    Quietly,
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
    open: Open,
    next: u64,
    started: Option<Started>,
}

impl<R: AsyncRead + Unpin> Link<R> {
    pub(super) fn new(
        lines: LineReader<R>,
        outbox: Outbox,
        messages: UnboundedSender<DoorMessage>,
        inference: Inference,
        (is_ours, has_pen): (bool, bool),
        started: Option<Started>,
    ) -> Self {
        let (asked, open, next) = (HashMap::new(), Open::new(), 0);
        Self { lines, outbox, messages, inference, is_ours, has_pen, asked, open, next, started }
    }

    /// Carries both ways until one side leaves.
    pub(super) async fn run(mut self, mut commands: UnboundedReceiver<Command>) {
        let is_left = self.carry(&mut commands).await;
        // The end of its input ends a server that was started for this; its last words do not count.
        self.outbox.close();
        let Some(mut started) = self.started.take() else { return };
        if !is_left {
            let how = started.status().await;
            let how = how.map_or_else(String::new, |status| format!(" ({status})"));
            let words = started.last_words();
            self.tell(DoorMessage::Refused(format!(
                "The program behind this screen has ended{how}.{words}"
            )));
        }
        let read_on = async { while let Ok(Some(_)) = self.lines.next().await {} };
        tokio::select! {
            () = started.end() => {}
            () = async { read_on.await; std::future::pending().await } => {}
        }
    }

    /// Carries both ways. True when this side leaves, false when the other has.
    async fn carry(&mut self, commands: &mut UnboundedReceiver<Command>) -> bool {
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    None | Some(Command::Shutdown) => return true,
                    Some(command) => self.send(command),
                },
                line = self.lines.next() => match line {
                    Ok(Some(Line::Whole(line))) => self.hear(&line),
                    Ok(Some(Line::TooLong)) => tracing::warn!("a line beyond the limit"),
                    Ok(None) => return false,
                    Err(error) => {
                        tracing::warn!(%error, "the server can no longer be read");
                        return false;
                    }
                },
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
            ours if !self.is_ours => self.make_do(ours),
            Command::ReadNotes => self.ask("kimi_tui/read_notes", &json!({}), Asked::Quietly),
            ours => match serde_json::to_value(&ours) {
                Ok(value) => {
                    let name = value["method"].as_str().unwrap_or_default();
                    let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
                    self.ask(&format!("kimi_tui/{name}"), &params, Asked::Other);
                }
                Err(error) => tracing::error!(%error, "a command could not be written"),
            },
        }
    }

    /// The server does not know `command`.
    fn make_do(&mut self, command: Command) {
        match plain::instead(command, &self.open) {
            Instead::Nothing => {}
            Instead::Answer(response, said) => {
                self.respond(&response);
                self.tell(DoorMessage::Refused(said.to_owned()));
            }
            Instead::Tell(messages) => messages.into_iter().for_each(|told| self.tell(told)),
        }
    }

    fn ask(&mut self, method: &str, params: &Value, asked: Asked) {
        self.next += 1;
        let id = format!("c{}", self.next);
        self.outbox.push(&rpc::request(&Id::Text(id.clone()), method, params));
        self.asked.insert(id, asked);
    }

    fn respond(&mut self, response: &Response) {
        let id = match response {
            Response::Approval(answer) => &answer.request_id,
            Response::ToolCall(answer) => &answer.tool_call_id,
            Response::Question(answer) => &answer.request_id,
            Response::Hook(answer) => &answer.request_id,
        };
        self.open.remove(id);
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
                    self.open.insert(id, request.clone());
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
                        self.open.clear();
                        self.tell(DoorMessage::PromptDone(outcome_of(result)));
                    }
                    (Some(Asked::Other), Err(error)) => {
                        self.tell(DoorMessage::Refused(error.message));
                    }
                    (Some(Asked::Other), Ok(_)) | (Some(Asked::Quietly) | None, _) => {}
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
            -32004 => PromptOutcome::LoggedOut { message: error.message },
            _ => PromptOutcome::Failed { message: error.message },
        },
    }
}
