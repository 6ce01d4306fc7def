//! `/add-dir`: a wider workspace.

use std::fs;
use std::path::PathBuf;

use super::Soul;
use crate::context::ContextError;
use crate::message::Message;

impl Soul {
    /// Adds a folder to the workspace, or lists those that were added.
    pub(super) fn add_dir(&mut self, raw: &str) -> Result<(), ContextError> {
        if raw.is_empty() {
            let added: Vec<String> =
                self.added_dirs.iter().map(|dir| dir.display().to_string()).collect();
            self.say(&match added.as_slice() {
                [] => "No folder was added. Use /add-dir PATH.".to_owned(),
                added => format!("Added to the workspace:\n{}", added.join("\n")),
            });
            return Ok(());
        }
        let dir = match self.find_dir(raw) {
            Ok(dir) => dir,
            Err(reason) => {
                self.say(&reason);
                return Ok(());
            }
        };
        let shown = dir.display().to_string();
        if dir.starts_with(&self.info.work_dir)
            || self.added_dirs.iter().any(|added| dir.starts_with(added))
        {
            self.say(&format!("{shown} is in the workspace already."));
            return Ok(());
        }
        if let Some(worker) = &self.snapshots {
            let root = dir.clone();
            worker.later(move |tracker| tracker.add_root(root));
        }
        self.added_dirs.push(dir);
        let stored = self.state.change(|state| state.additional_dirs.push(shown.clone()));
        if let Err(error) = stored {
            tracing::warn!(%error, "the added folder could not be stored");
        }
        self.context.append(&[Message::reminder(&format!(
            "The user added the folder {shown} to the workspace: you may read and change files there."
        ))])?;
        self.say(&format!("{shown} is in the workspace now."));
        Ok(())
    }

    fn find_dir(&self, raw: &str) -> Result<PathBuf, String> {
        let written = match (raw.strip_prefix("~/"), crate::paths::home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(raw),
        };
        let path = self.info.work_dir.join(written);
        match fs::canonicalize(&path) {
            Ok(dir) if dir.is_dir() => Ok(dir),
            Ok(_) => Err(format!("{} is not a folder.", path.display())),
            Err(error) => Err(format!("{} cannot be used: {error}.", path.display())),
        }
    }
}
