//! How the person divides the screen, on disk.

use std::path::Path;

use super::Executor;
use crate::files;
use crate::ui::model::layout::Layouts;

impl Executor {
    /// Small, and rare: written at once, so that the last one wins.
    pub(super) fn keep_layouts(&self, layouts: Layouts) {
        let path = self.host.paths().layout_file();
        let written = serde_json::to_vec_pretty(&layouts)
            .map_err(Into::into)
            .and_then(|json| files::write_atomic(&path, &json));
        if let Err(error) = written {
            tracing::warn!(%error, "the layout could not be kept");
        }
    }
}

/// How it was divided last; as at first when nothing is known.
pub(in crate::ui) fn load(file: &Path) -> Layouts {
    let Ok(json) = std::fs::read(file) else { return Layouts::default() };
    serde_json::from_slice(&json).unwrap_or_else(|error| {
        tracing::warn!(%error, file = %file.display(), "the layout could not be read");
        Layouts::default()
    })
}
