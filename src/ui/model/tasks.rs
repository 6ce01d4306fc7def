//! Work beside the turn: background tasks, and what subagents do within their call.

use std::collections::VecDeque;

use super::cell::LiveTail;
use crate::message::key_argument;
use crate::wire::{Event, SubagentEvent, TaskChanged, TaskState};

/// The background tasks of the session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tasks {
    /// Newest first.
    pub rows: Vec<TaskRow>,
}

/// One background task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// What is known of it.
    pub fact: TaskChanged,
    /// The end of what it has printed, as far as it was heard.
    pub tail: LiveTail,
}

/// The list of background tasks on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskBrowser {
    /// Index into the list.
    pub marked: usize,
}

impl Tasks {
    /// Takes in news of a task.
    pub fn changed(&mut self, fact: TaskChanged) {
        match self.rows.iter_mut().find(|row| row.fact.id == fact.id) {
            Some(row) => row.fact = fact,
            None => self.rows.insert(0, TaskRow { fact, tail: LiveTail::default() }),
        }
    }

    /// Takes in what a task printed.
    pub fn printed(&mut self, id: &str, text: &str) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.fact.id == id) {
            row.tail.push(text);
        }
    }

    /// How many run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.rows.iter().filter(|row| row.fact.state == TaskState::Running).count()
    }

    /// The program that ran them is gone: nobody knows what became of those that ran.
    pub fn lose(&mut self) {
        for row in &mut self.rows {
            if row.fact.state == TaskState::Running {
                row.fact.state = TaskState::Lost;
            }
        }
    }
}

/// What a subagent did, within the card of its call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nested {
    /// The type of subagent.
    pub kind: String,
    /// The last things it did, oldest first.
    pub rows: VecDeque<NestedRow>,
    /// Things that were dropped at the front.
    pub dropped: usize,
    /// Tool calls it made.
    pub calls: usize,
    /// Tool calls that failed.
    pub failed: usize,
}

/// One thing a subagent did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedRow {
    /// The tool call it is; none for something that was said.
    pub call_id: Option<String>,
    /// What was done or said.
    pub text: String,
    /// How a tool call went; none while it runs.
    pub worked: Option<bool>,
    /// How many subagents deeper it happened.
    pub depth: usize,
}

impl Nested {
    /// Rows kept.
    pub const ROWS: usize = 300;

    /// Takes in what a subagent did. False when there is nothing to show.
    pub fn take(&mut self, event: &SubagentEvent) -> bool {
        if let Some(kind) = &event.subagent_type {
            self.kind.clone_from(kind);
        }
        self.take_at(&event.event, 0)
    }

    fn take_at(&mut self, event: &Event, depth: usize) -> bool {
        match event {
            Event::ToolCall(call) => {
                self.calls += 1;
                let name = &call.function.name;
                let argument = key_argument(name, call.arguments()).unwrap_or_default();
                self.push(NestedRow {
                    call_id: Some(call.id.clone()),
                    text: format!("{name} {argument}").trim_end().to_owned(),
                    worked: None,
                    depth,
                });
            }
            Event::ToolResult(result) => {
                let worked = !result.return_value.is_error;
                self.failed += usize::from(!worked);
                let id = Some(result.tool_call_id.as_str());
                let row = self.rows.iter_mut().rev().find(|row| row.call_id.as_deref() == id);
                let Some(row) = row else { return false };
                row.worked = Some(worked);
                if let Some(brief) = result.return_value.brief().filter(|_| !worked) {
                    let brief = brief.lines().next().unwrap_or_default();
                    row.text = format!("{}: {brief}", row.text);
                }
            }
            Event::ContentPart(part) => {
                let Some(text) = part.as_text() else { return false };
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                for line in lines {
                    let text = line.trim_end().to_owned();
                    self.push(NestedRow { call_id: None, text, worked: None, depth });
                }
            }
            Event::StepRetry(retry) => {
                let text = format!("trying again: attempt {}", retry.next_attempt);
                self.push(NestedRow { call_id: None, text, worked: Some(false), depth });
            }
            Event::SubagentEvent(inner) => return self.take_at(&inner.event, depth + 1),
            _ => return false,
        }
        true
    }

    fn push(&mut self, row: NestedRow) {
        self.rows.push_back(row);
        if self.rows.len() > Self::ROWS {
            self.rows.pop_front();
            self.dropped += 1;
        }
    }
}
