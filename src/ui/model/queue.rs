//! Where one stands in the list of what waits for the running turn to end.

use super::editor::Editor;

/// The list over the composer. What waits is the composer's `queue`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueView {
    /// The marked entry.
    pub marked: usize,
    /// Its text while it is changed where it stands. As long as it is, it is not sent.
    pub writing: Option<Box<Editor>>,
}

impl QueueView {
    /// Is the entry that would be sent next being changed?
    #[must_use]
    pub fn holds_first(&self) -> bool {
        self.writing.is_some() && self.marked == 0
    }

    /// The first entry was sent: the mark stays on the entry it is on.
    pub fn first_went(&mut self) {
        self.marked = self.marked.saturating_sub(1);
    }
}
