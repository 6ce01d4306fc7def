//! Cells to lines.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::model::Model;
use super::super::model::cell::{Cell, CellKind, Fate, Group, Level, ToolCell};
use super::super::render::highlight::HighlightCache;
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::render::wrap::wrap;
use super::super::render::{format, markdown::markdown};
use super::super::theme::Theme;
use super::{mark, tool};

/// Lines of thinking shown while it streams.
const THINKING_TAIL: usize = 4;

/// Columns beyond which running text is hard to read.
pub(super) const PROSE_COLUMNS: u16 = 120;

/// The lines of a cell in `width` columns.
pub(super) fn lines(
    model: &Model,
    cell: &Cell,
    theme: &Theme,
    highlight: &HighlightCache,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    let prose = width.min(PROSE_COLUMNS);
    let lines: Vec<_> = match &cell.kind {
        CellKind::User { text, steered } => user(text, *steered, theme, prose),
        CellKind::Assistant { text } => markdown(text, prose, theme, highlight),
        CellKind::Thinking { text, seconds } => {
            thinking(model, cell, text, *seconds, theme, prose, now)
        }
        CellKind::Tool(call) => match cell.group {
            Group::Leader { count } if cell.open != Some(true) => {
                let from = model.transcript.index_of(cell.id).unwrap_or_default();
                let row = model.transcript.cells().iter().skip(from).take(count);
                let calls: Vec<&ToolCell> = row
                    .filter_map(|cell| match &cell.kind {
                        CellKind::Tool(tool) => Some(tool.as_ref()),
                        _ => None,
                    })
                    .collect();
                tool::group_row(&calls, theme, width, now)
            }
            // What shares a row is opened to see its calls; one of them opens by itself.
            Group::Leader { .. } => {
                tool::lines(model.shows_details, call, theme, highlight, width, now)
            }
            _ => tool::lines(model.is_open(cell), call, theme, highlight, width, now),
        },
        CellKind::Notice { level, text } => notice(*level, text, theme, prose),
        CellKind::Plan { text } => {
            let mut lines = vec![Line::styled("Plan", theme.title)];
            lines.extend(markdown(text, prose, theme, highlight));
            lines
        }
        CellKind::Mark(mark) => {
            mark::lines(mark, model.is_open(cell), theme, width, cell.began, now)
        }
    };
    let room = usize::from(width);
    let lines = lines.into_iter().map(|line| truncate_line(line, room)).collect();
    if cell.fate == Fate::Live { lines } else { set_apart(lines, theme) }
}

/// What the model no longer has is still readable, but visibly not part of the conversation.
fn set_apart(lines: Vec<Line<'static>>, theme: &Theme) -> Vec<Line<'static>> {
    let muted = theme.muted;
    lines
        .into_iter()
        .map(|line| {
            let spans = line.spans.into_iter().map(|span| Span::styled(span.content, muted));
            Line::from(spans.collect::<Vec<_>>())
        })
        .collect()
}

fn user(text: &str, steered: bool, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let bar = Span::styled(format!("{} ", theme.marks.heavy_bar), theme.user_bar);
    let mut lines = Vec::new();
    for line in sanitize(text).lines() {
        let line = Line::styled(line.to_owned(), theme.user);
        lines.extend(wrap(&line, width, std::slice::from_ref(&bar), std::slice::from_ref(&bar)));
    }
    if steered {
        lines.push(Line::from(vec![bar, Span::styled("into the running turn", theme.muted)]));
    }
    lines
}

fn thinking(
    model: &Model,
    cell: &Cell,
    text: &str,
    seconds: Option<f64>,
    theme: &Theme,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    let elapsed = |seconds: f64| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
    let label = match seconds {
        Some(seconds) if seconds >= 1.0 => {
            format!("Thought for {}", format::duration(elapsed(seconds)))
        }
        Some(_) => "Thought".to_owned(),
        None => format!("Thinking {}", format::seconds(elapsed(now - cell.began))),
    };
    let mut lines = vec![Line::from(vec![Span::styled(
        format!("{} {label}", theme.marks.separator),
        theme.muted,
    )])];
    let is_open = seconds.is_none() && model.shows_thinking;
    let details = model.is_open(cell);
    if is_open || details {
        let indent = Span::raw("  ");
        // The tail is all that can be seen of it, so the tail is all that is wrapped.
        let tail = if details { text } else { last_chars(text, 2000) };
        let mut body = Vec::new();
        for line in sanitize(tail.trim()).lines() {
            let line = Line::styled(line.to_owned(), theme.thinking);
            let indent = std::slice::from_ref(&indent);
            body.extend(wrap(&line, width, indent, indent));
        }
        if !details {
            body.drain(..body.len().saturating_sub(THINKING_TAIL));
        }
        lines.extend(body);
    }
    lines
}

fn last_chars(text: &str, count: usize) -> &str {
    match text.char_indices().rev().nth(count) {
        Some((at, _)) => &text[at..],
        None => text,
    }
}

fn notice(level: Level, text: &str, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let (mark, style): (_, Style) = match level {
        Level::Info => (theme.marks.separator, theme.muted),
        Level::Warning => ("!", theme.warning),
        Level::Error => (theme.marks.cross, theme.danger),
    };
    let first = [Span::styled(format!("{mark} "), style)];
    let rest = [Span::raw("  ")];
    let mut lines = Vec::new();
    for (index, line) in sanitize(text).lines().enumerate() {
        let lead: &[Span<'static>] = if index == 0 { &first } else { &rest };
        let text_style = if level == Level::Error { theme.text } else { style };
        lines.extend(wrap(&Line::styled(line.to_owned(), text_style), width, lead, &rest));
    }
    lines
}
