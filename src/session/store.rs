//! [`SessionStore`]: makes, finds and lists the sessions of a work folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::SessionError;
use super::lock::{Holder, SessionLock};
use super::{legacy, lock, metadata, peek};
use crate::files;
use crate::message::SessionId;
use crate::paths::Paths;

/// The fewest characters that are taken for the beginning of an id.
const SHORTEST_PREFIX: usize = 4;
/// File systems end at 255 bytes, and names grow (`.jsonl`).
const LONGEST_ID: usize = 200;

/// The sessions below one share folder. Work folders given to it must be canonical.
#[derive(Debug, Clone)]
pub struct SessionStore {
    paths: Paths,
}

/// A session on disk. Nothing of it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, which is the name of its folder.
    pub id: SessionId,
    /// The folder it works in.
    pub work_dir: PathBuf,
    /// The folder that holds its files.
    pub dir: PathBuf,
}

/// A session as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// The folder it works in.
    pub work_dir: PathBuf,
    /// The folder that holds its files.
    pub dir: PathBuf,
    /// What it is called, on one line; `Untitled` when nothing in it can be read.
    pub title: String,
    /// When its context was last written.
    pub updated_at: SystemTime,
    /// Bytes of its context and its record.
    pub bytes: u64,
}

impl Session {
    /// Takes the session for this program, before its context is opened.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when another has it; `Io` when the folder cannot be written.
    pub fn lock(&self) -> Result<SessionLock, SessionError> {
        SessionLock::take(&self.id, &self.dir)
    }

    /// Who holds the session now. Nobody is kept out by asking.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        lock::holder(&self.dir)
    }

    /// The session as a list shows it. Reads only the beginnings of its files.
    #[must_use]
    pub fn summary(&self) -> SessionSummary {
        self.summary_of(peek::peek(&self.dir))
    }

    pub(super) fn summary_of(&self, peek: peek::Peek) -> SessionSummary {
        SessionSummary {
            id: self.id.clone(),
            work_dir: self.work_dir.clone(),
            dir: self.dir.clone(),
            title: peek.title,
            updated_at: peek.updated_at,
            bytes: peek.bytes,
        }
    }
}

impl SessionStore {
    /// The sessions below `paths.share`.
    #[must_use]
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    /// Makes a session of `work_dir`, with this id or a new one, and makes the folder known.
    ///
    /// # Errors
    /// When the id cannot be a folder's name or is taken, `kimi.json` is damaged, or the share
    /// folder cannot be written.
    pub fn create(&self, work_dir: &Path, id: Option<SessionId>) -> Result<Session, SessionError> {
        let id = id.unwrap_or_else(|| SessionId(uuid::Uuid::new_v4().to_string()));
        check_id(&id)?;
        metadata::register(&self.paths, work_dir)?;
        let bucket = self.paths.session_bucket(work_dir);
        files::create_private_folder(&bucket)
            .map_err(SessionError::io("create the folder", &bucket))?;
        let session = self.at(work_dir, id);
        if legacy::file_beside(&session.dir).is_file() {
            return Err(SessionError::Exists {
                id: session.id,
                dir: legacy::file_beside(&session.dir),
            });
        }
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&session.dir) {
            Ok(()) => Ok(session),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(SessionError::Exists { id: session.id, dir: session.dir })
            }
            Err(error) => Err(SessionError::io("create the folder", &session.dir)(error)),
        }
    }

    /// The session of `work_dir` with this id, or the one uuid that begins with it (four characters
    /// or more). An id that a person chose is only found whole, so that `--session demo` never opens
    /// `demo-2`. A session in the layout of old versions is moved to today's.
    ///
    /// # Errors
    /// When the id cannot be one, fits several sessions, or the folder cannot be read.
    pub fn find(&self, work_dir: &Path, id: &SessionId) -> Result<Option<Session>, SessionError> {
        check_id(id)?;
        if let Some(session) = self.existing(work_dir, id.clone()) {
            return Ok(Some(session));
        }
        if id.0.len() < SHORTEST_PREFIX {
            return Ok(None);
        }
        let mut matches: Vec<SessionId> = ids(&self.paths.session_bucket(work_dir))?;
        matches.retain(|known| known.0.starts_with(&id.0) && is_uuid(known));
        match matches.len() {
            0 => Ok(None),
            1 => Ok(matches.pop().and_then(|id| self.existing(work_dir, id))),
            _ => Err(SessionError::Ambiguous { prefix: id.clone(), matches }),
        }
    }

    /// The session of `work_dir` to continue: the one that was marked last, unless a newer one was
    /// written after that mark and nobody holds it, which means that the program was killed in it.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read.
    pub fn latest(&self, work_dir: &Path) -> Result<Option<Session>, SessionError> {
        let marked = metadata::last_session(&self.paths, work_dir)
            .filter(|id| check_id(id).is_ok())
            .and_then(|id| self.existing(work_dir, id));
        let marked_at =
            fs::metadata(self.paths.metadata_file()).and_then(|metadata| metadata.modified());
        let newest =
            self.list(work_dir)?.into_iter().find(|session| lock::holder(&session.dir).is_none());
        Ok(match (marked, newest) {
            (Some(marked), Some(newest)) if !marked_at.is_ok_and(|at| newest.updated_at > at) => {
                Some(marked)
            }
            (_, Some(newest)) => Some(self.at(work_dir, newest.id)),
            (marked, None) => marked,
        })
    }

    /// The sessions of `work_dir`, the one that was written last first. Empty and archived ones are
    /// left out; damaged ones are not. Only the beginnings of files are read.
    ///
    /// # Errors
    /// When the sessions' folder cannot be read. One that is missing has no sessions.
    pub fn list(&self, work_dir: &Path) -> Result<Vec<SessionSummary>, SessionError> {
        self.list_bucket(&self.paths.session_bucket(work_dir), work_dir, false)
    }

    /// The sessions in `bucket` that are archived, or those that are not.
    pub(super) fn list_bucket(
        &self,
        bucket: &Path,
        work_dir: &Path,
        archived: bool,
    ) -> Result<Vec<SessionSummary>, SessionError> {
        let mut list = Vec::new();
        for id in ids(bucket)? {
            let dir = bucket.join(&id.0);
            let session = Session { id, work_dir: work_dir.to_owned(), dir };
            legacy::bring_up_to_date(&session.dir);
            let peek = peek::peek(&session.dir);
            if !peek.is_empty && peek.archived == archived {
                list.push(session.summary_of(peek));
            }
        }
        list.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
        Ok(list)
    }

    pub(super) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Makes `session` the one that its folder continues. Call it when a session that is not empty
    /// ends well.
    ///
    /// # Errors
    /// When `kimi.json` is damaged or cannot be written.
    pub fn mark_last(&self, session: &Session) -> Result<(), SessionError> {
        metadata::set_last(&self.paths, &session.work_dir, &session.id)
    }

    /// Removes `session` if nothing was ever said in it and nothing else is in its folder, and tells
    /// whether it did. To be called by whoever holds its lock.
    ///
    /// # Errors
    /// When the folder cannot be read or removed.
    pub fn remove_if_empty(&self, session: &Session) -> Result<bool, SessionError> {
        match peek::is_empty(&session.dir) {
            Ok(true) => fs::remove_dir_all(&session.dir)
                .map(|()| true)
                .map_err(SessionError::io("remove", &session.dir)),
            Ok(false) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(SessionError::io("read the folder", &session.dir)(error)),
        }
    }

    pub(super) fn at(&self, work_dir: &Path, id: SessionId) -> Session {
        let dir = self.paths.session_bucket(work_dir).join(&id.0);
        Session { id, work_dir: work_dir.to_owned(), dir }
    }

    /// The session, in today's layout, if it is there.
    fn existing(&self, work_dir: &Path, id: SessionId) -> Option<Session> {
        let session = self.at(work_dir, id);
        legacy::bring_up_to_date(&session.dir);
        session.dir.is_dir().then_some(session)
    }
}

/// All ids in a bucket, those in the layout of old versions included.
pub(super) fn ids(bucket: &Path) -> Result<Vec<SessionId>, SessionError> {
    let entries = match fs::read_dir(bucket) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SessionError::io("read the folder", bucket)(error)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(SessionError::io("read the folder", bucket))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_folder = entry.path().is_dir();
        match name.strip_suffix(".jsonl") {
            _ if is_folder => ids.push(SessionId(name.to_owned())),
            Some(id) => ids.push(SessionId(id.to_owned())),
            None => {}
        }
    }
    ids.sort();
    ids.dedup();
    ids.retain(|id| check_id(id).is_ok());
    Ok(ids)
}

/// Ids come from the command line and become paths.
fn check_id(id: &SessionId) -> Result<(), SessionError> {
    let reason = match id.0.as_str() {
        "" => "it is empty",
        "." | ".." => "it names a folder that is always there",
        text if text.contains(['/', '\\']) => "it has a path separator in it",
        text if text.chars().any(char::is_control) => "it has a control character in it",
        text if text.len() > LONGEST_ID => "it is too long",
        _ => return Ok(()),
    };
    Err(SessionError::BadId { id: id.clone(), reason })
}

fn is_uuid(id: &SessionId) -> bool {
    uuid::Uuid::try_parse(&id.0).is_ok()
}
