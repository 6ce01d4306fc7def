//! The timeline: turns, checkpoints and the places where the context changed, of all generations.

use super::cell::{CellId, Life};
use crate::message::{CheckpointId, CheckpointRef, Generation};
use crate::wire::{CheckpointCreated, ContextChange, ContextRewritten, ContextSize};

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
        /// The generation that ended, which can be read and brought back.
        ended: Generation,
        /// What more there is to know.
        notes: Box<JumpNotes>,
    },
}

/// What more there is to know about a change of the context.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JumpNotes {
    /// The message to the past.
    pub mail: Option<String>,
    /// What a compaction, or the person, took out of the context.
    pub rewritten: Option<ContextRewritten>,
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
    /// The person hid so many tool results.
    Hidden(u64),
    /// The person brought so many messages back; no generation ended.
    Pinned(u64),
    /// Another context began, and no record says why.
    Unknown,
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
    /// Files that were written after it, each once.
    pub files: Vec<String>,
}

/// The timeline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// The rows, oldest first.
    pub entries: Vec<Entry>,
    /// The marked row: a checkpoint's, or that of a change.
    pub selected: Option<usize>,
    /// The present life of the context.
    pub generation: Generation,
    live: usize,
    // What a compaction did, until it tells that it is done.
    rewritten: Option<ContextRewritten>,
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
            files: Vec::new(),
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
        let jump = Jump::Restore(from);
        let (ended, notes) = (change.old_generation, Box::default());
        let kind = EntryKind::Jump { jump, tokens, ended, notes };
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
        let notes = Box::new(JumpNotes { mail: None, rewritten: self.rewritten.take() });
        let kind = EntryKind::Jump { jump, tokens, ended: change.old_generation, notes };
        self.entries.push(Entry { time, cell, kind });
        self.selected = None;
        self.count_live();
    }

    /// What the compaction that is about to end did to the messages.
    pub fn set_rewritten(&mut self, rewritten: ContextRewritten) {
        self.rewritten = Some(rewritten);
    }

    /// The change told last came with this message to the past.
    pub fn set_mail(&mut self, mail: Option<String>) {
        if let Some(Entry { kind: EntryKind::Jump { notes, .. }, .. }) = self.entries.last_mut() {
            notes.mail = mail;
        }
    }

    /// Messages of `from` are in the context again.
    pub fn add_pin(
        &mut self,
        count: u64,
        tokens: (u64, u64),
        from: Generation,
        cell: Option<CellId>,
        time: f64,
    ) {
        let (jump, notes) = (Jump::Pinned(count), Box::default());
        let kind = EntryKind::Jump { jump, tokens, ended: from, notes };
        self.entries.push(Entry { time, cell, kind });
    }

    /// What was last taken out of the context, as far as it is known.
    #[must_use]
    pub fn last_rewritten(&self) -> Option<&ContextRewritten> {
        self.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Jump { notes, .. } => notes.rewritten.as_ref(),
            _ => None,
        })
    }

    /// A file was written.
    pub fn add_file(&mut self, path: &str) {
        if let Some(entry) = self.checkpoints_mut().next_back()
            && !entry.files.iter().any(|known| known == path)
        {
            entry.files.push(path.to_owned());
        }
    }

    /// What the context held at the end of a generation, in tokens, if it is known.
    #[must_use]
    pub fn tokens_of(&self, generation: Generation) -> Option<u64> {
        self.entries.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Jump { jump, tokens, ended, .. }
                if *ended == generation && !matches!(jump, Jump::Pinned(_)) =>
            {
                Some(tokens.0)
            }
            _ => None,
        })
    }

    /// What the latest steps added each, in tokens, on average; none before there are two.
    #[must_use]
    pub fn growth(&self) -> Option<u64> {
        const STEPS: usize = 5;
        let live = self.entries.iter().rev().filter_map(|entry| match &entry.kind {
            EntryKind::Checkpoint(checkpoint) if checkpoint.is_live => Some(checkpoint.size.tokens),
            _ => None,
        });
        let sizes: Vec<u64> = live.take(STEPS + 1).collect();
        let steps = sizes.len().checked_sub(1).filter(|steps| *steps > 0)?;
        let grown = sizes.first()?.saturating_sub(*sizes.last()?);
        Some(grown / steps as u64)
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

    /// Marks the latest checkpoint that one can go back to, or the last row there is.
    pub fn select_latest(&mut self) {
        let rows = || (0..self.entries.len()).rev();
        self.selected = rows()
            .find(|&at| self.checkpoint(at).is_some_and(|e| e.is_live))
            .or_else(|| rows().find(|&at| self.is_row(at)));
    }

    /// Is this row no heading?
    fn is_row(&self, at: usize) -> bool {
        !matches!(self.entries[at].kind, EntryKind::Turn { .. })
    }

    /// The marked change: how, the generation that ended, and what more there is to know.
    #[must_use]
    pub fn selected_jump(&self) -> Option<(Jump, Generation, &JumpNotes)> {
        match &self.entries.get(self.selected?)?.kind {
            EntryKind::Jump { jump, ended, notes, .. } => Some((*jump, *ended, notes)),
            _ => None,
        }
    }

    /// Marks the next row that is no heading in a direction; stays where there is none.
    pub fn select(&mut self, down: bool) {
        let Some(at) = self.selected else {
            self.select_latest();
            return;
        };
        let is_row = |at: &usize| self.is_row(*at);
        let found = if down {
            (at + 1..self.entries.len()).find(is_row)
        } else {
            (0..at).rev().find(is_row)
        };
        if let Some(found) = found {
            self.selected = Some(found);
        }
    }
}

mod infer;

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
    fn selection_steps_over_headings() {
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
