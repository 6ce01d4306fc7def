//! What a diff shows, row by row, without colours and widths.

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
    New,
    Deleted,
    Unchanged,
    TooLong,
}

/// The lines of both texts of a block.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
}

/// The lines of `text`, none when it is empty.
fn lines(text: &str, strip_returns: bool) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() {
        return Vec::new();
    }
    let strip =
        |line| if strip_returns { str::strip_suffix(line, '\r').unwrap_or(line) } else { line };
    text.split('\n').map(strip).collect()
}

impl<'a> Texts<'a> {
    pub(super) fn new(block: &'a DiffBlock) -> Self {
        // Line ends are worth a look only where they change.
        let both = |has: fn(&str) -> bool| {
            [&block.old_text, &block.new_text].iter().filter(|t| !t.is_empty()).all(|t| has(t))
        };
        let strip = both(|text| text.contains("\r\n"));
        Self { old: lines(&block.old_text, strip), new: lines(&block.new_text, strip) }
    }
}

/// All rows of `blocks`.
pub(super) fn rows(blocks: &[DiffBlock], texts: &[Texts<'_>]) -> Vec<Row> {
    let mut rows = Vec::new();
    let several_files = blocks.windows(2).any(|pair| pair[0].path != pair[1].path);
    for (index, block) in blocks.iter().enumerate() {
        let before = index.checked_sub(1).filter(|before| blocks[*before].path == block.path);
        let after = blocks.get(index + 1).filter(|after| after.path == block.path);
        if several_files && before.is_none() {
            rows.push(Row::Label(Label::Path(index)));
        }
        if let Some(before) = before {
            let end = blocks[before].old_start.saturating_add(texts[before].old.len() as u64);
            rows.push(Row::Gap(block.old_start.saturating_sub(end)));
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
        block_rows(index, &texts[index], &mut rows);
    }
    rows
}

fn block_rows(block: usize, texts: &Texts<'_>, rows: &mut Vec<Row>) {
    for op in capture_diff_slices(Algorithm::Myers, &texts.old, &texts.new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                rows.extend((0..len).map(|i| Row::Context {
                    block,
                    old: old_index + i,
                    new: new_index + i,
                }));
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
