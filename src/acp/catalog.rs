//! The sessions on disk: listed, found, deleted. All of it blocks.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as acp;

use crate::message::SessionId;
use crate::paths::Paths;
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, RpcError};
use crate::session::{Session, SessionError, SessionStore, SessionSummary};

/// Sessions told at a time.
const PAGE: usize = 100;
/// There is no such session.
pub(super) const NOT_FOUND: i64 = -32002;

fn failed(error: &SessionError) -> RpcError {
    RpcError::new(INTERNAL_ERROR, error.to_string())
}

/// A page of the sessions of a folder, or of all, the latest first.
pub(super) fn list(
    paths: &Paths,
    folder: Option<&Path>,
    cursor: Option<&str>,
) -> Result<acp::ListSessionsResponse, RpcError> {
    let from: usize = match cursor.map(str::parse) {
        None => 0,
        Some(Ok(from)) => from,
        Some(Err(_)) => return Err(RpcError::new(INVALID_PARAMS, "The cursor is none of ours.")),
    };
    let store = SessionStore::new(paths.clone());
    let mut all = match folder {
        Some(folder) => store.list(&real(folder)).map_err(|error| failed(&error))?,
        None => {
            let folders = store.list_all().map_err(|error| failed(&error))?;
            folders.into_iter().flat_map(|folder| folder.sessions).collect()
        }
    };
    // A folder nobody knows any more cannot be opened.
    all.retain(|session| session.work_dir.is_absolute());
    all.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    let next = (all.len() > from + PAGE).then(|| (from + PAGE).to_string());
    let page = all.into_iter().skip(from).take(PAGE).map(told).collect();
    let mut answer = acp::ListSessionsResponse::new(page);
    answer.next_cursor = next;
    Ok(answer)
}

fn told(session: SessionSummary) -> acp::SessionInfo {
    let at = jiff::Timestamp::try_from(session.updated_at).map(|at| at.to_string());
    acp::SessionInfo::new(session.id.0, session.work_dir).title(session.title).updated_at(at.ok())
}

/// The session `id`: of this folder first, else of any.
pub(super) fn find(paths: &Paths, folder: Option<&Path>, id: &str) -> Result<Session, RpcError> {
    let unknown = || RpcError::new(NOT_FOUND, format!("There is no session {id}."));
    let store = SessionStore::new(paths.clone());
    let wanted = SessionId(id.to_owned());
    if let Some(folder) = folder
        && let Ok(Some(session)) = store.find(&real(folder), &wanted)
        && session.id == wanted
    {
        return Ok(session);
    }
    let elsewhere = store.find_anywhere(&wanted).map_err(|error| failed(&error))?;
    elsewhere.map(|summary| summary.session()).ok_or_else(unknown)
}

/// Moves the session `id` to the trash.
pub(super) fn delete(paths: &Paths, id: &str) -> Result<(), RpcError> {
    let session = find(paths, None, id)?;
    let store = SessionStore::new(paths.clone());
    store.delete(&session).map(drop).map_err(|error| failed(&error))
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
