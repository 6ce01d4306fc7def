//! Reads `context.jsonl`, a line at a time, and tells what could not be read.

use std::io::{self, BufRead, BufReader, Read};

use super::memory::Memory;
use super::record;

/// A line that is no record. It stays in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// What was wrong with a context's file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenReport {
    /// Lines that were skipped.
    pub bad_lines: Vec<BadLine>,
    /// The last line was cut off in the middle of being written; it is in `context.jsonl.torn` now.
    pub torn_tail: bool,
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// In a newline, or it is empty.
    Whole,
    /// In a record that only lacks its newline.
    NoNewline,
    /// In half a line, to be moved out of the way.
    Torn,
    /// In half a write of ours that was given up, to be dropped.
    GivenUp,
}

/// A file's content.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) memory: Memory,
    pub(super) bad_lines: Vec<BadLine>,
    /// Bytes that hold whole records.
    pub(super) length: u64,
    /// Bytes altogether.
    pub(super) on_disk: u64,
    pub(super) tail: Tail,
}

/// Reads a whole file.
///
/// # Errors
/// When reading fails; what the lines say never is an error.
pub(super) fn load(file: impl Read) -> io::Result<Loaded> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut loaded = Loaded {
        memory: Memory::default(),
        bad_lines: Vec::new(),
        length: 0,
        on_disk: 0,
        tail: Tail::Whole,
    };
    let mut line = Vec::new();
    let mut number = 0_usize;
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line)? as u64;
        if bytes == 0 {
            return Ok(loaded);
        }
        number += 1;
        loaded.on_disk += bytes;
        let whole = line.last() == Some(&b'\n');
        match record::parse(&line) {
            Ok(Some(record)) => loaded.memory.apply(record, loaded.length),
            Ok(None) => {}
            Err(reason) if whole => loaded.bad_lines.push(BadLine { line: number, reason }),
            Err(_) => {
                loaded.tail = Tail::Torn;
                return Ok(loaded);
            }
        }
        loaded.length += bytes;
        if !whole {
            loaded.tail = Tail::NoNewline;
        }
    }
}
