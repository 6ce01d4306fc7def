//! The transcript's window: which lines of which cells are visible. Only cells in the window are laid
//! out, so a frame costs the same however long the session is.

mod laid;
mod selected;

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use regex::Regex;

use super::super::keymap::{Action, Context};
use super::super::model::cell::CellId;
use super::super::model::search::{compile, matches};
use super::super::model::selection::Selection;
use super::super::model::transcript::{FrameInfo, Pane, Position, Scroll, Visible};
use super::super::model::{Focus, Model};
use super::super::render::width::width as text_width;
use super::super::theme::Theme;
use super::put::put;
use super::{Caches, scrollbar, welcome};
use laid::{Lines, lines};
pub(super) use laid::{gap_above, lines_with_gap};

/// A line in the transcript: cell index and line within it, gap included.
type At = (usize, usize);

struct Window<'a> {
    model: &'a Model,
    theme: &'a Theme,
    caches: &'a mut Caches,
    width: u16,
    height: usize,
    now: f64,
    pattern: Option<Regex>,
    /// What is selected with the mouse.
    selection: Option<Selection>,
    measured: Vec<(usize, usize)>,
    rows: Vec<(u16, CellId, usize)>,
}

/// Draws the window and says where it stands.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) -> FrameInfo {
    if model.transcript.cells().is_empty() {
        welcome::draw(model, theme, area, buffer);
        return FrameInfo { width: area.width, ..FrameInfo::default() };
    }
    if area.height == 0 || area.width == 0 {
        return FrameInfo { position: model.transcript.position, ..FrameInfo::default() };
    }
    let cells = model.transcript.cells();
    caches
        .streams
        .retain(|id, _| model.transcript.index_of(*id).is_some_and(|index| !cells[index].finished));
    let pattern = model.search.marked().and_then(|pattern| compile(&pattern));
    let mut window = Window {
        model,
        theme,
        caches,
        width: area.width,
        height: usize::from(area.height),
        now,
        pattern,
        selection: None,
        measured: Vec::new(),
        rows: Vec::new(),
    };
    window.selection = window.selection();
    let (top, position) = window.resolve();
    let visible = window.draw_from(top, area, buffer);
    let new = (position != Position::Follow).then(|| window.new_lines());
    let selected = window.selected_source();
    let pane = Pane { x: area.x, rows: std::mem::take(&mut window.rows) };
    let measured = std::mem::take(&mut window.measured);
    if position != Position::Follow || model.focus == Focus::Transcript {
        scrollbar::draw(model, theme, &measured, top, area, buffer);
    }
    if let Some(new) = new {
        draw_more_below(model, theme, new, area, buffer);
    }
    if model.transcript.is_tail && model.opening.is_some() && top == (0, 0) {
        let text = " what was before is being read ";
        let x = area.right().saturating_sub(columns(text));
        put(buffer, (x.max(area.x), area.y), area.width, text, theme.badge);
    }
    FrameInfo {
        position,
        visible,
        width: area.width,
        measured,
        pane,
        selected,
        ..FrameInfo::default()
    }
}

impl Window<'_> {
    /// The first visible line, all scrolls carried out.
    fn resolve(&mut self) -> (At, Position) {
        let end = self.end();
        let mut top = match self.model.transcript.position {
            Position::Follow => end,
            Position::At { cell, line } => match self.model.transcript.index_of(cell) {
                Some(index) => (index, line.min(self.height_of(index).saturating_sub(1))),
                None => end,
            },
        };
        let page = i32::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(i32::MAX);
        for scroll in &self.model.transcript.pending {
            top = match *scroll {
                Scroll::Lines(lines) => self.moved(top, lines),
                Scroll::Pages(pages) => self.moved(top, pages.saturating_mul(page)),
                Scroll::HalfPages(halves) => {
                    let half = i32::try_from(self.height / 2).unwrap_or(i32::MAX).max(1);
                    self.moved(top, halves.saturating_mul(half))
                }
                Scroll::Top => (0, 0),
                Scroll::Bottom => end,
                Scroll::To(cell) => {
                    self.model.transcript.index_of(cell).map_or(top, |index| (index, 0))
                }
                Scroll::Reveal(cell) => {
                    let index = self.model.transcript.index_of(cell);
                    index.map_or(top, |index| {
                        let lines = self.height_of(index);
                        self.revealed(top, index, 0..lines)
                    })
                }
                Scroll::Match { cell, nth } => {
                    let index = self.model.transcript.index_of(cell);
                    index.map_or(top, |index| {
                        let line = self.line_of_match(index, nth);
                        self.revealed(top, index, line.saturating_sub(2)..line + 3)
                    })
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

    /// Lines of a cell, the gap above it included; none of one whose row another cell draws.
    fn height_of(&mut self, index: usize) -> usize {
        let height = if self.model.transcript.is_hidden(index) {
            0
        } else {
            self.lines_of(index).len() + gap_above(self.model, index)
        };
        self.measured.push((index, height));
        height
    }

    /// The window moved as little as needed to show these lines of a cell; as many of the first ones
    /// as there is room for.
    fn revealed(&mut self, top: At, index: usize, lines: Range<usize>) -> At {
        let first = (index, lines.start.min(self.height_of(index).saturating_sub(1)));
        if first <= top {
            return first;
        }
        // Where the window must begin at least for the last line to be in it.
        let room = self.height.saturating_sub(lines.len());
        let above = i32::try_from(room).unwrap_or(i32::MAX);
        self.moved(first, -above).max(top).min(first)
    }

    fn line_of_match(&mut self, index: usize, nth: usize) -> usize {
        let gap = gap_above(self.model, index);
        let Some(pattern) = self.pattern.clone() else { return 0 };
        let lines = self.lines_of(index);
        let mut left = nth;
        let mut found = 0;
        for (at, line) in lines.as_slice().iter().enumerate() {
            let count = matches(&pattern, &text_of(line)).count();
            if count > 0 {
                found = at + gap;
                if left < count {
                    break;
                }
                left -= count;
            }
        }
        found
    }

    /// Lines that came since the window left the end.
    fn new_lines(&mut self) -> usize {
        let cells = self.model.transcript.cells().len();
        let seen = match self.model.transcript.position {
            // It has only just left the end.
            Position::Follow => return 0,
            Position::At { .. } => self.model.transcript.seen,
        };
        let from = seen.cells.min(cells);
        let grown = match from.checked_sub(1) {
            Some(last) if from >= cells.saturating_sub(MEASURED) => {
                self.height_of(last).saturating_sub(seen.lines)
            }
            _ => 0,
        };
        let exact = from.max(cells.saturating_sub(MEASURED));
        let heights = &self.model.transcript.heights;
        let guessed = heights.before(exact).saturating_sub(heights.before(from));
        let measured: usize = (exact..cells).map(|index| self.height_of(index)).sum();
        grown + measured + usize::try_from(guessed).unwrap_or(usize::MAX)
    }

    fn lines_of(&mut self, index: usize) -> Lines<'_> {
        let cell = &self.model.transcript.cells()[index];
        lines(self.model, cell, self.theme, self.caches, self.width, self.now)
    }

    fn draw_from(&mut self, top: At, area: Rect, buffer: &mut Buffer) -> Option<Visible> {
        let (mut index, mut skip) = top;
        let mut row = area.y;
        let (width, bottom) = (area.width, area.bottom());
        let ids = self.model.transcript.cells();
        let first = ids.get(index)?.id;
        let mut visible =
            Visible { first, last: first, first_is_cut: skip > 0, last_is_cut: false };
        while row < bottom && index < ids.len() {
            let height = self.height_of(index);
            if height == 0 {
                index += 1;
                continue;
            }
            let gap = gap_above(self.model, index);
            let blank = gap.saturating_sub(skip);
            row = row.saturating_add(u16::try_from(blank).unwrap_or(u16::MAX));
            let from = skip.saturating_sub(gap);
            let start = row;
            let (pattern, theme) = (self.pattern.clone(), self.theme);
            let mut shown = from;
            let (id, selection) = (ids[index].id, self.selection);
            let mut rows = std::mem::take(&mut self.rows);
            let lines = self.lines_of(index);
            for line in lines.as_slice().iter().skip(from) {
                if row >= bottom {
                    break;
                }
                let place = Rect { x: area.x, y: row, width, height: 1 };
                line.render(place, buffer);
                if let Some(pattern) = &pattern {
                    mark_matches(pattern, line, theme, place, buffer);
                }
                if let Some((from, to)) = selection.and_then(|s| s.columns(id, shown)) {
                    let end = to.saturating_add(1).min(columns(&text_of(line))).min(width);
                    let wide = end.saturating_sub(from);
                    let place = Rect { x: area.x + from.min(end), width: wide, ..place };
                    buffer.set_style(place, theme.selection);
                }
                rows.push((row, id, shown));
                row += 1;
                shown += 1;
            }
            let is_cut = shown < lines.len();
            self.rows = rows;
            if row > start {
                visible.last = ids[index].id;
                visible.last_is_cut = is_cut;
                self.draw_selection(index, area, start..row, buffer);
            }
            skip = 0;
            index += 1;
        }
        Some(visible)
    }
}

fn text_of(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Marks what the search found in a line that was drawn at `place`.
pub(super) fn mark_matches(
    pattern: &Regex,
    line: &Line<'_>,
    theme: &Theme,
    place: Rect,
    buffer: &mut Buffer,
) {
    let text = text_of(line);
    for found in matches(pattern, &text) {
        let before = columns(&text[..found.start()]).min(place.width);
        let wide = columns(found.as_str()).min(place.width - before);
        buffer.set_style(Rect { x: place.x + before, width: wide, ..place }, theme.badge);
    }
}

fn columns(text: &str) -> u16 {
    u16::try_from(text_width(text)).unwrap_or(u16::MAX)
}

/// Cells at the end that are measured to say how much came.
const MEASURED: usize = 64;

fn draw_more_below(model: &Model, theme: &Theme, new: usize, area: Rect, buffer: &mut Buffer) {
    let key = model.keymap.key_for(Context::Global, Action::Bottom).unwrap_or_default();
    let down = theme.marks.down;
    let text = match new {
        0 => format!(" more {down} {key} "),
        1 => format!(" 1 new line {down} {key} "),
        _ => format!(" {new} new lines {down} {key} "),
    };
    let columns = columns(&text);
    if columns < area.width {
        let x = area.right() - columns;
        put(buffer, (x, area.bottom() - 1), u16::MAX, text, theme.badge);
    }
}
