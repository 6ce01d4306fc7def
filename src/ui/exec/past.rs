//! A session's past from the disk: its end at once, so that it can be shown while the rest is read.
//! Runs on threads that may block.

use std::io;
use std::path::{Path, PathBuf};

use super::super::effect::OpenTarget;
use super::super::model::transcript::Transcript;
use super::super::update::replay::Replay;
use crate::engine::Host;
use crate::session::SessionStore;
use crate::wire::story::{StoryReader, read_tail};

/// Events that fill any screen, and a few pages above it.
const TAIL_EVENTS: usize = 600;

/// Where the session that is about to be opened keeps its record, as far as that can be told without
/// opening it.
fn place(host: &Host, target: &OpenTarget) -> Option<PathBuf> {
    let store = SessionStore::new(host.paths().clone());
    let work_dir = std::fs::canonicalize(host.work_dir()).ok()?;
    let session = match target {
        OpenTarget::New => None,
        OpenTarget::Latest => store.latest(&work_dir).ok()?,
        OpenTarget::Id(id) => store.find(&work_dir, id).ok()?,
    };
    session.map(|session| session.dir)
}

/// The end of the session that is about to be opened, and where it is. None when there is nothing to
/// show, or when it takes opening to know.
pub(super) fn tail(host: &Host, target: &OpenTarget, now: f64) -> Option<(PathBuf, Transcript)> {
    let dir = place(host, target)?;
    let events = read_tail(&dir, TAIL_EVENTS).ok()?;
    let transcript = Replay::tail(events, now);
    (!transcript.cells().is_empty()).then_some((dir, transcript))
}

/// All of a session's past; `shown` cells of its end are on the screen already.
pub(super) fn whole(dir: &Path, shown: usize) -> io::Result<Replay> {
    let mut reader = StoryReader::open(dir)?;
    let mut replay = Replay::new();
    while let Some(recorded) = reader.next()? {
        replay.take(recorded);
    }
    replay.bad_lines = reader.bad_lines();
    if shown > 0 {
        replay.continue_tail(shown);
    }
    Ok(replay)
}
