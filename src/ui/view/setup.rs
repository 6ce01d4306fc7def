//! Connecting to a service: which one, with which key, which model.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::super::model::setup::{Setup, Stage};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::width as text_width;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::panel;
use super::put::put;
use super::statusline::spinner;
use crate::config::LoginCode;

/// Draws it; the cursor stands where something is typed.
pub(super) fn draw(
    setup: &Setup,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> Option<Point> {
    let area = panel::centred(area, 84, 18.min(area.height.saturating_sub(2)).max(4));
    let name = setup.service.as_ref().map(|service| service.name.as_str());
    let title = match name {
        Some(name) => format!("Connect {}", sanitize(name)),
        None => "Connect a model".to_owned(),
    };
    let mut inner = panel::draw(&title, theme, area, buffer);
    if let Some(trouble) = &setup.trouble {
        let text = Line::styled(sanitize(trouble).replace('\n', " "), theme.danger);
        for line in wrap(&text, inner.width, &[], &[]).into_iter().take(4) {
            inner = say(line, inner, buffer);
        }
        inner = skip(inner);
    }
    match &setup.stage {
        Stage::Services => {
            services(setup, theme, inner, buffer, now);
            None
        }
        Stage::Address => {
            let hint = "Where is it? For example http://127.0.0.1:8000/v1";
            inner = skip(say(Line::styled(hint, theme.muted), inner, buffer));
            setup.field.draw(theme.text, Rect { height: 1.min(inner.height), ..inner }, buffer)
        }
        Stage::Key => key(setup, theme, inner, buffer),
        Stage::Login(code) => {
            login(code.as_ref(), theme, inner, buffer, now);
            None
        }
        Stage::Trying => {
            let text = format!("{} asking for its models", spinner(theme, now));
            say(Line::styled(text, theme.muted), inner, buffer);
            None
        }
        Stage::Models(_) => models(setup, theme, inner, buffer),
    }
}

/// What to open and what to compare there, each on a line that can be copied.
fn login(code: Option<&LoginCode>, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    let Some(code) = code else {
        let text = format!("{} asking for a code", spinner(theme, now));
        say(Line::styled(text, theme.muted), area, buffer);
        return;
    };
    let mut area = say(Line::styled("Open this in a browser:", theme.muted), area, buffer);
    let address = Line::styled(sanitize(&code.address).into_owned(), theme.accent);
    for line in wrap(&address, area.width, &[], &[]).into_iter().take(4) {
        area = say(line, area, buffer);
    }
    area = skip(area);
    area = say(Line::styled("and confirm this code there:", theme.muted), area, buffer);
    area = say(Line::styled(sanitize(&code.code).into_owned(), theme.title), area, buffer);
    let text = format!("{} waiting for it; Esc goes back", spinner(theme, now));
    say(Line::styled(text, theme.muted), skip(area), buffer);
}

fn say(line: Line<'static>, area: Rect, buffer: &mut Buffer) -> Rect {
    if area.height == 0 {
        return area;
    }
    line.render(Rect { height: 1, ..area }, buffer);
    skip(area)
}

fn skip(area: Rect) -> Rect {
    let rows = 1.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

fn services(setup: &Setup, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    if setup.services.is_empty() {
        let text = format!("{} looking at what is there", spinner(theme, now));
        say(Line::styled(text, theme.muted), area, buffer);
        return;
    }
    let rows = setup.services.iter().map(|service| {
        let found = service.found.clone().unwrap_or_default();
        (service.name.clone(), found)
    });
    list(rows.collect(), setup.marked, theme, area, buffer);
}

fn models(setup: &Setup, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    let (cursor, rows) = panel::search_line(&setup.field, theme, area, buffer);
    let shown = setup.shown_models();
    if shown.is_empty() {
        let text = "The server lists no models. Type the name of one.";
        put(buffer, (rows.x, rows.y), rows.width, text, theme.muted);
        return cursor;
    }
    let lines = shown.into_iter().map(|model| {
        let context = model.context.map(format::tokens).unwrap_or_default();
        (model.name, context)
    });
    list(lines.collect(), setup.marked, theme, rows, buffer);
    cursor
}

fn list(
    rows: Vec<(String, String)>,
    marked: usize,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let height = usize::from(area.height);
    let first = marked.saturating_sub(height.saturating_sub(1));
    for (row, (index, (label, detail))) in
        rows.into_iter().enumerate().skip(first).take(height).enumerate()
    {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let detail = sanitize(&detail).into_owned();
        let columns = u16::try_from(text_width(&detail)).unwrap_or(0).min(area.width);
        let room = area.width.saturating_sub(columns + 2);
        put(buffer, (area.x, y), room, sanitize(&label), theme.text);
        put(buffer, (area.right() - columns, y), columns, detail, theme.success);
        if index == marked {
            buffer.set_style(Rect { y, height: 1, ..area }, theme.selection);
        }
    }
}

/// The key, of which only the length can be seen.
fn key(setup: &Setup, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    let address = setup.service.as_ref().map(|s| s.base_url.clone()).unwrap_or_default();
    let mut area = say(Line::styled(sanitize(&address).into_owned(), theme.muted), area, buffer);
    area = skip(area);
    let label = "API key: ";
    put(buffer, (area.x, area.y), area.width, label, theme.text);
    let offset = u16::try_from(text_width(label)).unwrap_or(0).min(area.width);
    let room = usize::from(area.width - offset).saturating_sub(1);
    let count = setup.secret.0.chars().count().min(room);
    if area.height > 0 {
        put(
            buffer,
            (area.x + offset, area.y),
            area.width - offset,
            "*".repeat(count).as_str(),
            theme.text,
        );
    }
    let x = area.x + offset + u16::try_from(count).unwrap_or_default();
    let cursor = (area.height > 0).then_some(Point { x, y: area.y });
    let rest = skip(skip(area));
    let text = "Paste it, or type it; it goes into config.toml, which only you may read.";
    for line in wrap(&Line::styled(text, theme.muted), rest.width, &[], &[]).into_iter().take(2) {
        area = say(line, if area.y < rest.y { rest } else { area }, buffer);
    }
    cursor
}
