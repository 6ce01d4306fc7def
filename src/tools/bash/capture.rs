//! What is kept of a command's output: its beginning and its end, whatever it writes in between.

use std::collections::VecDeque;

use crate::tools::output::{MAX_LINE_CHARS, TRUNCATED};

/// Characters kept of the beginning.
const HEAD_CHARS: usize = 30_000;
/// Characters kept of the end. With the mark between, both fit in a result.
const TAIL_CHARS: usize = 19_800;

/// Collects output in bounded memory.
#[derive(Default)]
pub(super) struct Capture {
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    dropped: u64,
    line_chars: usize,
    cut_lines: bool,
}

impl Capture {
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' {
                self.line_chars = 0;
                self.put(c);
                continue;
            }
            self.line_chars = self.line_chars.saturating_add(1);
            if self.line_chars <= MAX_LINE_CHARS {
                self.put(c);
            } else if self.line_chars == MAX_LINE_CHARS + 1 {
                self.cut_lines = true;
                TRUNCATED.chars().for_each(|c| self.put(c));
            }
        }
    }

    fn put(&mut self, c: char) {
        if self.head_chars < HEAD_CHARS {
            self.head.push(c);
            self.head_chars += 1;
            return;
        }
        if self.tail.len() == TAIL_CHARS {
            self.tail.pop_front();
            self.dropped += 1;
        }
        self.tail.push_back(c);
    }

    pub fn is_truncated(&self) -> bool {
        self.cut_lines || self.dropped > 0
    }

    /// The output, with a mark where characters were left out.
    pub fn into_text(self) -> String {
        let mut text = self.head;
        if self.dropped > 0 {
            text.push_str(&format!("\n{TRUNCATED} {} characters left out\n", self.dropped));
        }
        text.extend(self.tail);
        text
    }
}

/// Makes text of bytes that arrive in pieces, which may end in the middle of a character.
#[derive(Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// The text of `bytes` and of what was pending; wrong bytes become U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.pending.len());
        let mut rest = self.pending.as_slice();
        loop {
            match str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = after;
                    if let Some(wrong) = error.error_len() {
                        text.push('\u{fffd}');
                        rest = &after[wrong..];
                        continue;
                    }
                }
            }
            break;
        }
        self.pending = rest.to_vec();
        text
    }

    /// What is left at the end: nothing, or U+FFFD for half a character.
    pub fn finish(self) -> &'static str {
        if self.pending.is_empty() { "" } else { "\u{fffd}" }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::output::MAX_CHARS;

    #[test]
    fn the_beginning_and_the_end_of_a_flood_are_kept() {
        let mut capture = Capture::default();
        for n in 0..100_000 {
            capture.push(&format!("line {n}\n"));
        }
        assert!(capture.is_truncated());
        let text = capture.into_text();
        assert!(text.starts_with("line 0\nline 1\n"));
        assert!(text.ends_with("line 99998\nline 99999\n"));
        assert!(text.contains("characters left out"));
        assert!(text.chars().count() <= MAX_CHARS);
    }

    #[test]
    fn an_endless_line_is_cut_once() {
        let mut capture = Capture::default();
        (0..1000).for_each(|_| capture.push(&"x".repeat(100)));
        capture.push("\nend\n");
        let text = capture.into_text();
        assert_eq!(text, format!("{}{TRUNCATED}\nend\n", "x".repeat(MAX_LINE_CHARS)));
    }

    proptest! {
        #[test]
        fn pieces_decode_like_the_whole(bytes in any::<Vec<u8>>(), text in ".{0,20}", size in 1..5_usize) {
            for bytes in [bytes, text.into_bytes()] {
                let mut decoder = Decoder::default();
                let mut decoded: String = bytes.chunks(size).map(|piece| decoder.push(piece)).collect();
                decoded.push_str(decoder.finish());
                prop_assert_eq!(decoded, String::from_utf8_lossy(&bytes));
            }
        }
    }
}
