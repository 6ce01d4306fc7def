//! The latest tool calls, to be walked through.

use super::cell::{Cell, CellId, CellKind, ToolCell};
use super::transcript::Transcript;

/// Cells that are looked through: a list of calls need not go back a whole day.
const LOOK_BACK: usize = 400;

/// Where one stands among the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// The marked call's cell.
    pub selected: Option<CellId>,
}

/// The latest calls, the latest first.
pub fn latest(transcript: &Transcript) -> impl Iterator<Item = (&Cell, &ToolCell)> {
    transcript.cells().iter().rev().take(LOOK_BACK).filter_map(|cell| match &cell.kind {
        CellKind::Tool(tool) => Some((cell, tool.as_ref())),
        _ => None,
    })
}

impl Calls {
    /// The marked call.
    #[must_use]
    pub fn call<'a>(&self, transcript: &'a Transcript) -> Option<&'a ToolCell> {
        let index = transcript.index_of(self.selected?)?;
        match &transcript.cells()[index].kind {
            CellKind::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Marks the latest call that runs, or the latest.
    pub fn select_latest(&mut self, transcript: &Transcript) {
        let running = latest(transcript).find(|(_, tool)| !tool.state.is_over());
        let found = running.or_else(|| latest(transcript).next());
        self.selected = found.map(|(cell, _)| cell.id);
    }

    /// Marks the next call in a direction; stays where there is none.
    pub fn step(&mut self, transcript: &Transcript, down: bool) {
        let ids: Vec<CellId> = latest(transcript).map(|(cell, _)| cell.id).collect();
        let at = ids.iter().position(|id| Some(*id) == self.selected);
        let next = match at {
            None => 0,
            Some(at) if down => at.saturating_sub(1),
            Some(at) => (at + 1).min(ids.len().saturating_sub(1)),
        };
        self.selected = ids.get(next).copied();
    }
}
