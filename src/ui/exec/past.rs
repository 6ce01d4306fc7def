//! A session's past from the disk: its end at once, so that it can be shown while the rest is read.
//! Runs on threads that may block.

use std::io;
use std::path::{Path, PathBuf};

use super::super::effect::OpenTarget;
use super::super::model::transcript::Transcript;
use super::super::update::recall::Recall;
use super::DoorSource;
use crate::session::SessionStore;
use crate::wire::story::{StoryReader, read_tail};

/// Events that fill any screen, and a few pages above it.
const TAIL_EVENTS: usize = 600;

/// Where the session that is about to be opened keeps its record, as far as that can be told without
/// opening it.
fn place(host: &dyn DoorSource, target: &OpenTarget) -> Option<PathBuf> {
    if !host.keeps_sessions() {
        return None;
    }
    if let OpenTarget::Session(session) = target {
        return Some(session.dir.clone());
    }
    let store = SessionStore::new(host.paths().clone());
    let work_dir = std::fs::canonicalize(host.work_dir()).ok()?;
    let session = match target {
        OpenTarget::New | OpenTarget::Session(_) => None,
        OpenTarget::Latest => store.latest(&work_dir).ok()?,
        OpenTarget::Id(id) | OpenTarget::Recording(id) => store.find(&work_dir, id).ok()?,
    };
    session.map(|session| session.dir)
}

/// The end of the session that is about to be opened, and where it is. None when there is nothing to
/// show, or when it takes opening to know.
pub(super) fn tail(
    host: &dyn DoorSource,
    target: &OpenTarget,
    now: f64,
) -> Option<(PathBuf, Transcript)> {
    let dir = place(host, target)?;
    let events = read_tail(&dir, TAIL_EVENTS).ok()?;
    let transcript = Recall::tail(events, now);
    (!transcript.cells().is_empty()).then_some((dir, transcript))
}

/// All of a session's past; `shown` cells of its end are on the screen already.
pub(super) fn whole(dir: &Path, shown: usize) -> io::Result<Recall> {
    let mut reader = StoryReader::open(dir)?;
    let mut recall = Recall::new();
    while let Some(recorded) = reader.next()? {
        recall.take(recorded);
    }
    recall.bad_lines = reader.bad_lines();
    if shown > 0 {
        recall.continue_tail(shown);
    }
    Ok(recall)
}
