//! A session's past, folded away from the screen: the same fold as living through it, on a model of
//! its own that the screen takes over when it is whole.

use super::super::model::Model;
use super::super::model::transcript::Transcript;
use super::wire;
use crate::wire::record::Recorded;

/// Cells at the end that are left unpacked: they are looked at first.
const UNPACKED: usize = 400;
/// Cells packed at a time.
const PACKED_AT_ONCE: usize = 200;

/// What happened in a session before.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    pub(super) model: Box<Model>,
    /// Records that could not be read.
    pub bad_lines: usize,
    packed: usize,
}

impl Default for Recall {
    fn default() -> Self {
        Self { model: Box::new(Model::new(80, 24)), bad_lines: 0, packed: 0 }
    }
}

impl Recall {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in what happened next.
    pub fn take(&mut self, recorded: Recorded) {
        wire::apply(&mut self.model, recorded.message, recorded.timestamp);
        let far = self.model.transcript.cells().len().saturating_sub(UNPACKED);
        if far >= self.packed + PACKED_AT_ONCE {
            self.model.transcript.pack(self.packed..far);
            self.packed = far;
        }
    }

    /// The last `cells` cells were shown before the rest was known: they keep their names.
    pub fn continue_tail(&mut self, cells: usize) {
        let rename = self.model.transcript.name_tail(cells);
        for entry in &mut self.model.timeline.entries {
            entry.cell = entry.cell.map(&rename);
        }
    }

    /// The end of a session, from its last events alone.
    #[must_use]
    pub fn tail(events: impl IntoIterator<Item = Recorded>, now: f64) -> Transcript {
        let mut model = Model::new(80, 24);
        model.transcript = Transcript::tail();
        for recorded in events {
            wire::apply(&mut model, recorded.message, recorded.timestamp);
        }
        model.transcript.finish_from(0, now);
        model.transcript
    }
}

impl FromIterator<Recorded> for Recall {
    fn from_iter<T: IntoIterator<Item = Recorded>>(events: T) -> Self {
        let mut recall = Self::new();
        events.into_iter().for_each(|recorded| recall.take(recorded));
        recall
    }
}

#[cfg(test)]
mod tests;
