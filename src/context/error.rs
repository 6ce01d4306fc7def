//! Why a context could not be read or changed.

use std::io;
use std::path::{Path, PathBuf};

use crate::message::{CheckpointId, Generation};

/// Why a context could not be read or changed. Memory and file are as they were before the call.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The file system said no.
    #[error(
        "cannot {action} {}: {source}. The conversation is as it was; see that the disk has room and \
         the folder can be written, then try again.", path.display()
    )]
    Io {
        /// What was tried, as a verb: `append to`, `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such checkpoint in the current generation.
    #[error("there is no checkpoint {id}; {}", known(*.first, *.last))]
    UnknownCheckpoint {
        /// The one that was asked for.
        id: CheckpointId,
        /// The first there is.
        first: Option<CheckpointId>,
        /// The last there is.
        last: Option<CheckpointId>,
    },
    /// There is no such generation.
    #[error("there is no generation {generation} of this context; {}", listed(known))]
    UnknownGeneration {
        /// The one that was asked for.
        generation: Generation,
        /// Those there are.
        known: Vec<Generation>,
    },
    /// The generation to restore is the one that lives.
    #[error("generation {generation} is the current one; choose an earlier one")]
    IsCurrent {
        /// The generation.
        generation: Generation,
    },
    /// The context was opened for reading.
    #[error(
        "{} was opened for reading only, because another program has the session. Close it there, or \
         fork the session to go on from here.", path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file is not what this program left there.
    #[error(
        "{} was changed by another program while it was open here. Nothing was written; open the \
         session again to go on from what is there now.", path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

fn known(first: Option<CheckpointId>, last: Option<CheckpointId>) -> String {
    match (first, last) {
        (Some(first), Some(last)) => format!("there are {first} to {last}"),
        _ => "this conversation has none yet".to_owned(),
    }
}

fn listed(known: &[Generation]) -> String {
    let numbers: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!("there are {}", numbers.join(", "))
}

impl ContextError {
    /// Is it the disk's fault, rather than a wrong choice of whoever asked?
    #[must_use]
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. })
    }

    /// Makes an error of `action` on `path`, for `map_err`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
