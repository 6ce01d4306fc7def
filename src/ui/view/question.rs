//! The question panel: a tab per question, its options with what they mean, and the free answer.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::question::{Asking, Tab};
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::put::put;
use crate::wire::Question;

/// Rows of what a question quotes.
const BODY_ROWS: usize = 8;
/// Rows of the free answer while it is written.
const WRITING_ROWS: u16 = 4;

/// Rows the panel would like.
pub(super) fn height(model: &Model, theme: &Theme, width: u16) -> u16 {
    let Some(asking) = model.questions.current() else { return 0 };
    let (lines, _) = lines(model, asking, theme, width, true);
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    rows.saturating_add(1 + writing_rows(asking, width))
}

fn writing_rows(asking: &Asking, width: u16) -> u16 {
    let editor = asking.writing.as_ref();
    editor.map_or(0, |editor| editor.rows(width.saturating_sub(5), WRITING_ROWS))
}

/// Draws the panel; says where the cursor is while an answer is written in it.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> Option<Point> {
    let asking = model.questions.current()?;
    if area.height == 0 {
        return None;
    }
    Clear.render(area, buffer);
    buffer.set_style(area, theme.text);
    title(asking, theme, Rect { height: 1, ..area }, buffer);
    let listens = model.questions.is_listening(now);
    let (lines, marked) = lines(model, asking, theme, area.width, listens);
    let writing = writing_rows(asking, area.width).min(area.height - 1);
    let rows = usize::from(area.height - 1 - writing);
    // What is marked is always seen, with as much of the question as there is room for.
    let first = (marked + 1).saturating_sub(rows).min(lines.len().saturating_sub(rows));
    for (row, line) in lines.iter().skip(first).take(rows).enumerate() {
        let y = area.y + 1 + u16::try_from(row).unwrap_or_default();
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
    let editor = asking.writing.as_ref()?;
    let x = area.x + 5.min(area.width);
    let inner = Rect { x, y: area.bottom() - writing, width: area.right() - x, height: writing };
    if inner.height == 0 || inner.width == 0 {
        return None;
    }
    if editor.is_empty() {
        let hint = "Your answer; Enter takes it, Esc goes back";
        put(buffer, (inner.x, inner.y), inner.width, hint, theme.muted);
        return Some(Point { x: inner.x, y: inner.y });
    }
    editor.draw(theme.text, inner, buffer)
}

/// The line above: a tab for each question.
fn title(asking: &Asking, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let line = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), u16::MAX, line, theme.accent);
    let mut spans = Vec::new();
    for (at, (question, tab)) in asking.request.questions.iter().zip(&asking.tabs).enumerate() {
        let mark = match (at == asking.at, tab.answer.is_some()) {
            (_, true) => theme.marks.check,
            (true, false) => theme.marks.dot,
            (false, false) => theme.marks.ring,
        };
        let header = sanitize(&question.header).replace('\n', " ");
        let header = if header.trim().is_empty() { format!("Question {}", at + 1) } else { header };
        let style = if at == asking.at { theme.accent } else { theme.muted };
        spans.push(Span::styled(format!(" {mark} {header} "), style));
    }
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    truncate_line(Line::from(spans), usize::from(inner.width)).render(inner, buffer);
}

/// Everything below the title, and the last row of the marked option.
fn lines(
    model: &Model,
    asking: &Asking,
    theme: &Theme,
    width: u16,
    listens: bool,
) -> (Vec<Line<'static>>, usize) {
    let Some((question, tab)) = asking.current() else { return (Vec::new(), 0) };
    let indent = [Span::raw("  ")];
    let text = |text: &str, style| -> Vec<Line<'static>> {
        let clean = sanitize(text).into_owned();
        let lines = clean.lines().map(|line| Line::styled(line.to_owned(), style));
        lines.flat_map(|line| wrap(&line, width, &indent, &indent)).collect()
    };
    let mut lines = text(&question.question, theme.strong);
    if !question.body.is_empty() {
        let body = text(&question.body, theme.muted);
        let is_cut = body.len() > BODY_ROWS;
        lines.extend(body.into_iter().take(BODY_ROWS));
        if is_cut {
            lines.push(Line::styled(format!("  {}", theme.marks.ellipsis), theme.muted));
        }
    }
    let mut marked = 0;
    for option in 0..asking.count() {
        lines.extend(option_lines(model, question, tab, option, theme, width, listens));
        if option == tab.marked {
            marked = lines.len().saturating_sub(1);
        }
    }
    (lines, marked)
}

fn option_lines(
    model: &Model,
    question: &Question,
    tab: &Tab,
    option: usize,
    theme: &Theme,
    width: u16,
    listens: bool,
) -> Vec<Line<'static>> {
    let or = |text: &str, instead: &str| {
        if text.is_empty() { instead.to_owned() } else { text.to_owned() }
    };
    let (label, description) = match question.options.get(option) {
        Some(option) => (option.label.clone(), option.description.clone()),
        None => (
            or(&question.other_label, "Other"),
            or(&tab.other, &or(&question.other_description, "An answer of your own")),
        ),
    };
    let is_marked = listens && option == tab.marked;
    let style = match (listens, is_marked) {
        (false, _) => theme.muted,
        (true, true) => theme.accent,
        (true, false) => theme.text,
    };
    let number = u8::try_from(option + 1).unwrap_or(u8::MAX);
    let key = model.keymap.key_for(Context::Question, Action::Option(number));
    let pointer = if is_marked { theme.marks.folded } else { " " };
    let mut lead = vec![
        Span::styled(format!("{pointer} "), theme.accent),
        Span::styled(key.unwrap_or_default(), if listens { theme.key } else { theme.muted }),
        Span::raw("  "),
    ];
    if question.multi_select {
        let is_chosen = tab.chosen.contains(&option);
        let mark = if is_chosen { theme.marks.task_done } else { theme.marks.task_open };
        lead.push(Span::styled(format!("{mark} "), style));
    }
    let rest = [Span::raw("     ")];
    let flat = |text: &str| sanitize(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = wrap(&Line::styled(flat(&label), style), width, &lead, &rest);
    let description = flat(&description);
    if !description.is_empty() {
        lines.extend(wrap(&Line::styled(description, theme.muted), width, &rest, &rest));
    }
    lines
}
