//! Which words of a changed line changed.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// Longer lines are compared as a whole.
const MAX_LINE: usize = 1000;

/// Pieces of a line, in bytes.
pub(super) type Pieces = Vec<Range<usize>>;

/// Where `old` and `new` differ, as bytes of each; none when they have too little in common for that to
/// say anything.
pub(super) fn changed(old: &str, new: &str) -> Option<(Pieces, Pieces)> {
    if old.len() > MAX_LINE || new.len() > MAX_LINE {
        return None;
    }
    let old_words: Vec<&str> = old.split_word_bounds().collect();
    let new_words: Vec<&str> = new.split_word_bounds().collect();
    let ops = capture_diff_slices(Algorithm::Myers, &old_words, &new_words);
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let mut same = 0;
    for op in ops {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                let words = &old_words[old_index..old_index + len];
                same += words.iter().map(|word| word.trim().len()).sum::<usize>();
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                mark(&mut gone, &old_words, old_index, old_len);
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                mark(&mut come, &new_words, new_index, new_len);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                mark(&mut gone, &old_words, old_index, old_len);
                mark(&mut come, &new_words, new_index, new_len);
            }
        }
    }
    let longer = old.trim().len().max(new.trim().len());
    (same * 5 >= longer * 2 && same > 0).then_some((gone, come))
}

fn mark(ranges: &mut Pieces, words: &[&str], index: usize, len: usize) {
    let start: usize = words[..index].iter().map(|word| word.len()).sum();
    let end = start + words[index..index + len].iter().map(|word| word.len()).sum::<usize>();
    match ranges.last_mut() {
        // One space between two marks is not worth a gap.
        Some(last) if start - last.end <= 1 && start > 0 => last.end = end,
        _ => ranges.push(start..end),
    }
}
