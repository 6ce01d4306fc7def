//! What a diff shows, row by row, without colours and widths.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::message::DiffBlock;

/// One row of a diff; before it is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// Words about the change.
    Label(Label),
    /// So many lines are left out; 0 when nobody knows.
    Gap(u64),
    /// A line that stayed: its block, its places in the two texts.
    Context { block: usize, old: usize, new: usize },
    /// A line that went; `pair` is the line that came for it.
    Removed { block: usize, old: usize, pair: Option<usize> },
    /// A line that came; `pair` is the line that went for it.
    Added { block: usize, new: usize, pair: Option<usize> },
}

/// What a label says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The path of the file of this block.
    Path(usize),
    /// What the bytes of this block are cannot be read.
    Binary(usize),
    /// The file of this block has another name now.
    Renamed(usize),
    New,
    Deleted,
    Unchanged,
    TooLong,
}

/// Where the lines of both texts of a block stand in them, in bytes.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) old: Vec<Range<usize>>,
    pub(super) new: Vec<Range<usize>>,
}

/// Where the lines of `text` are, none when it is empty.
fn lines(text: &str, strip_returns: bool) -> Vec<Range<usize>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return Vec::new();
    }
    let mut at = 0;
    let range = |line: &str| {
        let start = at;
        at += line.len() + 1;
        let kept = if strip_returns { line.strip_suffix('\r').unwrap_or(line) } else { line };
        start..start + kept.len()
    };
    text.split('\n').map(range).collect()
}

impl Texts {
    pub(super) fn new(block: &DiffBlock) -> Self {
        // Line ends are worth a look only where they change.
        let both = |has: fn(&str) -> bool| {
            [&block.old_text, &block.new_text].iter().filter(|t| !t.is_empty()).all(|t| has(t))
        };
        let strip = both(|text| text.contains("\r\n"));
        Self { old: lines(&block.old_text, strip), new: lines(&block.new_text, strip) }
    }
}

/// The lines of `text` that stand at `places`.
pub(super) fn texts<'a>(text: &'a str, places: &[Range<usize>]) -> Vec<&'a str> {
    places.iter().map(|place| &text[place.clone()]).collect()
}

/// All rows of `blocks`.
pub(super) fn rows(blocks: &[DiffBlock], texts: &[Texts]) -> Vec<Row> {
    let mut rows = Vec::new();
    let several_files = blocks.windows(2).any(|pair| pair[0].path != pair[1].path);
    for (index, block) in blocks.iter().enumerate() {
        if blocks.get(index + 1).is_some_and(|next| is_rename(block, next)) {
            continue;
        }
        let before = index.checked_sub(1).filter(|before| blocks[*before].path == block.path);
        let after = blocks.get(index + 1).filter(|after| after.path == block.path);
        if several_files && before.is_none() {
            rows.push(Row::Label(Label::Path(index)));
        }
        if let Some(before) = before {
            let end = blocks[before].old_start.saturating_add(texts[before].old.len() as u64);
            rows.push(Row::Gap(block.old_start.saturating_sub(end)));
        }
        if index > 0 && is_rename(&blocks[index - 1], block) {
            rows.push(Row::Label(Label::Renamed(index - 1)));
            continue;
        }
        if is_binary(&block.old_text) || is_binary(&block.new_text) {
            rows.push(Row::Label(Label::Binary(index)));
            continue;
        }
        if block.is_summary {
            rows.push(Row::Label(Label::TooLong));
        } else if before.is_none() && after.is_none() {
            let starts = block.old_start <= 1 && block.new_start <= 1;
            match (texts[index].old.is_empty(), texts[index].new.is_empty()) {
                (true, true) => rows.push(Row::Label(Label::Unchanged)),
                (true, false) if starts => rows.push(Row::Label(Label::New)),
                (false, true) if starts => rows.push(Row::Label(Label::Deleted)),
                _ => {}
            }
        }
        block_rows(index, block, &texts[index], &mut rows);
    }
    rows
}

/// The same text gone under one name and come under another.
fn is_rename(old: &DiffBlock, new: &DiffBlock) -> bool {
    old.path != new.path
        && !old.old_text.is_empty()
        && old.new_text.is_empty()
        && new.old_text.is_empty()
        && old.old_text == new.new_text
}

/// Nobody reads a text with this character in it.
fn is_binary(text: &str) -> bool {
    text.as_bytes().iter().take(8000).any(|byte| *byte == 0)
}

/// Lines that stayed shown beside those that changed; more of them are left out.
const CONTEXT: usize = 3;

/// Lines that stayed, those far from a change left out.
fn stayed(
    block: usize,
    (old, new, len): (usize, usize, usize),
    (is_first, is_last): (bool, bool),
    rows: &mut Vec<Row>,
) {
    let context = |i: usize| Row::Context { block, old: old + i, new: new + i };
    let (head, tail) = (if is_first { 0 } else { CONTEXT }, if is_last { 0 } else { CONTEXT });
    // A gap of one line saves none.
    if len <= head + tail + 1 || is_first && is_last {
        rows.extend((0..len).map(context));
        return;
    }
    rows.extend((0..head).map(context));
    rows.push(Row::Gap((len - head - tail) as u64));
    rows.extend((len - tail..len).map(context));
}

fn block_rows(block: usize, of: &DiffBlock, places: &Texts, rows: &mut Vec<Row>) {
    let old = texts(&of.old_text, &places.old);
    let new = texts(&of.new_text, &places.new);
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    for (nth, op) in ops.iter().enumerate() {
        match *op {
            DiffOp::Equal { old_index, new_index, len } => {
                let ends = (nth == 0, nth + 1 == ops.len());
                stayed(block, (old_index, new_index, len), ends, rows);
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                removed(block, old_index, old_len, None, rows);
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                added(block, new_index, new_len, None, rows);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                removed(block, old_index, old_len, Some((new_index, new_len)), rows);
                added(block, new_index, new_len, Some((old_index, old_len)), rows);
            }
        }
    }
}

/// The `i`-th line that came stands for the `i`-th that went.
fn pair(i: usize, other: Option<(usize, usize)>) -> Option<usize> {
    other.filter(|(_, len)| i < *len).map(|(start, _)| start + i)
}

fn removed(
    block: usize,
    start: usize,
    len: usize,
    new: Option<(usize, usize)>,
    rows: &mut Vec<Row>,
) {
    rows.extend((0..len).map(|i| Row::Removed { block, old: start + i, pair: pair(i, new) }));
}

fn added(block: usize, start: usize, len: usize, old: Option<(usize, usize)>, rows: &mut Vec<Row>) {
    rows.extend((0..len).map(|i| Row::Added { block, new: start + i, pair: pair(i, old) }));
}
