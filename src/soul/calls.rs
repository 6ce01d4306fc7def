//! The tool calls of one step: all at once, each a task of its own.
//!
//! Results are told in the order they come; the context gets them in the order of the calls.
//! Identical calls are made once and share the result (`kimi-cli` `soul/toolset.py`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::approval::Approvals;
use super::gate;
use super::running::Running;
use crate::hooks::Hooks;
use crate::message::{ToolCall, ToolReturn};
use crate::tools::{ToolContext, Toolset};
use crate::wire::{CallEdited, Event, Extension, Hub, ToolResult};

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
    running: &'a Running,
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
        approvals: &Arc<Approvals>,
        running: &'a Running,
        context: &ToolContext,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let mut first_of = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            if calls[..at].iter().any(|earlier| earlier.function == call.function) {
                continue;
            }
            let equals = calls[at..].iter().filter(|other| other.function == call.function);
            let (tools, call) = (Arc::clone(tools), call.clone());
            let context = ToolContext {
                call_id: call.id.clone(),
                called_as: call.function.name.clone(),
                ..context.clone()
            };
            let (hub, hooks, approvals) = (hub.clone(), hooks.clone(), Arc::clone(approvals));
            let task = tasks.spawn(async move {
                carry_out(&tools, &hooks, call, &context, &approvals, &hub).await
            });
            for equal in equals {
                running.add(&equal.id, task.clone());
            }
            first_of.insert(task.id(), at);
        }
        Self { calls, hub, running, tasks, first_of, returns: vec![None; calls.len()] }
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
        self.running.clear();
        let returns = self.returns.into_iter().map(Option::unwrap_or_default).collect();
        Results { returns, cancelled: !all_done }
    }

    async fn collect(&mut self) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            match ended {
                Ok((id, result)) => self.take(id, &result),
                Err(error) if error.is_panic() => self.take(error.id(), &defect(&error)),
                Err(error) if self.running.was_cancelled(error.id()) => {
                    self.take(error.id(), &cancelled_return());
                }
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

/// Makes `call` as far as the rules allow, or what a person makes of it.
async fn carry_out(
    tools: &Toolset,
    hooks: &Hooks,
    call: ToolCall,
    context: &ToolContext,
    approvals: &Approvals,
    hub: &Hub,
) -> ToolReturn {
    let result = match approvals.guard(&call, context).await {
        Some(forbidden) => forbidden,
        None => gate::call(hooks, tools, &call, context).await,
    };
    context.services.call_ended(context);
    let Some(changed) = approvals.take_edit(&call.id) else { return result };
    let (edited, told) = edited(call, changed);
    hub.extension(Extension::CallEdited(CallEdited {
        tool_call_id: edited.id.clone(),
        arguments: edited.arguments().to_owned(),
    }));
    let mut result = gate::call(hooks, tools, &edited, context).await;
    context.services.call_ended(context);
    // Some providers use the same ids again in the next step.
    approvals.forget(&edited.id);
    result.message = format!("{told} {}", result.message).trim_end().to_owned();
    result
}

/// `call` with `changed` in the place of the arguments of those names, and the words that tell the
/// model what was really done.
fn edited(mut call: ToolCall, changed: Map<String, Value>) -> (ToolCall, String) {
    const LONGEST: usize = 2000;
    let mut arguments: Map<String, Value> =
        serde_json::from_str(call.arguments()).unwrap_or_default();
    let mut told = "The user changed this call before approving it. Not your version was carried \
                    out but this one:"
        .to_owned();
    for (name, value) in changed {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let length = text.chars().count();
        if length <= LONGEST {
            told.push_str(&format!("\n{name}: {text}"));
        } else {
            let start: String = text.chars().take(LONGEST).collect();
            told.push_str(&format!("\n{name} ({length} characters): {start}[…]"));
        }
        arguments.insert(name, value);
    }
    told.push('\n');
    call.function.arguments = Some(Value::Object(arguments).to_string());
    (call, told)
}

fn defect(error: &JoinError) -> ToolReturn {
    tracing::error!(%error, "a tool panicked");
    ToolReturn::error(
        "The tool failed because of a defect in this program. \
         It may have been carried out in part. Try another way.",
        "Tool crashed",
    )
}
