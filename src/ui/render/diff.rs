//! Changes to files.

use ratatui::text::Line;

use super::highlight::HighlightCache;
use crate::message::DiffBlock;
use crate::ui::theme::Theme;

/// All lines of the diff of `blocks`, which belong to one file, in `width` cells.
#[must_use]
pub fn diff(
    blocks: &[DiffBlock],
    width: u16,
    theme: &Theme,
    hl: &HighlightCache,
) -> Vec<Line<'static>> {
    let _ = (width, hl);
    blocks.iter().map(|block| Line::styled(block.path.clone(), theme.muted)).collect()
}
