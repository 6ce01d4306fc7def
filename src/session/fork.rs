//! A session from another one: all of it, or what stood before a checkpoint.
//!
//! Turns are not counted: the Python program counts them by `TurnBegin` in one file and by user rows
//! in the other, and the two disagree (`kimi-facts` D.1). The context is cut at the checkpoint's
//! marker, and the record at the moment when the checkpoint was made.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::SessionError;
use super::store::{Session, SessionStore};
use super::{SessionState, legacy};
use crate::context::{self, generations};
use crate::files::{self, NonAscii};
use crate::message::{CheckpointRef, Message, Role, UserInput};
use crate::wire::record::{RawEvent, RawRecorded, TIMELINE_FILE, WIRE_FILE};

const PREFIX: &str = "Fork: ";
const UPLOADS: &str = "uploads";
/// Records that may stand between the beginning of a turn or step and its checkpoint.
const ASIDES: [&str; 3] = ["StatusUpdate", "HookTriggered", "HookResolved"];

/// A new session, made from another.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// It.
    pub session: Session,
    /// What the person said behind the checkpoint: to be said again, perhaps in other words.
    pub said: Option<String>,
    /// How its record was cut.
    pub wire: WireCut,
}

/// How the record of what was seen was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireCut {
    /// Not at all.
    Whole,
    /// Where the checkpoint was made.
    AtCheckpoint,
    /// Where the person said what stands behind the checkpoint: the Python program keeps no times of
    /// checkpoints.
    ByText,
    /// Nothing in it could be told to belong to the checkpoint, so it was left out. What is shown
    /// comes from the context.
    LeftOut,
}

impl SessionStore {
    /// Makes a session of `session`'s folder that holds what `session` does, or with `at` what stood
    /// before that checkpoint, of the living generation or an earlier one. `session` stays as it is,
    /// and may be open elsewhere. Approvals and todos are not taken over; files of the project are
    /// not touched.
    ///
    /// # Errors
    /// When there is no such checkpoint, the folder is not known, or files cannot be read or written.
    pub fn fork(&self, session: &Session, at: Option<CheckpointRef>) -> Result<Fork, SessionError> {
        if session.work_dir.as_os_str().is_empty() {
            return Err(SessionError::Refused {
                what: format!("session {} cannot be forked", session.id),
                reason: "the folder it belongs to is not known",
                advice: "Give it one by importing it into a session of that folder.",
            });
        }
        let said = at.map(|at| said_behind(&session.dir, at)).transpose()?.flatten();
        let made = self.create(&session.work_dir, None)?;
        match fill(session, &made, at) {
            Ok(wire) => Ok(Fork { session: made, said, wire }),
            Err(error) => {
                if let Err(error) = fs::remove_dir_all(&made.dir) {
                    tracing::warn!(path = %made.dir.display(), %error, "a half-made fork stays");
                }
                Err(error)
            }
        }
    }
}

fn fill(from: &Session, to: &Session, at: Option<CheckpointRef>) -> Result<WireCut, SessionError> {
    context::fork(&from.dir, &to.dir, at)?;
    let wire = records(&from.dir, &to.dir, at)?;
    let uploads = from.dir.join(UPLOADS);
    if uploads.is_dir() {
        legacy::copy_folder(&uploads, &to.dir.join(UPLOADS))
            .map_err(SessionError::io("copy", &uploads))?;
    }
    let old = SessionState::load(&from.dir);
    let mut state = SessionState::load(&to.dir);
    let title = from.summary().title;
    let title = title.strip_prefix(PREFIX).unwrap_or(&title);
    state.custom_title = Some(format!("{PREFIX}{title}"));
    state.title_generated = true;
    state.additional_dirs = old.additional_dirs;
    state.plan_mode = old.plan_mode;
    state.save(&to.dir).map_err(SessionError::io("write the state of", &to.dir))?;
    Ok(wire)
}

fn said_behind(dir: &Path, at: CheckpointRef) -> Result<Option<String>, SessionError> {
    let transcript = generations::transcript(dir, at.generation)?;
    let mark = transcript.checkpoints.iter().find(|mark| mark.id == at.id);
    Ok(mark.and_then(|mark| said(&transcript.messages, mark.messages)))
}

/// What the person said right behind message `index`.
fn said(messages: &[Message], index: usize) -> Option<String> {
    let behind = messages.get(index..).unwrap_or_default();
    let first =
        behind.iter().find(|message| !message.is_checkpoint_note() && !message.is_reminder())?;
    (first.role == Role::User).then(|| first.text())
}

/// A line of a record, as far as cutting needs it.
struct Line<'a> {
    bytes: &'a [u8],
    timestamp: Option<f64>,
    kind: String,
    payload: Value,
}

fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let read = |bytes| match serde_json::from_slice::<RawRecorded>(bytes) {
        Ok(RawRecorded { timestamp, message: RawEvent { kind, payload } }) => {
            Line { bytes, timestamp: Some(timestamp), kind, payload }
        }
        Err(_) => Line { bytes, timestamp: None, kind: String::new(), payload: Value::Null },
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(read).collect()
}

/// Copies both records, cut at the checkpoint.
fn records(from: &Path, to: &Path, at: Option<CheckpointRef>) -> Result<WireCut, SessionError> {
    let wire = read(&from.join(WIRE_FILE))?;
    let timeline = read(&from.join(TIMELINE_FILE))?;
    let Some(at) = at else {
        write(&to.join(WIRE_FILE), &wire)?;
        write(&to.join(TIMELINE_FILE), &timeline)?;
        return Ok(WireCut::Whole);
    };
    let timeline = lines(&timeline);
    let made = timeline.iter().position(|line| {
        line.kind == "CheckpointCreated"
            && line.payload.get("at").and_then(|found| CheckpointRef::deserialize(found).ok())
                == Some(at)
    });
    let wire = lines(&wire);
    let (cut, end) = match made.and_then(|index| Some((index, timeline[index].timestamp?))) {
        Some((index, time)) => {
            let kept: Vec<u8> =
                timeline[..index].iter().flat_map(|line| line.bytes).copied().collect();
            write(&to.join(TIMELINE_FILE), &kept)?;
            (WireCut::AtCheckpoint, Some(cut_at(&wire, time)))
        }
        None => match cut_by_text(from, &wire, at)? {
            Some(end) => (WireCut::ByText, Some(end)),
            None => (WireCut::LeftOut, None),
        },
    };
    if let Some(end) = end {
        write(&to.join(WIRE_FILE), &closed(&wire[..end]))?;
    }
    Ok(cut)
}

/// The number of lines before `time`, without the beginning of the turn or step that the checkpoint
/// stands before.
fn cut_at(wire: &[Line<'_>], time: f64) -> usize {
    let behind = |line: &Line<'_>| line.timestamp.is_some_and(|at| at >= time);
    let end = wire.iter().position(behind).unwrap_or(wire.len());
    let last = wire[..end].iter().rposition(|line| !ASIDES.contains(&line.kind.as_str()));
    match last {
        Some(index) if matches!(wire[index].kind.as_str(), "TurnBegin" | "StepBegin") => index,
        _ => end,
    }
}

/// The same for a session without a timeline: finds the turn by what the person said in it, counted
/// from the end, because the latest turns are surely in both files.
fn cut_by_text(
    from: &Path,
    wire: &[Line<'_>],
    at: CheckpointRef,
) -> Result<Option<usize>, SessionError> {
    let all = generations::list(from)?;
    if all.last().is_none_or(|current| current.generation != at.generation) {
        return Ok(None);
    }
    let transcript = generations::transcript(from, at.generation)?;
    let marks = &transcript.checkpoints;
    let Some(target) = marks.iter().position(|mark| mark.id == at.id) else { return Ok(None) };
    let texts: Vec<Option<String>> =
        marks.iter().map(|mark| said(&transcript.messages, mark.messages)).collect();
    // The turn's own checkpoint, and how many steps later the target is.
    let Some(turn) = texts[..=target].iter().rposition(Option::is_some) else { return Ok(None) };
    let same = texts[turn..].iter().filter(|text| **text == texts[turn]).count();
    let begins = wire.iter().enumerate().rev().filter(|(_, line)| {
        line.kind == "TurnBegin"
            && line
                .payload
                .get("user_input")
                .and_then(|input| UserInput::deserialize(input).ok())
                .map(|input| input.text())
                == texts[turn]
    });
    let Some((begin, _)) = begins.take(same).last() else { return Ok(None) };
    if turn == target {
        return Ok(Some(begin));
    }
    let steps = wire[begin + 1..]
        .iter()
        .enumerate()
        .take_while(|(_, line)| line.kind != "TurnBegin")
        .filter(|(_, line)| line.kind == "StepBegin");
    Ok(steps.map(|(index, _)| begin + 1 + index).nth(target - turn - 1))
}

/// The lines, and the end of a turn if they break off in one.
fn closed(wire: &[Line<'_>]) -> Vec<u8> {
    let mut bytes: Vec<u8> = wire.iter().flat_map(|line| line.bytes).copied().collect();
    let last = wire.iter().rev().find(|line| matches!(line.kind.as_str(), "TurnBegin" | "TurnEnd"));
    if last.is_some_and(|line| line.kind == "TurnBegin") {
        let timestamp = wire.iter().rev().find_map(|line| line.timestamp).unwrap_or_default();
        let end = json!({"timestamp": timestamp, "message": {"type": "TurnEnd", "payload": {}}});
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        if let Ok(line) = files::python_json(&end, NonAscii::Keep) {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
    }
    bytes
}

fn read(path: &Path) -> Result<Vec<u8>, SessionError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(SessionError::io("read", path)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    if bytes.is_empty() {
        return Ok(());
    }
    files::write_atomic(path, bytes).map_err(SessionError::io("write", path))
}
