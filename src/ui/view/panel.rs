//! The frame of overlays.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use super::super::theme::Theme;

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
    let block = Block::bordered()
        .border_style(theme.border_focus)
        .title(format!(" {title} "))
        .title_style(theme.title);
    let inner = block.inner(area);
    block.render(area, buffer);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}
