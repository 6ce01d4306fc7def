//! A generation of the context to be read: its messages as cells, and what a compaction took from it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cell::{Cell, CellId, CellKind, Fate, Group, Level, Life, ToolCell, ToolState};
use super::overlay::PagerMove;
use crate::message::{ContentPart, Generation, Message, Role, ToolReturn, without_tags};
use crate::session::generations::Transcript;
use crate::ui::effect::EffectId;
use crate::wire::{ContextRewritten, RewrittenMessage};

/// Something in a generation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A checkpoint.
    Checkpoint {
        /// Its number.
        id: u64,
        /// What the context held at it.
        tokens: u64,
    },
    /// A message, or a part of one.
    Cell(Box<Cell>),
}

/// What is known of a generation.
#[derive(Debug, Clone, PartialEq)]
pub enum Page {
    /// It is being read.
    Loading,
    /// It cannot be read: why.
    Failed(String),
    /// All of it.
    Ready(Arc<[Item]>),
}

/// A generation on the whole screen, to be read only.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationView {
    /// Which request brings it.
    pub request: EffectId,
    /// Which.
    pub generation: Generation,
    /// The one that lives, the last there is.
    pub current: Generation,
    /// Its messages.
    pub page: Page,
    /// First visible line.
    pub top: usize,
    /// Moves not yet drawn: only drawing knows how long it is.
    pub pending: Vec<PagerMove>,
}

impl GenerationView {
    /// One that is being read.
    #[must_use]
    pub fn loading(request: EffectId, generation: Generation, current: Generation) -> Self {
        let (page, pending) = (Page::Loading, Vec::new());
        Self { request, generation, current, page, top: 0, pending }
    }
}

/// What a compaction, or the person, took out of the context.
#[derive(Debug, Clone, PartialEq)]
pub struct LossList {
    /// Which request brings the messages themselves.
    pub request: EffectId,
    /// The generation that has them.
    pub generation: Generation,
    /// What took them.
    pub strategy: String,
    /// The messages, the largest first.
    pub rows: Vec<RewrittenMessage>,
    /// The marked row.
    pub marked: usize,
    /// Numbers of those to bring back.
    pub chosen: BTreeSet<u64>,
    /// The messages as they were, or why they cannot be read.
    pub messages: Option<Result<Arc<Transcript>, String>>,
}

impl LossList {
    /// A list of what `rewritten` says.
    #[must_use]
    pub fn new(request: EffectId, rewritten: &ContextRewritten) -> Self {
        let mut rows = rewritten.messages.clone();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.tokens), row.index));
        Self {
            request,
            generation: rewritten.generation,
            strategy: rewritten.strategy.clone(),
            rows,
            marked: 0,
            chosen: BTreeSet::new(),
            messages: None,
        }
    }

    /// Numbers of the messages to bring back: those chosen, or the marked one.
    #[must_use]
    pub fn wanted(&self) -> Vec<u64> {
        if self.chosen.is_empty() {
            self.rows.get(self.marked).map(|row| row.index).into_iter().collect()
        } else {
            self.chosen.iter().copied().collect()
        }
    }

    /// The text of the marked message, as it was.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let row = self.rows.get(self.marked)?;
        let Some(Ok(transcript)) = &self.messages else { return Some(row.preview.clone()) };
        let message = transcript.messages.get(usize::try_from(row.index).ok()?)?;
        Some(message.text()).filter(|text| !text.trim().is_empty()).or(Some(row.preview.clone()))
    }
}

/// The messages of a generation and its checkpoints between them.
#[must_use]
pub fn items(transcript: &Transcript) -> Vec<Item> {
    let mut items = Vec::new();
    let mut next = 0;
    let mut marks = transcript.checkpoints.iter().peekable();
    let mut calls: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for (at, message) in transcript.messages.iter().enumerate() {
        while let Some(mark) = marks.next_if(|mark| mark.messages <= at) {
            items.push(Item::Checkpoint { id: mark.id.0, tokens: mark.tokens });
        }
        if message.is_checkpoint_note() {
            continue;
        }
        if message.role == Role::Tool
            && let Some(&place) = message.tool_call_id.as_deref().and_then(|id| calls.get(id))
            && let Some(Item::Cell(cell)) = items.get_mut(place)
            && let CellKind::Tool(tool) = &mut cell.kind
        {
            finish(tool, message);
            continue;
        }
        for kind in kinds(message) {
            items.push(Item::Cell(Box::new(cell(next, kind, transcript.generation))));
            next += 1;
        }
        for call in message.calls() {
            let arguments = call.arguments().to_owned();
            let mut tool = ToolCell::new(call.id.clone(), call.function.name.clone(), arguments);
            tool.state = ToolState::Cancelled;
            calls.insert(&call.id, items.len());
            let kind = CellKind::Tool(Box::new(tool));
            items.push(Item::Cell(Box::new(cell(next, kind, transcript.generation))));
            next += 1;
        }
    }
    items.extend(marks.map(|mark| Item::Checkpoint { id: mark.id.0, tokens: mark.tokens }));
    items
}

fn finish(tool: &mut ToolCell, message: &Message) {
    let text = message.text();
    let failed = text.starts_with("<system>ERROR: ");
    tool.state = if failed { ToolState::Failed } else { ToolState::Done };
    let text = without_tags(&text).trim().to_owned();
    let result =
        if failed { ToolReturn::error("", "").with_output(text) } else { ToolReturn::ok(text, "") };
    tool.result = Some(result.into());
}

fn kinds(message: &Message) -> Vec<CellKind> {
    let notice = |text: &str| CellKind::Notice { level: Level::Info, text: text.to_owned() };
    let text = |text: &String| match message.role {
        Role::User if message.is_note() => notice(without_tags(text).trim()),
        Role::User => CellKind::User { text: text.clone(), steered: false },
        Role::Assistant => CellKind::Assistant { text: text.clone().into() },
        Role::System | Role::Tool => notice(text),
    };
    message
        .content
        .iter()
        .filter_map(|part| match part {
            ContentPart::Text { text: said } if !said.trim().is_empty() => Some(text(said)),
            ContentPart::Think { think, .. } if !think.is_empty() => {
                Some(CellKind::Thinking { text: think.clone().into(), seconds: Some(0.0) })
            }
            ContentPart::ImageUrl { .. } => Some(notice("[image]")),
            ContentPart::AudioUrl { .. } => Some(notice("[audio]")),
            ContentPart::VideoUrl { .. } => Some(notice("[video]")),
            _ => None,
        })
        .collect()
}

fn cell(id: u64, kind: CellKind, generation: Generation) -> Cell {
    Cell {
        id: CellId(id),
        version: 0,
        finished: true,
        fate: Fate::Live,
        life: Life::from(generation),
        open: None,
        group: Group::Alone,
        began: 0.0,
        kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;

    #[test]
    fn messages_become_cells_and_results_join_their_calls() {
        let mut asking = Message::new(
            Role::Assistant,
            vec![ContentPart::think("hm"), ContentPart::text("I look")],
        );
        asking.tool_calls = Some(vec![
            ToolCall::new("a", "Bash", Some("{}".into())),
            ToolCall::new("b", "Bash", Some("{}".into())),
        ]);
        let transcript = Transcript {
            generation: Generation(3),
            system_prompt: None,
            messages: vec![
                Message::user("go"),
                Message::system_note("CHECKPOINT 1"),
                asking,
                Message::tool_result("b", &ToolReturn::error("No.", "")),
                Message::tool_result("a", &ToolReturn::ok("out", "")),
            ],
            checkpoints: Vec::new(),
            bad_lines: Vec::new(),
        };
        let told: Vec<String> = items(&transcript)
            .into_iter()
            .map(|item| match item {
                Item::Checkpoint { id, .. } => format!("checkpoint {id}"),
                Item::Cell(cell) => match cell.kind {
                    CellKind::User { text, .. } => format!("user {text}"),
                    CellKind::Thinking { text, .. } => format!("thought {}", text.peek()),
                    CellKind::Assistant { text } => format!("said {}", text.peek()),
                    CellKind::Tool(tool) => format!("{} {:?}", tool.call_id, tool.state),
                    other => format!("{other:?}"),
                },
            })
            .collect();
        assert_eq!(told, ["user go", "thought hm", "said I look", "a Done", "b Failed"]);
    }
}
