//! The transcript's window: which lines of which cells are visible. Only cells in the window are laid
//! out, so a frame costs the same however long the session is.

use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::cell::{Cell, CellKind};
use super::super::model::transcript::{Position, Scroll};
use super::super::render::cache::LineKey;
use super::super::theme::Theme;
use super::put::put;
use super::{Caches, cells, welcome};

/// A line in the transcript: cell index and line within it, gap included.
type At = (usize, usize);

struct Window<'a> {
    model: &'a Model,
    theme: &'a Theme,
    caches: &'a mut Caches,
    width: u16,
    height: usize,
    now: f64,
}

/// Draws the window and says where it stands.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> Position {
    if model.transcript.cells().is_empty() {
        welcome::draw(model, theme, area, buffer, now);
        return Position::Follow;
    }
    if area.height == 0 || area.width == 0 {
        return model.transcript.position;
    }
    let cells = model.transcript.cells();
    caches
        .streams
        .retain(|id, _| model.transcript.index_of(*id).is_some_and(|index| !cells[index].finished));
    let mut window =
        Window { model, theme, caches, width: area.width, height: usize::from(area.height), now };
    let (top, position) = window.resolve();
    window.draw_from(top, area, buffer);
    if position != Position::Follow {
        draw_more_below(model, theme, area, buffer);
    }
    position
}

impl Window<'_> {
    /// The first visible line, all scrolls carried out.
    fn resolve(&mut self) -> (At, Position) {
        let end = self.end();
        let mut top = match self.model.transcript.position {
            Position::Follow => end,
            Position::At { cell, line } => match self.model.transcript.index_of(cell) {
                Some(index) => {
                    let last = self.lines_of(index).len() + gap_above(self.model, index);
                    (index, line.min(last.saturating_sub(1)))
                }
                None => end,
            },
        };
        let page = i32::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(i32::MAX);
        for scroll in &self.model.transcript.pending {
            top = match *scroll {
                Scroll::Lines(lines) => self.moved(top, lines),
                Scroll::Pages(pages) => self.moved(top, pages.saturating_mul(page)),
                Scroll::Top => (0, 0),
                Scroll::Bottom => end,
                Scroll::To(cell) => {
                    self.model.transcript.index_of(cell).map_or(top, |index| (index, 0))
                }
            };
            top = top.min(end);
        }
        // At the end one follows, however one came there.
        if top >= end {
            return (end, Position::Follow);
        }
        let cell = self.model.transcript.cells()[top.0].id;
        (top, Position::At { cell, line: top.1 })
    }

    /// The first line of the last windowful.
    fn end(&mut self) -> At {
        let mut left = self.height;
        let mut index = self.model.transcript.cells().len();
        while index > 0 {
            index -= 1;
            let lines = self.height_of(index);
            if lines >= left {
                return (index, lines - left);
            }
            left -= lines;
        }
        (0, 0)
    }

    fn moved(&mut self, (mut index, line): At, by: i32) -> At {
        let mut line = i64::try_from(line).unwrap_or(i64::MAX) + i64::from(by);
        while line < 0 && index > 0 {
            index -= 1;
            line += i64::try_from(self.height_of(index)).unwrap_or_default();
        }
        loop {
            let height = i64::try_from(self.height_of(index)).unwrap_or_default();
            if line < height || index + 1 >= self.model.transcript.cells().len() {
                return (index, usize::try_from(line).unwrap_or_default());
            }
            line -= height;
            index += 1;
        }
    }

    fn height_of(&mut self, index: usize) -> usize {
        self.lines_of(index).len() + gap_above(self.model, index)
    }

    fn lines_of(&mut self, index: usize) -> Lines<'_> {
        let cell = &self.model.transcript.cells()[index];
        lines(self.model, cell, self.theme, self.caches, self.width, self.now)
    }

    fn draw_from(&mut self, top: At, area: Rect, buffer: &mut Buffer) {
        let (mut index, mut skip) = top;
        let mut row = area.y;
        let (width, height) = (area.width, area.bottom());
        while row < height && index < self.model.transcript.cells().len() {
            let gap = gap_above(self.model, index);
            let blank = gap.saturating_sub(skip);
            row = row.saturating_add(u16::try_from(blank).unwrap_or(u16::MAX));
            let from = skip.saturating_sub(gap);
            for line in self.lines_of(index).as_slice().iter().skip(from) {
                if row >= height {
                    break;
                }
                line.render(Rect { x: area.x, y: row, width, height: 1 }, buffer);
                row += 1;
            }
            skip = 0;
            index += 1;
        }
    }
}

/// Lines of a cell: kept ones, or those of a message that is still being written.
enum Lines<'a> {
    Kept(Rc<[Line<'static>]>),
    Streaming(&'a [Line<'static>]),
}

impl Lines<'_> {
    fn as_slice(&self) -> &[Line<'static>] {
        match self {
            Self::Kept(lines) => lines,
            Self::Streaming(lines) => lines,
        }
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

fn lines<'a>(
    model: &Model,
    cell: &Cell,
    theme: &Theme,
    caches: &'a mut Caches,
    width: u16,
    now: f64,
) -> Lines<'a> {
    let Caches { lines, streams, highlight, .. } = caches;
    match &cell.kind {
        CellKind::Assistant { text } if !cell.finished => {
            let stream = streams.entry(cell.id).or_default();
            Lines::Streaming(stream.update(text, width.min(cells::PROSE_COLUMNS), theme, highlight))
        }
        // What shows a clock or a spinner is small and drawn anew.
        CellKind::Tool(_) | CellKind::Thinking { .. } | CellKind::Mark(_) if !cell.finished => {
            Lines::Kept(cells::lines(model, cell, theme, highlight, width, now).into())
        }
        _ => {
            let key = LineKey {
                id: cell.id.0,
                version: cell.version,
                width,
                theme: theme.revision,
                folded: !model.shows_details,
            };
            Lines::Kept(
                lines.lines(key, highlight, || {
                    cells::lines(model, cell, theme, highlight, width, now)
                }),
            )
        }
    }
}

/// Blank lines above a cell: none between tool calls, so that a row of them reads as a list.
fn gap_above(model: &Model, index: usize) -> usize {
    let cells = model.transcript.cells();
    let Some(previous) = index.checked_sub(1).and_then(|index| cells.get(index)) else { return 0 };
    let is_tool = |cell: &Cell| matches!(cell.kind, CellKind::Tool(_));
    usize::from(!(is_tool(previous) && is_tool(&cells[index])))
}

fn draw_more_below(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let new = match model.transcript.position {
        // It has only just left the end.
        Position::Follow => 0,
        Position::At { .. } => model.transcript.cells().len().saturating_sub(model.transcript.seen),
    };
    let key = model
        .keymap
        .key_for(super::super::keymap::Context::Global, super::super::keymap::Action::Bottom)
        .unwrap_or_default();
    let text = if new > 0 {
        format!(" {new} new {} {key} ", theme.marks.down)
    } else {
        format!(" more {} {key} ", theme.marks.down)
    };
    let columns = u16::try_from(super::super::render::width::width(&text)).unwrap_or(area.width);
    if columns < area.width {
        let x = area.right() - columns;
        put(buffer, (x, area.bottom() - 1), u16::MAX, text, theme.badge);
    }
}
