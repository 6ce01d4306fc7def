//! Reading a range of lines without holding more of the file than the range.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::encoding::{self, Encoding};
use crate::tools::files_seen::Fingerprint;
use crate::tools::firm;

/// Lines of one page.
pub(super) const MAX_LINES: usize = 1000;
/// Characters of one line.
pub(super) const MAX_LINE_CHARS: usize = 2000;
/// Bytes of one page.
pub(super) const MAX_BYTES: usize = 100 * 1024;
/// Bytes read at once.
const BUFFER: usize = 64 * 1024;
/// Bytes looked at to tell text from binary files.
const SNIFFED: usize = 8192;
/// Bytes of a line that can be needed to show [`MAX_LINE_CHARS`] of it.
const KEPT_LINE_BYTES: usize = (MAX_LINE_CHARS + 2) * 4;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Range {
    /// `count` lines from line `first`.
    From { first: u64, count: usize, capped: bool },
    /// `count` of the last `last` lines.
    Tail { last: usize, count: usize, capped: bool },
}

impl Range {
    /// `None` when the offset is 0.
    pub fn new(offset: i64, lines: u64) -> Option<Self> {
        let capped = lines >= MAX_LINES as u64;
        let count = if capped { MAX_LINES } else { lines as usize };
        match offset {
            0 => None,
            1.. => Some(Self::From { first: offset.unsigned_abs(), count, capped }),
            _ => {
                let last = offset.unsigned_abs().min(MAX_LINES as u64) as usize;
                Some(Self::Tail { last, count, capped })
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Line {
    pub number: u64,
    pub text: String,
    pub truncated: bool,
    pub lossy: bool,
}

/// Why a page ends where it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stop {
    Lines,
    Bytes,
    End,
    /// It is as long as it was asked to be.
    Asked,
}

#[derive(Debug)]
pub(super) struct Page {
    pub lines: Vec<Line>,
    pub total: u64,
    pub stop: Stop,
    pub encoding: Encoding,
}

#[derive(Debug)]
pub(super) enum Unreadable {
    /// Its size in bytes.
    Binary(u64),
    /// What it is instead.
    OtherEncoding(&'static str),
    Cancelled,
    Io(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the lines of `range`; goes through the whole file to count its lines. The fingerprint is
/// that of the whole file.
pub(super) fn read(
    path: &Path,
    range: Range,
    stop: &CancellationToken,
) -> Result<(Page, Fingerprint), Unreadable> {
    let mut file = firm::open_regular(path)?;
    let mut head = Vec::with_capacity(SNIFFED);
    file.by_ref().take(SNIFFED as u64).read_to_end(&mut head)?;
    let encoding = encoding::of(&head, file.metadata()?.len())?;
    let mut hasher = blake3::Hasher::new();
    let bytes = Hashing { inner: io::Cursor::new(head).chain(file), hasher: &mut hasher };
    let mut reader: Box<dyn BufRead + '_> = match encoding {
        Encoding::Utf8 => Box::new(BufReader::with_capacity(BUFFER, bytes)),
        other => Box::new(BufReader::with_capacity(BUFFER, other.transcode(bytes))),
    };
    let mut collector = Collector::new(range);
    let mut raw = Vec::new();
    let mut number = 0_u64;
    while next_line(&mut reader, &mut raw, stop)? {
        number += 1;
        collector.offer(number, &raw);
    }
    drop(reader);
    Ok((collector.page(number, encoding), hasher.finalize()))
}

/// Takes the fingerprint of what passes through.
struct Hashing<'a, R> {
    inner: R,
    hasher: &'a mut blake3::Hasher,
}

impl<R: Read> Read for Hashing<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

/// Reads one line without its line break into `raw`, which keeps only as much as can be shown.
/// False at the end of the file.
fn next_line(
    reader: &mut impl BufRead,
    raw: &mut Vec<u8>,
    stop: &CancellationToken,
) -> Result<bool, Unreadable> {
    raw.clear();
    let mut any = false;
    loop {
        if stop.is_cancelled() {
            return Err(Unreadable::Cancelled);
        }
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        let room = KEPT_LINE_BYTES.saturating_sub(raw.len());
        raw.extend_from_slice(&piece[..piece.len().min(room)]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            if raw.last() == Some(&b'\r') {
                raw.pop();
            }
            return Ok(true);
        }
    }
}

/// Takes the lines of a range as they pass by.
struct Collector {
    range: Range,
    lines: VecDeque<Line>,
    bytes: usize,
    full: bool,
}

impl Collector {
    fn new(range: Range) -> Self {
        Self { range, lines: VecDeque::new(), bytes: 0, full: false }
    }

    fn offer(&mut self, number: u64, raw: &[u8]) {
        match self.range {
            Range::From { first, count, .. } => {
                if number < first || self.lines.len() >= count || self.full {
                    return;
                }
                let line = line(number, raw);
                if self.bytes + line.text.len() > MAX_BYTES && !self.lines.is_empty() {
                    self.full = true;
                    return;
                }
                self.bytes += line.text.len();
                self.lines.push_back(line);
            }
            Range::Tail { last, .. } => {
                if self.lines.len() == last {
                    self.lines.pop_front();
                }
                self.lines.push_back(line(number, raw));
            }
        }
    }

    fn page(mut self, total: u64, encoding: Encoding) -> Page {
        let capped = match self.range {
            Range::From { capped, .. } => capped,
            Range::Tail { count, capped, .. } => {
                self.lines.truncate(count);
                let mut bytes: usize = self.lines.iter().map(|line| line.text.len()).sum();
                // The end of a log is what a tail is for, so the oldest lines give way.
                while bytes > MAX_BYTES && self.lines.len() > 1 {
                    bytes -= self.lines.pop_front().map_or(0, |line| line.text.len());
                    self.full = true;
                }
                capped
            }
        };
        let at_end = self.lines.back().is_none_or(|line| line.number == total);
        let stop = match (self.full, at_end) {
            (true, _) => Stop::Bytes,
            (false, true) => Stop::End,
            (false, false) if capped => Stop::Lines,
            (false, false) => Stop::Asked,
        };
        Page { lines: self.lines.into(), total, stop, encoding }
    }
}

fn line(number: u64, raw: &[u8]) -> Line {
    let raw = match raw {
        // A byte order mark is no part of the text.
        [0xEF, 0xBB, 0xBF, rest @ ..] if number == 1 => rest,
        raw => raw,
    };
    let text = String::from_utf8_lossy(raw);
    let cut = text.char_indices().nth(MAX_LINE_CHARS).map(|(end, _)| end);
    // Only what is shown counts: the bytes of a long line may end in the middle of a character.
    let shown = &text[..cut.unwrap_or(text.len())];
    let lossy = matches!(text, Cow::Owned(_)) && shown.contains(char::REPLACEMENT_CHARACTER);
    Line {
        number,
        text: cut.map_or_else(|| text.to_string(), |end| format!("{}...", &text[..end])),
        truncated: cut.is_some(),
        lossy,
    }
}
