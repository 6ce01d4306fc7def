//! Tools that run at the front end: a call goes out as a `ToolCallRequest` and its answer is the
//! result. The front end asks the person itself, if it has to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::message::ToolReturn;
use crate::tools::{Tool, ToolContext};
use crate::wire::{ClientTool, Hub, Request, ToolCallAnswer, ToolCallRequest};

/// The calls a front end has not answered yet. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct ClientTools(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    hub: Hub,
    pending: Mutex<HashMap<String, oneshot::Sender<ToolReturn>>>,
}

impl ClientTools {
    pub(super) fn new(hub: Hub) -> Self {
        Self(Arc::new(Inner { hub, pending: Mutex::default() }))
    }

    /// `tool` as the model's toolset takes it.
    pub(super) fn tool(&self, tool: ClientTool) -> Arc<dyn Tool> {
        Arc::new(Outside { tool, calls: self.clone() })
    }

    /// Takes a result. One nobody waits for is dropped.
    pub(super) fn respond(&self, answer: ToolCallAnswer) {
        match self.take(&answer.tool_call_id) {
            Some(reply) => drop(reply.send(answer.return_value)),
            None => tracing::debug!(id = answer.tool_call_id, "a result of no open call"),
        }
    }

    /// Asks the front end to run `name`, and waits for the result.
    pub(super) async fn call(&self, name: &str, id: &str, arguments: &Value) -> ToolReturn {
        let (reply, answer) = oneshot::channel();
        self.lock().insert(id.to_owned(), reply);
        let _forget = Forget { calls: self, id };
        self.0.hub.request(Request::ToolCallRequest(ToolCallRequest {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: Some(arguments.to_string()),
        }));
        answer.await.unwrap_or_else(|_| {
            let why = "Agent turn ended before tool result was received.";
            ToolReturn::error(why, why)
        })
    }

    fn take(&self, id: &str) -> Option<oneshot::Sender<ToolReturn>> {
        let reply = self.lock().remove(id)?;
        self.0.hub.settled(id);
        Some(reply)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<ToolReturn>>> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a call that is dropped.
struct Forget<'a> {
    calls: &'a ClientTools,
    id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.take(self.id);
    }
}

/// One tool of a front end.
struct Outside {
    tool: ClientTool,
    calls: ClientTools,
}

impl Tool for Outside {
    fn name(&self) -> &str {
        &self.tool.name
    }

    fn description(&self) -> String {
        self.tool.description.clone()
    }

    fn parameters(&self) -> Value {
        self.tool.parameters.clone()
    }

    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn> {
        Box::pin(
            async move { self.calls.call(&self.tool.name, &context.call_id, &arguments).await },
        )
    }
}
