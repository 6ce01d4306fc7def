//! Why a session could not be found, made or held.

use std::io;
use std::path::{Path, PathBuf};

use crate::context::ContextError;
use crate::message::SessionId;

/// Why a session could not be found, made or held.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The id cannot be the name of a folder.
    #[error(
        "\"{}\" cannot be a session's id: {reason}. Use letters, digits, \"-\", \"_\" and \".\".",
        id.0.escape_debug()
    )]
    BadId {
        /// What was given.
        id: SessionId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A session of this id is there already.
    #[error("session {id} is already there, in {}. Resume it, or choose another id.", dir.display())]
    Exists {
        /// The id.
        id: SessionId,
        /// Its folder.
        dir: PathBuf,
    },
    /// The beginning of an id fits more than one session.
    #[error("\"{prefix}\" fits {} sessions: {}. Give more of the id.", matches.len(), shown(matches))]
    Ambiguous {
        /// What was given.
        prefix: SessionId,
        /// The sessions it fits.
        matches: Vec<SessionId>,
    },
    /// Another program has the session open.
    #[error(
        "session {id} is open in another kimi-tui{}. Close it there, fork it \
         to go on from here, or open it for reading only.",
        holder.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    InUse {
        /// The session.
        id: SessionId,
        /// The process that holds it, if it said so.
        holder: Option<u32>,
    },
    /// `kimi.json` cannot be understood. It is not written over, because it knows every folder.
    #[error(
        "{}: {reason}. Mend the file or move it away; the sessions themselves are not in it.",
        path.display()
    )]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be done, whatever the disk says.
    #[error("{what}: {reason}. {advice}")]
    Refused {
        /// What was asked for.
        what: String,
        /// Why it cannot be.
        reason: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The session's context says no.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The file system said no.
    #[error(
        "cannot {action} {}: {source}. See that the disk has room and the folder can be written; \
         KIMI_SHARE_DIR names another place for data.", path.display()
    )]
    Io {
        /// What was tried, as a verb: `create`, `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn shown(ids: &[SessionId]) -> String {
    let mut names: Vec<&str> = ids.iter().take(5).map(|id| id.0.as_str()).collect();
    if ids.len() > names.len() {
        names.push("…");
    }
    names.join(", ")
}

impl SessionError {
    /// Makes an error of `action` on `path`, for `map_err`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
