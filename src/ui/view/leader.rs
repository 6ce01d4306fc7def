//! What may follow the keys of a chord that was begun: all of it, over the last rows, where the last line
//! has room for the first few only.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::panel;

/// Columns of an entry, the gap to the next one included.
const ENTRY: u16 = 38;
/// Rows of the screen that stay as they are.
const KEPT: u16 = 4;

/// Rows the list takes on this screen; none when there is no list, or no room for all of it.
pub(super) fn height(model: &Model, area: Rect) -> Option<u16> {
    let chord = model.chord.as_ref()?;
    let count = u16::try_from(model.keymap.followers(chord.context, &chord.keys).len()).ok()?;
    let rows = count.div_ceil(columns(area)) + 2;
    (count > 1 && area.width > ENTRY && rows + KEPT <= area.height).then_some(rows)
}

fn columns(area: Rect) -> u16 {
    (area.width.saturating_sub(4) / ENTRY).max(1)
}

/// Draws the list at the bottom of `area`.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let (Some(chord), Some(height)) = (&model.chord, height(model, area)) else { return };
    let place = Rect { y: area.bottom() - height, height, ..area };
    let said: Vec<_> = chord.keys.iter().map(ToString::to_string).collect();
    let inner = panel::draw(&format!("{} and then", said.join(" ")), theme, place, buffer);
    let followers = model.keymap.followers(chord.context, &chord.keys);
    let widest = followers.iter().map(|(key, _)| text_width(key)).max().unwrap_or(0);
    let width = inner.width / columns(area);
    for (index, (key, word)) in (0_u16..).zip(followers) {
        let (column, row) = (index / inner.height.max(1), index % inner.height.max(1));
        let gap = " ".repeat(widest - text_width(&key) + 2);
        let line = Line::from(vec![
            Span::styled(key, theme.key),
            Span::raw(gap),
            Span::styled(word, theme.text),
        ]);
        let x = inner.x + column * width;
        let cell = Rect { x, y: inner.y + row, width: width.saturating_sub(1), height: 1 };
        truncate_line(line, usize::from(cell.width)).render(cell.intersection(inner), buffer);
    }
}
