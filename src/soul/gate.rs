//! Hooks on the soul's way: before and after tools, prompts, turns and compactions.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Soul;
use super::turn::{Ended, Stop};
use crate::config::HookEvent;
use crate::hooks::{Hooks, Verdict};
use crate::message::{Message, ToolCall, ToolReturn, UserInput};
use crate::tools::{ToolContext, Toolset, call_tool};

/// Makes `call`, unless a hook is against it.
pub(super) async fn call(
    hooks: &Hooks,
    tools: &Toolset,
    call: &ToolCall,
    context: &ToolContext,
) -> ToolReturn {
    let called_as = call.function.name.as_str();
    // A matcher may say the tool's name as either program has it.
    let tool = tools.get(called_as);
    let mut names = vec![called_as];
    if let Some(tool) = &tool {
        names.push(tool.name());
        names.extend(tool.aliases());
    }
    let input: Value = serde_json::from_str(call.arguments()).unwrap_or_else(|_| json!({}));
    let details = details(json!({
        "tool_name": called_as, "tool_input": input, "tool_call_id": call.id,
    }));
    if let Verdict::Block { reason } =
        hooks.ask(HookEvent::PreToolUse, &names, details.clone()).await
    {
        let reason = if reason.is_empty() { "A hook is against it.".to_owned() } else { reason };
        return ToolReturn::error(
            format!("A hook blocked this tool call: {reason}"),
            "Hook blocked",
        );
    }
    let result = call_tool(tools, call, context).await;
    let mut after = details;
    let event = if result.is_error {
        after.insert("error".to_owned(), result.message.clone().into());
        HookEvent::PostToolUseFailure
    } else {
        after.insert("tool_output".to_owned(), result.output.text().into());
        HookEvent::PostToolUse
    };
    hooks.tell(event, &names, after);
    result
}

/// The entries of a JSON object.
pub(super) fn details(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

impl Soul {
    /// Asks hooks; a cancel ends them and is no block.
    async fn ask_hooks(
        &self,
        event: HookEvent,
        target: &str,
        about: Value,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let targets = [target];
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            said = self.hooks.ask(event, &targets, details(about)) => said.reason(),
        }
    }

    /// What a hook has against a prompt.
    pub(super) async fn prompt_blocked(
        &self,
        input: &UserInput,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let prompt = json!({ "prompt": input.text() });
        let reason = self.ask_hooks(HookEvent::UserPromptSubmit, "", prompt, cancel).await?;
        Some(if reason.is_empty() { "A hook blocked this prompt.".to_owned() } else { reason })
    }

    /// A turn, and once more when a hook has something to say at its end.
    pub(super) async fn turn_with_hooks(
        &mut self,
        message: Message,
        cancel: &CancellationToken,
    ) -> Result<Ended, Stop> {
        let mut result = self.turn(message, cancel).await;
        if result.is_ok() {
            let about = json!({ "stop_hook_active": false });
            let more = self.ask_hooks(HookEvent::Stop, "", about, cancel).await;
            if let Some(reason) = more.filter(|reason| !reason.is_empty()) {
                result = self.turn(Message::user(reason), cancel).await;
            }
        }
        if let Err(stop) = &result
            && !matches!(stop, Stop::Cancelled)
        {
            let kind = stop.kind();
            let about = json!({ "error_type": kind, "error_message": stop.to_string() });
            self.hooks.tell(HookEvent::StopFailure, &[kind], details(about));
        }
        result
    }

    /// Waits for hooks that want to know of a coming compaction.
    pub(super) async fn before_compaction(&self, trigger: &str, cancel: &CancellationToken) {
        let tokens = self.context.tokens_with_pending();
        let about = json!({ "trigger": trigger, "token_count": tokens });
        // What they say does not matter: a full window cannot wait.
        let _ = self.ask_hooks(HookEvent::PreCompact, trigger, about, cancel).await;
    }

    /// Tells hooks of a compaction that was.
    pub(super) fn after_compaction(&self, trigger: &str) {
        let tokens = self.context.tokens_with_pending();
        let about = json!({ "trigger": trigger, "estimated_token_count": tokens });
        self.hooks.tell(HookEvent::PostCompact, &[trigger], details(about));
    }

    /// Tells hooks that the session begins.
    pub(super) fn session_begins(&self) {
        let source = if self.info.is_resumed { "resume" } else { "startup" };
        let about = json!({ "source": source });
        self.hooks.tell(HookEvent::SessionStart, &[source], details(about));
    }

    /// Tells hooks that the session ends, and ends them.
    pub(super) async fn session_ends(&self) {
        // A front end's answers are not heard any more.
        self.hooks.subscribe(&[]);
        self.hooks.tell(HookEvent::SessionEnd, &["exit"], details(json!({ "reason": "exit" })));
        self.hooks.close().await;
    }
}
