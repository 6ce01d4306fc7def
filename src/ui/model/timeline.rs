//! The timeline: turns, checkpoints and the places where the context changed, of all generations.

use super::cell::{CellId, Life};
use crate::message::{CheckpointId, CheckpointRef, Generation};
use crate::wire::{CheckpointCreated, ContextChange, ContextSize};

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Seconds since 1970.
    pub time: f64,
    /// The cell that was last when this happened.
    pub cell: Option<CellId>,
    /// What it is.
    pub kind: EntryKind,
}

/// What a row is.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// A turn began.
    Turn {
        /// The first line of what was sent.
        title: String,
    },
    /// A checkpoint.
    Checkpoint(CheckpointEntry),
    /// The context changed.
    Jump {
        /// How.
        jump: Jump,
        /// Tokens before and after.
        tokens: (u64, u64),
    },
}

/// How the context changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// The model sent a D-Mail to this checkpoint.
    DMail(CheckpointId),
    /// The person went back to this checkpoint.
    Revert(CheckpointId),
    /// It was emptied.
    Clear,
    /// It was summarised.
    Compaction,
    /// An earlier generation came back.
    Restore(Generation),
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointEntry {
    /// Its address; the generation moves on while the checkpoint survives into later ones.
    pub at: CheckpointRef,
    /// The step after it; none before a user message.
    pub step: Option<u64>,
    /// What the context held at it.
    pub size: ContextSize,
    /// Can one still go back to it?
    pub is_live: bool,
    /// In which generations it was.
    pub life: Life,
    /// The tools called after it and before the next one, in order of first call, with counts.
    pub tools: Vec<(String, u32)>,
    /// How many of them failed.
    pub failures: u32,
}

/// The timeline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// The rows, oldest first.
    pub entries: Vec<Entry>,
    /// The marked row, always a checkpoint's.
    pub selected: Option<usize>,
    /// The present life of the context.
    pub generation: Generation,
    live: usize,
    // The largest number of a checkpoint one can go back to.
    highest_live: Option<CheckpointId>,
}

impl Timeline {
    /// A turn began.
    pub fn begin_turn(&mut self, title: String, cell: Option<CellId>, time: f64) {
        self.entries.push(Entry { time, cell, kind: EntryKind::Turn { title } });
    }

    /// A checkpoint was made.
    pub fn add_checkpoint(&mut self, made: &CheckpointCreated, cell: Option<CellId>, time: f64) {
        self.generation = made.at.generation;
        if self.highest_live.is_none_or(|highest| highest < made.at.id) {
            return self.push_checkpoint(made, cell, time);
        }
        // A restored context says again which checkpoints it has.
        if self.checkpoints_mut().any(|entry| entry.is_live && entry.at == made.at) {
            return;
        }
        // After a revert the number is given again; the older bearer is gone already.
        for entry in self.checkpoints_mut() {
            if entry.is_live && entry.at.id >= made.at.id {
                entry.is_live = false;
            }
        }
        self.count_live();
        self.push_checkpoint(made, cell, time);
    }

    fn push_checkpoint(&mut self, made: &CheckpointCreated, cell: Option<CellId>, time: f64) {
        let entry = CheckpointEntry {
            at: made.at,
            step: made.step,
            size: made.size,
            is_live: true,
            life: Life::from(made.at.generation),
            tools: Vec::new(),
            failures: 0,
        };
        self.entries.push(Entry { time, cell, kind: EntryKind::Checkpoint(entry) });
        self.live += 1;
        self.highest_live = Some(made.at.id);
    }

    /// The checkpoints that were there at the end of `from` are back, and no others.
    pub fn restore(
        &mut self,
        from: Generation,
        change: &ContextChange,
        cell: Option<CellId>,
        time: f64,
    ) {
        for entry in self.checkpoints_mut() {
            let is_back = entry.life.reached_the_end_of(from);
            if is_back {
                entry.life.come_back(change.new_generation);
                entry.at.generation = change.new_generation;
            } else if entry.is_live {
                entry.life.lose(change.old_generation);
            }
            entry.is_live = is_back;
        }
        self.generation = change.new_generation;
        self.selected = None;
        let tokens = (change.before.tokens, change.after.tokens);
        let kind = EntryKind::Jump { jump: Jump::Restore(from), tokens };
        self.entries.push(Entry { time, cell, kind });
        self.count_live();
    }

    /// Counted when it changes, not in every frame.
    fn count_live(&mut self) {
        let ids = self.checkpoints_mut().filter(|entry| entry.is_live).map(|entry| entry.at.id);
        (self.live, self.highest_live) =
            ids.fold((0, None), |(live, highest), id| (live + 1, highest.max(Some(id))));
    }

    /// A tool was called.
    pub fn add_tool(&mut self, name: &str) {
        if let Some(entry) = self.checkpoints_mut().next_back() {
            match entry.tools.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => entry.tools.push((name.to_owned(), 1)),
            }
        }
    }

    /// A tool failed.
    pub fn add_failure(&mut self) {
        if let Some(entry) = self.checkpoints_mut().next_back() {
            entry.failures += 1;
        }
    }

    /// The context changed: checkpoints from `cut` on (all, when none is given) are gone, and the
    /// surviving ones belong to the new generation.
    pub fn jump(
        &mut self,
        jump: Jump,
        cut: Option<CheckpointId>,
        change: &ContextChange,
        cell: Option<CellId>,
        time: f64,
    ) {
        self.generation = change.new_generation;
        for entry in self.checkpoints_mut() {
            if entry.is_live && cut.is_none_or(|cut| entry.at.id >= cut) {
                entry.is_live = false;
                entry.life.lose(change.old_generation);
            } else if entry.is_live {
                entry.at.generation = change.new_generation;
            }
        }
        let tokens = (change.before.tokens, change.after.tokens);
        self.entries.push(Entry { time, cell, kind: EntryKind::Jump { jump, tokens } });
        self.selected = None;
        self.count_live();
    }

    fn checkpoints_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut CheckpointEntry> {
        self.entries.iter_mut().filter_map(|entry| match &mut entry.kind {
            EntryKind::Checkpoint(checkpoint) => Some(checkpoint),
            _ => None,
        })
    }

    /// The checkpoint in row `index`.
    #[must_use]
    pub fn checkpoint(&self, index: usize) -> Option<&CheckpointEntry> {
        match &self.entries.get(index)?.kind {
            EntryKind::Checkpoint(checkpoint) => Some(checkpoint),
            _ => None,
        }
    }

    /// The marked checkpoint.
    #[must_use]
    pub fn selected(&self) -> Option<&CheckpointEntry> {
        self.checkpoint(self.selected?)
    }

    /// How many checkpoints one can still go back to.
    #[must_use]
    pub fn live_count(&self) -> usize {
        self.live
    }

    /// Marks the latest checkpoint that one can go back to.
    pub fn select_latest(&mut self) {
        self.selected = (0..self.entries.len())
            .rev()
            .find(|&at| self.checkpoint(at).is_some_and(|e| e.is_live));
    }

    /// Marks the next checkpoint in a direction; stays where there is none.
    pub fn select(&mut self, down: bool) {
        let Some(at) = self.selected else {
            self.select_latest();
            return;
        };
        let is_checkpoint = |at: &usize| self.checkpoint(*at).is_some();
        let found = if down {
            (at + 1..self.entries.len()).find(is_checkpoint)
        } else {
            (0..at).rev().find(is_checkpoint)
        };
        if let Some(found) = found {
            self.selected = Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(generation: u64, id: u64) -> CheckpointCreated {
        CheckpointCreated {
            at: CheckpointRef { generation: Generation(generation), id: CheckpointId(id) },
            step: Some(1),
            size: ContextSize { messages: id, tokens: id * 100 },
        }
    }

    #[test]
    fn a_revert_keeps_earlier_checkpoints_alive_under_the_new_generation() {
        let mut timeline = Timeline::default();
        for id in 0..4 {
            timeline.add_checkpoint(&made(0, id), None, 0.0);
        }
        let change = ContextChange {
            old_generation: Generation(0),
            new_generation: Generation(1),
            before: ContextSize { messages: 4, tokens: 400 },
            after: ContextSize { messages: 2, tokens: 200 },
            next_checkpoint: CheckpointId(2),
        };
        timeline.jump(Jump::Revert(CheckpointId(2)), Some(CheckpointId(2)), &change, None, 1.0);
        timeline.add_checkpoint(&made(1, 2), None, 2.0);
        let live: Vec<_> = (0..timeline.entries.len())
            .filter_map(|at| timeline.checkpoint(at))
            .filter(|entry| entry.is_live)
            .map(|entry| entry.at.to_string())
            .collect();
        assert_eq!(live, ["1.0", "1.1", "1.2"]);
    }

    #[test]
    fn selection_steps_over_rows_that_are_no_checkpoints() {
        let mut timeline = Timeline::default();
        timeline.add_checkpoint(&made(0, 0), None, 0.0);
        timeline.begin_turn("hello".into(), None, 0.0);
        timeline.add_checkpoint(&made(0, 1), None, 0.0);
        timeline.select_latest();
        timeline.select(false);
        assert_eq!(timeline.selected, Some(0));
        timeline.select(false);
        assert_eq!(timeline.selected, Some(0));
        timeline.select(true);
        assert_eq!(timeline.selected, Some(2));
    }
}
