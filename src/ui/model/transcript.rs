//! The transcript: cells in order, and where the view stands in it.

use std::collections::HashMap;

use super::cell::{Cell, CellId, CellKind, Fate, ToolCell, ToolState};

/// Where the window onto the transcript stands. Anchored to content, so that nothing that is
/// appended, resized or folded elsewhere moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Position {
    /// At the end, and stays there.
    #[default]
    Follow,
    /// The first visible line is this line of this cell.
    At {
        /// The cell.
        cell: CellId,
        /// Its line, from 0.
        line: usize,
    },
}

/// A scroll that was asked for and not yet drawn: only drawing knows how high cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    /// By lines; negative is up.
    Lines(i32),
    /// By windows; negative is up.
    Pages(i32),
    /// To the first cell.
    Top,
    /// To the end.
    Bottom,
    /// So that this cell is at the top of the window.
    To(CellId),
}

/// The transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    cells: Vec<Cell>,
    next_id: u64,
    // Latest cell of each call id.
    calls: HashMap<String, usize>,
    /// Where the window stands.
    pub position: Position,
    /// Scrolls not yet drawn.
    pub pending: Vec<Scroll>,
    /// How many cells there were when the window left the end.
    pub seen: usize,
}

impl Transcript {
    /// All cells, oldest first.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Appends a cell.
    pub fn push(&mut self, kind: CellKind, finished: bool, began: f64) -> usize {
        let index = self.cells.len();
        if let CellKind::Tool(tool) = &kind {
            self.calls.insert(tool.call_id.clone(), index);
        }
        let id = CellId(self.next_id);
        self.next_id += 1;
        self.cells.push(Cell { id, version: 0, finished, fate: Fate::Live, began, kind });
        index
    }

    /// Changes a cell; the only way to.
    pub fn edit(&mut self, index: usize, change: impl FnOnce(&mut Cell)) {
        if let Some(cell) = self.cells.get_mut(index) {
            change(cell);
            cell.version = cell.version.wrapping_add(1);
        }
    }

    /// Changes the tool cell of a call; nothing happens when there is none.
    pub fn edit_tool(&mut self, call_id: &str, change: impl FnOnce(&mut ToolCell)) {
        if let Some(&index) = self.calls.get(call_id) {
            self.edit(index, |cell| {
                if let CellKind::Tool(tool) = &mut cell.kind {
                    change(tool);
                    cell.finished = tool.state.is_over();
                }
            });
        }
    }

    /// The tool cell of a call.
    #[must_use]
    pub fn tool(&self, call_id: &str) -> Option<&ToolCell> {
        match &self.cells.get(*self.calls.get(call_id)?)?.kind {
            CellKind::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Index of the last cell.
    #[must_use]
    pub fn last_index(&self) -> Option<usize> {
        self.cells.len().checked_sub(1)
    }

    /// Index of a cell, by its name. Ids rise along the list.
    #[must_use]
    pub fn index_of(&self, id: CellId) -> Option<usize> {
        self.cells.binary_search_by_key(&id, |cell| cell.id).ok()
    }

    /// Removes the cells from `index` on: a failed attempt's answer is void.
    pub fn truncate(&mut self, index: usize) {
        for cell in self.cells.drain(index.min(self.cells.len())..) {
            if let CellKind::Tool(tool) = cell.kind {
                self.calls.remove(&tool.call_id);
            }
        }
    }

    /// The cells from `index` on are no longer what the model has.
    pub fn set_fate_from(&mut self, index: usize, fate: Fate) {
        for at in index..self.cells.len() {
            if self.cells[at].fate == Fate::Live {
                self.edit(at, |cell| cell.fate = fate);
            }
        }
    }

    /// Nothing in the cells from `index` on changes any more. Calls that still run were stopped.
    pub fn finish_from(&mut self, index: usize, now: f64) {
        for at in index..self.cells.len() {
            if !self.cells[at].finished {
                self.edit(at, |cell| cell.finish(now));
            }
        }
    }

    /// The scroll is asked for; drawing will carry it out.
    pub fn scroll(&mut self, scroll: Scroll) {
        self.pending.push(scroll);
    }
}

impl Cell {
    fn finish(&mut self, now: f64) {
        self.finished = true;
        match &mut self.kind {
            CellKind::Thinking { seconds, .. } => {
                seconds.get_or_insert((now - self.began).max(0.0));
            }
            CellKind::Tool(tool) if !tool.state.is_over() => {
                tool.state = ToolState::Cancelled;
                tool.seconds = tool.started.map(|started| (now - started).max(0.0));
            }
            _ => {}
        }
    }
}
