//! The help page, made from the keymap, and pages of other text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::Context;
use super::super::model::Model;
use super::super::model::overlay::{Page, PageText};
use super::super::render::highlight::HighlightCache;
use super::super::render::markdown::{markdown, markdown_open};
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::super::update::commands;
use super::panel;

/// Draws the page from line `scroll` on; says which line is the first.
pub(super) fn draw(
    model: &Model,
    scroll: u16,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> u16 {
    let area = panel::centred(area, 90, area.height);
    let title = if model.help_filter.is_empty() {
        "Help · type to search · esc closes".to_owned()
    } else {
        format!("Help · {} · esc closes", sanitize(&model.help_filter))
    };
    let inner = panel::draw(&title, theme, area, buffer);
    let wanted = model.help_filter.to_lowercase();
    let mut rows = rows(model, theme, now);
    if !wanted.is_empty() {
        rows.retain(|row| row.text().to_lowercase().contains(&wanted));
        if rows.is_empty() {
            rows.push(Row::Heading("Nothing here is called that".to_owned(), theme.muted));
        }
    }
    let lines = rows.into_iter().flat_map(|row| row.lines(inner.width, theme)).collect();
    show(lines, scroll, inner, buffer)
}

/// Draws a page that is no help.
pub(super) fn draw_page(
    page: &Page,
    (theme, highlight): (&Theme, &HighlightCache),
    area: Rect,
    buffer: &mut Buffer,
) -> u16 {
    let area = panel::centred(area, 90, area.height);
    let inner = panel::draw(&format!("{} · esc closes", page.title), theme, area, buffer);
    let lines = match &page.text {
        PageText::Markdown(text) => markdown(text, inner.width, theme, highlight),
        PageText::Lines(lines) => {
            let line = |line: &String| Line::styled(sanitize(line).into_owned(), theme.text);
            lines.iter().flat_map(|text| wrap(&line(text), inner.width, &[], &[])).collect()
        }
    };
    show(lines, page.scroll, inner, buffer)
}

/// Draws the answer to a question beside the conversation.
pub(super) fn draw_aside(
    model: &Model,
    scroll: u16,
    (theme, highlight): (&Theme, &HighlightCache),
    area: Rect,
    buffer: &mut Buffer,
) -> Option<u16> {
    let aside = model.aside.as_ref()?;
    let area = panel::centred(area, 90, 20);
    let title = if aside.is_done { "Aside · esc closes" } else { "Aside · esc stops" };
    let inner = panel::draw(title, theme, area, buffer);
    let question = Line::styled(sanitize(&aside.question).replace('\n', " "), theme.strong);
    let mut lines = wrap(&question, inner.width, &[], &[]);
    lines.push(Line::default());
    if aside.answer.is_empty() && !aside.is_done {
        lines.push(Line::styled("The model is asked", theme.muted));
    }
    lines.extend(match aside.is_done {
        true => markdown(&aside.answer, inner.width, theme, highlight),
        false => markdown_open(&aside.answer, inner.width, theme, highlight),
    });
    Some(show(lines, scroll, inner, buffer))
}

/// Draws `lines` from line `scroll` on, or the last that fill the place; says from which one on.
fn show(lines: Vec<Line<'static>>, scroll: u16, inner: Rect, buffer: &mut Buffer) -> u16 {
    let last = lines.len().saturating_sub(usize::from(inner.height));
    let first = usize::from(scroll).min(last);
    for (row, line) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        let y = inner.y + u16::try_from(row).unwrap_or_default();
        truncate_line(line, usize::from(inner.width))
            .render(Rect { y, height: 1, ..inner }, buffer);
    }
    u16::try_from(first).unwrap_or(u16::MAX)
}

/// A row of the page.
enum Row {
    Heading(String, Style),
    Key { keys: String, label: String },
}

/// Columns for the keys, where there is room for as many.
const KEYS: u16 = 34;

impl Row {
    /// What it is found by.
    fn text(&self) -> String {
        match self {
            Self::Heading(text, _) => text.clone(),
            Self::Key { keys, label } => format!("{keys} {label}"),
        }
    }

    /// The row on a page of this width: nothing of it is cut.
    fn lines(self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::Heading(text, style) => vec![Line::styled(text, style)],
            Self::Key { keys, label } => {
                let column = KEYS.min(width * 9 / 20);
                let blank = Span::raw(" ".repeat(usize::from(column)));
                let room = usize::from(column).saturating_sub(3 + text_width(&keys));
                let gap = " ".repeat(room + 1);
                let head = [Span::raw("  "), Span::styled(keys, theme.key), Span::raw(gap)];
                wrap(&Line::styled(label, theme.text), width, &head, &[blank])
            }
        }
    }
}

/// The rows: those of the place it was opened from come first.
fn rows(model: &Model, theme: &Theme, now: f64) -> Vec<Row> {
    let here = model.helped(now);
    let others = Context::ALL.into_iter().filter(|context| *context != here);
    let mut rows = Vec::new();
    for context in std::iter::once(here).chain(others) {
        rows.push(Row::Heading(context.title().to_owned(), theme.heading));
        for binding in model.keymap.of(context) {
            let chords = binding.chords.iter().map(ToString::to_string);
            let keys: Vec<_> = binding.keys.iter().map(ToString::to_string).chain(chords).collect();
            rows.push(Row::Key { keys: keys.join("  "), label: binding.label.to_owned() });
        }
        rows.push(Row::Heading(String::new(), theme.text));
    }
    rows.push(Row::Heading("Commands".to_owned(), theme.heading));
    for (name, description) in commands(model, "") {
        let (keys, label) = (format!("/{}", sanitize(&name)), sanitize(&description).into_owned());
        rows.push(Row::Key { keys, label });
    }
    rows
}
