//! What lies over the screen, one on top of the other. The topmost gets the keys.

use super::editor::Editor;
use super::picker::Picker;
use super::sessions::SessionList;
use crate::message::CheckpointRef;

/// Something over the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    /// The keys.
    Help {
        /// First visible line.
        scroll: u16,
    },
    /// The sessions of this folder.
    Sessions(SessionList),
    /// The timeline, where the screen has no room for it beside the transcript.
    Timeline,
    /// A list that is searched by typing.
    Picker(Box<Picker>),
    /// Empty the context?
    ConfirmClear,
    /// Go back to a checkpoint?
    Revert(RevertDialog),
}

/// Go back to a checkpoint, with an optional message to the past?
#[derive(Debug, Clone, PartialEq)]
pub struct RevertDialog {
    /// Where to.
    pub to: CheckpointRef,
    /// What the price is.
    pub price: RevertPrice,
    /// The message to the past; empty for none.
    pub mail: Editor,
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
