//! What commands print: colours are kept, everything else that would act on a terminal is dropped.

use ratatui::style::Style;
use ratatui::text::Line;

use super::sanitize::sanitize;

/// The lines of `output`, unwrapped, over `base`.
#[must_use]
pub fn ansi(output: &str, base: Style) -> Vec<Line<'static>> {
    sanitize(output).lines().map(|line| Line::styled(line.to_owned(), base)).collect()
}
