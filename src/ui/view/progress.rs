//! What the terminal may show about the turn in its tab or in the task bar.

use super::super::model::Model;
use super::super::model::status::Activity;

/// What the terminal may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// Nothing.
    #[default]
    None,
    /// A turn runs; nobody knows how long.
    Busy,
    /// It waits for the person.
    Waiting,
    /// It failed, and nobody has looked since.
    Failed,
}

/// What the terminal should show now.
#[must_use]
pub fn progress(model: &Model) -> Progress {
    let is_asked = !model.approvals.is_empty() || model.questions.current().is_some();
    match model.status.activity {
        Activity::Running { .. } if is_asked => Progress::Waiting,
        Activity::Running { .. } => Progress::Busy,
        _ if model.status.has_failed => Progress::Failed,
        _ => Progress::None,
    }
}
