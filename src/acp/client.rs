//! The editor as sessions see it: what it can do, updates to it, and calls of its methods.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::rpc::{self, INTERNAL_ERROR, Id, Outbox, RpcError};

/// What the editor can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Can {
    /// Give the text of a file, what is not saved included.
    pub(super) read_files: bool,
    /// Write one.
    pub(super) write_files: bool,
    /// Run commands where the person sees them.
    pub(super) run_commands: bool,
    /// Is it of a time that knows today's kinds of updates? Older ones stumble over them.
    pub(super) is_of_today: bool,
    /// Show forms to fill in.
    pub(super) show_forms: bool,
    /// Show notices beside the conversation.
    pub(super) show_notices: bool,
    /// Show compactions.
    pub(super) show_compactions: bool,
    /// Show switches among the options of a session.
    pub(super) show_switches: bool,
}

impl Can {
    /// From `clientCapabilities` as they came.
    pub(super) fn read(raw: &Value) -> Self {
        let of = |value: &Value| serde_json::from_value(value.clone()).unwrap_or_default();
        let known: acp::ClientCapabilities = of(raw);
        let session = known.session.unwrap_or_default();
        Self {
            read_files: known.fs.read_text_file,
            write_files: known.fs.write_text_file,
            run_commands: known.terminal,
            // What the libraries of 0.7 and 0.8 do not have.
            is_of_today: ["auth", "session", "elicitation"]
                .iter()
                .any(|key| raw.get(key).is_some()),
            show_forms: known.elicitation.is_some_and(|shows| shows.supports_form()),
            show_notices: session.notices.is_some(),
            show_compactions: session.compaction.is_some(),
            show_switches: session.config_options.is_some_and(|options| options.boolean.is_some()),
        }
    }
}

/// The editor. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    outbox: Outbox,
    can: Mutex<Can>,
    /// Calls it has not answered.
    open: Mutex<HashMap<i64, oneshot::Sender<Result<Value, RpcError>>>>,
    last: AtomicI64,
}

impl Client {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self(Arc::new(Inner {
            outbox,
            can: Mutex::default(),
            open: Mutex::default(),
            last: AtomicI64::new(0),
        }))
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    pub(super) fn can(&self) -> Can {
        lock(&self.0.can).clone()
    }

    pub(super) fn set_can(&self, can: Can) {
        *lock(&self.0.can) = can;
    }

    /// Tells news of a session.
    pub(super) fn update(&self, session: &str, update: acp::SessionUpdate) {
        let news = acp::SessionNotification::new(session.to_owned(), update);
        self.0.outbox.push(&rpc::notification("session/update", &news));
    }

    /// Answers a request.
    pub(super) fn reply(&self, id: &Id, result: Result<Value, RpcError>) {
        self.0.outbox.push(&match result {
            Ok(result) => rpc::success(id, &result),
            Err(error) => rpc::error(Some(id), &error),
        });
    }

    /// Calls one of its methods. Dropping the future drops the answer.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, RpcError> {
        let id = self.0.last.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.0.open).insert(id, sender);
        let _forget = Forget { client: self, id };
        self.0.outbox.push(&rpc::request(&Id::Number(id), method, params));
        let value = answer
            .await
            .unwrap_or_else(|_| Err(RpcError::new(INTERNAL_ERROR, "The editor is gone.")))?;
        serde_json::from_value(if value.is_null() { serde_json::json!({}) } else { value }).map_err(
            |error| {
                RpcError::new(INTERNAL_ERROR, format!("{method} was answered wrongly: {error}"))
            },
        )
    }

    /// Calls a method whose answer does not matter.
    pub(super) fn say(&self, method: &str, params: &impl Serialize) {
        let id = self.0.last.fetch_add(1, Ordering::Relaxed);
        self.0.outbox.push(&rpc::request(&Id::Number(id), method, params));
    }

    /// Takes an answer. One to a call nobody waits for is dropped.
    pub(super) fn answered(&self, id: Option<&Id>, result: Result<Value, RpcError>) {
        let waiting = match id {
            Some(Id::Number(id)) => lock(&self.0.open).remove(id),
            _ => None,
        };
        match waiting {
            Some(waiting) => drop(waiting.send(result)),
            None => tracing::debug!(?id, "an answer to no open call"),
        }
    }
}

/// Forgets a call nobody waits for any more.
struct Forget<'a> {
    client: &'a Client,
    id: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(&self.client.0.open).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
