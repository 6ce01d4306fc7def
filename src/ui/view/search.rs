//! The line a search is written in, and where it stands.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};

use super::super::model::overlay::Overlay;
use super::super::model::{Focus, Model};
use super::super::render::sanitize::sanitize_line;
use super::super::render::width::width;
use super::super::theme::Theme;
use super::put::put;

fn is_pager(model: &Model) -> bool {
    matches!(model.overlays.last(), Some(Overlay::Pager(_) | Overlay::Generation(_)))
}

/// Rows the pager, or an earlier context, leaves to the line: what is found must not lie under it.
pub(super) fn rows_below(model: &Model, height: u16) -> u16 {
    u16::from(is_pager(model) && is_shown(model) && height > 3)
}

/// Is there a search to tell of? One that was begun outside of a pager only marks what it finds
/// there.
fn is_shown(model: &Model) -> bool {
    let is_here = match is_pager(model) {
        true => model.search.depth == model.overlays.len(),
        false => model.focus == Focus::Transcript,
    };
    model.search.typing.is_some() || !model.search.pattern.is_empty() && is_here
}

/// Draws the line at the bottom of `area` while there is a search; says where the cursor is.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    let is_pager = is_pager(model);
    if !is_shown(model) || area.height < 2 || area.width < 10 {
        return None;
    }
    let row = Rect { y: area.bottom() - 1, height: 1, width: area.width / 2, ..area };
    let pattern = match &model.search.typing {
        Some(typing) => typing.text(),
        None => model.search.pattern.clone(),
    };
    let written = format!("/{}", sanitize_line(&pattern, 0));
    let columns = u16::try_from(width(&written)).unwrap_or(u16::MAX);
    let (at, total) = model.search.count();
    let count = match &model.search.typing {
        Some(_) => String::new(),
        None if is_pager && model.search.is_missed => "  nothing matches".to_owned(),
        None if is_pager => String::new(),
        None => format!("  {at}/{total}"),
    };
    let line = format!(" {written}{count} ");
    put(buffer, (row.x, row.y), row.width, line, theme.badge);
    model.search.typing.as_ref()?;
    Some(Point { x: (row.x + 1 + columns).min(row.right() - 1), y: row.y })
}
