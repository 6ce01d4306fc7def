//! Diff blocks of a change to a file (`kimi-cli` `utils/diff.py`).

use std::path::Path;
use std::time::Duration;

use similar::{Algorithm, DiffOp, TextDiff};

use crate::message::{DiffBlock, DisplayBlock};

/// Lines before and after a change that are shown with it.
const CONTEXT_LINES: usize = 3;
/// A file with more lines is only summed up.
const MAX_LINES: usize = 10_000;
/// So is one with more bytes: few lines can be long ones, and a screen has to draw them.
const MAX_BYTES: usize = 1024 * 1024;
/// After this long a rougher diff will do.
const PATIENCE: Duration = Duration::from_millis(500);

/// One block for each part of `path` that differs; none when nothing does.
pub(crate) fn diff_blocks(path: &Path, old: &str, new: &str) -> Vec<DisplayBlock> {
    if old == new {
        return Vec::new();
    }
    let path = path.display().to_string();
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let longest = old_lines.len().max(new_lines.len());
    if longest > MAX_LINES || old.len().max(new.len()) > MAX_BYTES {
        return vec![summary(path, old_lines.len(), new_lines.len())];
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_slices(&old_lines, &new_lines);
    let blocks: Vec<DisplayBlock> = diff
        .grouped_ops(CONTEXT_LINES)
        .iter()
        .filter_map(|hunk| block(&path, hunk, &old_lines, &new_lines))
        .collect();
    if blocks.is_empty() {
        // Only line breaks differ (CRLF, or a last newline): the lines say nothing of it.
        return vec![summary(path, old_lines.len(), new_lines.len())];
    }
    blocks
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn block(path: &str, hunk: &[DiffOp], old: &[&str], new: &[&str]) -> Option<DisplayBlock> {
    let (first, last) = (hunk.first()?, hunk.last()?);
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    Some(DisplayBlock::Diff(DiffBlock {
        path: path.to_owned(),
        old_text: old.get(old_range.clone())?.join("\n"),
        new_text: new.get(new_range.clone())?.join("\n"),
        old_start: old_range.start as u64 + 1,
        new_start: new_range.start as u64 + 1,
        is_summary: false,
    }))
}

fn summary(path: String, old_lines: usize, new_lines: usize) -> DisplayBlock {
    DisplayBlock::Diff(DiffBlock {
        path,
        old_text: format!("({old_lines} lines)"),
        new_text: format!("({new_lines} lines)"),
        old_start: 1,
        new_start: 1,
        is_summary: true,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn diffs(old: &str, new: &str) -> Vec<DiffBlock> {
        diff_blocks(Path::new("/w/f"), old, new)
            .into_iter()
            .map(|block| match block {
                DisplayBlock::Diff(diff) => diff,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn numbered(change: &[(usize, &str)]) -> String {
        let line = |n: usize| {
            let changed = change.iter().find(|(at, _)| *at == n);
            changed.map_or_else(|| format!("line {n}\n"), |(_, text)| format!("{text}\n"))
        };
        (1..=40).map(line).collect()
    }

    #[test]
    fn each_change_is_a_hunk_with_three_lines_around_it() {
        let blocks = diffs(&numbered(&[]), &numbered(&[(10, "ten"), (30, "thirty")]));
        assert_eq!(blocks.len(), 2);
        assert_eq!((blocks[0].old_start, blocks[0].new_start), (7, 7));
        assert_eq!(blocks[0].new_text, "line 7\nline 8\nline 9\nten\nline 11\nline 12\nline 13");
        assert_eq!(blocks[1].old_start, 27);
    }

    #[test]
    fn a_new_file_begins_at_line_one_without_a_last_newline() {
        let blocks = diffs("", "one\ntwo\n");
        assert_eq!(blocks.len(), 1);
        assert_eq!((blocks[0].old_text.as_str(), blocks[0].new_text.as_str()), ("", "one\ntwo"));
        assert_eq!((blocks[0].old_start, blocks[0].new_start), (1, 1));
    }

    #[test]
    fn long_files_and_changed_line_breaks_are_summed_up() {
        let blocks = diffs("", &"x\n".repeat(10_001));
        assert!(blocks[0].is_summary);
        assert_eq!(blocks[0].new_text, "(10001 lines)");
        assert!(diffs("", &"x".repeat(2 * MAX_BYTES))[0].is_summary);
        assert!(diffs("a\r\n", "a\n")[0].is_summary);
        assert!(diffs("same", "same").is_empty());
    }

    proptest! {
        #[test]
        fn putting_the_hunks_in_place_gives_the_new_file(
            old in "([ab]\n){0,30}", new in "([abc]\n){0,30}",
        ) {
            let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
            for hunk in diffs(&old, &new).iter().rev() {
                let start = hunk.old_start as usize - 1;
                let count = |text: &str| if text.is_empty() { 0 } else { text.lines().count() };
                let end = start + count(&hunk.old_text);
                lines.splice(start..end, hunk.new_text.lines().map(str::to_owned));
            }
            prop_assert_eq!(lines, new.lines().map(str::to_owned).collect::<Vec<_>>());
        }
    }
}
