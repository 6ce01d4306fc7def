//! The list of background tasks, and below it the end of what the marked one printed.

#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::tasks::{TaskBrowser, TaskRow};
use super::super::render::ansi::ansi;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::panel;
use super::put::put;
use super::statusline::spinner;
use crate::wire::{TaskKind, TaskState};

/// Rows of the list at most: the output needs room too.
const LIST: usize = 8;

/// Draws the list.
pub(super) fn draw(
    model: &Model,
    browser: &TaskBrowser,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) {
    let area = panel::centred(area, 110, area.height);
    let inner = panel::draw("Background tasks", theme, area, buffer);
    if inner.height == 0 {
        return;
    }
    let rows = &model.tasks.rows;
    if rows.is_empty() {
        let text = "None yet. The agent starts one when you ask for something \"in the \
                    background\": a server, a long build, a subagent.";
        let lines = super::super::render::wrap::wrap(
            &Line::styled(text, theme.muted),
            inner.width,
            &[],
            &[],
        );
        for (y, line) in (inner.y..inner.bottom()).zip(lines) {
            line.render(Rect { y, height: 1, ..inner }, buffer);
        }
        return;
    }
    let marked = browser.marked.min(rows.len() - 1);
    let height = rows.len().min(LIST).min(usize::from(inner.height));
    let first = marked.saturating_sub(height - 1);
    for (at, row) in rows.iter().enumerate().skip(first).take(height) {
        let y = inner.y + u16::try_from(at - first).unwrap_or_default();
        let line_area = Rect { y, height: 1, ..inner };
        list_row(row, theme, line_area, buffer, now);
        if at == marked {
            buffer.set_style(line_area, theme.selection);
        }
    }
    let used = u16::try_from(height).unwrap_or(inner.height);
    let below = Rect { y: inner.y + used, height: inner.height.saturating_sub(used), ..inner };
    output(model, &rows[marked], theme, below, buffer);
}

/// Mark, kind, title; state and time at the right.
fn list_row(row: &TaskRow, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    let fact = &row.fact;
    let (mark, style) = mark(fact.state, theme, now);
    let until =
        fact.ended.unwrap_or(if fact.state == TaskState::Running { now } else { fact.started });
    let time = Duration::try_from_secs_f64((until - fact.started).max(0.0)).unwrap_or_default();
    let exit = fact.exit.filter(|exit| *exit != 0).map(|exit| format!(" ({exit})"));
    let state = format!("{}{}", fact.state.name(), exit.unwrap_or_default());
    let right = format!("{state}  {:>6}", format::seconds(time));
    let columns = u16::try_from(text_width(&right)).unwrap_or(0).min(area.width);
    let kind = match fact.kind {
        TaskKind::Bash => "command ",
        TaskKind::Agent => "subagent ",
    };
    let title = sanitize(&fact.title).replace('\n', " ");
    let line = Line::from(vec![
        Span::styled(format!("{mark} "), style),
        Span::styled(format!("{kind:<9}"), theme.muted),
        Span::styled(title, theme.text),
    ]);
    truncate_line(line, usize::from(area.width - columns).saturating_sub(2)).render(area, buffer);
    put(buffer, (area.right() - columns, area.y), columns, right, theme.muted);
}

fn mark(state: TaskState, theme: &Theme, now: f64) -> (&'static str, Style) {
    match state {
        TaskState::Running => (spinner(theme, now), theme.accent),
        TaskState::Completed => (theme.marks.check, theme.success),
        TaskState::Failed => (theme.marks.cross, theme.danger),
        TaskState::Killed | TaskState::Lost => (theme.marks.cross, theme.muted),
    }
}

/// A line with the task's id and why it ended, its output, and the key that stops it.
fn output(model: &Model, row: &TaskRow, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    if area.height < 2 {
        return;
    }
    let rule = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), u16::MAX, rule, theme.border);
    let name = match row.fact.reason.as_str() {
        "" => format!(" {} ", sanitize(&row.fact.id)),
        reason => format!(
            " {} {} {} ",
            sanitize(&row.fact.id),
            theme.marks.separator,
            sanitize(reason).replace('\n', " ")
        ),
    };
    let line = Line::styled(name, theme.muted);
    let at = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
    truncate_line(line, usize::from(at.width)).render(at, buffer);
    let mut bottom = area.bottom();
    if row.fact.state == TaskState::Running
        && let Some(key) = model.keymap.key_for(Context::Tasks, Action::StopTask)
        && area.height > 3
    {
        bottom -= 1;
        put(buffer, (area.x, bottom), area.width, format!("{key} stops it"), theme.muted);
    }
    let room = usize::from(bottom - area.y - 1);
    if row.tail.is_empty() {
        put(buffer, (area.x, area.y + 1), area.width, "Nothing heard of it yet.", theme.muted);
        return;
    }
    let skip = row.tail.lines().len().saturating_sub(room);
    for (y, line) in (area.y + 1..bottom).zip(row.tail.lines().skip(skip)) {
        let drawn = ansi(line, theme.tool_output, theme.depth);
        if let Some(line) = drawn.into_iter().next() {
            let row = Rect { y, height: 1, ..area };
            truncate_line(line, usize::from(area.width)).render(row, buffer);
        }
    }
}
