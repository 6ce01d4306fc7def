//! The frame of overlays.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::widgets::{Block, Clear, Widget};

use super::super::model::editor::Editor;
use super::super::render::sanitize::sanitize_line;
use super::super::render::width::width as text_width;
use super::super::theme::Theme;
use super::put::put;

/// A place in the middle of `area`, at most this large.
pub(super) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// Draws an empty panel with a title and says what is inside.
pub(super) fn draw(title: &str, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    Clear.render(area, buffer);
    buffer.set_style(area, theme.overlay);
    if area.height < 4 || area.width < 10 {
        return area;
    }
    // It may name what a model or a session did.
    let block = Block::bordered()
        .border_style(theme.border_focus)
        .title(format!(" {} ", sanitize_line(title, 0)))
        .title_style(theme.title);
    let inner = block.inner(area);
    block.render(area, buffer);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

/// Draws the line a list is searched with; says where its cursor and where the list is.
pub(super) fn search_line(
    filter: &Editor,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) -> (Option<Point>, Rect) {
    let rows =
        Rect { y: area.y + 2.min(area.height), height: area.height.saturating_sub(2), ..area };
    if area.height == 0 {
        return (None, rows);
    }
    let prompt = "Search: ";
    put(buffer, (area.x, area.y), area.width, prompt, theme.muted);
    let offset = u16::try_from(text_width(prompt)).unwrap_or(0).min(area.width);
    let input = Rect { x: area.x + offset, width: area.width - offset, height: 1, ..area };
    let cursor = if filter.is_empty() {
        Some(Point { x: input.x, y: input.y })
    } else {
        filter.draw(theme.text, input, buffer)
    };
    (cursor, rows)
}
