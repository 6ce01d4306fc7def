//! The transcript: cells in order, and where the view stands in it.

use std::collections::HashMap;
use std::ops::Range;

use super::cell::{
    Cell, CellId, CellKind, Compaction, Fate, Group, Life, Mark, ToolCell, ToolState,
};
use super::heights::Heights;
use super::selection::{Presses, Selection, Spot};
use crate::message::Generation;

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
    /// By half windows; negative is up.
    HalfPages(i32),
    /// So that this cell is at the top of the window.
    To(CellId),
    /// As little as needed to show this cell.
    Reveal(CellId),
    /// To the place in this cell where the search matches for the `nth` time, from 0.
    Match {
        /// The cell.
        cell: CellId,
        /// Which match in it.
        nth: usize,
    },
}

/// What part of the transcript was drawn last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visible {
    /// The first cell in the window.
    pub first: CellId,
    /// The last.
    pub last: CellId,
    /// Does the last one go on below the window?
    pub last_is_cut: bool,
    /// Does the first one begin above the window?
    pub first_is_cut: bool,
}

/// How much there was when the window left the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Cells.
    pub cells: usize,
    /// Lines of the last of them.
    pub lines: usize,
}

/// Where the lines of the transcript stand on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pane {
    /// Column of the first character.
    pub x: u16,
    /// Each visible line: its row, its cell, which of its lines.
    pub rows: Vec<(u16, CellId, usize)>,
}

impl Pane {
    /// What stands at a place of the screen; the nearest line when none does.
    #[must_use]
    pub fn spot(&self, x: u16, y: u16) -> Option<Spot> {
        let nearest = self.rows.iter().min_by_key(|(row, ..)| row.abs_diff(y))?;
        Some(Spot { cell: nearest.1, line: nearest.2, column: x.saturating_sub(self.x) })
    }
}

/// What only drawing knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameInfo {
    /// Where the window onto the transcript stands, scrolls carried out.
    pub position: Position,
    /// What is in it.
    pub visible: Option<Visible>,
    /// Columns the transcript has.
    pub width: u16,
    /// Heights of the cells that were measured: index and lines, the gap above included.
    pub measured: Vec<(usize, usize)>,
    /// First line the pager shows, moves carried out.
    pub pager_top: Option<usize>,
    /// Was there nothing a search in the pager could go to? None when none was made.
    pub pager_missed: Option<bool>,
    /// First line of help, or of another page, no further than there is text.
    pub page_scroll: Option<u16>,
    /// Lines the preview of a session is scrolled up, no further than there is text.
    pub preview_scroll: Option<usize>,
    /// First line shown of what is asked for, when it is shown whole.
    pub asked_top: Option<usize>,
    /// Which line of which cell stands where.
    pub pane: Pane,
    /// The source of what was selected with the mouse, once the button is released.
    pub selected: Option<String>,
}

/// The transcript.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// The present life of the context, which new cells are part of.
    pub generation: Generation,
    cells: Vec<Cell>,
    next_id: u64,
    // Latest cell of each call id.
    calls: HashMap<String, usize>,
    /// Where the window stands.
    pub position: Position,
    /// Scrolls not yet drawn.
    pub pending: Vec<Scroll>,
    /// How much there was when the window left the end.
    pub seen: Seen,
    /// The cell the keys act on while the transcript has the focus.
    pub selected: Option<CellId>,
    /// Which block of code of which cell was copied last.
    pub copied: Option<(CellId, usize)>,
    /// Is the selection to be taken along by the next scroll?
    pub drags_selection: bool,
    /// What is being selected with the mouse.
    pub selection: Option<Selection>,
    /// How often the button was pressed at one place.
    pub presses: Presses,
    /// Where lines stand on the screen.
    pub pane: Pane,
    /// What was drawn last.
    pub visible: Option<Visible>,
    /// How high cells are, as far as it is known.
    pub heights: Heights,
    /// Is this only the end of a session whose beginning is still being read?
    pub is_tail: bool,
    // Where the next cell that may be packed is looked for.
    sweep: usize,
}

/// The name of the first cell of a session's end that is shown before its beginning is read: the
/// cells before it get smaller names.
const FIRST_OF_TAIL: u64 = 1 << 40;
/// Cells around the window that are left as they are.
const NEAR: usize = 200;
/// Cells looked at, and bytes packed, after one frame: no key waits for more.
const SWEEP_CELLS: usize = 32;
const SWEEP_BYTES: usize = 32 * 1024;

impl Transcript {
    /// The end of a session whose beginning is not known yet.
    #[must_use]
    pub fn tail() -> Self {
        Self { next_id: FIRST_OF_TAIL, is_tail: true, ..Self::default() }
    }

    /// Names the last `count` cells as a [`tail`](Self::tail) of so many names them, so that what
    /// points into that tail points into this. The answer says how a cell is called now.
    pub fn name_tail(&mut self, count: usize) -> impl Fn(CellId) -> CellId + use<> {
        let from = self.cells.len().saturating_sub(count);
        let first = self.cells.get(from).map_or(self.next_id, |cell| cell.id.0);
        let skipped = (count - (self.cells.len() - from)) as u64;
        let rename = move |id: CellId| match id.0.checked_sub(first) {
            Some(nth) => CellId(FIRST_OF_TAIL + skipped + nth),
            None => id,
        };
        for cell in &mut self.cells[from..] {
            cell.id = rename(cell.id);
            if let Group::Member { leader } = &mut cell.group {
                *leader = rename(*leader);
            }
        }
        self.next_id = FIRST_OF_TAIL + count as u64;
        rename
    }

    /// Makes the cells of a range small.
    pub fn pack(&mut self, cells: Range<usize>) {
        let end = cells.end.min(self.cells.len());
        for cell in self.cells.get_mut(cells.start..end).unwrap_or_default() {
            cell.pack();
        }
    }

    /// Makes some cells far from the window small: called again and again, it comes round to all.
    fn sweep(&mut self) {
        let index = |id| self.index_of(id).unwrap_or_default();
        let Some(visible) = self.visible else { return };
        let near = index(visible.first).saturating_sub(NEAR)..index(visible.last) + NEAR;
        let mut work = 0;
        for _ in 0..SWEEP_CELLS.min(self.cells.len()) {
            self.sweep = if self.sweep + 1 < self.cells.len() { self.sweep + 1 } else { 0 };
            if near.contains(&self.sweep) || work > SWEEP_BYTES {
                continue;
            }
            work += self.cells[self.sweep].pack();
        }
    }

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
        self.cells.push(Cell {
            id,
            version: 0,
            finished,
            fate: Fate::Live,
            life: Life::from(self.generation),
            open: None,
            group: Group::Alone,
            began,
            kind,
        });
        self.regroup(index);
        index
    }

    /// Says anew which calls around `index` share a row. Costs what the row is long.
    fn regroup(&mut self, index: usize) {
        let concerns = |cell: &Cell| cell.joins_group() || cell.group != Group::Alone;
        if !self.cells.get(index).is_some_and(concerns) {
            return;
        }
        let (mut from, mut to) = (index, index + 1);
        while from > 0 && concerns(&self.cells[from - 1]) {
            from -= 1;
        }
        while to < self.cells.len() && concerns(&self.cells[to]) {
            to += 1;
        }
        while from < to {
            let mut end = from + 1;
            if self.cells[from].joins_group() {
                let fate = self.cells[from].fate;
                while end < to && self.cells[end].joins_group() && self.cells[end].fate == fate {
                    end += 1;
                }
            }
            let (leader, count) = (self.cells[from].id, end - from);
            self.set_group(from, if count > 1 { Group::Leader { count } } else { Group::Alone });
            for member in from + 1..end {
                self.set_group(member, Group::Member { leader });
            }
            from = end;
        }
    }

    fn set_group(&mut self, index: usize, group: Group) {
        if self.cells[index].group != group {
            self.edit_alone(index, |cell| cell.group = group);
        }
    }

    /// Is this one of the last `count` calls? Looked for near the end only.
    #[must_use]
    pub fn is_among_last_calls(&self, id: CellId, count: usize) -> bool {
        const NEAR_THE_END: usize = 200;
        let calls = self.cells.iter().rev().take(NEAR_THE_END);
        let mut calls = calls.filter(|cell| matches!(cell.kind, CellKind::Tool(_)));
        calls.by_ref().take(count).any(|cell| cell.id == id)
    }

    /// Is this cell part of a row that another one draws?
    #[must_use]
    pub fn is_hidden(&self, index: usize) -> bool {
        match self.cells.get(index).map(|cell| cell.group) {
            Some(Group::Member { leader }) => {
                self.index_of(leader).is_some_and(|leader| self.cells[leader].open != Some(true))
            }
            _ => false,
        }
    }

    /// What was unfolded one by one follows the settings again.
    pub fn forget_folds(&mut self) {
        for index in 0..self.cells.len() {
            if self.cells[index].open.is_some() {
                self.edit_alone(index, |cell| cell.open = None);
            }
        }
    }

    /// Takes in what was measured.
    pub(super) fn measured(&mut self, frame: &FrameInfo) {
        self.heights.sync(&self.cells, frame.width);
        for &(index, lines) in &frame.measured {
            self.heights.set(index, lines);
        }
        self.sweep();
    }

    /// The selected cell's index.
    #[must_use]
    pub fn selected_index(&self) -> Option<usize> {
        self.index_of(self.selected?)
    }

    /// Changes a cell; the only way to.
    pub fn edit(&mut self, index: usize, change: impl FnOnce(&mut Cell)) {
        self.edit_alone(index, change);
        self.regroup(index);
        // The row shows what its calls do.
        if let Some(Group::Member { leader }) = self.cells.get(index).map(|cell| cell.group)
            && let Some(leader) = self.index_of(leader)
        {
            self.edit_alone(leader, |_| {});
        }
    }

    fn edit_alone(&mut self, index: usize, change: impl FnOnce(&mut Cell)) {
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
        self.heights.truncate(self.cells.len());
        if let Some(last) = self.last_index() {
            self.regroup(last);
        }
    }

    /// The cells from `index` on are no longer what the model has.
    pub fn set_fate_from(&mut self, index: usize, fate: Fate) {
        for at in index..self.cells.len() {
            if self.cells[at].fate == Fate::Live {
                let generation = self.generation;
                self.edit(at, |cell| {
                    cell.fate = fate;
                    cell.life.lose(generation);
                });
            }
        }
    }

    /// The model has again what it had at the end of `from`, and nothing else, as generation `new`.
    pub fn restore(&mut self, from: Generation, new: Generation) {
        let old = self.generation;
        for at in 0..self.cells.len() {
            let cell = &self.cells[at];
            if cell.life.reached_the_end_of(from) {
                self.edit(at, |cell| {
                    cell.fate = Fate::Live;
                    cell.life.come_back(new);
                });
            } else if cell.fate == Fate::Live && !matches!(cell.kind, CellKind::Mark(_)) {
                self.edit(at, |cell| {
                    cell.fate = Fate::Reverted;
                    cell.life.lose(old);
                });
            }
        }
        self.generation = new;
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
            CellKind::Mark(Mark::Compacted { outcome: outcome @ Compaction::Running, .. }) => {
                *outcome = Compaction::Failed;
            }
            _ => {}
        }
    }
}
