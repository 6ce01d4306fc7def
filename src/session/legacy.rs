//! Layouts of old versions, brought up to date when a session is met, and old share folders.
//!
//! A session's context was `<id>.jsonl` beside its folder (`kimi-cli` `session.py:309`), or
//! `history.jsonl` in it; its earlier contexts `history.jsonl.N` or `context.jsonl.N`; its title in
//! `metadata.json` (`session_state.py:47`). Nothing is thrown away.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::SessionError;
use super::store::{Session, SessionStore, SessionSummary};
use super::{SessionState, trash};
use crate::context::CONTEXT_FILE;
use crate::files;
use crate::message::SessionId;

const OLD_CONTEXT: &str = "history.jsonl";
const OLD_STATE: &str = "metadata.json";

/// Share folders of old versions, below a home folder.
const OLD_SHARES: [&str; 2] = [".config/kimi", ".kimi-cli"];

/// Where old versions had a session's context: beside its folder.
pub(super) fn file_beside(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().map(OsString::from).unwrap_or_default();
    name.push(".jsonl");
    dir.with_file_name(name)
}

/// Brings the session in `dir` to today's layout. What cannot be moved stays and is logged.
pub(super) fn bring_up_to_date(dir: &Path) {
    let steps = [move_context(dir), move_rotated(dir), merge_state(dir)];
    for error in steps.into_iter().filter_map(Result::err) {
        tracing::warn!(path = %dir.display(), %error, "an old session cannot be brought up to date");
    }
}

fn move_context(dir: &Path) -> io::Result<()> {
    let new = dir.join(CONTEXT_FILE);
    for old in [file_beside(dir), dir.join(OLD_CONTEXT)] {
        if old.is_file() && !new.exists() {
            files::create_private_folder(dir)?;
            fs::rename(&old, &new)?;
        }
    }
    Ok(())
}

/// `history.jsonl.2` becomes `context_2.jsonl`, unless that is there.
fn move_rotated(dir: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(rotation_number) else { continue };
        let new = dir.join(format!("context_{number}.jsonl"));
        if !new.exists() {
            fs::rename(entry.path(), new)?;
        }
    }
    Ok(())
}

fn rotation_number(name: &str) -> Option<u64> {
    let digits = [OLD_CONTEXT, CONTEXT_FILE]
        .iter()
        .find_map(|old| name.strip_prefix(old)?.strip_prefix('.'))?;
    digits.parse().ok().filter(|number| *number > 0 && digits == format!("{number}"))
}

/// Takes the title and the archive mark of `metadata.json` over, where the state has none.
fn merge_state(dir: &Path) -> io::Result<()> {
    let old = dir.join(OLD_STATE);
    if !old.is_file() {
        return Ok(());
    }
    let bytes = fs::read(&old)?;
    if let Ok(Value::Object(fields)) = serde_json::from_slice(&bytes) {
        let mut state = SessionState::load(dir);
        let title = fields.get("title").and_then(Value::as_str);
        if let Some(title) = title.filter(|title| !title.is_empty() && *title != "Untitled")
            && state.custom_title.is_none()
        {
            state.custom_title = Some(title.to_owned());
            let generated = fields.get("title_generated").and_then(Value::as_bool);
            state.title_generated |= generated.unwrap_or_default();
        }
        if fields.get("archived").and_then(Value::as_bool) == Some(true) && !state.archived {
            state.archived = true;
            state.archived_at = fields.get("archived_at").and_then(Value::as_f64);
        }
        state.save(dir)?;
    }
    fs::rename(&old, dir.join("metadata.json.old"))
}

impl SessionStore {
    /// Sessions in the share folders that old versions had below `home`, newest first. They stay
    /// where they are; [`Self::adopt`] copies one.
    ///
    /// # Errors
    /// When such a folder is there but cannot be read.
    pub fn list_legacy(&self, home: &Path) -> Result<Vec<SessionSummary>, SessionError> {
        let mut list = Vec::new();
        for share in OLD_SHARES.map(|share| home.join(share)) {
            if share == self.paths().share {
                continue;
            }
            for folder in trash::folders(&share.join("sessions"))? {
                if holds_session(&folder) {
                    list.push(summary(folder));
                    continue;
                }
                let inner = trash::folders(&folder)?;
                list.extend(inner.into_iter().filter(|dir| holds_session(dir)).map(summary));
            }
        }
        list.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
        Ok(list)
    }

    /// Copies a session of an old share folder to `work_dir`, under its own id if that is free.
    ///
    /// # Errors
    /// When it cannot be read, or the copy not written.
    pub fn adopt(&self, legacy: &SessionSummary, work_dir: &Path) -> Result<Session, SessionError> {
        let session = match self.create(work_dir, Some(legacy.id.clone())) {
            Err(SessionError::Exists { .. } | SessionError::BadId { .. }) => {
                self.create(work_dir, None)?
            }
            made => made?,
        };
        copy_folder(&legacy.dir, &session.dir)
            .map_err(SessionError::io("copy the session", &legacy.dir))?;
        bring_up_to_date(&session.dir);
        Ok(session)
    }
}

fn holds_session(dir: &Path) -> bool {
    [CONTEXT_FILE, OLD_CONTEXT].iter().any(|name| dir.join(name).is_file())
}

fn summary(dir: PathBuf) -> SessionSummary {
    let id = SessionId(dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
    Session { id, work_dir: PathBuf::new(), dir }.summary()
}

/// Copies files and folders; links and devices are left out.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    files::create_private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
