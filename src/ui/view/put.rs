//! Writing a text at a place, whatever size the screen has.

use ratatui::buffer::Buffer;
use ratatui::style::Style;

/// Writes as much of `text` at (x, y) as fits in `columns` and on the screen; nothing outside of it.
pub(super) fn put(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    columns: u16,
    text: impl AsRef<str>,
    style: Style,
) {
    let area = buffer.area;
    if x >= area.right() || y >= area.bottom() || x < area.x || y < area.y {
        return;
    }
    let columns = columns.min(area.right() - x);
    buffer.set_stringn(x, y, text, usize::from(columns), style);
}
