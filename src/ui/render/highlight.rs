//! Colours for source code, off the draw path.

use std::sync::Arc;

/// Code to be coloured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightJob {
    /// The language as the model named it.
    pub language: String,
    /// The code.
    pub code: Arc<str>,
}

/// Code with its colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightResult {
    key: u64,
}

/// Does a job. Pure; takes milliseconds to seconds, so it belongs on a blocking thread.
#[must_use]
pub fn run(job: &HighlightJob) -> HighlightResult {
    let _ = job;
    HighlightResult { key: 0 }
}

/// What was coloured, and what should be.
#[derive(Debug, Default)]
pub struct HighlightCache {}

impl HighlightCache {
    /// An empty one, which asks for jobs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that does every job at once, for tests: what is drawn does not depend on a worker.
    #[must_use]
    pub fn inline() -> Self {
        Self::default()
    }

    /// The jobs drawing has asked for since the last call.
    pub fn take_wanted(&self) -> Vec<HighlightJob> {
        Vec::new()
    }

    /// Keeps what a job found; the next frame shows it.
    pub fn insert(&self, result: HighlightResult) {
        let _ = result.key;
    }
}
