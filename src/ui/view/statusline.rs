//! The last line: what runs and how to stop it, or the keys that help now; model and context use; or
//! what the person's configuration wants there. What does not fit is left out, the least important first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::{LEAVE_SECONDS, Model, SPINNER_SECONDS};
use super::super::render::sanitize::sanitize;
use super::super::render::width::{line_width, spans_width, truncate_line};
use super::super::theme::Theme;
use super::hints::{EXTRA, Hint, hints};
use super::status_items::forms;
use crate::config::{StatusConfig, StatusItem};

/// Columns between two items, and between two hints.
const GAP: usize = 2;

/// The spinner's picture at `now`.
pub(super) fn spinner(theme: &Theme, now: f64) -> &'static str {
    let pictures = theme.marks.spinner;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let index = (now.rem_euclid(3600.0) / SPINNER_SECONDS) as usize;
    pictures.get(index % pictures.len().max(1)).copied().unwrap_or(theme.marks.dot)
}

/// Draws the line.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    if area.height == 0 {
        return;
    }
    let config = &model.settings.status;
    let mut line = StatusLine {
        width: usize::from(area.width),
        parts: Vec::new(),
        hints: hints(model, now).into_iter().map(|hint| (hint, false)).collect(),
    };
    match said(model, theme, now) {
        Some(said) => line.say(said),
        None => line.put(true, &config.left, model, theme, now),
    }
    if has_failed(model) {
        line.put(false, &StatusConfig::RIGHT, model, theme, now);
    } else {
        line.put(false, &config.right, model, theme, now);
    }
    line.fill();
    line.draw(theme, area, buffer);
}

/// Does the person's command owe the line it stands for?
fn has_failed(model: &Model) -> bool {
    let runs = &model.status_command;
    runs.has_complained && runs.line.is_none()
}

/// What is said instead of the left side.
fn said(model: &Model, theme: &Theme, now: f64) -> Option<Line<'static>> {
    if model.leave_armed.is_some_and(|armed| now < armed + LEAVE_SECONDS) {
        return Some(Line::styled("Press Ctrl-C again to leave", theme.warning));
    }
    if let Some(chord) = &model.chord {
        let keys: Vec<_> = chord.keys.iter().map(ToString::to_string).collect();
        return Some(Line::styled(keys.join(" "), theme.accent));
    }
    let toast = model.status.toast.as_ref()?;
    Some(Line::styled(sanitize(&toast.text).replace('\n', " "), theme.accent))
}

/// An item and the form of it that is shown.
struct Part {
    item: StatusItem,
    is_left: bool,
    forms: Vec<Line<'static>>,
    /// Which form, counted from 1; 0 for none.
    shown: usize,
}

impl Part {
    fn line(&self) -> Option<&Line<'static>> {
        self.forms.get(self.shown.checked_sub(1)?)
    }
}

/// What may be added to the line.
enum Addition {
    /// A part in this form, counted from 1.
    Form(usize, usize),
    /// A hint.
    Hint(usize),
}

struct StatusLine {
    width: usize,
    parts: Vec<Part>,
    /// Those that are shown, and those that might be.
    hints: Vec<(Hint, bool)>,
}

impl StatusLine {
    /// Something is said where the left side would be; a chord's next keys follow it.
    fn say(&mut self, line: Line<'static>) {
        let line = truncate_line(line, self.width.saturating_sub(1));
        let forms = vec![line];
        self.parts.push(Part { item: StatusItem::Activity, is_left: true, forms, shown: 0 });
        self.parts.push(Part {
            item: StatusItem::Hints,
            is_left: true,
            forms: Vec::new(),
            shown: 0,
        });
    }

    fn put(&mut self, is_left: bool, items: &[StatusItem], model: &Model, theme: &Theme, now: f64) {
        for item in items {
            let forms = forms(*item, model, theme, self.width, now);
            self.parts.push(Part { item: *item, is_left, forms, shown: 0 });
        }
    }

    /// Adds what there is room for, the most important first.
    fn fill(&mut self) {
        let mut wanted = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let ranked = (1..=part.forms.len()).map(|form| (rank(part.item, form), form));
            wanted.extend(ranked.map(|(rank, form)| (rank, Addition::Form(index, form))));
        }
        if self.parts.iter().any(|part| part.item == StatusItem::Hints) {
            let ranked = self.hints.iter().enumerate();
            wanted.extend(
                ranked.map(|(index, (hint, _))| (hint_rank(hint.rank), Addition::Hint(index))),
            );
        }
        wanted.sort_by_key(|(rank, _)| *rank);
        let mut takes_extra = true;
        for (_, addition) in wanted {
            match addition {
                Addition::Form(part, form) => {
                    let before = std::mem::replace(&mut self.parts[part].shown, form);
                    if self.columns() > self.width {
                        self.parts[part].shown = before;
                    }
                }
                Addition::Hint(hint) if takes_extra || self.hints[hint].0.rank < 3 => {
                    self.hints[hint].1 = true;
                    // A less important one in the place of a longer one would look like chance.
                    takes_extra = self.columns() <= self.width;
                    self.hints[hint].1 = takes_extra;
                }
                Addition::Hint(_) => {}
            }
        }
    }

    /// Columns of one side, gaps included, edges not.
    fn side(&self, is_left: bool) -> usize {
        let shown = self.parts.iter().filter(|part| part.is_left == is_left);
        let columns = shown.map(|part| match part.item {
            StatusItem::Hints => self.hint_columns(),
            _ => part.line().map_or(0, line_width),
        });
        let columns: Vec<_> = columns.filter(|columns| *columns > 0).collect();
        columns.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1)
    }

    fn hint_columns(&self) -> usize {
        let shown = self.hints.iter().filter(|(_, is_shown)| *is_shown);
        let columns = shown.map(|(hint, _)| hint_width(hint) + GAP).sum::<usize>();
        columns.saturating_sub(GAP)
    }

    /// Columns of all: an edge on each side that has something, a blank between the sides.
    fn columns(&self) -> usize {
        let (left, right) = (self.side(true), self.side(false));
        let edges = usize::from(left > 0) + usize::from(right > 0);
        left + right + edges + usize::from(left > 0 && right > 0)
    }

    fn draw(&self, theme: &Theme, area: Rect, buffer: &mut Buffer) {
        self.line(true, theme).render(Rect { x: area.x, ..area }, buffer);
        let columns = self.side(false);
        if columns > 0 {
            let width = u16::try_from(columns + 2).unwrap_or(area.width).min(area.width);
            let right = Rect { x: area.right() - width, width, ..area };
            self.line(false, theme).render(right, buffer);
        }
    }

    fn line(&self, is_left: bool, theme: &Theme) -> Line<'static> {
        let mut spans = Vec::new();
        for part in self.parts.iter().filter(|part| part.is_left == is_left) {
            let mut shown = Vec::new();
            if part.item == StatusItem::Hints {
                for (shown_hint, _) in self.hints.iter().filter(|(_, is_shown)| *is_shown) {
                    shown.extend(hint(&shown_hint.key, shown_hint.word, theme));
                }
                shown.pop();
            } else if let Some(line) = part.line() {
                shown.extend(
                    line.spans.iter().map(|span| {
                        Span::styled(span.content.clone(), line.style.patch(span.style))
                    }),
                );
            }
            if shown.is_empty() {
                continue;
            }
            spans.push(Span::raw(if spans.is_empty() { " " } else { "  " }));
            spans.extend(shown);
        }
        Line::from(spans)
    }
}

fn hint_width(shown: &Hint) -> usize {
    spans_width(&[Span::raw(shown.key.as_str()), Span::raw(" "), Span::raw(shown.word)])
}

/// What goes before what: what runs and how to stop it, what is not as usual, how full the context is;
/// then names and figures; then keys one can find in the help.
fn rank(item: StatusItem, form: usize) -> u8 {
    match (item, form) {
        (StatusItem::Activity, 1) => 0,
        (StatusItem::Modes, _) => 20,
        (StatusItem::Context, 1) => 21,
        (StatusItem::Activity, _) => 22,
        (StatusItem::Queue, _) => 23,
        (StatusItem::Tasks, _) => 24,
        (StatusItem::Command, _) => 25,
        (StatusItem::Model, _) => 40,
        (StatusItem::Context, 2) => 41,
        (StatusItem::Time, _) => 42,
        (StatusItem::Cost, _) => 43,
        (StatusItem::Branch, _) => 44,
        (StatusItem::Session, _) => 45,
        (StatusItem::Folder, _) => 46,
        (StatusItem::Thinking, _) => 47,
        (StatusItem::Tokens, _) => 48,
        (StatusItem::Cache, _) => 49,
        (StatusItem::Agent, _) => 50,
        (StatusItem::Hints, _) => 51,
        // After all hints: the gauge has been there for long.
        (StatusItem::Context, _) => u8::MAX,
    }
}

fn hint_rank(rank: u8) -> u8 {
    match rank {
        0 | 1 => rank + 1,
        rank if rank < EXTRA => rank + 30,
        rank => rank.saturating_add(60 - EXTRA),
    }
}

/// A key and the word for it, and the gap to the next one.
pub(super) fn hint(key: &str, word: &str, theme: &Theme) -> [Span<'static>; 3] {
    [
        Span::styled(key.to_owned(), theme.key),
        Span::styled(format!(" {word}"), theme.muted),
        Span::raw("  "),
    ]
}

/// The colour of the gauge: how near the next compaction is.
pub(super) fn gauge_style(model: &Model, usage: f64, theme: &Theme) -> Style {
    let at = match model.status.info.compaction_at {
        at if at > 0.0 => at,
        _ => 1.0,
    };
    if usage >= at * 0.9 {
        theme.gauge_high
    } else if usage >= at * 0.65 {
        theme.gauge_mid
    } else {
        theme.gauge_low
    }
}
