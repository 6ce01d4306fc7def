//! Reading a session's record back: all of it, in order and one event at a time, or its end at once.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::Event;
use super::record::{Recorded, TIMELINE_FILE, WIRE_FILE};

/// A session's recorded events in order, and how many lines could not be read.
#[derive(Debug, Default)]
pub struct Story {
    /// The events of both files, by time.
    pub events: Vec<Recorded>,
    /// Lines that are no records: torn by a crash, or damaged.
    pub bad_lines: usize,
}

/// How far a record goes, in bytes of its files; to their ends where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoryEnd {
    pub(super) wire: Option<u64>,
    pub(super) timeline: Option<u64>,
}

/// Reads the record of the session in `session_dir`. Missing files are empty ones.
///
/// # Errors
/// When a file is there but cannot be read.
pub fn read_story(session_dir: &Path) -> io::Result<Story> {
    read_story_until(session_dir, StoryEnd::default())
}

/// Reads the record of the session in `session_dir` up to `end`.
///
/// # Errors
/// When a file is there but cannot be read.
pub fn read_story_until(session_dir: &Path, end: StoryEnd) -> io::Result<Story> {
    let mut reader = StoryReader::open_until(session_dir, end)?;
    let mut events = Vec::new();
    while let Some(recorded) = reader.next()? {
        events.push(recorded);
    }
    Ok(Story { events, bad_lines: reader.bad_lines() })
}

/// Reads both files of a record as one story, one event at a time. Events of one file keep their order
/// whatever their clocks said.
#[derive(Debug)]
pub struct StoryReader {
    wire: Lines,
    timeline: Lines,
}

impl StoryReader {
    /// At the beginning of the record of the session in `session_dir`. Missing files are empty ones.
    ///
    /// # Errors
    /// When a file is there but cannot be read.
    pub fn open(session_dir: &Path) -> io::Result<Self> {
        Self::open_until(session_dir, StoryEnd::default())
    }

    fn open_until(session_dir: &Path, end: StoryEnd) -> io::Result<Self> {
        Ok(Self {
            wire: Lines::open(&session_dir.join(WIRE_FILE), end.wire)?,
            timeline: Lines::open(&session_dir.join(TIMELINE_FILE), end.timeline)?,
        })
    }

    /// The next event, until there is none.
    ///
    /// # Errors
    /// When a file cannot be read on.
    #[expect(clippy::should_implement_trait, reason = "reading may fail")]
    pub fn next(&mut self) -> io::Result<Option<Recorded>> {
        self.wire.fill()?;
        self.timeline.fill()?;
        let first = match (&self.wire.ahead, &self.timeline.ahead) {
            (Some(wire), Some(ours)) if ours.timestamp < wire.timestamp => &mut self.timeline,
            (None, _) => &mut self.timeline,
            _ => &mut self.wire,
        };
        Ok(first.ahead.take())
    }

    /// Lines so far that are no records.
    #[must_use]
    pub fn bad_lines(&self) -> usize {
        self.wire.bad + self.timeline.bad
    }
}

/// The records of one file.
#[derive(Debug)]
struct Lines {
    reader: Option<BufReader<io::Take<File>>>,
    line: Vec<u8>,
    ahead: Option<Recorded>,
    bad: usize,
}

impl Lines {
    fn open(path: &Path, end: Option<u64>) -> io::Result<Self> {
        let limited = |file: File| file.take(end.unwrap_or(u64::MAX));
        let reader = open(path)?.map(|file| BufReader::with_capacity(1 << 16, limited(file)));
        Ok(Self { reader, line: Vec::new(), ahead: None, bad: 0 })
    }

    /// Makes sure that the next record is `ahead`, if there is one.
    fn fill(&mut self) -> io::Result<()> {
        while self.ahead.is_none() {
            let Some(reader) = &mut self.reader else { return Ok(()) };
            self.line.clear();
            if reader.read_until(b'\n', &mut self.line)? == 0 {
                self.reader = None;
                return Ok(());
            }
            self.ahead = parse(&self.line, &mut self.bad);
        }
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(line: &[u8], bad: &mut usize) -> Option<Recorded> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let recorded = serde_json::from_str::<Recorded>(text).ok();
    if recorded.is_none() && !is_metadata(text) {
        *bad += 1;
    }
    recorded
}

fn is_metadata(line: &str) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|value| value.get("type").and_then(Value::as_str) == Some("metadata"))
}

/// Bytes of a file's end that are read first.
const WINDOW: u64 = 128 * 1024;
/// And at most: a record may be long.
const LARGEST_WINDOW: u64 = 32 * 1024 * 1024;

/// The last `at_least` events of the record or more, from the beginning of a step on, without reading
/// what is before them. Fewer when there are no more, or when they are very long.
///
/// # Errors
/// When a file is there but cannot be read.
pub fn read_tail(session_dir: &Path, at_least: usize) -> io::Result<Vec<Recorded>> {
    let Some(mut wire) = open(&session_dir.join(WIRE_FILE))? else { return Ok(Vec::new()) };
    let mut window = WINDOW;
    let (mut events, is_all) = loop {
        let (events, is_all) = last_lines(&mut wire, window)?;
        let is_step = |event: &Event| matches!(event, Event::TurnBegin(_) | Event::StepBegin(_));
        let first = events.iter().position(|recorded| is_step(&recorded.message));
        if is_all || window >= LARGEST_WINDOW {
            break (events, is_all);
        }
        if let Some(first) = first
            && events.len() - first >= at_least
        {
            break (events.into_iter().skip(first).collect::<Vec<_>>(), false);
        }
        window *= 4;
    };
    if let Some(mut timeline) = open(&session_dir.join(TIMELINE_FILE))? {
        let from = events.first().map_or(0.0, |recorded| recorded.timestamp);
        let (ours, _) = last_lines(&mut timeline, window)?;
        events.extend(ours.into_iter().filter(|event| is_all || event.timestamp >= from));
        events.sort_by(|a, b| a.timestamp.total_cmp(&b.timestamp));
    }
    Ok(events)
}

/// The records in the last `window` bytes, and whether these are all of the file.
fn last_lines(file: &mut File, window: u64) -> io::Result<(Vec<Recorded>, bool)> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(window);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length - start).unwrap_or_default());
    file.take(window).read_to_end(&mut bytes)?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    if start > 0 {
        // Its beginning is before the window.
        lines.next();
    }
    Ok((lines.filter_map(|line| parse(line, &mut 0)).collect(), start == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CheckpointId, CheckpointRef, ContentPart, Generation};
    use crate::wire::record::Recorder;
    use crate::wire::{CheckpointCreated, ContextSize, Empty, Extension, StepBegin, TurnBegin};

    fn record(dir: &Path, turns: u64, text: &str) {
        let mut recorder = Recorder::new(dir);
        for turn in 0..turns {
            let said = format!("turn {turn}");
            let made = CheckpointCreated {
                at: CheckpointRef { generation: Generation(0), id: CheckpointId(turn) },
                step: None,
                size: ContextSize::default(),
            };
            for event in [
                Event::TurnBegin(TurnBegin { user_input: said.as_str().into() }),
                Event::Extension(Extension::CheckpointCreated(made)),
                Event::StepBegin(StepBegin { n: 1 }),
                Event::ContentPart(ContentPart::text(text)),
                Event::TurnEnd(Empty {}),
            ] {
                recorder.record(&event).expect("written");
            }
        }
    }

    #[test]
    fn the_end_is_the_end_of_the_whole_story() {
        let folder = tempfile::tempdir().expect("folder");
        assert_eq!(read_tail(folder.path(), 10).expect("nothing yet"), []);
        record(folder.path(), 2000, &"word ".repeat(60));
        let story = read_story(folder.path()).expect("story");
        assert_eq!((story.events.len(), story.bad_lines), (10_000, 0));
        for at_least in [1, 100, 4000, 7000] {
            let tail = read_tail(folder.path(), at_least).expect("tail");
            assert!(tail.len() >= at_least, "{at_least}: {}", tail.len());
            assert!(matches!(tail[0].message, Event::TurnBegin(_) | Event::StepBegin(_)));
            assert_eq!(tail, story.events[10_000 - tail.len()..]);
        }
        assert!(read_tail(folder.path(), 1).expect("tail").len() < 2000, "not all of it is read");
        assert_eq!(read_tail(folder.path(), 99_999).expect("tail"), story.events);
    }

    #[test]
    fn a_long_record_widens_the_window_and_torn_ends_do_no_harm() {
        let folder = tempfile::tempdir().expect("folder");
        record(folder.path(), 3, &"x".repeat(700_000));
        let path = folder.path().join(WIRE_FILE);
        let mut torn = std::fs::read(&path).expect("file");
        torn.extend_from_slice(b"{\"timestamp\": 1.0, \"mess");
        std::fs::write(&path, torn).expect("file");
        let tail = read_tail(folder.path(), 2).expect("tail");
        let story = read_story(folder.path()).expect("story");
        assert_eq!((story.events.len(), story.bad_lines), (15, 1));
        assert!(tail.len() >= 3);
        assert_eq!(tail, story.events[15 - tail.len()..]);
    }
}
