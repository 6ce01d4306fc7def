//! Cells: what the transcript is made of. No cell knows a width.

use std::collections::VecDeque;

use super::packed::Packed;
use super::tasks::Nested;
use crate::message::{Generation, ToolReturn, key_argument};
use crate::wire::RevertCause;

/// Names a cell for as long as the session is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u64);

/// Whether the model still has what a cell shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fate {
    /// It does.
    #[default]
    Live,
    /// Time was turned back past it.
    Reverted,
    /// The context was emptied.
    Cleared,
    /// It was replaced by a summary.
    Compacted,
}

/// In which generations of the context something was: what a restore brings back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Life(Vec<Stay>);

/// A stay in the context: from the generation it came in to the one at whose end it was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stay {
    from: Generation,
    until: Option<Generation>,
}

impl Life {
    /// A life that begins in `generation`.
    #[must_use]
    pub fn from(generation: Generation) -> Self {
        Self(vec![Stay { from: generation, until: None }])
    }

    /// It is lost as `generation` ends.
    pub fn lose(&mut self, generation: Generation) {
        if let Some(stay) = self.0.last_mut() {
            stay.until.get_or_insert(generation);
        }
    }

    /// It is there again from `generation` on.
    pub fn come_back(&mut self, generation: Generation) {
        if self.0.last().is_none_or(|stay| stay.until.is_some()) {
            self.0.push(Stay { from: generation, until: None });
        }
    }

    /// Was it there when `generation` ended?
    #[must_use]
    pub fn reached_the_end_of(&self, generation: Generation) -> bool {
        let reached =
            |stay: &Stay| stay.from <= generation && stay.until.is_none_or(|end| end >= generation);
        self.0.iter().any(reached)
    }
}

/// One thing in the transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its name.
    pub id: CellId,
    /// Raised by every change; what was drawn for an older one is stale.
    pub version: u32,
    /// Will it change no more by itself?
    pub finished: bool,
    /// Does the model still have it?
    pub fate: Fate,
    /// In which generations of the context it was.
    pub life: Life,
    /// Did the person unfold or fold it? Otherwise the settings decide.
    pub open: Option<bool>,
    /// Does it share a row with its neighbours?
    pub group: Group,
    /// Seconds since 1970 when it began.
    pub began: f64,
    /// What it is.
    pub kind: CellKind,
}

/// Reads and searches in a row share one row of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Group {
    /// It stands alone.
    #[default]
    Alone,
    /// It draws the row of so many cells, itself included.
    Leader {
        /// How many.
        count: usize,
    },
    /// It is part of another cell's row.
    Member {
        /// The cell that draws the row.
        leader: CellId,
    },
}

impl Cell {
    /// Makes small what changes no more, and says how many bytes that was work for. Nothing that is
    /// drawn depends on it.
    pub fn pack(&mut self) -> usize {
        match &mut self.kind {
            _ if !self.finished => 0,
            CellKind::Assistant { text } | CellKind::Thinking { text, .. } => text.pack(),
            CellKind::Tool(tool) => {
                // What was printed stands in the result.
                if tool.result.is_some() && !tool.live.is_empty() {
                    tool.live = LiveTail::default();
                }
                tool.arguments.pack() + tool.result.as_mut().map_or(0, Packed::pack)
            }
            _ => 0,
        }
    }

    /// May it share a row with its neighbours?
    #[must_use]
    pub fn joins_group(&self) -> bool {
        match &self.kind {
            CellKind::Tool(tool) => {
                matches!(tool.state, ToolState::Streaming | ToolState::Running | ToolState::Done)
                    && matches!(
                        tool.name.as_str(),
                        "ReadFile" | "Grep" | "Glob" | "LS" | "ReadMediaFile"
                    )
            }
            _ => false,
        }
    }
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// By the way.
    Info,
    /// Look at this.
    Warning,
    /// This failed.
    Error,
}

/// What a cell is.
#[derive(Debug, Clone, PartialEq)]
pub enum CellKind {
    /// What the person sent.
    User {
        /// The text.
        text: String,
        /// Was it put into a running turn?
        steered: bool,
    },
    /// What the model said: Markdown.
    Assistant {
        /// The text so far.
        text: Packed<String>,
    },
    /// What the model thought.
    Thinking {
        /// The text so far.
        text: Packed<String>,
        /// How long it took, in seconds, once it is over.
        seconds: Option<f64>,
    },
    /// A tool call.
    Tool(Box<ToolCell>),
    /// A word from the program.
    Notice {
        /// How loud.
        level: Level,
        /// The text.
        text: String,
    },
    /// A plan to read: Markdown.
    Plan {
        /// The text.
        text: String,
    },
    /// The context changed here.
    Mark(Mark),
}

/// A place where the context changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Time was turned back.
    Reverted {
        /// By whom.
        cause: RevertCause,
        /// The checkpoint's number.
        checkpoint: u64,
        /// The message to the past.
        mail: Option<String>,
        /// Tokens before and after.
        tokens: (u64, u64),
    },
    /// The context is being summarised, or was.
    Compacted {
        /// How far it is.
        outcome: Compaction,
        /// What the model no longer has as it was, a line each.
        losses: Vec<String>,
    },
    /// An earlier context came back.
    Restored {
        /// The generation's number.
        generation: u64,
        /// Tokens before and after.
        tokens: (u64, u64),
    },
    /// The context was emptied.
    Cleared {
        /// Tokens before.
        tokens: u64,
    },
}

/// How far a compaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compaction {
    /// It goes on.
    #[default]
    Running,
    /// The context is another one; tokens before and after, where the engine tells.
    Done(Option<(u64, u64)>),
    /// The context is what it was.
    Failed,
}

impl Mark {
    /// A compaction begins.
    #[must_use]
    pub fn compacting() -> Self {
        Self::Compacted { outcome: Compaction::Running, losses: Vec::new() }
    }
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolState {
    /// Its arguments are still coming.
    Streaming,
    /// It waits for an answer.
    Waiting,
    /// It runs.
    Running,
    /// It worked.
    Done,
    /// It failed.
    Failed,
    /// It was not allowed.
    Rejected,
    /// It was stopped.
    Cancelled,
}

impl ToolState {
    /// Is it over?
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Rejected | Self::Cancelled)
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCell {
    /// The call's id; unique among unfinished calls only.
    pub call_id: String,
    /// The tool, as it was called.
    pub name: String,
    /// JSON text so far.
    pub arguments: Packed<String>,
    /// The argument that says most, derived from `arguments`.
    pub key_argument: Option<String>,
    /// Where it stands.
    pub state: ToolState,
    /// When it began to run, seconds since 1970.
    pub started: Option<f64>,
    /// How long it ran, in seconds.
    pub seconds: Option<f64>,
    /// The end of what it has printed so far.
    pub live: LiveTail,
    /// What came of it.
    pub result: Option<Packed<ToolReturn>>,
    /// What its subagent did.
    pub nested: Nested,
    /// Did the person change what it was called with?
    pub edited: bool,
}

impl ToolCell {
    /// A call whose arguments may still be coming.
    #[must_use]
    pub fn new(call_id: String, name: String, arguments: String) -> Self {
        let mut cell = Self {
            call_id,
            name,
            arguments: Packed::from(String::new()),
            key_argument: None,
            state: ToolState::Streaming,
            started: None,
            seconds: None,
            live: LiveTail::default(),
            result: None,
            nested: Nested::default(),
            edited: false,
        };
        cell.push_arguments(&arguments);
        cell
    }

    /// Takes in more arguments.
    pub fn push_arguments(&mut self, more: &str) {
        self.arguments.push_str(more);
        // The key argument stands at the front; parsing all of a long content again and again for
        // it would cost more with every piece.
        if self.arguments.len() < KEY_ARGUMENT_WITHIN || self.key_argument.is_none() {
            self.key_argument = key_argument(&self.name, &self.arguments);
        }
    }

    /// It runs from `now` on.
    pub fn start(&mut self, now: f64) {
        if !self.state.is_over() {
            self.state = ToolState::Running;
            self.started.get_or_insert(now);
        }
    }
}

const KEY_ARGUMENT_WITHIN: usize = 4096;

/// The last lines of a running tool's output, bounded however much it prints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveTail {
    lines: VecDeque<String>,
    /// Lines that were dropped at the front.
    pub dropped: usize,
    is_open: bool,
}

impl LiveTail {
    /// Lines kept.
    pub const LINES: usize = 200;
    /// Bytes kept of one line.
    pub const LINE_BYTES: usize = 4000;

    /// Takes in more output.
    pub fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let is_whole = piece.ends_with('\n');
            let piece = piece.trim_end_matches('\n');
            match self.lines.back_mut() {
                Some(line) if self.is_open => {
                    if line.len() < Self::LINE_BYTES {
                        line.push_str(piece);
                    }
                }
                _ => {
                    self.lines.push_back(piece.to_owned());
                    if self.lines.len() > Self::LINES {
                        self.lines.pop_front();
                        self.dropped += 1;
                    }
                }
            }
            self.is_open = !is_whole;
        }
    }

    /// The lines kept, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.lines.iter().map(String::as_str)
    }

    /// Has nothing been printed?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_live_tail_joins_pieces_of_lines_and_stays_bounded() {
        let mut tail = LiveTail::default();
        for piece in ["on", "e\ntw", "o\n", "three"] {
            tail.push(piece);
        }
        assert_eq!(tail.lines().collect::<Vec<_>>(), ["one", "two", "three"]);
        for n in 0..10_000 {
            tail.push(&format!("\n{n}"));
        }
        assert_eq!(tail.lines().len(), LiveTail::LINES);
        assert_eq!(tail.lines().next_back(), Some("9999"));
        assert_eq!(tail.dropped, 10_003 - LiveTail::LINES);
    }
}
