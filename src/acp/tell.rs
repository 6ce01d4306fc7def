//! What an engine tells, as updates of a session: live, and again when a session is loaded.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use uuid::Uuid;

use super::client::Can;
use super::live::Tail;
use super::subagent::Doings;
use super::{content, tool_calls};
use crate::message::{ContentPart, ToolCall, UserInput};
use crate::wire::{
    ApprovalRequest, Event, Extension, HookAction, HookResolved, Notification, StatusUpdate,
    SubagentEvent, ToolOutputChunk, ToolResult, TurnBegin,
};

/// Turns events into updates. Keeps what they refer to: the calls of the turn.
#[derive(Debug)]
pub(super) struct Teller {
    work_dir: PathBuf,
    can: Can,
    /// Is the past told, in which the person's own words are news too?
    is_replay: bool,
    turn: String,
    calls: HashMap<String, Call>,
    /// Names that were given to calls of this turn.
    given: HashSet<String>,
    /// The call whose arguments are coming.
    last: Option<String>,
    /// Calls that have printed something the editor has not been told.
    printing: Vec<String>,
    /// What pieces of text belong to.
    message: String,
    compaction: Option<String>,
    /// Tokens before and after the latest compaction.
    compacted: Option<(u64, u64)>,
    used: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    title: String,
    /// How much of the arguments the editor has.
    told: usize,
    is_over: bool,
    /// Where the person sees it run.
    terminal: Option<acp::TerminalId>,
    /// What it prints.
    live: Tail,
    /// What the subagent does that it started.
    doings: Doings,
}

impl Call {
    fn new(id: String, name: String, title: String) -> Self {
        Self {
            id,
            name,
            arguments: String::new(),
            title,
            told: 0,
            is_over: false,
            terminal: None,
            live: Tail::default(),
            doings: Doings::default(),
        }
    }
}

/// A call as a permission request names it.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) title: String,
}

/// Text of the agent.
pub(super) fn said(text: impl Into<String>) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(acp::ContentChunk::new(text.into().into()))
}

impl Teller {
    pub(super) fn new(work_dir: PathBuf, can: Can, is_replay: bool) -> Self {
        Self {
            work_dir,
            can,
            is_replay,
            turn: Uuid::new_v4().to_string(),
            calls: HashMap::new(),
            given: HashSet::new(),
            last: None,
            printing: Vec::new(),
            message: Uuid::new_v4().to_string(),
            compaction: None,
            compacted: None,
            used: None,
        }
    }

    /// The call `id` of this turn.
    pub(super) fn named(&self, id: &str) -> Option<Named> {
        let call = self.calls.get(id)?;
        Some(Named { id: call.id.clone(), title: call.title.clone() })
    }

    /// The call `id` runs in a terminal the person sees.
    pub(super) fn runs_in(
        &mut self,
        id: &str,
        terminal: acp::TerminalId,
    ) -> Option<acp::SessionUpdate> {
        let call = self.calls.get_mut(id)?;
        call.terminal = Some(terminal.clone());
        let shown = acp::ToolCallContent::Terminal(acp::Terminal::new(terminal));
        Some(update(call, acp::ToolCallUpdateFields::new().content(vec![shown])))
    }

    /// What the editor is told of `event`.
    pub(super) fn event(&mut self, event: &Event) -> Vec<acp::SessionUpdate> {
        match event {
            Event::TurnBegin(begin) => {
                self.turn = Uuid::new_v4().to_string();
                self.calls.clear();
                self.given.clear();
                self.printing.clear();
                self.heard(&begin.user_input)
            }
            Event::SteerInput(steer) => self.heard(&steer.user_input),
            Event::StepBegin(_) => {
                self.message = Uuid::new_v4().to_string();
                Vec::new()
            }
            Event::ContentPart(ContentPart::Think { think, .. }) if !think.is_empty() => {
                vec![acp::SessionUpdate::AgentThoughtChunk(self.chunk(think.clone().into()))]
            }
            Event::ContentPart(part) => content::block(part)
                .map(|block| acp::SessionUpdate::AgentMessageChunk(self.chunk(block)))
                .into_iter()
                .collect(),
            Event::ToolCall(call) => vec![self.begin(call)],
            Event::ToolCallPart(part) => {
                self.more(part.arguments_part.as_deref().unwrap_or_default()).into_iter().collect()
            }
            Event::ToolResult(result) => self.finish(result),
            Event::StepRetry(_) => self.give_up(),
            Event::StepInterrupted(_) | Event::TurnEnd(_) => self.give_up(),
            Event::StatusUpdate(status) => self.usage(status).into_iter().collect(),
            Event::SubagentEvent(news) => self.subagent(news).into_iter().collect(),
            Event::Extension(Extension::ToolOutput(chunk)) => {
                self.printed(chunk);
                Vec::new()
            }
            Event::Extension(Extension::ContextCompacted(change)) => {
                self.compacted = Some((change.before.tokens, change.after.tokens));
                Vec::new()
            }
            Event::CompactionBegin(_) => vec![self.compacting()],
            Event::CompactionEnd(_) => self.compaction_over(true).into_iter().collect(),
            Event::HookResolved(hook) if !self.is_replay => self.hook(hook).into_iter().collect(),
            Event::Notification(note) if !self.is_replay => vec![self.notice(note)],
            Event::PlanDisplay(plan) => vec![said(format!("\n\n{}\n\n", plan.content))],
            _ => Vec::new(),
        }
    }

    fn chunk(&self, block: acp::ContentBlock) -> acp::ContentChunk {
        let message = self.can.is_of_today.then(|| self.message.clone());
        acp::ContentChunk::new(block).message_id(message.map(acp::MessageId::from))
    }

    /// The person's own words, which are news when the past is told.
    fn heard(&mut self, input: &UserInput) -> Vec<acp::SessionUpdate> {
        self.message = Uuid::new_v4().to_string();
        // Nor is it the person's what stands in the place of a prompt when a turn begins by itself.
        let is_ours = matches!(input, UserInput::Text(text) if text == TurnBegin::TASKS_ENDED);
        if !self.is_replay || is_ours {
            return Vec::new();
        }
        let parts = input.clone().into_parts();
        let blocks = parts.iter().filter_map(content::block);
        blocks.map(|block| acp::SessionUpdate::UserMessageChunk(self.chunk(block))).collect()
    }

    /// A name for a call, unlike all others of this turn.
    fn name(&mut self, call: &str) -> String {
        let mut id = format!("{}/{call}", self.turn);
        // Providers give the same id to calls of different steps.
        let mut again = 1;
        while !self.given.insert(id.clone()) {
            again += 1;
            id = format!("{}/{call}#{again}", self.turn);
        }
        id
    }

    fn begin(&mut self, call: &ToolCall) -> acp::SessionUpdate {
        let id = self.name(&call.id);
        let name = call.function.name.clone();
        let arguments = call.arguments().to_owned();
        let title = tool_calls::title(&name, &arguments);
        let mut begun = acp::ToolCall::new(id.clone(), title.clone())
            .kind(tool_calls::kind(&name))
            .status(acp::ToolCallStatus::InProgress);
        if self.can.is_of_today {
            begun = begun.name(name.clone());
        }
        if !arguments.is_empty() {
            begun = begun.content(vec![arguments.clone().into()]);
        }
        if let Some(input) = complete(&arguments) {
            begun = begun
                .locations(tool_calls::locations(&name, &input, &self.work_dir))
                .raw_input(input);
        }
        let told = arguments.len();
        let known = Call { arguments, told, ..Call::new(id, name, title) };
        self.calls.insert(call.id.clone(), known);
        self.last = Some(call.id.clone());
        acp::SessionUpdate::ToolCall(begun)
    }

    /// More arguments. Told when they say more in the title, are complete, or are half as many
    /// again: a long file is not told again and again.
    fn more(&mut self, piece: &str) -> Option<acp::SessionUpdate> {
        let call = self.calls.get_mut(self.last.as_ref()?)?;
        call.arguments.push_str(piece);
        let title = tool_calls::title(&call.name, &call.arguments);
        let input = piece.trim_end().ends_with('}').then(|| complete(&call.arguments)).flatten();
        let is_much = call.arguments.len() > call.told + call.told / 2;
        if title == call.title && input.is_none() && !is_much {
            return None;
        }
        call.told = call.arguments.len();
        call.title.clone_from(&title);
        let mut fields = acp::ToolCallUpdateFields::new()
            .title(title)
            .status(acp::ToolCallStatus::InProgress)
            .content(vec![call.arguments.clone().into()]);
        if let Some(input) = input {
            fields = fields
                .locations(tool_calls::locations(&call.name, &input, &self.work_dir))
                .raw_input(input);
        }
        Some(update(call, fields))
    }

    fn finish(&mut self, result: &ToolResult) -> Vec<acp::SessionUpdate> {
        let value = &result.return_value;
        let mut updates = Vec::new();
        if let Some(call) = self.calls.get_mut(&result.tool_call_id) {
            call.is_over = true;
            let status = match value.is_error {
                true => acp::ToolCallStatus::Failed,
                false => acp::ToolCallStatus::Completed,
            };
            let content = match &call.terminal {
                Some(terminal) => {
                    vec![acp::ToolCallContent::Terminal(acp::Terminal::new(terminal.clone()))]
                }
                None => tool_calls::outcome(value),
            };
            let fields = acp::ToolCallUpdateFields::new().status(status).content(content);
            updates.push(update(call, fields));
        }
        updates.extend(tool_calls::plan(&value.display).map(acp::SessionUpdate::Plan));
        updates
    }

    /// What was begun and will have no result is over.
    fn give_up(&mut self) -> Vec<acp::SessionUpdate> {
        self.last = None;
        let compaction = self.compaction_over(false);
        let open = self.calls.values_mut().filter(|call| !call.is_over);
        let calls = open.map(|call| {
            call.is_over = true;
            let failed = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Failed);
            update(call, failed)
        });
        compaction.into_iter().chain(calls).collect()
    }

    fn printed(&mut self, chunk: &ToolOutputChunk) {
        let Some(call) = self.calls.get_mut(&chunk.tool_call_id) else { return };
        call.live.push(&chunk.text);
        if !self.printing.contains(&chunk.tool_call_id) {
            self.printing.push(chunk.tool_call_id.clone());
        }
    }

    /// Has a running call printed something the editor has not been told?
    pub(super) fn has_output(&self) -> bool {
        !self.printing.is_empty()
    }

    /// What running calls have printed.
    pub(super) fn output(&mut self) -> Vec<acp::SessionUpdate> {
        let mut updates = Vec::new();
        for id in std::mem::take(&mut self.printing) {
            let Some(call) = self.calls.get_mut(&id) else { continue };
            if !call.is_over
                && call.terminal.is_none()
                && let Some(tail) = call.live.news()
            {
                let content = vec![tail.into()];
                updates.push(update(call, acp::ToolCallUpdateFields::new().content(content)));
            }
        }
        updates
    }

    /// What a subagent does is told with the call that started it; its calls have no updates of
    /// their own but for those the person was asked about.
    fn subagent(&mut self, news: &SubagentEvent) -> Vec<acp::SessionUpdate> {
        let mut updates = Vec::new();
        if let Event::ToolResult(result) = &*news.event {
            let asked = ToolResult {
                tool_call_id: stand_in(news.agent_id.as_deref(), &result.tool_call_id),
                ..result.clone()
            };
            if self.calls.contains_key(&asked.tool_call_id) {
                updates.extend(self.finish(&asked));
            }
        }
        let parent = news.parent_tool_call_id.as_ref().and_then(|id| self.calls.get_mut(id));
        let Some(parent) = parent.filter(|parent| !parent.is_over) else { return updates };
        let is_told = match &*news.event {
            Event::ToolCall(call) => {
                let title = tool_calls::title(&call.function.name, call.arguments());
                parent.doings.begin(&call.id, title);
                true
            }
            Event::ToolResult(result) => {
                parent.doings.end(&result.tool_call_id, result.return_value.is_error)
            }
            _ => false,
        };
        if is_told {
            let content = vec![parent.doings.shown().into()];
            updates.push(update(parent, acp::ToolCallUpdateFields::new().content(content)));
        }
        updates
    }

    /// The call an approval is asked for. One of a subagent is told first: editors put the question
    /// beside a call they know.
    pub(super) fn asked(
        &mut self,
        ask: &ApprovalRequest,
    ) -> (Option<Named>, Option<acp::SessionUpdate>) {
        if ask.agent_id.is_none() {
            return (self.named(&ask.tool_call_id), None);
        }
        let key = stand_in(ask.agent_id.as_deref(), &ask.tool_call_id);
        let id = self.name(&key);
        let title = format!("{}: {}", ask.sender, ask.description);
        let begun = acp::ToolCall::new(id.clone(), title.clone())
            .kind(tool_calls::kind(&ask.sender))
            .status(acp::ToolCallStatus::Pending);
        self.calls.insert(key, Call::new(id.clone(), ask.sender.clone(), title.clone()));
        (Some(Named { id, title }), Some(acp::SessionUpdate::ToolCall(begun)))
    }

    fn usage(&mut self, status: &StatusUpdate) -> Option<acp::SessionUpdate> {
        let now = (status.context_tokens?, status.max_context_tokens?);
        if !self.can.is_of_today || self.used.replace(now) == Some(now) {
            return None;
        }
        Some(acp::SessionUpdate::UsageUpdate(acp::UsageUpdate::new(now.0, now.1)))
    }

    /// The context is being summarised: news of its own where the editor shows it, else a call, since
    /// it may take a while.
    fn compacting(&mut self) -> acp::SessionUpdate {
        self.compacted = None;
        let id = self.compaction.insert(Uuid::new_v4().to_string()).clone();
        if self.can.show_compactions {
            let status = acp::CompactionStatus::InProgress;
            return acp::SessionUpdate::CompactionUpdate(acp::CompactionUpdate::new(id, status));
        }
        let call = acp::ToolCall::new(id, "Compacting the conversation")
            .kind(acp::ToolKind::Think)
            .status(acp::ToolCallStatus::InProgress);
        acp::SessionUpdate::ToolCall(call)
    }

    fn compaction_over(&mut self, is_done: bool) -> Option<acp::SessionUpdate> {
        let id = self.compaction.take()?;
        if self.can.show_compactions {
            let status = match is_done {
                true => acp::CompactionStatus::Completed,
                false => acp::CompactionStatus::Failed,
            };
            let update = acp::CompactionUpdate::new(id, status);
            return Some(acp::SessionUpdate::CompactionUpdate(update));
        }
        let status = match is_done {
            true => acp::ToolCallStatus::Completed,
            false => acp::ToolCallStatus::Failed,
        };
        let mut fields = acp::ToolCallUpdateFields::new().status(status);
        if let Some((before, after)) = self.compacted.take() {
            let sizes = format!("From {before} to {after} tokens.");
            fields = fields.content(vec![sizes.into()]);
        }
        Some(acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(id, fields)))
    }

    /// A hook that stops something. One about a tool is told by the call, which fails with it.
    fn hook(&self, hook: &HookResolved) -> Option<acp::SessionUpdate> {
        let is_told = hook.event.ends_with("ToolUse") || hook.event == "UserPromptSubmit";
        (hook.action == HookAction::Block && !is_told).then(|| {
            let title = format!("A {} hook objects", hook.event);
            self.told(acp::NoticeSeverity::Warning, &title, &hook.reason)
        })
    }

    fn notice(&self, note: &Notification) -> acp::SessionUpdate {
        let severity = match note.severity.as_str() {
            "error" => acp::NoticeSeverity::Error,
            "warning" => acp::NoticeSeverity::Warning,
            _ => acp::NoticeSeverity::Info,
        };
        self.told(severity, &note.title, &note.body)
    }

    /// Something a person should know: beside the conversation where the editor can, else in it.
    pub(super) fn told(
        &self,
        severity: acp::NoticeSeverity,
        title: &str,
        body: &str,
    ) -> acp::SessionUpdate {
        if self.can.show_notices {
            let body = (!body.is_empty()).then(|| body.to_owned());
            return acp::SessionUpdate::Notice(acp::Notice::new(severity, title).description(body));
        }
        let rest = if body.is_empty() { String::new() } else { format!("\n{body}") };
        said(format!("[Notification] {title}{rest}\n\n"))
    }
}

/// The key of a subagent's call that the editor knows.
fn stand_in(agent: Option<&str>, call: &str) -> String {
    format!("{}/{call}", agent.unwrap_or_default())
}

fn update(call: &Call, fields: acp::ToolCallUpdateFields) -> acp::SessionUpdate {
    acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(call.id.clone(), fields))
}

fn complete(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_typed_is_no_message_of_the_person() {
        let mut teller = Teller::new("/w".into(), Can::default(), true);
        let begin = |text: &str| Event::TurnBegin(TurnBegin { user_input: text.into() });
        assert_eq!(teller.event(&begin("do it")).len(), 1);
        assert_eq!(teller.event(&begin(TurnBegin::TASKS_ENDED)), []);
    }
}
