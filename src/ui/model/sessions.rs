//! The list of sessions.

use super::editor::Editor;
use crate::message::SessionId;
use crate::ui::effect::EffectId;

/// One session in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// When it was last changed, seconds since 1970.
    pub updated: f64,
    /// What it takes on disk, in bytes.
    pub bytes: u64,
}

/// The list and what is typed to narrow it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionList {
    /// The request that fills it.
    pub request: EffectId,
    /// The sessions, newest first; none while they are being read.
    pub rows: Option<Result<Vec<SessionRow>, String>>,
    /// Only titles with this in them are shown.
    pub filter: Editor,
    /// Index into what is shown.
    pub marked: usize,
}

impl SessionList {
    /// A list that is being read.
    #[must_use]
    pub fn loading(request: EffectId) -> Self {
        Self { request, rows: None, filter: Editor::default(), marked: 0 }
    }

    /// The sessions that are shown.
    #[must_use]
    pub fn shown(&self) -> Vec<&SessionRow> {
        let needle = self.filter.text().to_lowercase();
        match &self.rows {
            Some(Ok(rows)) => rows
                .iter()
                .filter(|row| {
                    row.title.to_lowercase().contains(&needle) || row.id.0.starts_with(&needle)
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}
