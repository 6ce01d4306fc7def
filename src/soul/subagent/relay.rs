//! What a subagent does, carried to the front ends of the session and into its story.

use super::store::Folder;
use crate::message::{ContentPart, key_argument};
use crate::tools::TaskHandle;
use crate::wire::{DoorMessage, Event, Hub, SubagentEvent};

/// Carries events of one subagent.
pub(super) struct Relay {
    /// Who is told.
    pub hub: Hub,
    /// The call that started it.
    pub call_id: String,
    pub agent_id: String,
    pub kind: String,
    pub folder: Folder,
    /// Its background task.
    pub task: Option<TaskHandle>,
    /// What may still grow.
    pub held: Option<Event>,
}

impl Relay {
    /// Takes a message of the subagent's own wire.
    pub fn take(&mut self, message: DoorMessage) {
        let DoorMessage::Event(event) = message else { return };
        if let (Some(Event::ContentPart(held)), Event::ContentPart(part)) = (&mut self.held, &event)
            && held.merge(part.clone()).is_ok()
        {
            self.tell_lines();
            return;
        }
        if let (Some(Event::ToolCall(call)), Event::ToolCallPart(part)) = (&mut self.held, &event) {
            if let Some(more) = &part.arguments_part {
                call.function.arguments.get_or_insert_default().push_str(more);
            }
            return;
        }
        self.flush();
        match event {
            // Its turns are this call; what is beyond the protocol stays within.
            Event::TurnBegin(_) | Event::TurnEnd(_) | Event::Extension(_) => {}
            Event::ContentPart(_) | Event::ToolCall(_) => {
                self.held = Some(event);
                self.tell_lines();
            }
            other => self.tell(other),
        }
    }

    /// Tells what was held back.
    pub fn flush(&mut self) {
        if let Some(held) = self.held.take() {
            self.tell(held);
        }
    }

    /// Whole lines of text are told at once: an event a piece would swell the record.
    fn tell_lines(&mut self) {
        let Some(Event::ContentPart(ContentPart::Text { text })) = &mut self.held else { return };
        let Some(end) = text.rfind('\n') else { return };
        let rest = text.split_off(end + 1);
        let lines = std::mem::replace(text, rest);
        self.tell(Event::ContentPart(ContentPart::text(lines)));
    }

    fn tell(&self, event: Event) {
        let story = story(&event);
        if !story.is_empty() {
            self.note(&story);
        }
        if matches!(&event, Event::ContentPart(ContentPart::Text { text }) if text.is_empty()) {
            return;
        }
        self.hub.event(Event::SubagentEvent(SubagentEvent {
            parent_tool_call_id: Some(self.call_id.clone()),
            agent_id: Some(self.agent_id.clone()),
            subagent_type: Some(self.kind.clone()),
            event: Box::new(event),
        }));
    }

    /// Adds to the story.
    pub fn note(&self, text: &str) {
        self.folder.tell(text);
        if let Some(task) = &self.task {
            task.write(text);
        }
    }
}

/// An event as a line of the story; empty when it says nothing.
fn story(event: &Event) -> String {
    match event {
        Event::ContentPart(ContentPart::Text { text }) => text.clone(),
        Event::ToolCall(call) => {
            let argument = key_argument(&call.function.name, call.arguments()).unwrap_or_default();
            format!("\n[tool] {} {argument}\n", call.function.name)
        }
        Event::ToolResult(result) if result.return_value.is_error => {
            let reason = result.return_value.brief().unwrap_or("failed");
            format!("[tool] failed: {reason}\n")
        }
        Event::StepBegin(step) => format!("\n[stage] step {}\n", step.n),
        _ => String::new(),
    }
}
