//! Walking and searching, on a few threads, stoppable at any moment.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::tools::output::shorten_line;
use crate::tools::path;

/// What stands between lines that do not follow each other.
pub(super) const GAP: &str = "--";
/// Bytes of output that are collected; the rest would not be shown anyway.
const MAX_BYTES: usize = 20 * 1024 * 1024;
/// A line (or, across lines, a file) longer than this is not searched.
const MAX_HEAP: usize = 128 * 1024 * 1024;
/// Bytes looked at to leave out binary files.
const SNIFFED: u64 = 8192;
const MAX_THREADS: usize = 8;

/// What is looked for, where, and what is to be kept of it.
pub(super) struct Query {
    pub matcher: RegexMatcher,
    pub overrides: Override,
    pub types: Types,
    /// A file or a folder.
    pub root: PathBuf,
    /// Paths below it are shown relative to it.
    pub work_dir: PathBuf,
    pub include_ignored: bool,
    pub multiline: bool,
    pub show: Show,
    pub limit: Duration,
}

/// What is kept of a match.
#[derive(Debug, Clone, Copy)]
pub(super) enum Show {
    Files,
    Counts,
    Lines { before: usize, after: usize, numbers: bool },
}

/// A file with matches.
#[derive(Debug)]
pub(super) struct FileMatches {
    pub shown: String,
    pub modified: SystemTime,
    pub lines: Vec<String>,
    pub count: u64,
}

/// What was found, in no order.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub files: Vec<FileMatches>,
    /// Files with matches that are not shown because they may hold secrets; sorted.
    pub sensitive: Vec<String>,
    pub timed_out: bool,
    pub too_much: bool,
}

/// What all threads share.
struct Shared<'a> {
    query: &'a Query,
    cancelled: &'a CancellationToken,
    deadline: Instant,
    timed_out: AtomicBool,
    bytes_left: AtomicUsize,
    too_much: AtomicBool,
    found: Mutex<Found>,
}

impl Shared<'_> {
    fn is_over(&self) -> bool {
        if self.cancelled.is_cancelled() || self.too_much.load(Ordering::Relaxed) {
            return true;
        }
        let late = Instant::now() >= self.deadline;
        if late {
            self.timed_out.store(true, Ordering::Relaxed);
        }
        late
    }

    /// Takes room for `bytes` of output; false when there is none left.
    fn take(&self, bytes: usize) -> bool {
        let taken = self
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if taken.is_err() {
            self.too_much.store(true, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    fn add(&self, path: &Path, file: FileMatches) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if path::is_sensitive(path) {
            found.sensitive.push(file.shown);
        } else {
            found.files.push(file);
        }
    }
}

/// Searches. Ends early with what it has when `cancelled` is set or the time is over.
pub(super) fn run(query: &Query, cancelled: &CancellationToken) -> Found {
    let shared = Shared {
        query,
        cancelled,
        deadline: Instant::now() + query.limit,
        timed_out: AtomicBool::new(false),
        bytes_left: AtomicUsize::new(MAX_BYTES),
        too_much: AtomicBool::new(false),
        found: Mutex::default(),
    };
    walk(query).build_parallel().run(|| {
        let mut searcher = searcher(query);
        let shared = &shared;
        Box::new(move |entry| {
            if shared.is_over() {
                return WalkState::Quit;
            }
            if let Ok(entry) = entry
                && (entry.file_type().is_some_and(|kind| kind.is_file())
                    || entry.depth() == 0 && entry.path().is_file())
            {
                search_file(shared, &mut searcher, entry.path());
            }
            WalkState::Continue
        })
    });
    let mut found = shared.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sensitive.sort();
    found.timed_out = shared.timed_out.into_inner();
    found.too_much = shared.too_much.into_inner();
    found
}

fn walk(query: &Query) -> WalkBuilder {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let mut walk = WalkBuilder::new(&query.root);
    walk.hidden(false)
        .threads(threads)
        .overrides(query.overrides.clone())
        .types(query.types.clone())
        .filter_entry(|entry| entry.depth() == 0 || !path::is_vcs_name(entry.file_name()));
    if query.include_ignored {
        walk.ignore(false).git_ignore(false).git_global(false).git_exclude(false).parents(false);
    }
    walk
}

fn searcher(query: &Query) -> Searcher {
    let (before, after, numbers) = match query.show {
        Show::Lines { before, after, numbers } => (before, after, numbers),
        Show::Files | Show::Counts => (0, 0, false),
    };
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HEAP))
        .line_number(numbers)
        .before_context(before)
        .after_context(after)
        .multi_line(query.multiline);
    if !query.multiline {
        builder.line_terminator(LineTerminator::crlf());
    }
    builder.build()
}

/// Adds what `path` holds to what was found. A file that cannot be read is left out, as ripgrep
/// leaves it out.
fn search_file(shared: &Shared<'_>, searcher: &mut Searcher, path: &Path) {
    let Ok(mut file) = File::open(path) else { return };
    let mut head = Vec::new();
    if file.by_ref().take(SNIFFED).read_to_end(&mut head).is_err() || is_binary(&head) {
        return;
    }
    let reader = Stoppable { inner: io::Cursor::new(head).chain(&file), shared };
    let query = shared.query;
    let shown = match path.strip_prefix(&query.work_dir) {
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    let mut sink = Collect { shared, shown: &shown, lines: Vec::new(), count: 0, binary: false };
    let result = searcher.search_reader(&query.matcher, reader, &mut sink);
    if let Err(error) = result {
        tracing::debug!(path = %path.display(), %error, "not searched to its end");
    }
    if sink.binary || sink.count == 0 {
        return;
    }
    let (lines, count) = (sink.lines, sink.count);
    let modified =
        file.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    shared.add(path, FileMatches { shown, modified, lines, count });
}

/// NUL bytes tell binary files, except in UTF-16, which the searcher decodes by its mark.
fn is_binary(head: &[u8]) -> bool {
    !matches!(head, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) && head.contains(&0)
}

/// A reader that ends with an error when the search is over, so that one huge file cannot hold a
/// cancelled turn.
struct Stoppable<'a, R> {
    inner: R,
    shared: &'a Shared<'a>,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.shared.is_over() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.inner.read(buffer)
    }
}

/// Collects the matches of one file.
struct Collect<'a> {
    shared: &'a Shared<'a>,
    shown: &'a str,
    lines: Vec<String>,
    count: u64,
    binary: bool,
}

impl Collect<'_> {
    /// Keeps a line; false when there is no room for more. `mark` stands after path and number: `:`
    /// for a match, `-` for a line around it.
    fn keep(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let text = shorten_line(text).unwrap_or_else(|| text.to_owned());
        let shown = self.shown;
        let line = match number {
            Some(number) => format!("{shown}{mark}{number}{mark}{text}"),
            None => format!("{shown}{mark}{text}"),
        };
        let room = self.shared.take(line.len());
        if room {
            self.lines.push(line);
        }
        room
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.shared.query.show {
            Show::Files => {
                self.count = 1;
                Ok(false)
            }
            Show::Counts => {
                let mut count = 0;
                let counted = self.shared.query.matcher.find_iter(found.bytes(), |_| {
                    count += 1;
                    true
                });
                self.count += if counted.is_ok() { count.max(1) } else { 1 };
                Ok(!self.shared.is_over())
            }
            Show::Lines { .. } => {
                self.count += 1;
                let mut number = found.line_number();
                for line in found.lines() {
                    if !self.keep(number, ':', line) {
                        return Ok(false);
                    }
                    number = number.map(|number| number + 1);
                }
                Ok(!self.shared.is_over())
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.keep(context.line_number(), '-', context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.lines.push(GAP.to_owned());
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
