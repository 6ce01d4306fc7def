//! The bar under a recording that is played, where the composer stands otherwise.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::replay::Replay;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{line_width, truncate_line};
use super::super::theme::Theme;
use super::put::put;

/// Draws the bar.
pub(super) fn draw(replay: &Replay, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let top = if area.height > 1 { area.y + 1 } else { area.y };
    if area.height > 1 {
        let share = if replay.length() > 0.0 { replay.position / replay.length() } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns")]
        let done = (f64::from(area.width) * share.clamp(0.0, 1.0)).round() as u16;
        for x in 0..area.width {
            let style = if x < done { theme.accent } else { theme.gauge_empty };
            let mark = if x < done { theme.marks.gauge_full } else { theme.marks.line };
            put(buffer, (area.x + x, area.y), 1, mark, style);
        }
    }
    let state = match (replay.is_over(), replay.is_paused) {
        (true, _) => "The end",
        (_, true) => "Paused",
        _ => "Playing",
    };
    let (turn, turns) = replay.turns();
    let time = |seconds: f64| {
        format::seconds(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default())
    };
    let left = Line::from(vec![
        Span::styled(format!("{state}  "), theme.accent),
        Span::styled(format!("{}x  ", replay.factor()), theme.text),
        Span::styled(
            format!("{} of {}  ", time(replay.position), time(replay.length())),
            theme.text,
        ),
        Span::styled(format!("turn {turn} of {turns}"), theme.muted),
    ]);
    let row = Rect { y: top, height: 1, ..area };
    let used = line_width(&left);
    truncate_line(left, usize::from(area.width)).render(row, buffer);
    let room = usize::from(area.width).saturating_sub(used + 3);
    let title = Line::styled(sanitize(&replay.title).into_owned(), theme.muted);
    let title = truncate_line(title, room);
    let width = u16::try_from(line_width(&title)).unwrap_or_default();
    title.render(Rect { x: area.right().saturating_sub(width), width, ..row }, buffer);
}
