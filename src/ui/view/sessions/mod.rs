//! The sessions overlay: the list with what was found in it, and beside it a closer look.

mod preview;
#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::sessions::{Ask, ExportFormat, PREVIEW_FROM, SessionList, SessionRow};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate, truncate_line, truncate_middle, width as text_width};
use super::super::theme::Theme;
use super::panel;
use super::put::put;
use crate::session::index::{Excerpt, Speaker};

/// Excerpts shown of a session.
const EXCERPTS: usize = 2;

/// A line of the list.
enum Item<'a> {
    Place(&'a str),
    Session(usize, &'a SessionRow),
    Excerpt(&'a Excerpt),
}

/// Draws the overlay; the cursor stands in the filter, or in what is asked.
pub(super) fn draw(
    model: &Model,
    list: &SessionList,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
    scrolled: &mut Option<usize>,
) -> Option<Point> {
    let area = panel::centred(area, 200, area.height);
    let inner = panel::draw(&title(list), theme, area, buffer);
    if inner.height == 0 {
        return None;
    }
    let (cursor, mut rows) = panel::search_line(&list.filter, theme, inner, buffer);
    draw_counts(list, theme, inner, buffer);
    let mut asked = None;
    if let Some(ask) = &list.ask {
        let height = if matches!(ask, Ask::Export(_)) { 4 } else { 2 };
        let height = height.min(rows.height);
        let place = Rect { y: rows.bottom() - height, height, ..rows };
        rows.height -= height;
        asked = draw_ask(ask, theme, place, buffer);
    }
    if list.looks {
        *scrolled = Some(preview::draw(list, theme, rows, buffer));
        return if list.ask.is_some() { asked } else { cursor };
    }
    let has_preview = model.screen.width >= PREVIEW_FROM && rows.width >= 90;
    let mut left = rows;
    if has_preview {
        left.width = rows.width * 11 / 20 - 1;
        let right = Rect { x: left.right() + 3, width: rows.width - left.width - 3, ..rows };
        for y in right.y..right.bottom() {
            put(buffer, (right.x - 2, y), 1, theme.marks.bar, theme.border);
        }
        *scrolled = Some(preview::draw(list, theme, right, buffer));
    }
    draw_list(model, list, theme, left, buffer, now);
    if list.ask.is_some() { asked } else { cursor }
}

fn title(list: &SessionList) -> String {
    let which = if list.trash.is_some() {
        "Deleted sessions"
    } else if list.archived {
        "Archived sessions"
    } else {
        "Sessions"
    };
    let of = if list.only_here { " of this folder" } else { " of all folders" };
    format!("{which}{of}")
}

/// How many are shown, what they take, how far the index is: at the right of the search line.
fn draw_counts(list: &SessionList, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let bytes: u64 = list.shown().map(|row| list.weight(row)).sum();
    let text = match list.indexing {
        Some((done, total)) => format!("indexing {done} of {total}"),
        None if list.rows.is_none() => String::new(),
        None => format!("{} · {}", list.shown().len(), format::size(bytes)),
    };
    let columns = u16::try_from(text_width(&text)).unwrap_or(0);
    let typed = u16::try_from(text_width(&list.filter.text())).unwrap_or(u16::MAX);
    if typed.saturating_add(columns + 12) <= area.width {
        put(buffer, (area.right() - columns, area.y), columns, text, theme.muted);
    }
}

fn draw_list(
    model: &Model,
    list: &SessionList,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) {
    if let Some(message) = message(list) {
        put(buffer, (area.x, area.y), area.width, message, theme.muted);
        return;
    }
    let items = items(list);
    let height = usize::from(area.height);
    let marked = |item: &Item| matches!(item, Item::Session(index, _) if *index == list.marked);
    let at = items.iter().position(marked).unwrap_or(0);
    let behind = items[at + 1..].iter().take_while(|item| matches!(item, Item::Excerpt(_))).count();
    let first = (at + behind + 1).saturating_sub(height).min(at);
    for (row, item) in items.iter().skip(first).take(height).enumerate() {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let line = Rect { y, height: 1, ..area };
        match item {
            Item::Place(place) => {
                let place = format::folder(place, model.program.home.as_deref());
                let place = sanitize(&place);
                let place = truncate_middle(&place, usize::from(area.width));
                put(buffer, (line.x, y), line.width, place, theme.heading);
            }
            Item::Session(index, session) => {
                draw_session(model, list, session, theme, line, buffer, now);
                if *index == list.marked {
                    buffer.set_style(line, theme.selection);
                }
            }
            Item::Excerpt(excerpt) => draw_excerpt(excerpt, theme, line, buffer),
        }
    }
}

fn message(list: &SessionList) -> Option<String> {
    match &list.rows {
        None => Some("Reading…".to_owned()),
        Some(Err(reason)) => Some(sanitize(reason).into_owned()),
        Some(Ok(all)) if all.is_empty() && list.trash.is_some() => {
            Some("The trash is empty.".to_owned())
        }
        Some(Ok(all)) if all.is_empty() && list.archived => Some("Nothing is archived.".to_owned()),
        Some(Ok(all)) if all.is_empty() => {
            Some("No sessions yet: each conversation will be listed here.".to_owned())
        }
        Some(Ok(_)) if list.shown().len() > 0 => None,
        Some(Ok(_)) if list.searching.is_some() => Some("Searching…".to_owned()),
        Some(Ok(_)) if list.only_here => {
            Some("Nothing in this folder; Tab looks into all folders.".to_owned())
        }
        Some(Ok(_)) if list.trash.is_some() => Some("No title has this in it.".to_owned()),
        Some(Ok(_)) => Some("No title has this in it, and nobody said it.".to_owned()),
    }
}

fn items(list: &SessionList) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut place = None;
    let is_searching = !list.filter.is_empty();
    for (index, row) in list.shown().enumerate() {
        if place != Some(row.place.as_str()) {
            place = Some(row.place.as_str());
            items.push(Item::Place(&row.place));
        }
        items.push(Item::Session(index, row));
        if is_searching {
            items.extend(list.excerpts(row).iter().take(EXCERPTS).map(Item::Excerpt));
        }
    }
    items
}

fn draw_session(
    model: &Model,
    list: &SessionList,
    row: &SessionRow,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) {
    let age = Duration::try_from_secs_f64((now - row.updated).max(0.0)).unwrap_or_default();
    let is_current = model.status.info.id.as_ref() == Some(&row.session.id);
    let mut right = format::ago(age);
    if area.width >= 50 {
        right = format!("{right}  {:>7}", format::size(list.weight(row)));
    }
    if area.width >= 70 {
        right = format!("{right}  {}", sanitize(row.session.id.short()));
    }
    if is_current {
        right = format!("open now  {right}");
    }
    let columns = u16::try_from(text_width(&right)).unwrap_or(0).min(area.width);
    let room = usize::from(area.width - columns).saturating_sub(4);
    let title = sanitize(&row.title).replace('\n', " ");
    let title = truncate(&title, room).into_owned();
    let marks = list.query().marks(&title);
    let mut spans = vec![Span::raw("  ")];
    spans.extend(marked_spans(&title, &marks, theme.text, theme));
    Line::from(spans).render(area, buffer);
    put(buffer, (area.right() - columns, area.y), u16::MAX, right, theme.muted);
}

fn draw_excerpt(excerpt: &Excerpt, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let who = match excerpt.speaker {
        Speaker::User => "you",
        Speaker::Call => "ran",
        Speaker::Output => "got",
        Speaker::Assistant | Speaker::Title => "said",
    };
    let mut spans = vec![Span::styled(format!("    {who:<4} "), theme.muted)];
    let text = sanitize(&excerpt.text);
    if text == excerpt.text {
        spans.extend(marked_spans(&text, &excerpt.marks, theme.muted, theme));
    } else {
        spans.push(Span::styled(text.into_owned(), theme.muted));
    }
    truncate_line(Line::from(spans), usize::from(area.width)).render(area, buffer);
}

/// `text` with what was looked for made to stand out.
fn marked_spans(
    text: &str,
    marks: &[std::ops::Range<usize>],
    style: ratatui::style::Style,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = 0;
    let found = theme.warning.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    for mark in marks {
        let (Some(before), Some(word)) = (text.get(at..mark.start), text.get(mark.clone())) else {
            continue;
        };
        spans.push(Span::styled(before.to_owned(), style));
        spans.push(Span::styled(word.to_owned(), found));
        at = mark.end;
    }
    spans.push(Span::styled(text.get(at..).unwrap_or_default().to_owned(), style));
    spans
}

fn draw_ask(ask: &Ask, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    if area.height == 0 {
        return None;
    }
    match ask {
        Ask::Rename(title) => {
            put(
                buffer,
                (area.x, area.y),
                area.width,
                "New title (empty: from its first words)",
                theme.muted,
            );
            let input = Rect { y: area.bottom() - 1, height: 1, ..area };
            title.draw(theme.text, input, buffer)
        }
        Ask::Purge => {
            let text = "Delete it for good? Nothing brings it back then.";
            put(buffer, (area.x, area.y), area.width, text, theme.danger);
            let keys = "Enter deletes it, Esc leaves it in the trash";
            put(buffer, (area.x, area.bottom() - 1), area.width, keys, theme.muted);
            None
        }
        Ask::Export(marked) => {
            put(buffer, (area.x, area.y), area.width, "Export into this folder as", theme.muted);
            let lines = ExportFormat::ALL.iter().zip(area.y + 1..area.bottom()).enumerate();
            for (index, (format, y)) in lines {
                put(buffer, (area.x + 2, y), area.width, format.label(), theme.text);
                if index == *marked {
                    buffer.set_style(Rect { y, height: 1, ..area }, theme.selection);
                }
            }
            None
        }
    }
}
