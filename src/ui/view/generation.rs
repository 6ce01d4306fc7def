//! An earlier context on the whole screen, and what a compaction took out of one.

use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::super::model::Model;
use super::super::model::generation::{GenerationView, Item, LossList, Page};
use super::super::model::overlay::Overlay;
use super::super::model::search::{compile, matches};
use super::super::model::transcript::FrameInfo;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::chat::mark_matches;
use super::pager::moved;
use super::put::put;
use super::{Caches, cells, layout, panel, search};
use crate::message::Role;
use crate::wire::MessageFate;

/// What the lines of a generation depend on: request, width, theme, details shown, code coloured.
type Key = (u64, u16, u64, bool, u64);

/// The lines of a generation, drawn before.
#[derive(Debug, Default)]
pub(super) struct Lines(Option<(Key, Rc<[Line<'static>]>)>);

/// Draws a generation, and says which line is the first and whether a search found nothing.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    area: Rect,
    buffer: &mut Buffer,
    info: &mut FrameInfo,
) {
    let Some(Overlay::Generation(view)) = model.overlays.last() else { return };
    Clear.render(area, buffer);
    buffer.set_style(area, theme.ground());
    let inner = layout::inset(area);
    let is_current = view.generation == view.current;
    let title = if is_current {
        " The present context · read only ".to_owned()
    } else {
        let (number, last) = (view.generation, view.current);
        format!(
            " Context {number}, as it was when it ended; the present one is {last} · read only "
        )
    };
    let line = theme.marks.line.repeat(usize::from(inner.width));
    put(buffer, (inner.x, inner.y), inner.width, line, theme.border_focus);
    put(buffer, (inner.x + 2, inner.y), inner.width.saturating_sub(4), title, theme.title);
    let head = 1.min(inner.height);
    let foot = search::rows_below(model, inner.height);
    let body = Rect { y: inner.y + head, height: inner.height - head - foot, ..inner };
    let items = match &view.page {
        Page::Loading => {
            put(buffer, (body.x, body.y), body.width, "Reading it…", theme.muted);
            return;
        }
        Page::Failed(reason) => {
            let line = Line::styled(sanitize(reason).into_owned(), theme.danger);
            for (line, y) in
                wrap(&line, body.width, &[], &[]).into_iter().zip(body.y..body.bottom())
            {
                line.render(Rect { y, height: 1, ..body }, buffer);
            }
            return;
        }
        Page::Ready(items) => items,
    };
    let lines = all(model, view, items, theme, caches, body.width);
    let last = lines.len().saturating_sub(usize::from(body.height));
    let pattern = model.search.marked().and_then(|pattern| compile(&pattern));
    let mut top = view.top.min(last);
    for step in &view.pending {
        let is_match = |at: usize| {
            let pattern = pattern.as_ref();
            pattern.is_some_and(|pattern| matches(pattern, &lines[at].to_string()).next().is_some())
        };
        let missed;
        (top, missed) = moved(*step, top, (lines.len(), body.height), is_match);
        info.pager_missed = missed.or(info.pager_missed);
    }
    for (line, y) in lines.iter().skip(top).zip(body.y..body.bottom()) {
        let place = Rect { y, height: 1, ..body };
        line.render(place, buffer);
        if let Some(pattern) = &pattern {
            mark_matches(pattern, line, theme, place, buffer);
        }
    }
    info.pager_top = Some(top);
}

fn all(
    model: &Model,
    view: &GenerationView,
    items: &[Item],
    theme: &Theme,
    caches: &mut Caches,
    width: u16,
) -> Rc<[Line<'static>]> {
    let coloured = caches.highlight.generation();
    let key = (view.request.0, width, theme.revision, model.shows_details, coloured);
    if let Some((kept, lines)) = &caches.past.0
        && *kept == key
    {
        return lines.clone();
    }
    let mut lines = Vec::new();
    for item in items {
        match item {
            Item::Checkpoint { id, tokens } => {
                let text = format!("checkpoint {id} · {} tokens", format::tokens(*tokens));
                let rule = theme.marks.line;
                lines.push(Line::styled(format!("{rule}{rule} {text}"), theme.muted));
            }
            Item::Cell(cell) => {
                lines.extend(cells::lines(model, cell, theme, &caches.highlight, width, 0.0));
                lines.push(Line::default());
            }
        }
    }
    if lines.is_empty() {
        lines.push(Line::styled("There is nothing in it.", theme.muted));
    }
    let lines: Rc<[Line<'static>]> = lines.into();
    caches.past.0 = Some((key, lines.clone()));
    lines
}

/// Draws what was taken out of the context, the marked message below it.
pub(super) fn draw_losses(list: &LossList, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let area = panel::centred(area, 110, area.height);
    let title = format!("Taken out of context {} ({})", list.generation, list.strategy);
    let inner = panel::draw(&title, theme, area, buffer);
    let all: u64 = list.rows.iter().map(|row| row.tokens).sum();
    let chosen: u64 =
        list.rows.iter().filter(|row| list.chosen.contains(&row.index)).map(|row| row.tokens).sum();
    let facts = format!(
        "{}, {} tokens{}",
        format::count(list.rows.len(), "message", "messages"),
        format::tokens(all),
        if list.chosen.is_empty() {
            String::new()
        } else {
            format!("; {} chosen, {} tokens to pin back", list.chosen.len(), format::tokens(chosen))
        }
    );
    put(buffer, (inner.x, inner.y), inner.width, facts, theme.muted);
    let rest =
        Rect { y: inner.y + 1.min(inner.height), height: inner.height.saturating_sub(1), ..inner };
    let below = if rest.height >= 10 { rest.height / 2 } else { 0 };
    let rows = Rect { height: rest.height - below, ..rest };
    let height = usize::from(rows.height);
    let first = list.marked.saturating_sub(height.saturating_sub(1));
    for ((index, row), y) in
        list.rows.iter().enumerate().skip(first).take(height).zip(rows.y..rows.bottom())
    {
        let place = Rect { y, height: 1, ..rows };
        let is_chosen = list.chosen.contains(&row.index);
        let mark = if is_chosen { theme.marks.check } else { " " };
        let line = Line::from(vec![
            Span::styled(format!("{mark} "), theme.success),
            Span::styled(format!("{:>6}  ", format::tokens(row.tokens)), theme.strong),
            Span::styled(format!("{:<7} {:<10}  ", whose(row.role), fate(row.fate)), theme.muted),
            Span::styled(sanitize(&row.preview).into_owned(), theme.text),
        ]);
        truncate_line(line, usize::from(rows.width)).render(place, buffer);
        if index == list.marked {
            buffer.set_style(place, theme.selection);
        }
    }
    if below > 0 {
        draw_text(list, theme, Rect { y: rows.bottom(), height: below, ..rest }, buffer);
    }
}

/// The marked message as it was.
fn draw_text(list: &LossList, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let line = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), area.width, line, theme.border);
    let text = match &list.messages {
        Some(Err(reason)) => format!("It cannot be read: {reason}"),
        _ => list.text().unwrap_or_default(),
    };
    let rows = usize::from(area.height.saturating_sub(1));
    let lines = sanitize(&text)
        .lines()
        .take(rows)
        .flat_map(|line| wrap(&Line::styled(line.to_owned(), theme.text), area.width, &[], &[]))
        .take(rows)
        .collect::<Vec<_>>();
    for (line, y) in lines.into_iter().zip(area.y + 1..area.bottom()) {
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
    let more = text.lines().count();
    if more > rows {
        let text = format!(" {more} lines ");
        let columns = u16::try_from(text_width(&text)).unwrap_or(0);
        if columns + 4 < area.width {
            put(buffer, (area.right() - columns - 1, area.y), columns, text, theme.muted);
        }
    }
}

fn whose(role: Role) -> &'static str {
    match role {
        Role::Tool => "result",
        Role::Assistant => "model",
        Role::User => "user",
        Role::System => "system",
    }
}

fn fate(fate: MessageFate) -> &'static str {
    match fate {
        MessageFate::Summarised => "summarised",
        MessageFate::Hidden => "hidden",
        MessageFate::Dropped => "left out",
    }
}
