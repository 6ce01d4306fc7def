//! What `timeline.jsonl` knows of the generations: when and why each began, when each checkpoint was
//! made.
//!
//! The file is a sidecar that may be missing, torn, or written by a newer version, so every line is
//! read for itself and nothing in it is an error.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::generations::{Beginning, Cause};
use crate::message::{CheckpointRef, Generation};
use crate::wire::record::{RawEvent, RawRecorded, TIMELINE_FILE};
use crate::wire::{CheckpointCreated, ContextChange, ContextReverted, ContextRewritten};

/// What the sidecar says.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// How each generation began, by its number.
    pub(super) beginnings: HashMap<Generation, Beginning>,
    /// When each checkpoint was made, and the step it stands before.
    pub(super) checkpoints: HashMap<CheckpointRef, Made>,
    /// What the last compaction did to the messages.
    pub(super) rewritten: Option<ContextRewritten>,
}

/// When a checkpoint was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    /// Seconds since 1970.
    pub(super) at: f64,
    /// The step that follows it, from 1.
    pub(super) step: Option<u64>,
}

/// The part of a restoration that says what came back.
#[derive(Deserialize)]
struct Restored {
    #[serde(default, alias = "from", alias = "generation")]
    restored: Option<Generation>,
}

/// Reads the sidecar of the session in `session_dir`.
pub(super) fn read(session_dir: &Path) -> Timeline {
    let mut timeline = Timeline::default();
    let Ok(file) = File::open(session_dir.join(TIMELINE_FILE)) else { return timeline };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return timeline,
            Ok(_) => {}
        }
        if let Ok(line) = serde_json::from_slice::<RawRecorded>(&line) {
            timeline.take(line.timestamp, &line.message);
        }
    }
}

impl Timeline {
    fn take(&mut self, at: f64, told: &RawEvent) {
        let cause = match told.kind.as_str() {
            "CheckpointCreated" => {
                if let Some(made) = read_as::<CheckpointCreated>(&told.payload) {
                    self.checkpoints.insert(made.at, Made { at, step: made.step });
                }
                return;
            }
            "ContextRewritten" => {
                if let Some(rewritten) = read_as(&told.payload) {
                    self.rewritten = Some(rewritten);
                }
                return;
            }
            "ContextReverted" => {
                let Some(reverted) = read_as::<ContextReverted>(&told.payload) else { return };
                Cause::Reverted { to: reverted.to, by: reverted.cause, mail: reverted.mail }
            }
            "ContextCleared" => Cause::Cleared,
            "ContextCompacted" => Cause::Compacted,
            "MessagesHidden" => Cause::Hidden,
            "ContextRestored" => {
                let restored = read_as::<Restored>(&told.payload).and_then(|told| told.restored);
                Cause::Restored { generation: restored }
            }
            _ => return,
        };
        if let Some(change) = read_as::<ContextChange>(&told.payload)
            && change.new_generation != change.old_generation
        {
            let ended = change.old_generation;
            let beginning =
                Beginning { cause, at, ended, before: change.before, after: change.after };
            self.beginnings.insert(change.new_generation, beginning);
        }
    }
}

fn read_as<T: DeserializeOwned>(payload: &Value) -> Option<T> {
    T::deserialize(payload).ok()
}
