//! What went through the door, kept: `wire.jsonl` (protocol 1.10, readable by the Python program)
//! and `timeline.jsonl` (our [`Extension`] events, in the same envelope).
//!
//! The two are read back as one story, ordered by time. Pieces of text and of tool call arguments
//! are written merged; see `kimi-facts` B.5.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::story::{Story, StoryEnd, read_story, read_story_until};
use super::{Event, PROTOCOL_VERSION};
use crate::files::{self, NonAscii, disk};

/// File name of the record of protocol events.
pub const WIRE_FILE: &str = "wire.jsonl";
/// File name of the record of our own events.
pub const TIMELINE_FILE: &str = "timeline.jsonl";

/// One event with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Seconds since 1970.
    pub timestamp: f64,
    /// What happened.
    pub message: Event,
}

/// One event with its time, its payload not read: for whoever needs a few kinds only.
#[derive(Debug, Deserialize)]
pub(crate) struct RawRecorded {
    /// Seconds since 1970.
    pub(crate) timestamp: f64,
    /// What happened.
    pub(crate) message: RawEvent,
}

/// An event by its type.
#[derive(Debug, Deserialize)]
pub(crate) struct RawEvent {
    /// The type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Its payload, as it came.
    #[serde(default)]
    pub(crate) payload: Value,
}

#[derive(Serialize)]
struct RecordedRef<'a> {
    timestamp: f64,
    message: &'a Event,
}

/// Appends events to a session's two record files. Files appear with the first event for them.
#[derive(Debug)]
pub struct Recorder {
    wire: LineFile,
    timeline: LineFile,
    held: Option<(f64, Event)>,
    last_timestamp: f64,
}

impl Recorder {
    /// A recorder for the session in `session_dir`.
    #[must_use]
    pub fn new(session_dir: &Path) -> Self {
        Self {
            wire: LineFile::new(session_dir.join(WIRE_FILE)),
            timeline: LineFile::new(session_dir.join(TIMELINE_FILE)),
            held: None,
            last_timestamp: 0.0,
        }
    }

    /// Keeps `event`. Pieces that may still grow are held back until the next event of another kind.
    ///
    /// # Errors
    /// When a file cannot be written. Nothing is lost then: it is written with the next event or
    /// flush that finds room.
    pub fn record(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Extension(extension) if !extension.is_lasting() => return Ok(()),
            Event::ContentPart(part) => {
                if let Some((_, Event::ContentPart(held))) = &mut self.held
                    && held.merge(part.clone()).is_ok()
                {
                    return Ok(());
                }
            }
            Event::ToolCallPart(part) => {
                if let Some((_, Event::ToolCall(call))) = &mut self.held {
                    if let Some(more) = &part.arguments_part {
                        call.function.arguments.get_or_insert_default().push_str(more);
                    }
                    return Ok(());
                }
            }
            _ => {}
        }
        // A failure leaves the lines waiting, so this event is kept in any case.
        let flushed = self.flush();
        let now = self.tick();
        match event {
            Event::ContentPart(_) | Event::ToolCall(_) => {
                self.held = Some((now, event.clone()));
                flushed
            }
            _ => flushed.and(self.write(now, event)),
        }
    }

    /// Writes what is held back and says how far the files go.
    pub fn end(&mut self) -> StoryEnd {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the last record of the session could not be written");
        }
        let length = |file: &LineFile| std::fs::metadata(&file.path).map_or(0, |data| data.len());
        StoryEnd { wire: Some(length(&self.wire)), timeline: Some(length(&self.timeline)) }
    }

    /// Writes what is held back.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some((timestamp, event)) = self.held.take() {
            self.write(timestamp, &event)?;
        }
        self.settle()
    }

    /// Writes what a disk that did not take it has left waiting.
    fn settle(&mut self) -> io::Result<()> {
        let wire = header().and_then(|header| self.wire.settle(Some(&header)));
        wire.and(self.timeline.settle(None))
    }

    /// Strictly rising, so that the two files have one order.
    fn tick(&mut self) -> f64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        self.last_timestamp = now.max(self.last_timestamp + 2e-6);
        self.last_timestamp
    }

    fn write(&mut self, timestamp: f64, event: &Event) -> io::Result<()> {
        let line = files::python_json(&RecordedRef { timestamp, message: event }, NonAscii::Keep)?;
        if matches!(event, Event::Extension(_)) {
            return self.timeline.append(&line, None);
        }
        self.wire.append(&line, Some(&header()?))
    }
}

/// The first line of `wire.jsonl`.
fn header() -> io::Result<String> {
    let header = serde_json::json!({"type": "metadata", "protocol_version": PROTOCOL_VERSION});
    Ok(files::python_json(&header, NonAscii::Keep)?)
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the last record of the session could not be written");
        }
    }
}

/// A file of lines that is opened late and never ends in half a line of ours. What the disk does not
/// take waits, in order, for the next line or flush: the conversation is in memory anyway.
#[derive(Debug)]
struct LineFile {
    path: PathBuf,
    file: Option<File>,
    /// Bytes that are well written, once the file is open.
    length: u64,
    /// Stands something half written behind them?
    is_torn: bool,
    /// Lines that are not in the file yet.
    waiting: String,
}

impl LineFile {
    fn new(path: PathBuf) -> Self {
        Self { path, file: None, length: 0, is_torn: false, waiting: String::new() }
    }

    fn append(&mut self, line: &str, header: Option<&str>) -> io::Result<()> {
        self.waiting.push_str(line);
        self.waiting.push('\n');
        self.settle(header)
    }

    /// Writes what waits.
    fn settle(&mut self, header: Option<&str>) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = files::open_append(&self.path)?;
                self.length = file.metadata()?.len();
                // A torn last line must not swallow the first new one.
                if self.length > 0 && !ends_with_newline(&mut file, self.length)? {
                    disk::write(&mut file, b"\n")?;
                    self.length += 1;
                }
                file
            }
        };
        let written = self.write(&mut file, header);
        self.file = Some(file);
        written
    }

    fn write(&mut self, file: &mut File, header: Option<&str>) -> io::Result<()> {
        if self.is_torn {
            disk::cut(file, self.length)?;
            self.is_torn = false;
        }
        let text = match header.filter(|_| self.length == 0) {
            Some(header) => format!("{header}\n{}", self.waiting),
            None => std::mem::take(&mut self.waiting),
        };
        if let Err(error) = disk::write(file, text.as_bytes()) {
            if header.is_none() || self.length > 0 {
                self.waiting = text;
            }
            self.is_torn = disk::cut(file, self.length).is_err();
            return Err(error);
        }
        self.length += text.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

fn ends_with_newline(file: &mut File, length: u64) -> io::Result<bool> {
    use std::io::{Seek, SeekFrom};
    let mut last = [0_u8; 1];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}

#[cfg(test)]
mod faults;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ContentPart, ToolCall};
    use crate::wire::{Empty, Extension, OutputStream, ToolCallPart, ToolOutputChunk};

    #[test]
    fn pieces_are_merged_and_both_files_read_back_as_one_story() {
        let folder = tempfile::tempdir().expect("folder");
        let mut recorder = Recorder::new(folder.path());
        for piece in ["Hel", "lo"] {
            recorder.record(&Event::ContentPart(ContentPart::text(piece))).expect("text");
        }
        recorder
            .record(&Event::ToolCall(ToolCall::new("t1", "Bash", Some("{\"a\"".into()))))
            .expect("call");
        recorder
            .record(&Event::ToolCallPart(ToolCallPart { arguments_part: Some(":1}".into()) }))
            .expect("part");
        let chunk = ToolOutputChunk {
            tool_call_id: "t1".into(),
            stream: OutputStream::Stdout,
            text: "live".into(),
        };
        recorder.record(&Event::Extension(Extension::ToolOutput(chunk))).expect("live");
        recorder.record(&Event::TurnEnd(Empty {})).expect("end");
        drop(recorder);
        let story = read_story(folder.path()).expect("story");
        let events: Vec<_> = story.events.iter().map(|r| r.message.clone()).collect();
        assert_eq!(
            events,
            [
                Event::ContentPart(ContentPart::text("Hello")),
                Event::ToolCall(ToolCall::new("t1", "Bash", Some("{\"a\":1}".into()))),
                Event::TurnEnd(Empty {}),
            ]
        );
        let text = std::fs::read_to_string(folder.path().join(WIRE_FILE)).expect("file");
        assert!(text.starts_with("{\"type\": \"metadata\", \"protocol_version\": \"1.10\"}\n"));
    }

    #[test]
    fn a_torn_line_is_skipped_and_does_not_swallow_the_next() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join(WIRE_FILE);
        std::fs::write(&path, "{\"type\": \"metadata\"}\n{\"timestamp\": 1.0, \"mess")
            .expect("file");
        let mut recorder = Recorder::new(folder.path());
        recorder.record(&Event::TurnEnd(Empty {})).expect("end");
        drop(recorder);
        let story = read_story(folder.path()).expect("story");
        assert_eq!((story.events.len(), story.bad_lines), (1, 1));
    }
}
