//! The conversation in the shell's own scrollback (`--inline`): what is finished is printed once, what
//! still changes stands in a few live rows below it.
//!
//! [`Printed`] remembers how far the printing has come. Only what can change no more is printed, because
//! nobody can take it back: a message that is being written goes out block by block, a row of calls
//! when nothing can join it any more.

mod live;
#[cfg(test)]
mod tests;

use ratatui::text::{Line, Span};

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::cell::{Cell, CellId, CellKind, Group};
use super::super::model::status::Activity;
use super::super::render::highlight::HighlightCache;
use super::super::render::settle::Settled;
use super::super::theme::Theme;
use super::{cells, chat, welcome};
use crate::message::SessionId;

pub use live::{Live, live};

/// Something to be printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A line.
    Line(Line<'static>),
    /// The first line of what the person said: its first part is the prompt.
    Prompt(Line<'static>),
    /// What follows is an answer.
    Answer,
    /// The answer is over.
    Over,
}

/// How far the printing has come.
#[derive(Debug)]
pub struct Printed {
    session: Option<SessionId>,
    has_begun: bool,
    /// A session is being opened: what is printed next may be another conversation.
    was_opening: bool,
    /// The last cell that is printed to its end.
    told: Option<CellId>,
    /// The message that is printed in part.
    partly: Option<(CellId, Settled)>,
    /// Is a prompt printed whose answer is not over?
    is_answering: bool,
    // What is printed gets no second chance to have colours.
    highlight: HighlightCache,
}

impl Default for Printed {
    fn default() -> Self {
        Self {
            session: None,
            has_begun: false,
            was_opening: false,
            told: None,
            partly: None,
            is_answering: false,
            highlight: HighlightCache::inline(),
        }
    }
}

/// What printing depends on.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    theme: &'a Theme,
    width: u16,
    height: u16,
    now: f64,
}

impl Printed {
    /// What can be printed since the last time, for a terminal of this size.
    pub fn next(
        &mut self,
        model: &Model,
        theme: &Theme,
        (width, height): (u16, u16),
        now: f64,
    ) -> Vec<Piece> {
        let is_opening = is_opening(model);
        self.was_opening |= is_opening;
        if is_opening || model.replay.is_some() {
            return Vec::new();
        }
        let look = Look { theme, width, height, now: model.clock(now) };
        let mut pieces = Vec::new();
        let is_other = std::mem::take(&mut self.was_opening)
            || !self.has_begun
            || self.session != model.status.info.id;
        if is_other {
            self.begin(model, &look, &mut pieces);
        }
        self.note_what_is_void(model, &look, &mut pieces);
        let mut from = self.first(model);
        while let Some(end) = settled(model, from) {
            self.print(model, from..end, &look, &mut pieces);
            from = end;
        }
        self.print_blocks(model, from, &look, &mut pieces);
        if self.is_answering && from == model.transcript.cells().len() && !is_running(model) {
            self.is_answering = false;
            pieces.push(Piece::Over);
        }
        pieces
    }

    /// All that was not printed, as it is: the program ends.
    pub fn rest(&mut self, model: &Model, theme: &Theme, size: (u16, u16), now: f64) -> Vec<Piece> {
        let mut pieces = self.next(model, theme, size, now);
        if !is_opening(model) && model.replay.is_none() {
            let look = Look { theme, width: size.0, height: size.1, now: model.clock(now) };
            let from = self.first(model);
            self.print(model, from..model.transcript.cells().len(), &look, &mut pieces);
        }
        if std::mem::take(&mut self.is_answering) {
            pieces.push(Piece::Over);
        }
        pieces
    }

    /// Index of the first cell that is not printed to its end.
    fn first(&self, model: &Model) -> usize {
        model.transcript.cells().partition_point(|cell| Some(cell.id) <= self.told)
    }

    /// Another conversation begins: its end is printed, no more than a screenful.
    fn begin(&mut self, model: &Model, look: &Look<'_>, pieces: &mut Vec<Piece>) {
        let cells = model.transcript.cells();
        if std::mem::replace(&mut self.has_begun, true) {
            let name = model.status.info.title.clone();
            let name = if name.is_empty() { "another session".to_owned() } else { name };
            pieces.push(Piece::Line(Line::default()));
            pieces.push(Piece::Line(rule(&name, look)));
        }
        self.session.clone_from(&model.status.info.id);
        (self.told, self.partly) = (None, None);
        if std::mem::take(&mut self.is_answering) {
            pieces.push(Piece::Over);
        }
        if cells.is_empty() {
            let lines = welcome::lines(model, look.theme, look.width);
            pieces.extend(lines.into_iter().map(Piece::Line));
            pieces.push(Piece::Line(Line::default()));
            return;
        }
        let room = usize::from(look.height).saturating_sub(6).max(4);
        let (mut from, mut rows) = (cells.len(), 0);
        while from > 0 && rows < room {
            from -= 1;
            rows += self.lines(model, from, look).len();
        }
        while model.transcript.is_hidden(from) {
            from -= 1;
        }
        self.told = from.checked_sub(1).map(|index| cells[index].id);
        if from > 0 {
            let key = model.keymap.key_for(Context::Global, Action::PageUp).unwrap_or_default();
            let text = format!("{from} earlier parts; {key} shows them on the full screen");
            pieces.push(Piece::Line(Line::styled(text, look.theme.muted)));
        }
    }

    /// A step that is tried again makes void what was printed of it.
    fn note_what_is_void(&mut self, model: &Model, look: &Look<'_>, pieces: &mut Vec<Piece>) {
        let Some((id, settled)) = &self.partly else { return };
        if model.transcript.index_of(*id).is_some() {
            return;
        }
        if !settled.is_empty() {
            let text = "(this answer broke off and is written anew)";
            pieces.push(Piece::Line(Line::styled(text, look.theme.muted)));
        }
        self.partly = None;
    }

    /// Prints cells that go together.
    fn print(
        &mut self,
        model: &Model,
        range: std::ops::Range<usize>,
        look: &Look<'_>,
        pieces: &mut Vec<Piece>,
    ) {
        for index in range {
            let cell = &model.transcript.cells()[index];
            self.told = Some(cell.id);
            let lines = match self.partly.take() {
                Some((id, settled)) if id == cell.id => {
                    after_blocks(self.rest_of(cell, &settled, look))
                }
                _ => self.lines(model, index, look),
            };
            if matches!(cell.kind, CellKind::User { steered: false, .. }) {
                self.print_prompt(lines, pieces);
            } else {
                pieces.extend(lines.into_iter().map(Piece::Line));
            }
        }
    }

    /// Prints what the person said, between the marks a shell sets around a command.
    fn print_prompt(&mut self, lines: Vec<Line<'static>>, pieces: &mut Vec<Piece>) {
        if std::mem::replace(&mut self.is_answering, true) {
            pieces.push(Piece::Over);
        }
        let mut is_marked = false;
        for line in lines {
            let is_gap = line.spans.is_empty();
            let is_first = !is_gap && !is_marked;
            pieces.push(if is_first { Piece::Prompt(line) } else { Piece::Line(line) });
            is_marked |= !is_gap;
        }
        pieces.push(Piece::Answer);
    }

    /// Prints the blocks that have settled of the message that is being written.
    fn print_blocks(
        &mut self,
        model: &Model,
        index: usize,
        look: &Look<'_>,
        pieces: &mut Vec<Piece>,
    ) {
        let Some(cell) = model.transcript.cells().get(index) else { return };
        let CellKind::Assistant { text } = &cell.kind else { return };
        if cell.finished {
            return;
        }
        let mut settled = match self.partly.take() {
            Some((id, settled)) if id == cell.id => settled,
            _ => Settled::default(),
        };
        let is_first = settled.is_empty();
        let lines = settled.take(text, prose(look), look.theme, &self.highlight);
        if !lines.is_empty() {
            let gap = if is_first { chat::gap_above(model, index) } else { 1 };
            pieces.extend((0..gap).map(|_| Piece::Line(Line::default())));
            pieces.extend(lines.into_iter().map(Piece::Line));
        }
        self.partly = Some((cell.id, settled));
    }

    /// The lines of a cell with the gap above it.
    fn lines(&self, model: &Model, index: usize, look: &Look<'_>) -> Vec<Line<'static>> {
        chat::lines_with_gap(model, look.theme, &self.highlight, index, look.width, look.now)
    }

    /// The lines of what is not printed of a message.
    fn rest_of(&self, cell: &Cell, settled: &Settled, look: &Look<'_>) -> Vec<Line<'static>> {
        let CellKind::Assistant { text } = &cell.kind else { return Vec::new() };
        settled.rest(text, prose(look), look.theme, &self.highlight, !cell.finished)
    }

    /// The lines that are not printed of the cells from the first such one on: the last `most`.
    fn tail(&self, model: &Model, look: &Look<'_>, most: usize) -> Vec<Line<'static>> {
        let first = self.first(model);
        let mut parts = Vec::new();
        let mut rows = 0;
        for index in (first..model.transcript.cells().len()).rev() {
            if rows >= most {
                break;
            }
            let cell = &model.transcript.cells()[index];
            let lines = match &self.partly {
                Some((id, settled)) if *id == cell.id && !settled.is_empty() => {
                    after_blocks(self.rest_of(cell, settled, look))
                }
                Some((id, settled)) if *id == cell.id => {
                    let mut lines = vec![Line::default(); chat::gap_above(model, index)];
                    lines.extend(self.rest_of(cell, settled, look));
                    lines
                }
                _ => self.lines(model, index, look),
            };
            rows += lines.len();
            parts.push(lines);
        }
        let all: Vec<Line<'static>> = parts.into_iter().rev().flatten().collect();
        let skip = all.len().saturating_sub(most);
        all.into_iter().skip(skip).collect()
    }
}

fn prose(look: &Look<'_>) -> u16 {
    look.width.min(cells::PROSE_COLUMNS)
}

/// What follows blocks that were printed stands apart from them.
fn after_blocks(lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    let gap = (!lines.is_empty()).then(Line::default);
    gap.into_iter().chain(lines).collect()
}

fn is_opening(model: &Model) -> bool {
    model.opening.is_some() || matches!(model.status.activity, Activity::Opening)
}

fn is_running(model: &Model) -> bool {
    model.status.activity.is_running()
}

/// The end of the cells that can be printed with the one at `from`; none while they may change.
fn settled(model: &Model, from: usize) -> Option<usize> {
    let cells = model.transcript.cells();
    let cell = cells.get(from).filter(|cell| cell.finished)?;
    let is_member =
        |other: &&Cell| matches!(other.group, Group::Member { leader } if leader == cell.id);
    let end = from + 1 + cells[from + 1..].iter().take_while(is_member).count();
    if !cells[from..end].iter().all(|cell| cell.finished) {
        return None;
    }
    // A row of calls may grow as long as nothing stands below it.
    let is_open = cell.joins_group() && end == cells.len() && is_running(model);
    (!is_open).then_some(end)
}

/// A line that parts two conversations.
fn rule(name: &str, look: &Look<'_>) -> Line<'static> {
    let name = super::super::render::sanitize::sanitize_line(name, 0);
    let room = usize::from(look.width).saturating_sub(4);
    let name = super::super::render::width::truncate(&name, room).into_owned();
    let line = look.theme.marks.line.repeat(2);
    Line::from(vec![
        Span::styled(format!("{line} "), look.theme.border),
        Span::styled(name, look.theme.accent),
    ])
}
