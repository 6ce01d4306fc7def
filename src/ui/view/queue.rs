//! What waits for the running turn to end, as a small list over the composer.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};

use super::super::model::{Focus, Model};
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate, width as text_width};
use super::super::theme::Theme;
use super::put::put;

/// Entries shown at most.
const ROWS: u16 = 5;
/// Columns in front of the text.
const MARGIN: u16 = 4;

/// Rows the list takes at `width` columns; 0 when nothing waits.
pub(super) fn height(model: &Model, width: u16) -> u16 {
    let count = u16::try_from(model.composer.queue.len()).unwrap_or(u16::MAX);
    let rows = count.min(ROWS);
    match &model.queue.writing {
        Some(editor) if rows > 0 => rows - 1 + editor.rows(inner(width), ROWS),
        _ => rows,
    }
}

fn inner(width: u16) -> u16 {
    width.saturating_sub(MARGIN + 1)
}

/// Draws the list; says where the cursor is while an entry is changed.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    let queue = &model.composer.queue;
    let has_keys = model.focus == Focus::Queue && model.overlays.is_empty();
    let marked = model.queue.marked.min(queue.len().saturating_sub(1));
    let writing = model.queue.writing.as_deref();
    let written = writing.map_or(1, |editor| editor.rows(inner(area.width), ROWS));
    let entries = usize::from(area.height.saturating_sub(written - 1)).max(1);
    // Without the keys the list begins with what goes next.
    let first = if has_keys { marked.saturating_sub(entries - 1) } else { 0 };
    let mut cursor = None;
    let mut y = area.y;
    for (index, text) in queue.iter().enumerate().skip(first).take(entries) {
        if y >= area.bottom() {
            break;
        }
        let is_marked = has_keys && index == marked;
        put(buffer, (area.x, y), MARGIN, format!("{:>2}", index + 1), theme.muted);
        let line = Rect {
            x: area.x + MARGIN.min(area.width),
            y,
            width: area.width.saturating_sub(MARGIN),
            height: 1,
        };
        if let Some(editor) = writing.filter(|_| index == marked) {
            let height = written.min(area.bottom() - y);
            cursor = editor.draw(theme.text, Rect { height, ..line }, buffer);
            y += height;
            continue;
        }
        let is_last_row = y + 1 == area.bottom();
        let more = queue.len() - index - 1;
        let more =
            if is_last_row && more > 0 { format!("  and {more} more") } else { String::new() };
        let room = usize::from(line.width).saturating_sub(text_width(&more));
        let text = sanitize(text).replace('\n', " ");
        let style = if is_marked { theme.text } else { theme.muted };
        put(buffer, (line.x, y), line.width, truncate(&text, room), style);
        if !more.is_empty() {
            let columns = u16::try_from(text_width(&more)).unwrap_or(0).min(line.width);
            put(buffer, (line.right() - columns, y), columns, more, theme.muted);
        }
        if is_marked {
            buffer.set_style(Rect { x: area.x, width: area.width, ..line }, theme.selection);
        }
        y += 1;
    }
    cursor
}
