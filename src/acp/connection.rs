//! The connection: what the editor sends, and the sessions it has open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1 as acp;
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::client::{Can, Client};
use super::offer::{self, Choices, LOGIN, Mode};
use super::opening::{self, params};
use super::session::{Handle, Order, Session};
use super::{Agent, FAREWELL, LONGEST_LINE, catalog, content, services};
use crate::engine::{Elsewhere, SessionChoice};
use crate::rpc::{
    self, Fault, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, Incoming, Line, LineReader,
    METHOD_NOT_FOUND, Outbox, PARSE_ERROR, RpcError,
};
use crate::wire::Equipment;

/// Bytes that may wait before nothing more is read from the editor, and how few let it go on.
const TOO_MANY: usize = 8 << 20;
const FEW: usize = 1 << 18;

type Replied = Result<Value, RpcError>;

/// A connection. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connection(Arc<Inner>);

struct Inner {
    agent: Agent,
    client: Client,
    sessions: Mutex<HashMap<String, Handle>>,
    /// Everything that runs for it.
    tasks: TaskTracker,
    is_over: AtomicBool,
    /// Has the one session's first opening been?
    was_opened: AtomicBool,
}

/// Which session, and how it is opened.
enum Wanted {
    New,
    Known { id: String, replays: bool },
}

impl Connection {
    pub(super) fn new(agent: Agent, outbox: Outbox) -> Self {
        Self(Arc::new(Inner {
            agent,
            client: Client::new(outbox),
            sessions: Mutex::default(),
            tasks: TaskTracker::new(),
            is_over: AtomicBool::new(false),
            was_opened: AtomicBool::new(false),
        }))
    }

    /// Hears the editor until its input ends or it no longer reads.
    pub(super) async fn serve(&self, input: impl AsyncRead + Unpin) {
        let mut lines = LineReader::new(input, LONGEST_LINE);
        let outbox = self.0.client.outbox();
        loop {
            let is_full = outbox.bytes() >= TOO_MANY;
            let line = tokio::select! {
                line = lines.next(), if !is_full => line,
                () = outbox.until(FEW), if is_full => continue,
                () = outbox.unread() => return,
            };
            match line {
                Ok(Some(line)) => self.hear(line),
                Ok(None) => return,
                Err(error) => return tracing::info!(%error, "the editor can no longer be read"),
            }
        }
    }

    /// Closes all sessions: what runs is cancelled, everything is written.
    pub(super) async fn end(&self) {
        self.0.is_over.store(true, Ordering::Release);
        self.sessions().clear();
        self.0.tasks.close();
        if tokio::time::timeout(FAREWELL, self.0.tasks.wait()).await.is_err() {
            tracing::warn!("not all sessions ended in time");
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Handle>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, line: Line) {
        let refuse = |code, message: &str| {
            self.0.client.outbox().push(&rpc::error(None, &RpcError::new(code, message)));
        };
        let Line::Whole(line) = line else {
            return refuse(INVALID_REQUEST, "The line is too long.");
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match rpc::parse(&line) {
            Err(Fault::NotJson) => refuse(PARSE_ERROR, "Parse error"),
            Err(_) => refuse(INVALID_REQUEST, "Invalid request"),
            Ok(Incoming::Request { id, method, params }) => self.request(id, method, params),
            Ok(Incoming::Notification { method, params }) => self.notification(&method, params),
            Ok(Incoming::Response { id, result }) => self.0.client.answered(id.as_ref(), result),
        }
    }

    fn notification(&self, method: &str, raw: Value) {
        match method {
            "session/cancel" => match params::<acp::CancelNotification>(method, raw) {
                // One for a session that is not open cancels nothing.
                Ok(cancel) => drop(self.cancel(&cancel)),
                Err(error) => tracing::info!(error.message, "a cancel that cannot be read"),
            },
            "$/cancel_request" => self.cancel_request(&raw),
            _ => tracing::debug!(method, "a notification nobody knows"),
        }
    }

    fn cancel(&self, cancel: &acp::CancelNotification) -> Result<(), RpcError> {
        self.order(&cancel.session_id.0, Order::Cancel { prompt: None })
    }

    /// Cancels the prompt that one request began, whatever its session.
    fn cancel_request(&self, raw: &Value) {
        if let Ok(id) = serde_json::from_value::<Id>(raw["requestId"].clone()) {
            for handle in self.sessions().values() {
                let _ = handle.orders.send(Order::Cancel { prompt: Some(id.clone()) });
            }
        }
    }

    fn order(&self, session: &str, order: Order) -> Result<(), RpcError> {
        let unknown =
            || RpcError::new(INVALID_PARAMS, format!("The session {session} is not open."));
        let sessions = self.sessions();
        let handle = sessions.get(session).ok_or_else(unknown)?;
        handle.orders.send(order).map_err(|_| unknown())
    }

    /// Carries out a request. What may take time is done beside the reading.
    fn request(&self, id: Id, method: String, raw: Value) {
        let client = &self.0.client;
        let raw = if raw.is_null() { json!({}) } else { raw };
        match method.as_str() {
            "initialize" => client.reply(&id, self.initialize(&raw)),
            "session/prompt" => {
                let sent = params::<acp::PromptRequest>(&method, raw).and_then(|prompt| {
                    let input = content::input(prompt.prompt);
                    self.order(&prompt.session_id.0, Order::Prompt { id: id.clone(), input })
                });
                if let Err(error) = sent {
                    client.reply(&id, Err(error));
                }
            }
            // Notifications, which some clients send as requests and then wait for.
            "session/cancel" => {
                let cancelled = params::<acp::CancelNotification>(&method, raw)
                    .and_then(|cancel| self.cancel(&cancel));
                client.reply(&id, cancelled.map(|()| Value::Null));
            }
            "$/cancel_request" => {
                self.cancel_request(&raw);
                client.reply(&id, Ok(Value::Null));
            }
            _ => {
                let own = self.clone();
                self.0.tasks.spawn(async move {
                    let replied = own.call(&id, &method, raw).await;
                    match replied {
                        Ok(Some(result)) => own.0.client.reply(&id, Ok(result)),
                        Ok(None) => {}
                        Err(error) => own.0.client.reply(&id, Err(error)),
                    }
                });
            }
        }
    }

    fn initialize(&self, raw: &Value) -> Replied {
        if !raw["protocolVersion"].is_u64() {
            let why = "initialize needs the protocolVersion, a whole number.";
            return Err(RpcError::new(INVALID_PARAMS, why));
        }
        let can = Can::read(&raw["clientCapabilities"]);
        let in_terminal = raw["clientCapabilities"]["auth"]["terminal"] == true;
        tracing::info!(?can, client = %raw["clientInfo"], "an editor");
        self.0.client.set_can(can);
        Ok(json!(offer::initialize(in_terminal)))
    }

    /// Nothing is given back when the answer was sent.
    async fn call(&self, id: &Id, method: &str, raw: Value) -> Result<Option<Value>, RpcError> {
        match method {
            "session/new" => {
                let new: acp::NewSessionRequest = params(method, with_servers(raw))?;
                let opening = opening::read(new.cwd, new.additional_directories, new.mcp_servers)?;
                self.open(id, opening, Wanted::New).await?;
                return Ok(None);
            }
            "session/load" | "session/resume" => {
                let load: acp::LoadSessionRequest = params(method, with_servers(raw))?;
                let opening =
                    opening::read(load.cwd, load.additional_directories, load.mcp_servers)?;
                let replays = method == "session/load";
                let wanted = Wanted::Known { id: load.session_id.to_string(), replays };
                self.open(id, opening, wanted).await?;
                return Ok(None);
            }
            "session/list" => {
                let list: acp::ListSessionsRequest = params(method, raw)?;
                let paths = self.0.agent.host.paths().clone();
                let all = blocking(move || {
                    catalog::list(&paths, list.cwd.as_deref(), list.cursor.as_deref())
                });
                Ok(json!(all.await?))
            }
            "session/close" => {
                let close: acp::CloseSessionRequest = params(method, raw)?;
                if !self.close(&close.session_id.0).await {
                    let why = format!("The session {} is not open.", close.session_id);
                    // Today's libraries take this code for "closed already".
                    return Err(RpcError::new(catalog::NOT_FOUND, why));
                }
                Ok(json!({}))
            }
            "session/delete" => {
                let delete: acp::DeleteSessionRequest = params(method, raw)?;
                let was_open = self.close(&delete.session_id.0).await;
                let (paths, id) =
                    (self.0.agent.host.paths().clone(), delete.session_id.to_string());
                match blocking(move || catalog::delete(&paths, &id)).await {
                    // One nothing was said in is gone when it is closed.
                    Err(_) if was_open => {}
                    deleted => deleted?,
                }
                Ok(json!({}))
            }
            "session/set_mode" | "session/set_config_option" | "session/set_model" => {
                self.set(method, raw).await
            }
            "authenticate" => self.authenticate(params(method, raw)?).await,
            _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("There is no method {method}."))),
        }
        .map(Some)
    }

    async fn authenticate(&self, wanted: acp::AuthenticateRequest) -> Replied {
        if &*wanted.method_id.0 != LOGIN {
            let why = format!("There is no way to log in called {}.", wanted.method_id);
            return Err(RpcError::new(INVALID_PARAMS, why));
        }
        let host = self.0.agent.host.clone();
        blocking(move || opening::config(&host)).await?;
        Ok(json!({}))
    }

    /// Changes a choice of a session.
    async fn set(&self, method: &str, raw: Value) -> Replied {
        let text = |key: &str| {
            let missing = || RpcError::new(INVALID_PARAMS, format!("{method} needs {key}."));
            raw[key].as_str().map(str::to_owned).ok_or_else(missing)
        };
        let session = text("sessionId")?;
        let no_such = |what: &str, value: &str| {
            RpcError::new(INVALID_PARAMS, format!("There is no {what} {value}."))
        };
        let (reply, answer) = oneshot::channel();
        let of_mode = |value: &str| Mode::find(value).ok_or_else(|| no_such("mode", value));
        let option =
            if method == "session/set_config_option" { text("configId")? } else { String::new() };
        let order = match (method, option.as_str()) {
            ("session/set_mode", _) => Order::SetMode { mode: of_mode(&text("modeId")?)?, reply },
            ("session/set_model", _) => {
                // `key,thinking` is how 0.8's editors ask for thinking.
                let wanted = text("modelId")?;
                let (key, thinking) = match wanted.strip_suffix(",thinking") {
                    Some(key) => (key.to_owned(), Some(true)),
                    None => (wanted, None),
                };
                Order::SetModel { key: Some(key), thinking, reply }
            }
            (_, "mode") => Order::SetMode { mode: of_mode(&text("value")?)?, reply },
            (_, "model") => Order::SetModel { key: Some(text("value")?), thinking: None, reply },
            (_, "thinking") => {
                let thinking = raw["value"].as_bool().or_else(|| match raw["value"].as_str()? {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => None,
                });
                let thinking = thinking.ok_or_else(|| no_such("value", "of thinking like this"))?;
                Order::SetModel { key: None, thinking: Some(thinking), reply }
            }
            (_, other) => return Err(no_such("option", other)),
        };
        self.order(&session, order)?;
        let gone = |_| RpcError::new(INTERNAL_ERROR, "The session ended.");
        let choices: Choices = answer.await.map_err(gone)??;
        if method == "session/set_config_option" {
            let options = choices.options(&self.0.client.can());
            return Ok(json!(acp::SetSessionConfigOptionResponse::new(options)));
        }
        Ok(json!({}))
    }

    /// Ends a session that is open; says whether it was.
    async fn close(&self, id: &str) -> bool {
        let Some(Handle { orders, ended }) = self.sessions().remove(id) else { return false };
        drop(orders);
        ended.cancelled().await;
        true
    }

    /// Opens a session, answers the request, and lets the session run.
    async fn open(&self, id: &Id, mut opening: Elsewhere, wanted: Wanted) -> Result<(), RpcError> {
        let choice = match &wanted {
            Wanted::New => self.choice_of_new(),
            Wanted::Known { id, .. } => {
                let (paths, id) = (self.0.agent.host.paths().clone(), id.clone());
                let folder = opening.work_dir.clone();
                let found = blocking(move || catalog::find(&paths, Some(&folder), &id)).await?;
                opening.work_dir = found.work_dir;
                SessionChoice::Id(found.id)
            }
        };
        let host = self.0.agent.host.elsewhere(opening);
        let asked = host.clone();
        let config = blocking(move || opening::config(&asked)).await?;
        self.make_room(&wanted).await;
        let equipment = Equipment {
            supports_question: true,
            supports_plan_mode: true,
            errands: services::offered(&self.0.client.can()),
            ..Equipment::default()
        };
        let engine =
            host.share(&choice, equipment).await.map_err(|error| opening::failed(&error))?;
        if let Wanted::Known { id, replays: true } = &wanted {
            opening::replay(&engine, id, &self.0.client).await;
        }
        let messages = engine.join(true).messages;
        let client = self.0.client.clone();
        let (session, handle) = Session::new(engine, client, config, messages);
        let name = session.id().to_owned();
        self.sessions().insert(name.clone(), handle);
        if self.0.is_over.load(Ordering::Acquire) {
            // The connection ended meanwhile, and may have looked before this was there.
            self.sessions().clear();
        }
        let told = matches!(wanted, Wanted::New).then_some(name.as_str());
        let answer = session.choices().answer(told, &self.0.client.can());
        self.0.client.reply(id, Ok(answer));
        self.0.tasks.spawn(session.run());
        Ok(())
    }

    /// A new session; with `--acp` the one the flags name, when it is the first.
    fn choice_of_new(&self) -> SessionChoice {
        match &self.0.agent.only {
            Some(choice) if !self.0.was_opened.swap(true, Ordering::Relaxed) => choice.clone(),
            _ => SessionChoice::New,
        }
    }

    /// Closes what must not be open beside the session that comes: itself, and with `--acp` any.
    async fn make_room(&self, wanted: &Wanted) {
        let open: Vec<String> = self.sessions().keys().cloned().collect();
        for id in open {
            let is_same = matches!(wanted, Wanted::Known { id: known, .. } if *known == id);
            if is_same || self.0.agent.only.is_some() {
                self.close(&id).await;
            }
        }
    }
}

/// Older editors leave the list of servers away.
fn with_servers(mut raw: Value) -> Value {
    if let Value::Object(fields) = &mut raw {
        fields.entry("mcpServers").or_insert_with(|| json!([]));
    }
    raw
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RpcError> + Send + 'static,
) -> Result<T, RpcError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "work of a connection failed");
        Err(RpcError::new(INTERNAL_ERROR, "Internal error"))
    })
}
