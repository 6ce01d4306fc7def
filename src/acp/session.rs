//! One open session: its engine on one side, the editor on the other.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1 as acp;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::offer::{self, Choices, Mode};
use super::services::{self, Seen};
use super::tell::Teller;
use super::{FAREWELL, commands, desk, questions};
use crate::config::Config;
use crate::engine::OpenSession;
use crate::message::UserInput;
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, RpcError};
use crate::wire::{
    Command, DoorMessage, Event, Hold, HookAction, HookAnswer, PromptOutcome, Request, Response,
    SessionInfo,
};

/// Bytes that may wait before the engine is held back, and how few let it go on.
const MANY: usize = 1 << 20;
const FEW: usize = 1 << 18;

/// What running calls print is told at most so often.
const PULSE: Duration = Duration::from_millis(200);

/// What the connection wants of a session.
pub(super) enum Order {
    /// Begin a turn.
    Prompt { id: Id, input: UserInput },
    /// Stop what runs; with an id only if it is that prompt.
    Cancel { prompt: Option<Id> },
    /// Another mode.
    SetMode { mode: Mode, reply: oneshot::Sender<Result<Choices, RpcError>> },
    /// Another model, or the same with or without thinking.
    SetModel {
        key: Option<String>,
        thinking: Option<bool>,
        reply: oneshot::Sender<Result<Choices, RpcError>>,
    },
}

/// How an open session is reached. Dropping it ends the session.
#[derive(Debug, Clone)]
pub(super) struct Handle {
    pub(super) orders: UnboundedSender<Order>,
    /// Done when the session has ended.
    pub(super) ended: CancellationToken,
}

/// What the engine waits for: an answer of the editor, by the request's id.
struct Answered {
    request: String,
    response: Option<Response>,
}

pub(super) struct Session {
    id: String,
    engine: OpenSession,
    client: Client,
    teller: Teller,
    config: Arc<Config>,
    choices: Choices,
    is_planning: bool,
    is_away: bool,
    messages: UnboundedReceiver<DoorMessage>,
    orders: UnboundedReceiver<Order>,
    prompt: Option<Id>,
    /// Changes of the model that the engine has not answered.
    settings: VecDeque<oneshot::Sender<Result<Choices, RpcError>>>,
    asks: FuturesUnordered<BoxFuture<'static, Answered>>,
    /// How to take an ask back.
    open: HashMap<String, CancellationToken>,
    seen: UnboundedReceiver<Seen>,
    tell_seen: UnboundedSender<Seen>,
    hold: Option<Hold>,
    /// When the output of running calls is told.
    pulse: Option<Instant>,
    _ended: tokio_util::sync::DropGuard,
}

enum Next {
    Order(Option<Order>),
    Message(Option<DoorMessage>),
    Answered(Answered),
    Seen(Seen),
    Drained,
    Pulse,
}

impl Session {
    pub(super) fn new(
        engine: OpenSession,
        client: Client,
        config: Config,
        messages: UnboundedReceiver<DoorMessage>,
    ) -> (Self, Handle) {
        let (orders, received) = unbounded_channel();
        let (tell_seen, seen) = unbounded_channel();
        let info = Arc::clone(&engine.info);
        let ended = CancellationToken::new();
        let session = Self {
            id: info.id.as_ref().map_or_else(String::new, |id| id.0.clone()),
            teller: Teller::new(info.work_dir.clone(), client.can(), false),
            choices: Choices::new(&config, &info),
            config: Arc::new(config),
            engine,
            client,
            is_planning: false,
            is_away: false,
            messages,
            orders: received,
            prompt: None,
            settings: VecDeque::new(),
            asks: FuturesUnordered::new(),
            open: HashMap::new(),
            seen,
            tell_seen,
            hold: None,
            pulse: None,
            _ended: ended.clone().drop_guard(),
        };
        (session, Handle { orders, ended })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Runs until the connection drops its handle or the engine ends.
    pub(super) async fn run(mut self) {
        self.offer_commands();
        loop {
            match self.next().await {
                Next::Order(Some(order)) => self.order(order),
                Next::Order(None) => break,
                Next::Message(Some(message)) => self.message(message),
                Next::Message(None) => return self.lose_prompt(),
                Next::Answered(answered) => self.answered(answered),
                Next::Seen(seen) => self.saw(seen),
                Next::Drained => {}
                Next::Pulse => self.tell_output(),
            }
            let waiting = self.client.outbox().bytes();
            if waiting > MANY && self.hold.is_none() {
                self.hold = Some(self.engine.room().hold());
            } else if waiting <= FEW {
                self.hold = None;
            }
        }
        self.leave().await;
    }

    async fn next(&mut self) -> Next {
        let is_held = self.hold.is_some();
        let outbox = self.client.outbox().clone();
        tokio::select! {
            order = self.orders.recv() => Next::Order(order),
            message = self.messages.recv() => Next::Message(message),
            Some(answered) = self.asks.next(), if !self.asks.is_empty() => Next::Answered(answered),
            Some(seen) = self.seen.recv() => Next::Seen(seen),
            () = outbox.until(FEW), if is_held => Next::Drained,
            () = pulse(self.pulse), if self.pulse.is_some() => Next::Pulse,
        }
    }

    /// Ends the engine: what runs is cancelled, and what that tells is still told.
    async fn leave(&mut self) {
        self.hold = None;
        self.asks.clear();
        if self.engine.commands.send(Command::Shutdown).is_err() {
            return;
        }
        let hear_out = async {
            while let Some(message) = self.messages.recv().await {
                if !matches!(message, DoorMessage::Request(_)) {
                    self.message(message);
                }
            }
        };
        if tokio::time::timeout(FAREWELL, hear_out).await.is_err() {
            tracing::warn!("the engine did not end in time");
        }
        self.lose_prompt();
    }

    /// A prompt whose end was never told is over all the same.
    fn lose_prompt(&mut self) {
        if let Some(id) = self.prompt.take() {
            let error =
                RpcError::new(INTERNAL_ERROR, "The session ended in the middle of the turn.");
            self.client.reply(&id, Err(error));
        }
    }

    fn send(&self, command: Command) {
        if self.engine.commands.send(command).is_err() {
            tracing::warn!("the engine has ended");
        }
    }

    fn tell(&self, update: acp::SessionUpdate) {
        self.client.update(&self.id, update);
    }

    fn offer_commands(&self) {
        let commands = commands::offered(&self.engine.info.slash_commands);
        self.tell(acp::SessionUpdate::AvailableCommandsUpdate(commands));
        for warning in &self.engine.info.warnings {
            tracing::warn!("{warning}");
            if self.client.can().show_notices {
                self.tell(self.teller.told(acp::NoticeSeverity::Warning, warning, ""));
            }
        }
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Prompt { id, .. } if self.prompt.is_some() => {
                let why = "A prompt is running in this session. Cancel it, or wait for its end.";
                self.client.reply(&id, Err(RpcError::new(INVALID_REQUEST, why)));
            }
            Order::Prompt { id, input } if input.is_blank() => {
                let why = "There is nothing in the prompt that this agent can read.";
                self.client.reply(&id, Err(RpcError::new(INVALID_PARAMS, why)));
            }
            Order::Prompt { id, input } => {
                self.prompt = Some(id);
                self.send(Command::Prompt(input));
            }
            Order::Cancel { prompt } => {
                if self.prompt.is_some() && (prompt.is_none() || prompt == self.prompt) {
                    self.send(Command::Cancel);
                }
            }
            Order::SetMode { mode, reply } => {
                let set = self.set_mode(mode);
                let _ = reply.send(set.map(|()| self.choices.clone()));
            }
            Order::SetModel { key, thinking, reply } => {
                self.set_model(key, thinking, reply);
            }
        }
    }

    fn set_mode(&mut self, mode: Mode) -> Result<(), RpcError> {
        if mode != Mode::Auto && self.choices.mode == Mode::Auto && !self.is_away {
            let why = "Everything is approved because of --yolo or /yolo. Send /yolo to be asked.";
            return Err(RpcError::new(INVALID_PARAMS, why));
        }
        let plans = mode == Mode::Plan;
        if plans != self.is_planning {
            self.send(Command::SetPlanMode(plans));
        }
        self.is_planning = plans;
        self.is_away = mode == Mode::Auto;
        self.send(Command::SetAway(self.is_away));
        self.choices.mode = mode;
        Ok(())
    }

    fn set_model(
        &mut self,
        key: Option<String>,
        thinking: Option<bool>,
        reply: oneshot::Sender<Result<Choices, RpcError>>,
    ) {
        let is_known = |key: &String| self.choices.models.iter().any(|(known, _)| known == key);
        if let Some(key) = key.as_ref().filter(|key| !is_known(key)) {
            let _ =
                reply.send(Err(RpcError::new(INVALID_PARAMS, format!("There is no model {key}."))));
            return;
        }
        self.settings.push_back(reply);
        self.send(Command::SetModel { key, thinking });
    }

    fn message(&mut self, message: DoorMessage) {
        match message {
            DoorMessage::Event(event) => self.event(&event),
            DoorMessage::Request(request) => self.ask(request),
            DoorMessage::PromptDone(outcome) => self.prompt_done(&outcome),
            DoorMessage::Refused(reason) => {
                if let Some(reply) = self.settings.pop_front() {
                    let _ = reply.send(Err(RpcError::new(INVALID_REQUEST, reason)));
                    return;
                }
                self.tell(self.teller.told(acp::NoticeSeverity::Warning, &reason, ""));
            }
            DoorMessage::Info(info) => self.info(&info),
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::ApprovalResponse(response) => self.take_back(&response.request_id),
            Event::StatusUpdate(status) => {
                if let Some(plans) = status.plan_mode.filter(|plans| *plans != self.is_planning) {
                    self.is_planning = plans;
                    let rest = if self.is_away { Mode::Auto } else { Mode::Default };
                    self.choices.mode = if plans { Mode::Plan } else { rest };
                    let mode = acp::CurrentModeUpdate::new(self.choices.mode.id());
                    self.tell(acp::SessionUpdate::CurrentModeUpdate(mode));
                    self.tell_options();
                }
            }
            _ => {}
        }
        for update in self.teller.event(event) {
            self.tell(update);
        }
        if self.pulse.is_none() && self.teller.has_output() {
            self.pulse = Some(Instant::now() + PULSE);
        }
    }

    fn tell_output(&mut self) {
        // An editor that reads slowly is told less often, not more and more.
        if self.client.outbox().bytes() > FEW {
            self.pulse = Some(Instant::now() + PULSE);
            return;
        }
        self.pulse = None;
        for update in self.teller.output() {
            self.tell(update);
        }
    }

    fn tell_options(&self) {
        let can = self.client.can();
        if can.is_of_today {
            let options = acp::ConfigOptionUpdate::new(self.choices.options(&can));
            self.tell(acp::SessionUpdate::ConfigOptionUpdate(options));
        }
    }

    fn info(&mut self, info: &SessionInfo) {
        let mut now = Choices::new(&self.config, info);
        if now.mode == Mode::Default {
            now.mode = match (self.is_planning, self.is_away) {
                (true, _) => Mode::Plan,
                (_, true) => Mode::Auto,
                _ => Mode::Default,
            };
        }
        let before = std::mem::replace(&mut self.choices, now);
        if before.mode != self.choices.mode {
            let mode = acp::CurrentModeUpdate::new(self.choices.mode.id());
            self.tell(acp::SessionUpdate::CurrentModeUpdate(mode));
        }
        if before != self.choices {
            self.tell_options();
        }
        for reply in self.settings.drain(..) {
            let _ = reply.send(Ok(self.choices.clone()));
        }
        if self.client.can().is_of_today && !info.title.is_empty() {
            let title = acp::SessionInfoUpdate::new().title(info.title.clone());
            self.tell(acp::SessionUpdate::SessionInfoUpdate(title));
        }
    }

    /// Puts a request of the engine to the editor.
    fn ask(&mut self, request: Request) {
        let Some(id) = request.id().map(str::to_owned) else { return };
        let (client, session) = (self.client.clone(), self.id.clone());
        let answer: BoxFuture<'static, Response> = match request {
            Request::ApprovalRequest(ask) => {
                let (call, begun) = self.teller.asked(&ask);
                begun.into_iter().for_each(|update| self.tell(update));
                Box::pin(async move {
                    Response::Approval(desk::approval(&client, &session, &ask, call).await)
                })
            }
            Request::QuestionRequest(ask) => {
                let call = ask.tool_call_id.as_deref().and_then(|id| self.teller.named(id));
                Box::pin(async move {
                    Response::Question(questions::ask(&client, &session, &ask, call).await)
                })
            }
            Request::ToolCallRequest(call) => {
                let seen = self.tell_seen.clone();
                Box::pin(async move {
                    Response::ToolCall(services::serve(&client, &session, &call, &seen).await)
                })
            }
            Request::HookRequest(ask) => Box::pin(std::future::ready(Response::Hook(HookAnswer {
                request_id: ask.id,
                action: HookAction::Allow,
                reason: String::new(),
            }))),
            Request::Unknown(_) => return,
        };
        let taken_back = CancellationToken::new();
        self.open.insert(id.clone(), taken_back.clone());
        self.asks.push(Box::pin(async move {
            let response = tokio::select! {
                response = answer => Some(response),
                () = taken_back.cancelled() => None,
            };
            Answered { request: id, response }
        }));
    }

    fn take_back(&mut self, request: &str) {
        if let Some(ask) = self.open.remove(request) {
            ask.cancel();
        }
    }

    fn answered(&mut self, answered: Answered) {
        self.open.remove(&answered.request);
        if let Some(response) = answered.response {
            self.send(Command::Respond(response));
        }
    }

    fn saw(&mut self, seen: Seen) {
        if let Some(update) = self.teller.runs_in(&seen.call, seen.terminal) {
            self.tell(update);
        }
        let _ = seen.told.send(());
    }

    fn prompt_done(&mut self, outcome: &PromptOutcome) {
        // What was asked by the turn is no longer asked.
        for (_, ask) in self.open.drain() {
            ask.cancel();
        }
        if let Some(id) = self.prompt.take() {
            self.client.reply(&id, answer_of(outcome));
        }
    }
}

async fn pulse(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}

/// The answer to a prompt.
fn answer_of(outcome: &PromptOutcome) -> Result<Value, RpcError> {
    let failed = |message: String| Err(RpcError::new(INTERNAL_ERROR, message));
    let stop = match outcome {
        PromptOutcome::Finished => acp::StopReason::EndTurn,
        PromptOutcome::Cancelled => acp::StopReason::Cancelled,
        PromptOutcome::MaxStepsReached { .. } => acp::StopReason::MaxTurnRequests,
        PromptOutcome::ModelNotSet => return Err(offer::auth_required()),
        PromptOutcome::LoggedOut { message } => {
            return Err(RpcError { message: message.clone(), ..offer::auth_required() });
        }
        PromptOutcome::NotSupported { capability, model } => {
            return failed(format!("{model} cannot take this: it lacks {capability}."));
        }
        PromptOutcome::ProviderFailed { message, .. } | PromptOutcome::Failed { message } => {
            return failed(message.clone());
        }
    };
    Ok(json!(acp::PromptResponse::new(stop)))
}
