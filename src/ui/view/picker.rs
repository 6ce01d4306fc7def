//! A list that is searched by typing.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::super::model::picker::Picker;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::panel;
use super::put::put;

/// Draws the list; the cursor stands in the filter.
pub(super) fn draw(
    picker: &Picker,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Point> {
    let area = panel::centred(area, 90, 22.min(area.height.saturating_sub(2)).max(4));
    let inner = panel::draw(picker.title, theme, area, buffer);
    let (cursor, rows) = panel::search_line(&picker.filter, theme, inner, buffer);
    let shown = picker.shown();
    if shown.len() == 0 {
        put(buffer, (rows.x, rows.y), rows.width, picker.empty, theme.muted);
        return cursor;
    }
    let height = usize::from(rows.height);
    let first = picker.marked.saturating_sub(height.saturating_sub(1));
    for (row, (index, line)) in shown.enumerate().skip(first).take(height).enumerate() {
        let y = rows.y + u16::try_from(row).unwrap_or_default();
        let area = Rect { y, height: 1, ..rows };
        let columns = u16::try_from(text_width(&line.detail)).unwrap_or(0).min(rows.width);
        let room = usize::from(rows.width - columns).saturating_sub(2);
        let label = Line::styled(sanitize(&line.label).replace('\n', " "), theme.text);
        truncate_line(label, room).render(area, buffer);
        put(buffer, (rows.right() - columns, y), columns, &line.detail, theme.key);
        if index == picker.marked {
            buffer.set_style(area, theme.selection);
        }
    }
    cursor
}
