//! All sessions of all folders, and what a person does with one: name it, put it away.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::SessionError;
use super::store::{Session, SessionStore, SessionSummary};
use super::{SessionState, metadata, trash};
use crate::message::SessionId;

/// Longest title a person can give, in characters (as the Python program's).
const LONGEST_TITLE: usize = 200;

/// Which folder sessions belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A folder of this machine. It may be gone.
    Here(PathBuf),
    /// A folder on another machine, as the Python program reaches them.
    Elsewhere {
        /// What reaches it.
        kaos: String,
        /// The folder there.
        path: PathBuf,
    },
    /// `kimi.json` does not know it, and the name of its bucket is a hash.
    Unknown {
        /// The bucket's name.
        bucket: String,
    },
}

impl Place {
    /// The place in words.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Here(path) => path.display().to_string(),
            Self::Elsewhere { kaos, path } => format!("{kaos}:{}", path.display()),
            Self::Unknown { bucket } => {
                format!("unknown folder ({})", bucket.chars().take(8).collect::<String>())
            }
        }
    }

    /// The folder here, where sessions of this place can go on.
    #[must_use]
    pub fn work_dir(&self) -> Option<&Path> {
        match self {
            Self::Here(path) => Some(path),
            _ => None,
        }
    }
}

/// The sessions of one folder.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderSessions {
    /// The folder.
    pub place: Place,
    /// Its sessions, the one that was written last first. Their `work_dir` is empty where the place
    /// is none of this machine.
    pub sessions: Vec<SessionSummary>,
}

impl SessionSummary {
    /// The session itself.
    #[must_use]
    pub fn session(&self) -> Session {
        let (id, work_dir, dir) = (self.id.clone(), self.work_dir.clone(), self.dir.clone());
        Session { id, work_dir, dir }
    }
}

impl SessionStore {
    /// The sessions of all folders that have any, the folder that was worked in last first.
    /// Empty and archived ones are left out.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read.
    pub fn list_all(&self) -> Result<Vec<FolderSessions>, SessionError> {
        let known = metadata::buckets(self.paths());
        let mut all = Vec::new();
        for bucket in trash::folders(&self.paths().sessions())? {
            let name = bucket.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let place = match known.iter().find(|folder| folder.bucket == name) {
                Some(folder) if folder.kaos == metadata::LOCAL => Place::Here(folder.path.clone()),
                Some(folder) => {
                    Place::Elsewhere { kaos: folder.kaos.clone(), path: folder.path.clone() }
                }
                None => Place::Unknown { bucket: name },
            };
            let work_dir = place.work_dir().unwrap_or(Path::new("")).to_owned();
            let sessions = self.list_bucket(&bucket, &work_dir, false)?;
            if !sessions.is_empty() {
                all.push(FolderSessions { place, sessions });
            }
        }
        let newest = |folder: &FolderSessions| folder.sessions.first().map(|s| s.updated_at);
        all.sort_by(|a, b| {
            newest(b).cmp(&newest(a)).then_with(|| a.place.label().cmp(&b.place.label()))
        });
        Ok(all)
    }

    /// The archived sessions of `work_dir`, the one that was written last first.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read.
    pub fn list_archived(&self, work_dir: &Path) -> Result<Vec<SessionSummary>, SessionError> {
        self.list_bucket(&self.paths().session_bucket(work_dir), work_dir, true)
    }

    /// Hides `session` from lists, or shows it again.
    ///
    /// # Errors
    /// When its state cannot be written.
    pub fn set_archived(&self, session: &Session, archived: bool) -> Result<(), SessionError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        change(session, |state| {
            state.archived = archived;
            state.archived_at = archived.then_some(now);
        })
    }

    /// Gives `session` a title, or with a blank one takes the given one away, so that it is made
    /// from its first words again. Returns the title as it is kept: on one line, at most 200
    /// characters.
    ///
    /// # Errors
    /// When its state cannot be written.
    pub fn rename(&self, session: &Session, title: &str) -> Result<Option<String>, SessionError> {
        let words = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = words.chars().take(LONGEST_TITLE).collect();
        let title = Some(title.trim_end().to_owned()).filter(|title| !title.is_empty());
        change(session, |state| {
            state.custom_title.clone_from(&title);
            state.title_generated = title.is_some();
        })?;
        Ok(title)
    }

    /// The session `id` of any folder, whole id only.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read.
    pub fn find_anywhere(&self, id: &SessionId) -> Result<Option<SessionSummary>, SessionError> {
        let all = self.list_all()?;
        Ok(all.into_iter().flat_map(|folder| folder.sessions).find(|session| session.id == *id))
    }
}

fn change(session: &Session, change: impl FnOnce(&mut SessionState)) -> Result<(), SessionError> {
    let mut state = SessionState::load(&session.dir);
    change(&mut state);
    state.save(&session.dir).map_err(SessionError::io("write the state of", &session.dir))
}
