//! What lies over the screen, one on top of the other. The topmost gets the keys.

use super::cell::CellId;
use super::editor::Editor;
use super::generation::{GenerationView, LossList};
use super::ledger::LedgerView;
use super::picker::Picker;
use super::rewind::RewindView;
use super::sessions::SessionList;
use super::setup::Setup;
use super::tasks::TaskBrowser;
use super::transcript::Scroll;
use crate::message::{CheckpointRef, Generation};

/// Something over the screen.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are never more than a few")]
pub enum Overlay {
    /// The keys.
    Help {
        /// First visible line.
        scroll: u16,
    },
    /// The sessions.
    Sessions(Box<SessionList>),
    /// The background tasks.
    Tasks(TaskBrowser),
    /// The timeline, where the screen has no room for it beside the transcript.
    Timeline,
    /// A list that is searched by typing.
    Picker(Box<Picker>),
    /// Connecting to a service.
    Setup(Box<Setup>),
    /// Empty the context?
    ConfirmClear,
    /// Go back to a checkpoint?
    Revert(RevertDialog),
    /// Bring an earlier context back?
    Restore(RestoreDialog),
    /// The latest tool calls, where the screen has no room for them beside the transcript.
    Calls,
    /// What the context consists of.
    Ledger(Box<LedgerView>),
    /// An earlier context, to be read.
    Generation(Box<GenerationView>),
    /// What a compaction took out of the context.
    Losses(Box<LossList>),
    /// What going back would do to files.
    Rewind(Box<RewindView>),
    /// One cell, all of it.
    Pager(Pager),
    /// A text to read.
    Page(Page),
    /// The answer to a question beside the conversation.
    Aside {
        /// First visible line.
        scroll: u16,
    },
}

/// A text to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: &'static str,
    /// What it says.
    pub text: PageText,
    /// First visible line.
    pub scroll: u16,
}

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageText {
    /// Lines, each as it is.
    Lines(Vec<String>),
    /// Markdown of this program.
    Markdown(&'static str),
}

/// One cell on the whole screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pager {
    /// The cell.
    pub cell: CellId,
    /// First visible line.
    pub top: usize,
    /// Moves not yet drawn: only drawing knows how long it is.
    pub pending: Vec<PagerMove>,
}

/// A move in the pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerMove {
    /// A scroll.
    Scroll(Scroll),
    /// To the next line that matches the search.
    Match {
        /// Downwards?
        forward: bool,
        /// Is the first visible line good enough?
        here: bool,
    },
}

/// Go back to a checkpoint, with an optional message to the past?
#[derive(Debug, Clone, PartialEq)]
pub struct RevertDialog {
    /// Where to.
    pub to: CheckpointRef,
    /// What the price is; none before the engine has told.
    pub price: Option<RevertPrice>,
    /// The message to the past; empty for none.
    pub mail: Editor,
    /// Is it a message that is wanted, not only the way back?
    pub is_mail: bool,
}

/// Bring an earlier context back?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreDialog {
    /// Which.
    pub generation: Generation,
    /// What the context holds, and what it would hold if that is known.
    pub tokens: (u64, Option<u64>),
}

/// What going back costs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RevertPrice {
    /// Messages the model loses.
    pub messages: u64,
    /// Tokens before and after.
    pub tokens: (u64, u64),
    /// Files the dropped steps wrote, which stay as they are.
    pub files: Vec<String>,
}
