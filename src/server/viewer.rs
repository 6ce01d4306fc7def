//! One client of one session: what it sends is heard, what the engine tells is told, in order.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::json;
use tokio::io::AsyncRead;
use tokio::sync::mpsc::UnboundedReceiver;

use super::answer::{self, Answered};
use super::pen::Hand;
use super::replay::{self, Told};
use super::{Facts, LONGEST_LINE};
use crate::engine::OpenSession;
use crate::rpc::{
    self, Fault, INVALID_REQUEST, Id, Incoming, Line, LineReader, Outbox, PARSE_ERROR, RpcError,
};
use crate::wire::record::StoryEnd;
use crate::wire::{
    Command, DoorMessage, Event, Extension, Hold, Notification, PromptOutcome, Request, SessionInfo,
};

/// Bytes that may wait before the engine is held back, and how few let it go on.
const MANY: usize = 1 << 20;
const FEW: usize = 1 << 18;
/// Bytes that may wait before nothing more is read from the client.
const TOO_MANY: usize = 8 << 20;
/// Bytes a viewer of a daemon may leave unread before it is sent away: the others must not wait.
const LAGGING: usize = 32 << 20;

/// Whether a client has the session to itself.
#[derive(Debug)]
pub(super) enum Role {
    /// It has: the engine waits for it, and it brings tools and hooks.
    Only,
    /// It is one of several.
    OneOf(Hand),
}

/// A client.
pub(super) struct Viewer<'a> {
    pub(super) session: &'a OpenSession,
    pub(super) facts: &'a Facts,
    /// Facts about the session, as told last.
    pub(super) info: Arc<SessionInfo>,
    pub(super) outbox: Outbox,
    pub(super) role: Role,
    /// Does it want what is ours beyond protocol 1.10?
    pub(super) is_ours: bool,
    /// What the engine tells from when the client joined; none before.
    pub(super) messages: Option<UnboundedReceiver<DoorMessage>>,
    /// How far the record goes that was there before.
    pub(super) story: StoryEnd,
    /// Is the record still to be told before the news?
    pub(super) awaits_replay: bool,
    /// Requests the client has not answered.
    pub(super) asked: HashMap<String, Request>,
    /// Its prompt that runs.
    pub(super) prompt: Option<Id>,
    pub(super) is_working: bool,
    pub(super) replay: Option<Replaying>,
    /// Plan mode switches that are to be answered.
    pub(super) plan: VecDeque<Id>,
    hold: Option<Hold>,
    is_over: bool,
}

/// A replay that runs.
pub(super) struct Replaying {
    pub(super) id: Id,
    pub(super) cancel: tokio_util::sync::CancellationToken,
    pub(super) run: BoxFuture<'static, Result<Told, String>>,
}

/// What happens next.
#[expect(clippy::large_enum_variant, reason = "lives from one select to one match")]
enum Next {
    Line(Option<Line>),
    Message(Option<DoorMessage>),
    Replayed(Result<Told, String>),
    Drained,
    Pen(bool),
    Unread,
}

impl<'a> Viewer<'a> {
    pub(super) fn new(
        session: &'a OpenSession,
        facts: &'a Facts,
        outbox: Outbox,
        role: Role,
    ) -> Self {
        let mut viewer = Self {
            session,
            facts,
            info: Arc::clone(&session.info),
            outbox,
            role,
            is_ours: false,
            messages: None,
            story: StoryEnd::default(),
            awaits_replay: false,
            asked: HashMap::new(),
            prompt: None,
            is_working: false,
            replay: None,
            plan: VecDeque::new(),
            hold: None,
            is_over: false,
        };
        if matches!(viewer.role, Role::Only) {
            viewer.join();
        }
        viewer
    }

    /// Hears and tells until the client's input ends or it no longer reads.
    pub(super) async fn serve(&mut self, input: impl AsyncRead + Unpin) {
        let mut lines = LineReader::new(input, LONGEST_LINE);
        while !self.is_over {
            match self.next(&mut lines).await {
                Next::Line(Some(line)) => self.hear(line),
                Next::Line(None) | Next::Message(None) | Next::Unread => return,
                Next::Message(Some(message)) => self.tell(message),
                Next::Replayed(told) => self.replayed(told),
                Next::Drained => {}
                Next::Pen(is_held) => self.note("kimi_tui/pen", &json!({ "held": is_held })),
            }
            self.mind_the_queue();
        }
    }

    async fn next<R: AsyncRead + Unpin>(&mut self, lines: &mut LineReader<R>) -> Next {
        let waiting = self.outbox.bytes();
        let is_held = self.hold.is_some();
        let news = self.replay.is_none() && !self.awaits_replay;
        let hand = match &mut self.role {
            Role::OneOf(hand) if self.is_ours => Some(hand),
            _ => None,
        };
        let messages = self.messages.as_mut().filter(|_| news);
        tokio::select! {
            line = lines.next(), if waiting < TOO_MANY => match line {
                Ok(line) => Next::Line(line),
                Err(error) => {
                    tracing::info!(%error, "the client can no longer be read");
                    Next::Line(None)
                }
            },
            Some(message) = async { Some(messages?.recv().await) } => Next::Message(message),
            Some(told) = async { Some((&mut self.replay.as_mut()?.run).await) } => {
                Next::Replayed(told)
            }
            () = self.outbox.until(FEW), if is_held || waiting >= TOO_MANY => Next::Drained,
            Some(is_held) = async { Some(hand?.changed().await) } => Next::Pen(is_held),
            () = self.outbox.unread() => Next::Unread,
        }
    }

    /// Tells what the engine still tells, to its end.
    pub(super) async fn hear_out(&mut self) {
        self.replay = None;
        let Some(mut messages) = self.messages.take() else { return };
        while let Some(message) = messages.recv().await {
            self.tell(message);
        }
    }

    /// From here on the engine's news come.
    pub(super) fn join(&mut self) {
        // All of it: what is ours is left out here, once it is known whether it is wanted.
        let joined = self.session.join(true);
        self.messages = Some(joined.messages);
        self.story = joined.story;
        self.info = joined.info.unwrap_or_else(|| Arc::clone(&self.session.info));
        self.is_working = joined.is_working;
        for request in joined.open_requests {
            if let Some(id) = request.id() {
                self.asked.insert(id.to_owned(), request);
            }
        }
    }

    /// Keeps the memory a slow client costs bounded.
    fn mind_the_queue(&mut self) {
        let waiting = self.outbox.bytes();
        match &self.role {
            Role::Only if waiting > MANY && self.hold.is_none() => {
                self.hold = Some(self.session.room().hold());
            }
            Role::Only if waiting <= FEW => self.hold = None,
            Role::OneOf(_) if waiting > LAGGING => {
                tracing::warn!(waiting, "a viewer does not read; it is sent away");
                self.is_over = true;
            }
            _ => {}
        }
        self.is_over |= self.outbox.is_closed();
    }

    fn hear(&mut self, line: Line) {
        let Line::Whole(line) = line else {
            let mut error = RpcError::new(INVALID_REQUEST, "Invalid request");
            error.data = Some(format!("The line is longer than {LONGEST_LINE} bytes.").into());
            return self.outbox.push(&rpc::error(None, &error));
        };
        match rpc::parse(&line) {
            Err(fault) => {
                let (code, message) = match fault {
                    Fault::NotJson => (PARSE_ERROR, "Invalid JSON format"),
                    Fault::NoMessage => (INVALID_REQUEST, "Invalid request"),
                    Fault::NoResponse => (INVALID_REQUEST, "Invalid response"),
                };
                self.outbox.push(&rpc::error(None, &RpcError::new(code, message)));
            }
            // The protocol's ids are texts (`wire/jsonrpc.py:37-46`).
            Ok(
                Incoming::Request { id: Id::Number(_), .. }
                | Incoming::Response { id: Some(Id::Number(_)), .. },
            ) => {
                let error = RpcError::new(INVALID_REQUEST, "Invalid request");
                self.outbox.push(&rpc::error(None, &error));
            }
            Ok(Incoming::Request { id, method, params }) => {
                self.request(Some(id), &method, params);
            }
            Ok(Incoming::Notification { method, params }) => self.request(None, &method, params),
            Ok(Incoming::Response { id: Some(Id::Text(id)), result }) => self.answer(&id, result),
            Ok(Incoming::Response { id, .. }) => {
                tracing::debug!(?id, "a response to nothing");
            }
        }
    }

    fn answer(&mut self, id: &str, result: Result<serde_json::Value, RpcError>) {
        if !self.may_act() {
            return self.note("kimi_tui/refused", &json!({ "reason": super::methods::NO_PEN }));
        }
        match self.asked.remove(id).map(|request| answer::read(&request, result)) {
            Some(Answered::With(response)) => self.send(Command::Respond(response)),
            Some(Answered::Nothing) => {}
            None => tracing::debug!(id, "an answer to a request that is not open"),
        }
    }

    /// May the client act, or does another one hold the pen?
    pub(super) fn may_act(&self) -> bool {
        match &self.role {
            Role::Only => true,
            Role::OneOf(hand) => hand.may_act(),
        }
    }

    pub(super) fn send(&self, command: Command) {
        if self.session.commands.send(command).is_err() {
            tracing::warn!("the engine has ended");
        }
    }

    /// News of ours, for a client that wants them.
    pub(super) fn note(&self, method: &str, params: &impl Serialize) {
        if self.is_ours {
            self.outbox.push(&rpc::notification(method, params));
        }
    }

    fn tell(&mut self, message: DoorMessage) {
        match message {
            DoorMessage::Event(event) => self.event(&event),
            DoorMessage::Request(request) => {
                let Some(id) = request.id().map(str::to_owned) else { return };
                self.outbox.push(&rpc::request(&Id::Text(id.clone()), "request", &request));
                self.asked.insert(id, request);
            }
            DoorMessage::PromptDone(outcome) => self.prompt_done(&outcome),
            DoorMessage::Refused(reason) => match self.plan.pop_front() {
                Some(id) => {
                    let error =
                        RpcError::new(super::methods::WRONG_STATE, "Plan mode is not supported");
                    self.outbox.push(&rpc::error(Some(&id), &error));
                }
                None if self.is_ours => {
                    self.note("kimi_tui/refused", &json!({ "reason": reason }));
                }
                None => self.refusal(&reason),
            },
            DoorMessage::Info(info) => {
                self.note("kimi_tui/info", &*info);
                self.info = info;
            }
        }
    }

    fn event(&mut self, event: &Event) {
        if !event.is_standard() {
            // Live output is told to those who keep up; the result has all of it.
            let is_live = matches!(event, Event::Extension(Extension::ToolOutput(_)));
            if !self.is_ours || (is_live && self.outbox.bytes() > MANY) {
                return;
            }
        }
        self.outbox.push(&rpc::notification("event", event));
        match event {
            Event::TurnBegin(_) => self.is_working = true,
            Event::ApprovalResponse(response) => {
                self.asked.remove(&response.request_id);
            }
            Event::StatusUpdate(status)
                if status.plan_mode.is_some() && status.context_usage.is_none() =>
            {
                if let Some(id) = self.plan.pop_front() {
                    let result = json!({ "status": "ok", "plan_mode": status.plan_mode });
                    self.outbox.push(&rpc::success(&id, &result));
                }
            }
            _ => {}
        }
    }

    /// Tells a client of the protocol alone what was refused, in the protocol's words.
    fn refusal(&self, reason: &str) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        self.outbox.push(&rpc::notification(
            "event",
            &Event::Notification(Notification {
                id: uuid::Uuid::new_v4().to_string(),
                category: "engine".to_owned(),
                kind: "engine.refused".to_owned(),
                source_kind: "session".to_owned(),
                source_id: self
                    .session
                    .info
                    .id
                    .as_ref()
                    .map_or_else(String::new, |id| id.0.clone()),
                title: "Refused".to_owned(),
                body: reason.to_owned(),
                severity: "warning".to_owned(),
                created_at: now.map_or(0.0, |now| now.as_secs_f64()),
                payload: serde_json::Map::new(),
            }),
        ));
    }

    fn prompt_done(&mut self, outcome: &PromptOutcome) {
        self.is_working = false;
        self.asked.retain(|_, request| answer::outlives_turn(request));
        match self.prompt.take() {
            Some(id) => {
                let line = match super::methods::result_of(outcome, self.is_ours) {
                    Ok(result) => rpc::success(&id, &result),
                    Err(error) => rpc::error(Some(&id), &error),
                };
                self.outbox.push(&line);
            }
            None => self.note("kimi_tui/prompt_done", outcome),
        }
    }

    fn replayed(&mut self, told: Result<Told, String>) {
        let Some(replaying) = self.replay.take() else { return };
        let line = match told {
            Ok(told) => rpc::success(&replaying.id, &replay::result(told)),
            Err(reason) => {
                tracing::warn!(reason, "the session could not be replayed");
                let error = RpcError::new(rpc::INTERNAL_ERROR, "Replay failed");
                rpc::error(Some(&replaying.id), &error)
            }
        };
        self.outbox.push(&line);
        if std::mem::take(&mut self.awaits_replay) {
            self.ask_again();
        }
    }

    /// Sends the requests that wait for an answer once more.
    pub(super) fn ask_again(&self) {
        for (id, request) in &self.asked {
            self.outbox.push(&rpc::request(&Id::Text(id.clone()), "request", request));
        }
    }
}
