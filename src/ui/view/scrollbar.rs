//! The scroll bar: where the window stands in the whole, as far as heights are known.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::model::Model;
use super::super::theme::Theme;
use super::put::put;

/// Draws the thumb in the column right of `area`, where there is one. `measured` is what this frame
/// found out; the rest is what the model knows or guesses.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    measured: &[(usize, usize)],
    top: (usize, usize),
    area: Rect,
    buffer: &mut Buffer,
) {
    if area.right() >= buffer.area.right() || area.height < 3 {
        return;
    }
    let cells = model.transcript.cells();
    let mut heights = std::borrow::Cow::Borrowed(&model.transcript.heights);
    if heights.len() != cells.len() || heights.width() != area.width {
        heights.to_mut().sync(cells, area.width);
    }
    let mut known: Vec<(usize, usize)> = measured.to_vec();
    known.sort_unstable();
    known.dedup();
    // How much the measured differ from the guessed, before the window and in all.
    let (mut before, mut total) = (heights.before(top.0), heights.before(cells.len()));
    for (index, lines) in known {
        let guess = heights.before(index + 1) - heights.before(index);
        total = total + lines as u64 - guess;
        if index < top.0 {
            before = before + lines as u64 - guess;
        }
    }
    before += top.1 as u64;
    let room = u64::from(area.height);
    if total <= room {
        return;
    }
    let thumb = (room * room / total).clamp(1, room);
    let at = (before * (room - thumb)).div_ceil((total - room).max(1)).min(room - thumb);
    for row in at..at + thumb {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        put(buffer, (area.right(), y), 1, theme.marks.bar, theme.muted);
    }
}
