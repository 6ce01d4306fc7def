//! What a session's folder says at first sight: its title, and whether anything is in it at all.
//!
//! Lists look at a thousand folders, so only the beginnings of files are read.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::SessionState;
use super::title::short_title;
use crate::context::{CONTEXT_FILE, read_head};
use crate::wire::Event;
use crate::wire::record::{Recorded, WIRE_FILE};

/// How much of a file a list reads. A system prompt comes first in a context, and is far shorter.
const HEAD: u64 = 1 << 20;
const UNTITLED: &str = "Untitled";

/// A session at first sight.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Peek {
    pub(super) title: String,
    pub(super) archived: bool,
    pub(super) is_empty: bool,
    pub(super) updated_at: SystemTime,
    pub(super) bytes: u64,
}

/// Looks at the session in `dir`. What cannot be read does not make a session empty.
pub(super) fn peek(dir: &Path) -> Peek {
    let state = SessionState::load(dir);
    // A session of an old share folder is looked at where it is, in its own layout.
    let context_file = [CONTEXT_FILE, "history.jsonl"].map(|name| dir.join(name));
    let context = context_file.iter().find_map(|path| fs::metadata(path).ok());
    let wire = fs::metadata(dir.join(WIRE_FILE)).ok();
    let changed = |metadata: &Metadata| metadata.modified().ok();
    let updated_at = (context.as_ref().and_then(changed))
        .or_else(|| wire.as_ref().and_then(changed))
        .or_else(|| fs::metadata(dir).ok().as_ref().and_then(changed))
        .unwrap_or(SystemTime::UNIX_EPOCH);
    let bytes = [&context, &wire].into_iter().flatten().map(Metadata::len).sum();
    let (title, is_empty) = match state.custom_title.as_deref().map(collapsed) {
        Some(title) if !title.is_empty() => (title, false),
        _ => first_words(dir, HEAD),
    };
    Peek { title, archived: state.archived, is_empty, updated_at, bytes }
}

/// Is there nothing in the session in `dir` that anyone could miss? In doubt there is.
pub(super) fn is_empty(dir: &Path) -> io::Result<bool> {
    const OURS: [&str; 6] =
        [CONTEXT_FILE, WIRE_FILE, "timeline.jsonl", "state.json", ".lock", "context.jsonl.next"];
    for entry in fs::read_dir(dir)? {
        // Earlier contexts, uploads, subagents: whatever it is, it is something.
        if !entry?.file_name().to_str().is_some_and(|name| OURS.contains(&name)) {
            return Ok(false);
        }
    }
    Ok(SessionState::load(dir).custom_title.is_none() && first_words(dir, u64::MAX).1)
}

/// A title from the first `limit` bytes of the session's files, and whether they hold nothing.
fn first_words(dir: &Path, limit: u64) -> (String, bool) {
    let turn = first_turn(&dir.join(WIRE_FILE), limit);
    if let Ok((Some(title), _)) = turn {
        return (title, false);
    }
    let path = dir.join(CONTEXT_FILE);
    let path = if path.exists() { path } else { dir.join("history.jsonl") };
    let head = read_head(&path, limit);
    let is_empty = matches!(&turn, Ok((None, false))) && matches!(&head, Ok(h) if !h.has_rows);
    let title = head.ok().and_then(|head| head.first_user).map(|m| short_title(&m.text()));
    (title.filter(|title| !title.is_empty()).unwrap_or_else(|| UNTITLED.to_owned()), is_empty)
}

/// The first thing a person said, from `wire.jsonl`, and whether there are any records.
fn first_turn(path: &Path, limit: u64) -> io::Result<(Option<String>, bool)> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((None, false)),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file.take(limit));
    let mut line = Vec::new();
    let mut has_records = false;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok((None, has_records));
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() || is_metadata(&text) {
            continue;
        }
        has_records = true;
        if let Ok(Recorded { message: Event::TurnBegin(turn), .. }) = serde_json::from_str(&text) {
            let title = short_title(&turn.user_input.text());
            if !title.is_empty() {
                return Ok((Some(title), true));
            }
        }
    }
}

fn is_metadata(line: &str) -> bool {
    line.contains("metadata")
        && serde_json::from_str::<Value>(line)
            .is_ok_and(|value| value.get("type").and_then(Value::as_str) == Some("metadata"))
}

/// A title on one line; one that the person gave is not cut.
fn collapsed(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}
