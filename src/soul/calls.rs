//! The tool calls of one step: all at once, each a task of its own.
//!
//! Results are told in the order they come; the context gets them in the order of the calls.
//! Identical calls are made once and share the result (`kimi-cli` `soul/toolset.py`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::gate;
use crate::hooks::Hooks;
use crate::message::{ToolCall, ToolReturn};
use crate::tools::{ToolContext, Toolset};
use crate::wire::{Event, Hub, ToolResult};

/// How long cancelled tools may take to be dropped before the turn ends without waiting for them.
const DROP_LIMIT: Duration = Duration::from_millis(50);

/// What came of the calls, in their order.
pub(super) struct Results {
    pub(super) returns: Vec<ToolReturn>,
    /// Did somebody cancel before all were there?
    pub(super) cancelled: bool,
}

/// What a call that was cut off is answered with.
pub(super) fn cancelled_return() -> ToolReturn {
    ToolReturn::error(
        "Cancelled by the user. It may have been carried out, in part or as a whole.",
        "Cancelled",
    )
}

/// Tells the result of a call.
pub(super) fn tell(hub: &Hub, call: &ToolCall, result: &ToolReturn) {
    hub.event(Event::ToolResult(ToolResult {
        tool_call_id: call.id.clone(),
        return_value: result.clone(),
    }));
}

/// Calls that run.
pub(super) struct Calls<'a> {
    calls: &'a [ToolCall],
    hub: &'a Hub,
    tasks: JoinSet<ToolReturn>,
    /// Which call a task carries out, and with it all its likes.
    first_of: HashMap<Id, usize>,
    returns: Vec<Option<ToolReturn>>,
}

impl<'a> Calls<'a> {
    /// Starts `calls`. `context` is that of each of them but for the call's own facts.
    pub(super) fn start(
        calls: &'a [ToolCall],
        hub: &'a Hub,
        tools: &Arc<Toolset>,
        hooks: &Hooks,
        context: &ToolContext,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let mut first_of = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            if calls[..at].iter().any(|earlier| earlier.function == call.function) {
                continue;
            }
            let (tools, hooks, call) = (Arc::clone(tools), hooks.clone(), call.clone());
            let context = ToolContext {
                call_id: call.id.clone(),
                called_as: call.function.name.clone(),
                ..context.clone()
            };
            let task =
                tasks.spawn(async move { gate::call(&hooks, &tools, &call, &context).await });
            first_of.insert(task.id(), at);
        }
        Self { calls, hub, tasks, first_of, returns: vec![None; calls.len()] }
    }

    /// Waits for all of them, or until `cancel`: then they are dropped, and those without a result
    /// get one that says so.
    pub(super) async fn finish(mut self, cancel: &CancellationToken) -> Results {
        let all_done = tokio::select! {
            biased;
            () = cancel.cancelled() => false,
            () = self.collect() => true,
        };
        if !all_done {
            self.tasks.abort_all();
            // A process group dies with its task: nothing is left of it once the task is gone.
            if tokio::time::timeout(DROP_LIMIT, self.collect()).await.is_err() {
                tracing::warn!("a cancelled tool does not let go");
            }
            for at in 0..self.calls.len() {
                if self.returns[at].is_none() {
                    self.store(at, &cancelled_return());
                }
            }
        }
        let returns = self.returns.into_iter().map(Option::unwrap_or_default).collect();
        Results { returns, cancelled: !all_done }
    }

    async fn collect(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            match ended {
                Ok((id, result)) => self.take(id, &result),
                Err(error) if error.is_panic() => self.take(error.id(), &defect(&error)),
                Err(_) => {}
            }
        }
    }

    /// Keeps and tells the result of a task, for its call and all that are the same.
    fn take(&mut self, id: Id, result: &ToolReturn) {
        let Some(first) = self.first_of.get(&id).copied() else { return };
        for at in first..self.calls.len() {
            if self.calls[at].function == self.calls[first].function {
                self.store(at, result);
            }
        }
    }

    fn store(&mut self, at: usize, result: &ToolReturn) {
        tell(self.hub, &self.calls[at], result);
        self.returns[at] = Some(result.clone());
    }
}

fn defect(error: &JoinError) -> ToolReturn {
    tracing::error!(%error, "a tool panicked");
    ToolReturn::error(
        "The tool failed because of a defect in this program. \
         It may have been carried out in part. Try another way.",
        "Tool crashed",
    )
}
