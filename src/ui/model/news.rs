//! News from the background that a turn may begin for by itself, and when the moment is.

use super::super::keymap::Context;
use super::Model;
use super::status::Activity;

/// Seconds without a key before a turn begins by itself (`kimi-cli` `ui/shell/__init__.py`).
const QUIET_SECONDS: f64 = 0.75;

/// What came while nothing ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct News {
    waits: bool,
    last_key: Option<f64>,
}

impl News {
    /// Something came.
    pub fn came(&mut self) {
        self.waits = true;
    }

    /// A turn reads it, or it is no longer of interest.
    pub fn read(&mut self) {
        self.waits = false;
    }

    /// A key was pressed.
    pub fn key(&mut self, now: f64) {
        self.last_key = Some(now);
    }
}

impl Model {
    /// From when on a turn may begin for what came; none when there is nothing, or while the person
    /// is at something.
    #[must_use]
    pub fn news_due(&self, now: f64) -> Option<f64> {
        let is_at_something = self.status.activity != Activity::Idle
            || self.awaits_turn
            || self.shell.is_some()
            || self.chord.is_some()
            || !matches!(self.context(now), Context::Composer | Context::Transcript)
            || !self.approvals.is_empty()
            || !self.composer.text().is_empty();
        (self.news.waits && !is_at_something)
            .then(|| self.news.last_key.map_or(0.0, |at| at + QUIET_SECONDS))
    }
}
