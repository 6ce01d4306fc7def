//! Bringing the index up to what the sessions say: what changed is read on, and nothing else.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::catalog::{Catalog, Entry, Segment, Stamps};
use super::data::{self, Reader, SEGMENT_TEXT, Writer};
use super::extract::{Extractor, MARK, Source};
use super::{Progress, Refreshed, SessionIndex};
use crate::context::CONTEXT_FILE;
use crate::files;
use crate::session::error::SessionError;
use crate::session::{legacy, peek, store};
use crate::wire::record::WIRE_FILE;

/// Sessions that are read before what they say is written: bounds the memory.
const BATCH: usize = 16;
/// How often a long refresh shows what it has.
const PUBLISH_EVERY: Duration = Duration::from_millis(700);
/// Bytes before the place where reading stopped, by which a file is known again.
const TAIL: u64 = 256;
/// Garbage in the data file up to this is left there.
const GARBAGE: u64 = 16 << 20;

/// A session to look at.
struct Task {
    bucket: String,
    id: String,
    dir: PathBuf,
    stamps: Stamps,
    known: Option<Entry>,
}

/// What a session says now: its entry without the new segments, and the new text.
struct ReadOn {
    entry: Entry,
    text: String,
}

impl SessionIndex {
    /// Brings the index up to date. `stop` is asked now and then; `told` hears how far it is. What
    /// was read is searched at once.
    ///
    /// # Errors
    /// When the cache folder cannot be written. Sessions that cannot be read are passed over.
    pub fn refresh(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
        told: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, SessionError> {
        let folder = self.folder();
        let failed = |error| SessionError::io("write the index of sessions in", &folder)(error);
        files::create_private_folder(&folder).map_err(failed)?;
        let lock = files::open_append(&folder.join(".lock")).map_err(failed)?;
        match lock.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => {
                self.publish(Catalog::load(&folder).unwrap_or_default());
                return Ok(Refreshed::Busy);
            }
            Err(std::fs::TryLockError::Error(error)) => {
                tracing::debug!(%error, "this file system has no locks");
            }
            Ok(()) => {}
        }
        // Another process may have been at it since this one looked.
        let old = Catalog::load(&folder).unwrap_or_else(|| Catalog::over(new_name()));
        let (kept, tasks, gone) = self.plan(old.sessions)?;
        let mut catalog = Catalog::over(old.data);
        catalog.length = old.length;
        catalog.sessions = kept;
        let changed = tasks.len() + gone;
        if changed == 0 {
            self.publish(catalog);
            return Ok(Refreshed::UpToDate { changed });
        }
        let done = self.read_on(&folder, &mut catalog, tasks, stop, told).map_err(failed)?;
        if catalog.length > 2 * catalog.live() + GARBAGE {
            compact(&folder, &mut catalog).map_err(failed)?;
        }
        catalog.save(&folder).map_err(failed)?;
        data::remove_others(&folder, &catalog.data);
        self.publish(catalog);
        Ok(if done { Refreshed::UpToDate { changed } } else { Refreshed::Stopped })
    }

    /// Which sessions are as they were, which are to be read, and how many are gone.
    fn plan(&self, known: Vec<Entry>) -> Result<(Vec<Entry>, Vec<Task>, usize), SessionError> {
        let mut known: HashMap<(String, String), Entry> =
            known.into_iter().map(|e| ((e.bucket.clone(), e.id.clone()), e)).collect();
        let (mut kept, mut tasks) = (Vec::new(), Vec::new());
        for bucket in self.buckets()? {
            for id in store::ids(&bucket.dir)? {
                let dir = bucket.dir.join(&id.0);
                let entry = known.remove(&(bucket.name.clone(), id.0.clone()));
                if entry.is_none() {
                    legacy::bring_up_to_date(&dir);
                }
                let stamps = Stamps::of(&dir);
                match entry {
                    Some(entry) if entry.stamps == stamps => kept.push(entry),
                    known => {
                        let bucket = bucket.name.clone();
                        tasks.push(Task { bucket, id: id.0, dir, stamps, known });
                    }
                }
            }
        }
        tasks.sort_by_key(|task| std::cmp::Reverse(task.stamps.updated_at()));
        Ok((kept, tasks, known.len()))
    }

    /// Reads `tasks` and enters them; false when it was stopped before all were.
    fn read_on(
        &self,
        folder: &Path,
        catalog: &mut Catalog,
        tasks: Vec<Task>,
        stop: &(dyn Fn() -> bool + Sync),
        told: &mut dyn FnMut(Progress),
    ) -> io::Result<bool> {
        let path = folder.join(&catalog.data);
        let mut writer = Writer::open(&path)?;
        let reader = Reader::open(&path)?;
        let mut progress = Progress { done: 0, total: tasks.len() };
        let mut shown = Instant::now();
        let mut tasks = tasks.into_iter();
        loop {
            let batch: Vec<Task> = tasks.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            if stop() {
                // Those that were known stay as they were, and are read on another time.
                catalog.sessions.extend(batch.into_iter().chain(tasks).filter_map(|t| t.known));
                catalog.length = writer.sync()?;
                newest_first(catalog);
                return Ok(false);
            }
            progress.done += batch.len();
            for read in read_all(&batch) {
                catalog.sessions.push(write(read, &mut writer, &reader)?);
            }
            if shown.elapsed() > PUBLISH_EVERY {
                shown = Instant::now();
                catalog.length = writer.sync()?;
                newest_first(catalog);
                catalog.save(folder)?;
                self.publish(catalog.clone());
            }
            told(progress);
        }
        catalog.length = writer.sync()?;
        newest_first(catalog);
        Ok(true)
    }
}

fn new_name() -> String {
    format!("text-{:016x}.dat", fastrand::u64(..))
}

fn newest_first(catalog: &mut Catalog) {
    catalog.sessions.sort_by(|a, b| {
        b.stamps.updated_at().cmp(&a.stamps.updated_at()).then_with(|| a.id.cmp(&b.id))
    });
}

/// Reads sessions, several at a time.
fn read_all(batch: &[Task]) -> Vec<ReadOn> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(batch.len()).min(4);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(task) = batch.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let read = read(task);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push(read);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what is new in a session.
fn read(task: &Task) -> ReadOn {
    let peek = peek::peek(&task.dir);
    let source = if task.stamps.wire.is_some_and(|stamp| stamp.bytes > 0) {
        Source::Wire
    } else {
        Source::Context
    };
    let path = task.dir.join(match source {
        Source::Wire => WIRE_FILE,
        Source::Context => CONTEXT_FILE,
    });
    let before = task.known.as_ref().filter(|entry| entry.source == source);
    let mut entry = Entry {
        bucket: task.bucket.clone(),
        id: task.id.clone(),
        stamps: task.stamps,
        title: peek.title,
        archived: peek.archived,
        is_empty: peek.is_empty,
        source,
        read: 0,
        tail: 0,
        segments: Vec::new(),
    };
    let mut extractor = Extractor::new(source);
    match lines(&path, before, &mut extractor) {
        Ok(end) => {
            if end.went_on
                && let Some(before) = before
            {
                entry.segments.clone_from(&before.segments);
            }
            (entry.read, entry.tail) = (end.read, end.tail);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(path = %path.display(), %error, "not indexed"),
    }
    ReadOn { entry, text: extractor.text }
}

/// How far a file was read.
struct End {
    went_on: bool,
    read: u64,
    tail: u64,
}

/// Takes in the lines of the file at `path` behind the place where `before` stopped, or all of them
/// when the file is not the one that was read then.
fn lines(path: &Path, before: Option<&Entry>, extractor: &mut Extractor) -> io::Result<End> {
    let mut file = File::open(path)?;
    let went_on = match before {
        Some(entry) => entry.read > 0 && tail(&mut file, entry.read).ok() == Some(entry.tail),
        None => false,
    };
    let mut read = before.filter(|_| went_on).map_or(0, |entry| entry.read);
    file.seek(SeekFrom::Start(read))?;
    let mut reader = BufReader::with_capacity(1 << 18, &mut file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = reader.read_until(b'\n', &mut line)?;
        // Half a line is still being written.
        if count == 0 || line.last() != Some(&b'\n') {
            break;
        }
        read += count as u64;
        extractor.line(&line);
    }
    let tail = tail(&mut file, read)?;
    Ok(End { went_on, read, tail })
}

/// A hash of what stands before `at`.
fn tail(file: &mut File, at: u64) -> io::Result<u64> {
    let from = at.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = vec![0; usize::try_from(at - from).unwrap_or_default()];
    file.read_exact(&mut bytes)?;
    let hash = blake3::hash(&bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    // JSON numbers of other programs end at 53 bits.
    Ok(u64::from_le_bytes(first) >> 11)
}

/// Writes what is new; a last segment with room in it is written again with more.
fn write(read: ReadOn, writer: &mut Writer, reader: &Reader) -> io::Result<Entry> {
    let ReadOn { mut entry, mut text } = read;
    if text.is_empty() {
        return Ok(entry);
    }
    if let Some(last) = entry.segments.last().copied()
        && (last.text as usize) < SEGMENT_TEXT / 2
    {
        let mut before = Vec::new();
        if reader.text(&last, &mut before).is_ok() {
            entry.segments.pop();
            text.insert_str(0, &String::from_utf8_lossy(&before));
        }
    }
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(cut(rest));
        entry.segments.push(writer.add(piece)?);
        rest = more;
    }
    Ok(entry)
}

/// Where a segment of `text` ends: between two pieces of text, as one that is cut is not found at
/// the cut.
fn cut(text: &str) -> usize {
    if text.len() <= SEGMENT_TEXT {
        return text.len();
    }
    let from = text.ceil_char_boundary(SEGMENT_TEXT);
    text[from..].find(MARK).map_or(text.len(), |at| from + at)
}

/// Copies what is still needed to a new data file.
fn compact(folder: &Path, catalog: &mut Catalog) -> io::Result<()> {
    let reader = Reader::open(&folder.join(&catalog.data))?;
    let name = new_name();
    let mut writer = Writer::open(&folder.join(&name))?;
    let mut buffer = Vec::new();
    for entry in &mut catalog.sessions {
        let mut segments: Vec<Segment> = Vec::with_capacity(entry.segments.len());
        for segment in &entry.segments {
            reader.text(segment, &mut buffer)?;
            segments.push(writer.add(&String::from_utf8_lossy(&buffer))?);
        }
        entry.segments = segments;
    }
    catalog.data = name;
    catalog.length = writer.sync()?;
    Ok(())
}
