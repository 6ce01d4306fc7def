//! Sessions that were deleted: in `trash/` of the share folder, until that is emptied.
//!
//! `trash/<milliseconds since 1970>-<random>/<bucket>/<session id>/`. Deleting and bringing back are
//! one rename each, so a kill leaves a session in one place or the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::SessionError;
use super::store::{Session, SessionStore};
use super::{metadata, peek};
use crate::files;
use crate::message::SessionId;
use crate::snapshot::gc;

/// A deleted session.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    /// Its id.
    pub id: SessionId,
    /// What it was called.
    pub title: String,
    /// The folder it worked in, if that is known.
    pub work_dir: Option<PathBuf>,
    /// When it was deleted.
    pub deleted_at: SystemTime,
    /// Where it is now.
    pub dir: PathBuf,
}

impl SessionStore {
    /// Moves `session` to the trash.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when a program holds it; `Io` when it cannot be moved.
    pub fn delete(&self, session: &Session) -> Result<Trashed, SessionError> {
        // Held until it is moved: nobody opens it in between.
        let _lock = session.lock()?;
        let now = SystemTime::now();
        let bucket = session.dir.parent().and_then(Path::file_name).unwrap_or_default();
        let place = self.trash().join(format!("{}-{:08x}", millis(now), fastrand::u32(..)));
        let place = place.join(bucket);
        files::create_private_folder(&place)
            .map_err(SessionError::io("create the folder", &place))?;
        let title = peek::peek(&session.dir).title;
        let dir = place.join(&session.id.0);
        fs::rename(&session.dir, &dir).map_err(SessionError::io("delete", &session.dir))?;
        let work_dir = Some(session.work_dir.clone()).filter(|path| !path.as_os_str().is_empty());
        Ok(Trashed { id: session.id.clone(), title, work_dir, deleted_at: now, dir })
    }

    /// What is in the trash, the latest first.
    ///
    /// # Errors
    /// When the trash cannot be read. A missing one is empty.
    pub fn list_trash(&self) -> Result<Vec<Trashed>, SessionError> {
        let known = metadata::buckets(self.paths());
        let mut list = Vec::new();
        for entry in folders(&self.trash())? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(at) = name.split('-').next().and_then(|digits| digits.parse().ok()) else {
                continue;
            };
            for bucket in folders(&entry)? {
                let bucket_name = bucket.file_name().unwrap_or_default().to_string_lossy();
                for dir in folders(&bucket)? {
                    list.push(Trashed {
                        id: SessionId(
                            dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                        ),
                        title: peek::peek(&dir).title,
                        work_dir: known
                            .iter()
                            .find(|folder| folder.bucket == bucket_name)
                            .map(|folder| folder.path.clone()),
                        deleted_at: UNIX_EPOCH + Duration::from_millis(at),
                        dir,
                    });
                }
            }
        }
        list.sort_by(|a, b| b.deleted_at.cmp(&a.deleted_at).then_with(|| a.id.cmp(&b.id)));
        Ok(list)
    }

    /// Brings a deleted session back to where it was.
    ///
    /// # Errors
    /// [`SessionError::Exists`] when another has its place now; `Io` when it cannot be moved.
    pub fn undelete(&self, trashed: &Trashed) -> Result<(), SessionError> {
        let bucket = trashed.dir.parent().and_then(Path::file_name).unwrap_or_default();
        let bucket = self.paths().sessions().join(bucket);
        let dir = bucket.join(&trashed.id.0);
        files::create_private_folder(&bucket)
            .map_err(SessionError::io("create the folder", &bucket))?;
        // A rename would silently replace an empty folder.
        if dir.exists() {
            return Err(SessionError::Exists { id: trashed.id.clone(), dir });
        }
        fs::rename(&trashed.dir, &dir).map_err(SessionError::io("bring back", &trashed.dir))?;
        remove_empty_above(&trashed.dir);
        Ok(())
    }

    /// Removes everything in the trash for good, and tells how many sessions that were. Contents of
    /// snapshots that only they needed go too.
    ///
    /// # Errors
    /// When something cannot be removed; what comes after it is then still there.
    pub fn empty_trash(&self) -> Result<usize, SessionError> {
        let all = self.list_trash()?;
        let has_snapshots = all.iter().any(|trashed| gc::has_any(&trashed.dir));
        let trash = self.trash();
        match fs::remove_dir_all(&trash) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(SessionError::io("empty", &trash)(error));
            }
            _ => {}
        }
        if has_snapshots {
            self.forget_snapshots();
        }
        Ok(all.len())
    }

    /// Removes one deleted session for good, and contents of snapshots that only it needed.
    ///
    /// # Errors
    /// When it is not in the trash, or cannot be removed.
    pub fn purge(&self, trashed: &Trashed) -> Result<(), SessionError> {
        let dir = &trashed.dir;
        // Nothing but what lies in the trash is ever removed, whatever one is handed.
        if !dir.starts_with(self.trash()) || dir.components().any(|part| part.as_os_str() == "..") {
            let error = io::Error::other("it is not in the trash");
            return Err(SessionError::io("delete for good", dir)(error));
        }
        let has_snapshots = gc::has_any(dir);
        fs::remove_dir_all(dir).map_err(SessionError::io("delete for good", dir))?;
        remove_empty_above(dir);
        if has_snapshots {
            self.forget_snapshots();
        }
        Ok(())
    }

    pub(super) fn trash(&self) -> PathBuf {
        self.paths().share.join("trash")
    }
}

/// Removes the bucket and the time a session lay in, when nothing else does.
fn remove_empty_above(dir: &Path) {
    for emptied in dir.ancestors().skip(1).take(2) {
        if let Err(error) = fs::remove_dir(emptied) {
            tracing::debug!(path = %emptied.display(), %error, "a folder of the trash stays");
        }
    }
}

fn millis(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
}

/// The folders in `folder`, in the order of their names. None if it is missing.
pub(super) fn folders(folder: &Path) -> Result<Vec<PathBuf>, SessionError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SessionError::io("read the folder", folder)(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(SessionError::io("read the folder", folder))?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}
