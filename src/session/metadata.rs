//! `kimi.json`: the folders that have sessions, and the last session of each (`kimi-facts` B.2).
//!
//! What is in it and not known here is kept as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::error::SessionError;
use crate::files;
use crate::message::SessionId;
use crate::paths::{Paths, work_dir_hash};

/// What reaches a folder of this machine.
pub(super) const LOCAL: &str = "local";

/// A folder that has sessions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    pub(super) path: PathBuf,
    pub(super) kaos: String,
    /// The name of the folder of its sessions.
    pub(super) bucket: String,
}

/// Every folder that `kimi.json` knows; none when it cannot be read.
pub(super) fn buckets(paths: &Paths) -> Vec<Known> {
    let document = read(&paths.metadata_file()).unwrap_or_else(|error| {
        tracing::warn!(%error, "the folders of the sessions are not known");
        Map::new()
    });
    let known = entries(&document).filter_map(|entry| {
        let path = PathBuf::from(entry.get("path")?.as_str()?);
        let kaos = entry.get("kaos").and_then(Value::as_str).unwrap_or(LOCAL).to_owned();
        let hash = work_dir_hash(&path);
        let bucket = if kaos == LOCAL { hash } else { format!("{kaos}_{hash}") };
        Some(Known { path, kaos, bucket })
    });
    known.collect()
}

/// The last session of `work_dir`, as far as the file can be read.
pub(super) fn last_session(paths: &Paths, work_dir: &Path) -> Option<SessionId> {
    match read(&paths.metadata_file()) {
        Ok(document) => {
            let entry = entries(&document).find(|entry| is_of(entry, work_dir))?;
            entry.get("last_session_id")?.as_str().map(|id| SessionId(id.to_owned()))
        }
        Err(error) => {
            tracing::warn!(%error, "the last session is not known");
            None
        }
    }
}

/// Makes sure that `work_dir` is known, so that the Python program lists its sessions.
///
/// # Errors
/// When the file is damaged or cannot be written.
pub(super) fn register(paths: &Paths, work_dir: &Path) -> Result<(), SessionError> {
    update(paths, work_dir, None)
}

/// Makes `id` the last session of `work_dir`.
///
/// # Errors
/// When the file is damaged or cannot be written.
pub(super) fn set_last(paths: &Paths, work_dir: &Path, id: &SessionId) -> Result<(), SessionError> {
    update(paths, work_dir, Some(id))
}

fn update(paths: &Paths, work_dir: &Path, last: Option<&SessionId>) -> Result<(), SessionError> {
    let path = paths.metadata_file();
    files::create_private_folder(&paths.share)
        .map_err(SessionError::io("create the folder", &paths.share))?;
    // Two programs that end together must not undo each other's entry.
    let lock_path = paths.share.join(".kimi.json.lock");
    let lock = files::open_append(&lock_path).map_err(SessionError::io("open", &lock_path))?;
    if let Err(error) = lock.lock() {
        tracing::debug!(%error, "this file system has no locks");
    }
    let mut document = read(&path)?;
    if !change(&mut document, work_dir, last) {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&document)
        .map_err(|error| SessionError::io("write", &path)(error.into()))?;
    files::write_atomic(&path, &text).map_err(SessionError::io("write", &path))
}

/// Enters it, and tells whether that changed anything.
fn change(document: &mut Map<String, Value>, work_dir: &Path, last: Option<&SessionId>) -> bool {
    let list = document.entry("work_dirs").or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return false };
    let known =
        list.iter_mut().filter_map(Value::as_object_mut).find(|entry| is_of(entry, work_dir));
    match (known, last) {
        (Some(entry), Some(id)) => {
            entry.insert("last_session_id".to_owned(), json!(id)) != Some(json!(id))
        }
        (Some(_), None) => false,
        (None, last) => {
            list.push(json!({
                "path": work_dir.to_string_lossy(),
                "kaos": LOCAL,
                "last_session_id": last,
            }));
            true
        }
    }
}

fn read(path: &Path) -> Result<Map<String, Value>, SessionError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(SessionError::io("read", path)(error)),
    };
    let damaged = |reason: String| SessionError::Metadata { path: path.to_owned(), reason };
    let document: Map<String, Value> = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("not a JSON object: {error}")))?;
    match document.get("work_dirs") {
        None | Some(Value::Array(_)) => Ok(document),
        Some(_) => Err(damaged("work_dirs is not a list".to_owned())),
    }
}

fn entries(document: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    document
        .get("work_dirs")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

fn is_of(entry: &Map<String, Value>, work_dir: &Path) -> bool {
    entry.get("path").and_then(Value::as_str) == Some(&*work_dir.to_string_lossy())
        && entry.get("kaos").and_then(Value::as_str).unwrap_or(LOCAL) == LOCAL
}
