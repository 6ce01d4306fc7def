//! Lists of all sessions in which only what changed since the index was made is read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::SessionIndex;
use super::catalog::{Entry, Stamps};
use crate::message::SessionId;
use crate::session::error::SessionError;
use crate::session::peek::{self, Peek};
use crate::session::store::{self, Session, SessionSummary};
use crate::session::{FolderSessions, Place, legacy, metadata, trash};

/// A folder of sessions.
pub(super) struct Bucket {
    pub(super) name: String,
    pub(super) dir: PathBuf,
    pub(super) place: Place,
}

impl SessionIndex {
    /// The sessions of all folders that have any, the folder that was worked in last first; those
    /// that are archived, or those that are not. Empty ones are left out, damaged ones are not.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read.
    pub fn list(&self, archived: bool) -> Result<Vec<FolderSessions>, SessionError> {
        let snapshot = self.snapshot();
        let known: HashMap<(&str, &str), &Entry> = snapshot
            .catalog
            .sessions
            .iter()
            .map(|entry| ((entry.bucket.as_str(), entry.id.as_str()), entry))
            .collect();
        let mut all = Vec::new();
        for bucket in self.buckets()? {
            let work_dir = bucket.place.work_dir().unwrap_or(Path::new("")).to_owned();
            let mut sessions = Vec::new();
            for id in store::ids(&bucket.dir)? {
                let entry = known.get(&(bucket.name.as_str(), id.0.as_str())).copied();
                let (dir, peek) = look(&bucket, &id, entry);
                if !peek.is_empty && peek.archived == archived {
                    let session = Session { id, work_dir: work_dir.clone(), dir };
                    sessions.push(session.summary_of(peek));
                }
            }
            if !sessions.is_empty() {
                newest_first(&mut sessions);
                all.push(FolderSessions { place: bucket.place, sessions });
            }
        }
        let newest = |folder: &FolderSessions| folder.sessions.first().map(|s| s.updated_at);
        all.sort_by(|a, b| {
            newest(b).cmp(&newest(a)).then_with(|| a.place.label().cmp(&b.place.label()))
        });
        Ok(all)
    }

    /// The folders that hold sessions, and where those were worked in.
    pub(super) fn buckets(&self) -> Result<Vec<Bucket>, SessionError> {
        let paths = self.store.paths();
        let known = metadata::buckets(paths);
        let buckets = trash::folders(&paths.sessions())?.into_iter().map(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let place = match known.iter().find(|folder| folder.bucket == name) {
                Some(folder) if folder.kaos == metadata::LOCAL => Place::Here(folder.path.clone()),
                Some(folder) => {
                    Place::Elsewhere { kaos: folder.kaos.clone(), path: folder.path.clone() }
                }
                None => Place::Unknown { bucket: name.clone() },
            };
            Bucket { name, dir, place }
        });
        Ok(buckets.collect())
    }
}

/// The session's folder and what is in it at first sight, from the index while that is right.
fn look(bucket: &Bucket, id: &SessionId, entry: Option<&Entry>) -> (PathBuf, Peek) {
    let dir = bucket.dir.join(&id.0);
    if let Some(entry) = entry {
        let stamps = Stamps::of(&dir);
        if stamps == entry.stamps
            && let Some(updated_at) = stamps.updated_at()
        {
            let peek = Peek {
                title: entry.title.clone(),
                archived: entry.archived,
                is_empty: entry.is_empty,
                updated_at,
                bytes: stamps.bytes(),
            };
            return (dir, peek);
        }
    } else {
        legacy::bring_up_to_date(&dir);
    }
    let peek = peek::peek(&dir);
    (dir, peek)
}

fn newest_first(sessions: &mut [SessionSummary]) {
    let at = |session: &SessionSummary| -> SystemTime { session.updated_at };
    sessions.sort_by(|a, b| at(b).cmp(&at(a)).then_with(|| a.id.cmp(&b.id)));
}
