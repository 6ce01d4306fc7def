//! What an engine tells, as updates of a session: live, and again when a session is loaded.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use uuid::Uuid;

use super::client::Can;
use super::{content, tool_calls};
use crate::message::{ContentPart, ToolCall};
use crate::wire::{Event, Notification, StatusUpdate, ToolResult};

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
    compaction: Option<String>,
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
}

/// A call as a permission request names it.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) title: String,
}

fn chunk(block: acp::ContentBlock) -> acp::ContentChunk {
    acp::ContentChunk::new(block)
}

/// Text of the agent.
pub(super) fn said(text: impl Into<String>) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(chunk(text.into().into()))
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
            compaction: None,
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
                if !self.is_replay {
                    return Vec::new();
                }
                let parts = begin.user_input.clone().into_parts();
                let blocks = parts.iter().filter_map(content::block);
                blocks.map(|block| acp::SessionUpdate::UserMessageChunk(chunk(block))).collect()
            }
            Event::ContentPart(ContentPart::Think { think, .. }) if !think.is_empty() => {
                vec![acp::SessionUpdate::AgentThoughtChunk(chunk(think.clone().into()))]
            }
            Event::ContentPart(part) => content::block(part)
                .map(|block| acp::SessionUpdate::AgentMessageChunk(chunk(block)))
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
            Event::CompactionBegin(_) => self.compacting(acp::CompactionStatus::InProgress),
            Event::CompactionEnd(_) => self.compacting(acp::CompactionStatus::Completed),
            Event::Notification(note) if !self.is_replay => vec![self.notice(note)],
            Event::PlanDisplay(plan) => vec![said(format!("\n\n{}\n\n", plan.content))],
            _ => Vec::new(),
        }
    }

    fn begin(&mut self, call: &ToolCall) -> acp::SessionUpdate {
        let mut id = format!("{}/{}", self.turn, call.id);
        // Providers give the same id to calls of different steps.
        let mut again = 1;
        while !self.given.insert(id.clone()) {
            again += 1;
            id = format!("{}/{}#{again}", self.turn, call.id);
        }
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
        let (is_over, terminal) = (false, None);
        let known = Call { id, name, arguments, title, told, is_over, terminal };
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
        let open = self.calls.values_mut().filter(|call| !call.is_over);
        open.map(|call| {
            call.is_over = true;
            let failed = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Failed);
            update(call, failed)
        })
        .collect()
    }

    fn usage(&mut self, status: &StatusUpdate) -> Option<acp::SessionUpdate> {
        let now = (status.context_tokens?, status.max_context_tokens?);
        if !self.can.is_of_today || self.used.replace(now) == Some(now) {
            return None;
        }
        Some(acp::SessionUpdate::UsageUpdate(acp::UsageUpdate::new(now.0, now.1)))
    }

    fn compacting(&mut self, status: acp::CompactionStatus) -> Vec<acp::SessionUpdate> {
        if !self.can.show_compactions {
            return Vec::new();
        }
        let id = match &status {
            acp::CompactionStatus::InProgress => {
                self.compaction.insert(Uuid::new_v4().to_string()).clone()
            }
            _ => match self.compaction.take() {
                Some(id) => id,
                None => return Vec::new(),
            },
        };
        vec![acp::SessionUpdate::CompactionUpdate(acp::CompactionUpdate::new(id, status))]
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

fn update(call: &Call, fields: acp::ToolCallUpdateFields) -> acp::SessionUpdate {
    acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(call.id.clone(), fields))
}

fn complete(arguments: &str) -> Option<Value> {
    serde_json::from_str(arguments).ok().filter(Value::is_object)
}
