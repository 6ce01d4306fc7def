//! The latest tool calls, a row each: in the sidebar, or over the whole screen.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::calls::latest;
use super::super::model::cell::{Cell, ToolCell, ToolState};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate, truncate_line, width as text_width};
use super::super::theme::Theme;
use super::put::put;
use super::{panel, tool};

/// How many wait or run, in words.
pub(super) fn count(model: &Model) -> String {
    let of = |wanted: fn(ToolState) -> bool| {
        latest(&model.transcript).filter(|(_, tool)| wanted(tool.state)).count()
    };
    let waiting = of(|state| state == ToolState::Waiting);
    match (waiting, of(|state| !state.is_over())) {
        (0, 0) => String::new(),
        (0, running) => format!("{running} running"),
        (waiting, _) => format!("{waiting} waiting"),
    }
}

/// Draws so many calls as there is room for, the latest last, or those around the marked one.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    focused: bool,
    now: f64,
) {
    let height = usize::from(area.height);
    let selected = model.calls.selected.filter(|_| focused);
    let place = latest(&model.transcript).position(|(cell, _)| Some(cell.id) == selected);
    // Counted from the latest; the marked one is at most half way up.
    let from = place.map_or(0, |place| place.saturating_sub(height / 2));
    let rows: Vec<(&Cell, &ToolCell)> = latest(&model.transcript).skip(from).take(height).collect();
    for ((cell, call), y) in rows.into_iter().rev().zip(area.y..area.bottom()) {
        let place = Rect { y, height: 1, ..area };
        row(call, theme, area.width, now).render(place, buffer);
        if Some(cell.id) == selected {
            buffer.set_style(place, theme.selection);
        }
    }
}

/// Draws them over the whole screen.
pub(super) fn draw_overlay(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) {
    let area = panel::centred(area, 110, area.height);
    let inner = panel::draw("Tool calls", theme, area, buffer);
    if latest(&model.transcript).next().is_none() {
        put(buffer, (inner.x, inner.y), inner.width, "None yet", theme.muted);
    }
    draw(model, theme, inner, buffer, true, now);
}

/// A call: mark, name, argument, and how long it has run.
fn row(call: &ToolCell, theme: &Theme, width: u16, now: f64) -> Line<'static> {
    let (mark, style) = tool::state_mark(call.state, theme, now);
    let seconds = match call.state {
        ToolState::Running => call.started.map(|started| now - started),
        _ => call.seconds.filter(|seconds| *seconds >= 1.0),
    };
    let time = seconds.map(|seconds| {
        let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
        format!(" {}", format::seconds(time))
    });
    let time = time.unwrap_or_default();
    let name = sanitize(&call.name).into_owned();
    let room = usize::from(width).saturating_sub(3 + text_width(&name) + text_width(&time));
    let argument = call.key_argument.as_deref().map(sanitize).unwrap_or_default();
    let argument = truncate(&argument.replace('\n', " "), room).into_owned();
    let gap = room.saturating_sub(text_width(&argument));
    let line = Line::from(vec![
        Span::styled(format!("{mark} "), style),
        Span::styled(name, theme.text),
        Span::styled(format!(" {argument}{}", " ".repeat(gap)), theme.muted),
        Span::styled(time, theme.muted),
    ]);
    truncate_line(line, usize::from(width))
}
