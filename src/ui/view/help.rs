//! The help page, made from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::Context;
use super::super::model::Model;
use super::super::model::overlay::Page;
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::super::update::commands;
use super::panel;

/// Draws the page from line `scroll` on.
pub(super) fn draw(model: &Model, scroll: u16, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let area = panel::centred(area, 90, area.height.saturating_sub(2).max(4));
    let title = if model.help_filter.is_empty() {
        "Help · type to search · esc closes".to_owned()
    } else {
        format!("Help · {} · esc closes", sanitize(&model.help_filter))
    };
    let inner = panel::draw(&title, theme, area, buffer);
    let wanted = model.help_filter.to_lowercase();
    let mut lines = lines(model, theme);
    if !wanted.is_empty() {
        lines.retain(|line| line.to_string().to_lowercase().contains(&wanted));
    }
    show(lines, scroll, inner, buffer);
}

/// Draws a page that is no help.
pub(super) fn draw_page(page: &Page, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let area = panel::centred(area, 90, area.height.saturating_sub(2).max(4));
    let inner = panel::draw(&format!("{} · esc closes", page.title), theme, area, buffer);
    let lines = page.lines.iter().flat_map(|line| {
        let line = Line::styled(sanitize(line).into_owned(), theme.text);
        wrap(&line, inner.width, &[], &[])
    });
    show(lines.collect(), page.scroll, inner, buffer);
}

/// Draws the answer to a question beside the conversation.
pub(super) fn draw_aside(
    model: &Model,
    scroll: u16,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let Some(aside) = &model.aside else { return };
    let area = panel::centred(area, 90, 20);
    let title = if aside.is_done { "Aside · esc closes" } else { "Aside · esc stops" };
    let inner = panel::draw(title, theme, area, buffer);
    let question = Line::styled(sanitize(&aside.question).replace('\n', " "), theme.strong);
    let mut lines = wrap(&question, inner.width, &[], &[]);
    lines.push(Line::default());
    if aside.answer.is_empty() && !aside.is_done {
        lines.push(Line::styled("The model is asked", theme.muted));
    }
    for line in sanitize(&aside.answer).lines() {
        lines.extend(wrap(&Line::styled(line.to_owned(), theme.text), inner.width, &[], &[]));
    }
    show(lines, scroll, inner, buffer);
}

fn show(lines: Vec<Line<'static>>, scroll: u16, inner: Rect, buffer: &mut Buffer) {
    let last = lines.len().saturating_sub(usize::from(inner.height));
    let first = usize::from(scroll).min(last);
    for (row, line) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        let y = inner.y + u16::try_from(row).unwrap_or_default();
        truncate_line(line, usize::from(inner.width))
            .render(Rect { y, height: 1, ..inner }, buffer);
    }
}

fn lines(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        lines.push(Line::styled(context.title(), theme.heading));
        for binding in model.keymap.of(context) {
            let chords = binding.chords.iter().map(ToString::to_string);
            let keys: Vec<_> = binding.keys.iter().map(ToString::to_string).chain(chords).collect();
            lines.push(Line::from(vec![
                Span::styled(format!("  {:<33}", keys.join("  ")), theme.key),
                Span::styled(binding.label, theme.text),
            ]));
        }
        lines.push(Line::default());
    }
    lines.push(Line::styled("Commands", theme.heading));
    for (name, description) in commands(model, "") {
        lines.push(Line::from(vec![
            Span::styled(format!("  /{:<32}", sanitize(&name)), theme.key),
            Span::styled(sanitize(&description).into_owned(), theme.text),
        ]));
    }
    lines
}
