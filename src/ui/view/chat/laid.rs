//! The lines of cells: kept ones, those of a message that is still being written, and the gaps between.

use std::rc::Rc;

use ratatui::text::Line;

use super::super::{Caches, cells};
use crate::ui::model::Model;
use crate::ui::model::cell::{Cell, CellKind};
use crate::ui::render::cache::LineKey;
use crate::ui::render::highlight::HighlightCache;
use crate::ui::theme::Theme;

/// Lines of a cell: kept ones, or those of a message that is still being written.
pub(super) enum Lines<'a> {
    Kept(Rc<[Line<'static>]>),
    Streaming(&'a [Line<'static>]),
}

impl Lines<'_> {
    pub(super) fn as_slice(&self) -> &[Line<'static>] {
        match self {
            Self::Kept(lines) => lines,
            Self::Streaming(lines) => lines,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// The lines of a cell, from what is kept where they can be.
pub(super) fn lines<'a>(
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
                folded: !model.is_open(cell),
                beside: model.diffs_beside,
            };
            Lines::Kept(
                lines.lines(key, highlight, || {
                    cells::lines(model, cell, theme, highlight, width, now)
                }),
            )
        }
    }
}

/// The lines of a cell with the gap above it, drawn anew; none when another cell draws its row.
pub(in crate::ui::view) fn lines_with_gap(
    model: &Model,
    theme: &Theme,
    highlight: &HighlightCache,
    index: usize,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    if model.transcript.is_hidden(index) {
        return Vec::new();
    }
    let cell = &model.transcript.cells()[index];
    let mut lines = vec![Line::default(); gap_above(model, index)];
    lines.extend(cells::lines(model, cell, theme, highlight, width, now));
    lines
}

/// Blank lines above a cell: none between tool calls, so that a row of them reads as a list.
pub(in crate::ui::view) fn gap_above(model: &Model, index: usize) -> usize {
    let cells = model.transcript.cells();
    let Some(previous) = index.checked_sub(1).and_then(|index| cells.get(index)) else { return 0 };
    let is_tool = |cell: &Cell| matches!(cell.kind, CellKind::Tool(_));
    usize::from(!(is_tool(previous) && is_tool(&cells[index])))
}
