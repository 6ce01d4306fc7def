//! The panes beside the transcript: session, context gauge, todos, tool calls, timeline.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::calls::latest;
use super::super::model::layout::Pane as Shown;
use super::super::model::{Focus, Model};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::put::put;
use super::statusline::gauge_style;
use super::{calls, timeline, tool};
use crate::message::TodoStatus;

/// Todos shown at most.
const TODOS: usize = 8;
/// Tool calls shown at most.
const TOOLS: usize = 6;
/// While the pane has the keys.
const TOOLS_FOCUSED: usize = 12;

/// Draws the panes.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    for y in area.y..area.bottom() {
        put(buffer, (area.x, y), u16::MAX, theme.marks.bar, theme.border);
    }
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let mut pane = Pane { theme, area: inner, buffer };
    session(model, &mut pane);
    let hidden = model.screen.layout().hidden;
    if !hidden.has(Shown::Context) {
        gauge(model, &mut pane);
    }
    if !hidden.has(Shown::Todos) {
        todos(model, &mut pane);
    }
    if !hidden.has(Shown::Tools) {
        tools(model, &mut pane, now);
    }
    if !hidden.has(Shown::Timeline) {
        let focused = model.focus == Focus::Timeline && model.overlays.is_empty();
        pane.title(Shown::Timeline.title(), &timeline::count(model), focused);
        timeline::draw(model, theme, pane.area, buffer, focused, now);
    }
}

/// What is left of the sidebar, from the top.
struct Pane<'a> {
    theme: &'a Theme,
    area: Rect,
    buffer: &'a mut Buffer,
}

impl Pane<'_> {
    fn line(&mut self, line: Line<'static>) {
        if self.area.height == 0 {
            return;
        }
        truncate_line(line, usize::from(self.area.width))
            .render(Rect { height: 1, ..self.area }, self.buffer);
        self.skip(1);
    }

    fn skip(&mut self, rows: u16) {
        let rows = rows.min(self.area.height);
        self.area.y += rows;
        self.area.height -= rows;
    }

    fn title(&mut self, title: &str, count: &str, focused: bool) {
        let style = if focused { self.theme.accent } else { self.theme.title };
        let right = u16::try_from(text_width(count)).unwrap_or_default();
        let (x, y) = (self.area.right().saturating_sub(right), self.area.y);
        let has_row = self.area.height > 0;
        self.line(Line::styled(title.to_owned(), style));
        if has_row {
            put(self.buffer, (x, y), u16::MAX, count, self.theme.muted);
        }
    }
}

fn session(model: &Model, pane: &mut Pane<'_>) {
    let info = &model.status.info;
    let title = if info.title.is_empty() { "New session" } else { info.title.as_str() };
    pane.line(Line::styled(sanitize(title).replace('\n', " "), pane.theme.strong));
    let folder = info.work_dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut facts = folder.unwrap_or_default();
    if !info.agent.is_empty() {
        facts = format!("{facts} {} {}", pane.theme.marks.separator, info.agent);
    }
    pane.line(Line::styled(sanitize(&facts).into_owned(), pane.theme.muted));
    pane.skip(1);
}

fn gauge(model: &Model, pane: &mut Pane<'_>) {
    let theme = pane.theme;
    let usage = model.status.context_usage();
    let count = usage.map(format::percent).unwrap_or_default();
    pane.title(Shown::Context.title(), &count, false);
    let width = usize::from(pane.area.width);
    let share = usage.unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "cells of a gauge"
    )]
    let cells = |share: f64| (share * width as f64).round() as usize;
    let full = cells(share).max(usize::from(share > 0.0)).min(width);
    let at = model.status.info.compaction_at;
    let threshold = (at > 0.0 && at < 1.0).then(|| cells(at).min(width.saturating_sub(1)));
    let mut spans = Vec::with_capacity(width);
    for cell in 0..width {
        let (mark, style) = if Some(cell) == threshold && cell >= full {
            (theme.marks.bar, theme.warning)
        } else if cell < full {
            (theme.marks.gauge_full, gauge_style(model, share, theme))
        } else {
            (theme.marks.gauge_empty, theme.gauge_empty)
        };
        spans.push(Span::styled(mark, style));
    }
    pane.line(Line::from(spans));
    let tokens = model.status.context_tokens.unwrap_or_default();
    let facts = format!(
        "{} of {} tokens",
        format::tokens(tokens),
        format::tokens(model.status.max_tokens())
    );
    pane.line(Line::styled(facts, theme.muted));
    if let Some(usage) = model.status.last_usage {
        let call = format!(
            "last call {}{} {}{}",
            theme.marks.up,
            format::tokens(usage.input()),
            theme.marks.down,
            format::tokens(usage.output)
        );
        pane.line(Line::styled(call, theme.muted));
    }
    pane.skip(1);
}

fn todos(model: &Model, pane: &mut Pane<'_>) {
    let items = &model.status.todos;
    let done = items.iter().filter(|item| item.status == TodoStatus::Done).count();
    let count = if items.is_empty() { String::new() } else { format!("{done}/{}", items.len()) };
    pane.title(Shown::Todos.title(), &count, false);
    if items.is_empty() {
        pane.line(Line::styled("None yet", pane.theme.muted));
    }
    // The one being worked on stays in view.
    let active = items.iter().position(|item| item.status != TodoStatus::Done).unwrap_or(0);
    let first = active.saturating_sub(2).min(items.len().saturating_sub(TODOS));
    for item in items.iter().skip(first).take(TODOS) {
        let (mark, style) = tool::todo_mark(item.status, pane.theme);
        let text_style: Style = match item.status {
            TodoStatus::Done => pane.theme.muted,
            TodoStatus::InProgress => pane.theme.strong,
            TodoStatus::Pending => pane.theme.text,
        };
        let title = sanitize(&item.title).replace('\n', " ");
        pane.line(Line::from(vec![
            Span::styled(format!("{mark} "), style),
            Span::styled(title, text_style),
        ]));
    }
    if items.len() > first + TODOS {
        let more = items.len() - first - TODOS;
        pane.line(Line::styled(
            format!("{} {more} more", pane.theme.marks.ellipsis),
            pane.theme.muted,
        ));
    }
    pane.skip(1);
}

fn tools(model: &Model, pane: &mut Pane<'_>, now: f64) {
    let focused = model.focus == Focus::Calls && model.overlays.is_empty();
    pane.title(Shown::Tools.title(), &calls::count(model), focused);
    let most = if model.screen.layout().hidden.has(Shown::Timeline) {
        // Nothing comes below that needs the rows.
        usize::from(pane.area.height)
    } else if focused {
        TOOLS_FOCUSED
    } else {
        TOOLS
    };
    let count = latest(&model.transcript).take(most).count();
    if count == 0 {
        pane.line(Line::styled("None yet", pane.theme.muted));
    }
    let rows = u16::try_from(count).unwrap_or(u16::MAX).min(pane.area.height);
    let area = Rect { height: rows, ..pane.area };
    calls::draw(model, pane.theme, area, pane.buffer, focused, now);
    pane.skip(rows);
    pane.skip(1);
}
