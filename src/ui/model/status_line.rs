//! The person's own command for the last line: when it runs next, and what it said.

use std::sync::Arc;

use crate::ui::effect::EffectId;
use crate::wire::SessionInfo;

/// Shortest time between two runs, in seconds: a turn changes more often than anybody reads.
pub const RUNS_APART: f64 = 0.3;

/// What the command is told of, as far as a change of it makes the command run again.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// Facts about the session; the same ones while nothing replaced them.
    pub info: Arc<SessionInfo>,
    /// What it does, without what changes by itself.
    pub activity: &'static str,
    /// The step of the turn.
    pub step: u64,
    /// Plan mode, away.
    pub modes: (bool, bool),
    /// Tokens in the context, and calls of the model.
    pub numbers: (Option<u64>, u64),
    /// Prompts that wait, and tasks that run.
    pub waiting: (usize, usize),
    /// Columns of the screen.
    pub width: u16,
    /// The git branch.
    pub branch: Option<String>,
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        // Comparing all facts for each key would cost more than running the command once too often.
        Arc::ptr_eq(&self.info, &other.info)
            && self.activity == other.activity
            && self.step == other.step
            && self.modes == other.modes
            && self.numbers == other.numbers
            && self.waiting == other.waiting
            && self.width == other.width
            && self.branch == other.branch
    }
}

/// The command's runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatusCommand {
    /// The run that is awaited.
    pub running: Option<EffectId>,
    /// When the last run began, seconds since 1970.
    pub began: Option<f64>,
    /// What was told then.
    pub told: Option<Told>,
    /// Has something changed since?
    pub is_wanted: bool,
    /// Its line, not sanitised; none before the first and after a failure.
    pub line: Option<String>,
    /// Was a failure said?
    pub has_complained: bool,
}

impl StatusCommand {
    /// When it runs next by itself, seconds since 1970, with `interval` seconds between runs (0 for
    /// no such runs).
    #[must_use]
    pub fn due(&self, interval: u64) -> Option<f64> {
        if self.running.is_some() {
            return None;
        }
        let began = self.began?;
        let soon = self.is_wanted.then_some(began + RUNS_APART);
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let later = (interval > 0).then_some(began + interval as f64);
        [soon, later].into_iter().flatten().reduce(f64::min)
    }
}
