//! What is selected in the transcript: the cell the keys act on, and text marked with the mouse.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::super::put::put;
use super::{Window, columns};
use crate::ui::model::Focus;
use crate::ui::model::selection::{Selection, Spot, Unit, source_of, unit_at};
use crate::ui::update::source;

impl Window<'_> {
    /// What is selected with the mouse, grown to whole characters, words or lines.
    pub(super) fn selection(&mut self) -> Option<Selection> {
        let mut selection = self.model.transcript.selection?;
        let (mut first, mut last) = selection.ordered();
        if let Some((start, _)) = self.unit_at(selection.unit, first) {
            (first.line, first.column) = start;
        }
        if let Some((_, end)) = self.unit_at(selection.unit, last) {
            (last.line, last.column) = end;
        }
        (selection.from, selection.to) = (first, last);
        Some(selection)
    }

    /// The first and the last place of the word or line at `spot`.
    fn unit_at(&mut self, unit: Unit, spot: Spot) -> Option<((usize, u16), (usize, u16))> {
        let index = self.model.transcript.index_of(spot.cell)?;
        let cell = &self.model.transcript.cells()[index];
        let lines = self.lines_of(index);
        if unit == Unit::Character {
            // A wide character is selected as a whole, whichever half of it the mouse is on.
            let line = places(lines.as_slice().get(spot.line)?);
            let start = line.iter().rev().find(|(start, _)| *start <= spot.column)?;
            let width = columns(start.1.encode_utf8(&mut [0; 4])).max(1);
            let is_on_it = spot.column < start.0 + width;
            let place = (spot.line, if is_on_it { start.0 } else { spot.column });
            let end = (spot.line, if is_on_it { start.0 + width - 1 } else { spot.column });
            return Some((place, end));
        }
        let drawn: Vec<Vec<(u16, char)>> = lines.as_slice().iter().map(places).collect();
        let source = source(self.model, cell);
        let (first, mut last) = unit_at(unit, &source, &drawn, (spot.line, spot.column))?;
        if let Some((start, c)) = drawn[last.0].iter().find(|(start, _)| *start == last.1) {
            last.1 = start + columns(c.encode_utf8(&mut [0; 4])).max(1) - 1;
        }
        Some((first, last))
    }

    /// What was selected with the mouse, as it was before it was wrapped and drawn.
    pub(super) fn selected_source(&mut self) -> Option<String> {
        let selection = self.selection.filter(|s| s.is_over)?;
        let (first, last) = selection.ordered();
        let from = self.model.transcript.index_of(first.cell)?;
        let to = self.model.transcript.index_of(last.cell)?;
        let mut texts = Vec::new();
        for index in from..=to {
            if self.model.transcript.is_hidden(index) {
                continue;
            }
            let cell = &self.model.transcript.cells()[index];
            let drawn: Vec<Vec<(u16, char)>> =
                self.lines_of(index).as_slice().iter().map(places).collect();
            let is_selected = |line: usize, column: u16| {
                let columns = selection.columns(cell.id, line);
                columns.is_some_and(|(from, to)| (from..=to).contains(&column))
            };
            let source = source_of(&source(self.model, cell), &drawn, is_selected);
            texts.push(source.unwrap_or_else(|| plain(&drawn, is_selected)));
        }
        Some(texts.join("\n\n"))
    }

    /// The selected cell has a bar beside it, or where there is no room, its ground.
    pub(super) fn draw_selection(
        &self,
        index: usize,
        area: Rect,
        rows: Range<u16>,
        buffer: &mut Buffer,
    ) {
        let model = self.model;
        if model.focus != Focus::Transcript
            || model.transcript.selected != Some(model.transcript.cells()[index].id)
        {
            return;
        }
        for y in rows {
            if area.x > buffer.area.x {
                let style = self.theme.border_focus;
                put(buffer, (area.x - 1, y), 1, self.theme.marks.heavy_bar, style);
            } else {
                buffer.set_style(Rect { y, height: 1, ..area }, self.theme.selection);
            }
        }
    }
}

/// The characters of a line and the columns they stand in.
fn places(line: &Line<'static>) -> Vec<(u16, char)> {
    let mut column = 0;
    let mut places = Vec::new();
    for c in line.spans.iter().flat_map(|span| span.content.chars()) {
        places.push((column, c));
        column += columns(c.encode_utf8(&mut [0; 4]));
    }
    places
}

/// What was drawn, where it comes from no source.
fn plain(drawn: &[Vec<(u16, char)>], is_selected: impl Fn(usize, u16) -> bool) -> String {
    let line = |(number, line): (usize, &Vec<(u16, char)>)| {
        let text: String = line
            .iter()
            .filter(|(column, _)| is_selected(number, *column))
            .map(|(_, c)| c)
            .collect();
        text.trim_end().to_owned()
    };
    let lines: Vec<String> = drawn.iter().enumerate().map(line).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
