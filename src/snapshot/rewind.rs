//! Taking files back, and bringing them forth again: looked at first, then carried out.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::journal::Rewound;
use super::restore::{self, Gate, open_gate};
use super::{Node, Plan, Preview, Restored, RewindError, Tracker, plan};
use crate::message::CheckpointRef;

impl Tracker {
    /// What going back to `to` would do. Nothing is changed.
    ///
    /// # Errors
    /// When that checkpoint is not known, or no longer.
    pub fn preview(&mut self, to: CheckpointRef) -> Result<Preview, RewindError> {
        self.close_windows();
        let from = self.journal.moment_of(to).ok_or(RewindError::Unknown(to))?;
        if from < self.journal.floor {
            return Err(RewindError::Forgotten(to));
        }
        let changes = self.journal.changes.iter().filter(|change| change.moment >= from);
        let plan = plan::plan(changes, &self.world());
        let gaps = self.journal.gaps.iter().filter(|(moment, _)| *moment >= from);
        Ok(Preview { plan, gaps: gaps.map(|(_, reason)| reason.clone()).collect() })
    }

    /// What taking the last way back of files back would do.
    ///
    /// # Errors
    /// When there was none.
    pub fn preview_redo(&mut self) -> Result<Preview, RewindError> {
        self.close_windows();
        let last = self.last_rewound()?;
        Ok(Preview { plan: plan::plan_redo(&last, &self.world()), gaps: Vec::new() })
    }

    /// The last restoration that was neither a redo nor redone.
    fn last_rewound(&self) -> Result<Rewound, RewindError> {
        let all = &self.journal.rewound;
        all.iter()
            .rev()
            .find(|one| {
                one.redoes.is_none() && !all.iter().any(|other| other.redoes == Some(one.id))
            })
            .cloned()
            .ok_or(RewindError::NothingToRedo)
    }

    /// Takes files back to `to`; conflicts only where `chosen`.
    ///
    /// # Errors
    /// Then nothing was changed.
    pub fn rewind(
        &mut self,
        to: CheckpointRef,
        chosen: &BTreeSet<PathBuf>,
        with_conversation: bool,
    ) -> Result<Restored, RewindError> {
        self.rewind_gated(to, chosen, with_conversation, &mut open_gate)
    }

    pub(super) fn rewind_gated(
        &mut self,
        to: CheckpointRef,
        chosen: &BTreeSet<PathBuf>,
        with_conversation: bool,
        gate: Gate<'_>,
    ) -> Result<Restored, RewindError> {
        let plan = self.preview(to)?.plan;
        self.carry_out(&plan, chosen, None, with_conversation, gate)
    }

    /// Brings forth again what was taken back last.
    ///
    /// # Errors
    /// Then nothing was changed.
    pub fn redo(&mut self, chosen: &BTreeSet<PathBuf>) -> Result<Restored, RewindError> {
        let plan = self.preview_redo()?.plan;
        let last = self.last_rewound()?;
        self.carry_out(&plan, chosen, Some(last.id), last.with_conversation, &mut open_gate)
    }

    fn carry_out(
        &mut self,
        plan: &Plan,
        chosen: &BTreeSet<PathBuf>,
        redoes: Option<u64>,
        with_conversation: bool,
        gate: Gate<'_>,
    ) -> Result<Restored, RewindError> {
        let (steps, left) = plan.steps(chosen, &self.world());
        // What stands there now is kept first: this can be taken back.
        for step in &steps {
            self.capture(&step.path)?;
        }
        let mut done = Restored { left, with_conversation, ..Restored::default() };
        for step in &steps {
            let list =
                if step.then == Node::Absent { &mut done.removed } else { &mut done.restored };
            list.push(step.path.clone());
        }
        let id = self.journal.rewound.last().map_or(0, |last| last.id) + 1;
        let moment = self.journal.moment;
        let rewound = Rewound { id, moment, redoes, with_conversation, steps };
        let paths: Vec<PathBuf> = rewound.steps.iter().map(|step| step.path.clone()).collect();
        let dir = self.place.session_dir.clone();
        restore::restore(&dir, &mut self.store, &mut self.journal, rewound, gate)?;
        for path in paths {
            self.capture(&path)?;
        }
        Ok(done)
    }
}
