//! One program a session: two that append to one context would mix their conversations.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use super::error::SessionError;
use crate::message::SessionId;

const LOCK_FILE: &str = ".lock";

/// Holds a session for this program until it is dropped, or the program ends in whatever way.
///
/// Advisory: the Python program knows no lock. See `ContextError::Changed` for that case.
#[derive(Debug)]
pub struct SessionLock {
    _file: File,
}

impl SessionLock {
    pub(super) fn take(id: &SessionId, dir: &Path) -> Result<Self, SessionError> {
        let path = dir.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(SessionError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = written_in(&mut file);
                return Err(SessionError::InUse { id: id.clone(), holder });
            }
            // Some network file systems have no locks; the session is worth more than the guard.
            Err(TryLockError::Error(error)) => {
                tracing::warn!(path = %path.display(), %error, "this file system has no locks");
            }
        }
        let named = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = named {
            tracing::debug!(path = %path.display(), %error, "cannot say who holds the session");
        }
        Ok(Self { _file: file })
    }
}

/// The program that holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process id, if it said so.
    pub pid: Option<u32>,
}

/// Who holds the session in `dir` now, if anybody does.
pub(super) fn holder(dir: &Path) -> Option<Holder> {
    let mut file = File::open(dir.join(LOCK_FILE)).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
        .then(|| Holder { pid: written_in(&mut file) })
}

fn written_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
