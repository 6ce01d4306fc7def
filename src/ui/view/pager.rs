//! One cell on the whole screen, all of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::super::model::Model;
use super::super::model::cell::{Cell, CellKind, Group, ToolCell};
use super::super::model::overlay::{Overlay, PagerMove};
use super::super::model::search::{compile, matches};
use super::super::model::transcript::{FrameInfo, Scroll};
use super::super::render::ansi::ansi;
use super::super::render::cache::LineKey;
use super::super::render::diff::Laid;
use super::super::render::highlight::HighlightCache;
use super::super::render::sanitize::sanitize;
use super::super::render::sheet::Sheet;
use super::super::render::width::{line_width, truncate};
use super::super::render::wrap::wrap_hard;
use super::super::theme::Theme;
use super::chat::mark_matches;
use super::nested;
use super::put::put;
use super::{Caches, cells, layout, search, tool};
use crate::message::{DiffBlock, DisplayBlock};

/// What the pager shows, drawn before.
#[derive(Debug, Default)]
pub(super) struct Pages(Option<(LineKey, u64)>, Sheet);

/// Draws the pager, and says which line is the first and whether a search found nothing.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
    info: &mut FrameInfo,
) {
    let Some(Overlay::Pager(pager)) = model.overlays.last() else { return };
    let Some(cell) = model.transcript.index_of(pager.cell) else { return };
    Clear.render(area, buffer);
    buffer.set_style(area, theme.ground());
    let cell = &model.transcript.cells()[cell];
    let inner = layout::inset(area);
    let head = u16::from(inner.height > 3);
    let foot = search::rows_below(model, inner.height);
    let body = Rect { y: inner.y + head, height: inner.height - head - foot, ..inner };
    lay_out(model, cell, theme, caches, body.width, now);
    let Caches { pages: Pages(_, lines), highlight: hl, .. } = caches;
    let height = usize::from(body.height);
    let last = lines.len().saturating_sub(height);
    let pattern = model.search.marked().and_then(|pattern| compile(&pattern));
    let mut top = pager.top.min(last);
    for step in &pager.pending {
        let is_match = |at: usize| {
            pattern.as_ref().is_some_and(|pattern| {
                let line = lines.lines(at..at + 1, theme, hl);
                line.iter().any(|line| matches(pattern, &line.to_string()).next().is_some())
            })
        };
        let missed;
        (top, missed) = moved(*step, top, (lines.len(), body.height), is_match);
        info.pager_missed = missed.or(info.pager_missed);
    }
    if head > 0 {
        let end = (top + height).min(lines.len());
        let place = format!(" {}-{end} of {} ", (top + 1).min(end), lines.len());
        let title = format!(" {} ", title(cell));
        let line = theme.marks.line.repeat(usize::from(inner.width));
        put(buffer, (inner.x, inner.y), inner.width, line, theme.border_focus);
        let room = inner.width.saturating_sub(4);
        put(buffer, (inner.x + 2, inner.y), room, truncate(&title, usize::from(room)), theme.title);
        let columns = u16::try_from(place.len()).unwrap_or(u16::MAX);
        if columns + 30 < inner.width {
            put(buffer, (inner.right() - columns - 1, inner.y), columns, place, theme.muted);
        }
    }
    let seen = lines.lines(top..top + height, theme, hl);
    for (line, y) in seen.iter().zip(body.y..body.bottom()) {
        let place = Rect { y, height: 1, ..body };
        line.render(place, buffer);
        if let Some(pattern) = &pattern {
            mark_matches(pattern, line, theme, place, buffer);
        }
    }
    info.pager_top = Some(top);
}

/// The first line after a move in `count` lines, of which `rows` are seen; and whether a search found
/// nothing.
pub(super) fn moved(
    step: PagerMove,
    top: usize,
    (count, rows): (usize, u16),
    is_match: impl Fn(usize) -> bool,
) -> (usize, Option<bool>) {
    let last = count.saturating_sub(usize::from(rows));
    let rows = i32::from(rows);
    let by = |lines: i32| top.saturating_add_signed(isize::try_from(lines).unwrap_or_default());
    let to = match step {
        PagerMove::Scroll(Scroll::Lines(count)) => by(count),
        PagerMove::Scroll(Scroll::HalfPages(count)) => by(count * (rows / 2).max(1)),
        PagerMove::Scroll(Scroll::Pages(count)) => by(count * (rows - 1).max(1)),
        PagerMove::Scroll(Scroll::Top) => 0,
        PagerMove::Scroll(Scroll::Bottom) => last,
        PagerMove::Scroll(_) => top,
        PagerMove::Match { forward, here } => {
            let is_match = |at: &usize| is_match(*at);
            let found = if forward {
                let ahead = (top + usize::from(!here)..count).find(is_match);
                // What stands in the last window cannot become its first line: it goes on at the top.
                let ahead = ahead.filter(|at| here || (*at).min(last) > top);
                ahead.or_else(|| (0..count).find(is_match))
            } else {
                let before = (0..top).rev().find(is_match);
                before.or_else(|| (top..count).rev().find(is_match))
            };
            let missed = found.is_none();
            return (found.unwrap_or(top).min(last), Some(missed));
        }
    };
    (to.min(last), None)
}

fn title(cell: &Cell) -> String {
    match &cell.kind {
        CellKind::User { .. } => "Prompt".to_owned(),
        CellKind::Assistant { .. } => "Answer".to_owned(),
        CellKind::Thinking { .. } => "Thinking".to_owned(),
        CellKind::Notice { .. } => "Message".to_owned(),
        CellKind::Plan { .. } => "Plan".to_owned(),
        CellKind::Mark(_) => "Context".to_owned(),
        CellKind::Tool(tool) => {
            let argument = tool.key_argument.as_deref().unwrap_or_default();
            sanitize(&format!("{} {}", tool.name, argument)).replace('\n', " ")
        }
    }
}

/// Lays a cell out, unless it has been already.
fn lay_out(model: &Model, cell: &Cell, theme: &Theme, caches: &mut Caches, width: u16, now: f64) {
    let key = LineKey {
        id: cell.id.0,
        version: cell.version,
        width,
        theme: theme.revision,
        folded: false,
        beside: model.diffs_beside,
    };
    let generation = caches.highlight.generation();
    if caches.pages.0 == Some((key, generation)) && cell.finished {
        return;
    }
    let hl = &caches.highlight;
    let whole = |call: &ToolCell| whole_tool(call, model.diffs_beside, theme, hl, width, now);
    let mut sheet = Sheet::default();
    match (&cell.kind, cell.group) {
        (CellKind::Tool(_), Group::Leader { count }) => {
            let from = model.transcript.index_of(cell.id).unwrap_or_default();
            for cell in model.transcript.cells().iter().skip(from).take(count) {
                if let CellKind::Tool(call) = &cell.kind {
                    sheet.append(whole(call));
                }
            }
        }
        (CellKind::Tool(call), _) => sheet = whole(call),
        _ => {
            let whole = Cell { open: Some(true), ..cell.clone() };
            sheet = cells::lines(model, &whole, theme, hl, width, now).into();
        }
    }
    caches.pages = Pages(Some((key, generation)), sheet);
}

/// Everything there is about a call: what it was called with, and all that came of it.
fn whole_tool(
    call: &ToolCell,
    beside: bool,
    theme: &Theme,
    hl: &HighlightCache,
    width: u16,
    now: f64,
) -> Sheet {
    let mut lines = vec![tool::header(call, theme, width, now), Line::default()];
    let arguments = serde_json::from_str::<serde_json::Value>(&call.arguments)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| call.arguments.to_string());
    let indent = [Span::raw("  ")];
    let mark = [Span::styled(format!("  {} ", theme.marks.wrapped), theme.muted)];
    let hard = |line: Line<'static>| wrap_hard(&line, width, &indent, &mark);
    for spans in hl.lines("json", &arguments, theme) {
        lines.extend(hard(Line::from(spans)));
    }
    lines.push(Line::default());
    for nested in nested::lines(call, true, theme, u16::MAX) {
        lines.extend(hard(nested));
    }
    let Some(result) = &call.result else {
        let live: Vec<&str> = call.live.lines().collect();
        let text = ansi(&live.join("\n"), theme.tool_output, theme.depth);
        lines.extend(text.into_iter().flat_map(hard));
        return lines.into();
    };
    let diffs: Vec<DiffBlock> = result
        .display
        .iter()
        .filter_map(|block| match block {
            DisplayBlock::Diff(diff) => Some(diff.clone()),
            _ => None,
        })
        .collect();
    let mut sheet = Sheet::from(std::mem::take(&mut lines));
    if !diffs.is_empty() {
        sheet.push_diff(Laid::new(diffs, beside, width, theme, hl), 0);
        lines.push(Line::default());
    }
    let text = result.output.text();
    for line in ansi(text.trim_end_matches('\n'), theme.text, theme.depth) {
        if line_width(&line) + 2 <= usize::from(width) {
            let mut line = line;
            line.spans.insert(0, Span::raw("  "));
            lines.push(line);
        } else {
            lines.extend(hard(line));
        }
    }
    if !result.message.is_empty() && result.message != text {
        lines.push(Line::default());
        for line in sanitize(&result.message).lines() {
            lines.extend(hard(Line::styled(line.to_owned(), theme.muted)));
        }
    }
    sheet.push_lines(lines);
    sheet
}
