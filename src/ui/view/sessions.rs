//! The list of sessions.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::sessions::SessionList;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::panel;
use super::put::put;

/// Draws the list; the cursor stands in the filter.
pub(super) fn draw(
    model: &Model,
    list: &SessionList,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> Option<Point> {
    let rows = list.rows.as_ref().map_or(0, |rows| rows.as_ref().map_or(0, Vec::len));
    let rows = u16::try_from(rows.max(5)).unwrap_or(u16::MAX).saturating_add(4);
    let area = panel::centred(area, 100, rows.min(area.height.saturating_sub(2)).max(4));
    let inner = panel::draw("Sessions of this folder", theme, area, buffer);
    if inner.height == 0 {
        return None;
    }
    let (cursor, rows) = panel::search_line(&list.filter, theme, inner, buffer);
    let shown = list.shown();
    let message = match &list.rows {
        None => Some("Reading…".to_owned()),
        Some(Err(reason)) => Some(sanitize(reason).into_owned()),
        Some(Ok(all)) if all.is_empty() => Some(
            "No sessions yet: each conversation in this folder will be listed here.".to_owned(),
        ),
        Some(Ok(_)) if shown.is_empty() => Some("No title has this in it.".to_owned()),
        Some(Ok(_)) => None,
    };
    if let Some(message) = message {
        put(buffer, (rows.x, rows.y), rows.width, message, theme.muted);
        return cursor;
    }
    let height = usize::from(rows.height);
    let first = list.marked.saturating_sub(height.saturating_sub(1));
    for (row, (index, session)) in shown.iter().enumerate().skip(first).take(height).enumerate() {
        let y = rows.y + u16::try_from(row).unwrap_or_default();
        let line_area = Rect { y, height: 1, ..rows };
        let age = Duration::try_from_secs_f64((now - session.updated).max(0.0)).unwrap_or_default();
        let is_current = model.status.info.id.as_ref() == Some(&session.id);
        let right = format!(
            "{}{}  {}  {}",
            if is_current { "open now  " } else { "" },
            format::ago(age),
            format::size(session.bytes),
            sanitize(session.id.short())
        );
        let columns = u16::try_from(text_width(&right)).unwrap_or(0).min(rows.width);
        let room = usize::from(rows.width - columns).saturating_sub(2);
        let title = sanitize(&session.title).replace('\n', " ");
        truncate_line(Line::from(vec![Span::styled(title, theme.text)]), room)
            .render(line_area, buffer);
        put(buffer, (rows.right() - columns, y), u16::MAX, right, theme.muted);
        if index == list.marked {
            buffer.set_style(line_area, theme.selection);
        }
    }
    cursor
}
