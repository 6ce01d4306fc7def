//! What happens as messages, a JSON object a line: the form of a session's `context.jsonl`
//! (`kimi-cli` `ui/print/visualize.py`).

use serde::Serialize;

use crate::message::{ContentPart, Message, Role, ToolCall};
use crate::wire::Event;

/// A line.
pub(super) struct Line {
    pub(super) json: String,
    /// Did the model say it?
    pub(super) is_answer: bool,
}

/// Collects what the model says until it is a whole message.
#[derive(Debug, Default)]
pub(super) struct Messages {
    content: Vec<ContentPart>,
    calls: Vec<ToolCall>,
}

impl Messages {
    /// The messages that are whole now.
    pub(super) fn event(&mut self, event: &Event) -> Vec<Line> {
        match event {
            Event::ContentPart(part) => {
                let rest = match self.content.last_mut() {
                    Some(last) => last.merge(part.clone()).err(),
                    None => Some(part.clone()),
                };
                self.content.extend(rest);
            }
            Event::ToolCall(call) => self.calls.push(call.clone()),
            Event::ToolCallPart(part) => {
                if let (Some(call), Some(more)) = (self.calls.last_mut(), &part.arguments_part) {
                    call.function.arguments.get_or_insert_default().push_str(more);
                }
            }
            // What a failed attempt said is void.
            Event::StepRetry(_) => *self = Self::default(),
            Event::StepBegin(_) => return self.end(),
            Event::ToolResult(result) => {
                let mut lines = self.end();
                let mut message = Message::new(Role::Tool, result.return_value.to_parts());
                message.tool_call_id = Some(result.tool_call_id.clone());
                lines.push(Line { json: json(&message), is_answer: false });
                return lines;
            }
            Event::Notification(note) => {
                let mut lines = self.end();
                lines.push(Line { json: json(note), is_answer: false });
                return lines;
            }
            _ => {}
        }
        Vec::new()
    }

    /// What the model has said so far.
    pub(super) fn end(&mut self) -> Vec<Line> {
        let Self { content, calls } = std::mem::take(self);
        if content.is_empty() && calls.is_empty() {
            return Vec::new();
        }
        let mut message = Message::new(Role::Assistant, content);
        message.tool_calls = (!calls.is_empty()).then_some(calls);
        vec![Line { json: json(&message), is_answer: true }]
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
