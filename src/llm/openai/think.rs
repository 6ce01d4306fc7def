//! Thinking inside the text: `<think>…</think>` at the beginning of an answer, as servers send it
//! that do not know of thinking. Pure.

use crate::message::ContentPart;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Tells thinking from text in pieces that may be cut inside a tag.
///
/// Only the beginning of an answer counts: a model may write about the tag later on.
#[derive(Debug, Clone, Default)]
pub(super) struct ThinkTags {
    state: State,
    /// What may be the beginning of a tag.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum State {
    /// Nothing but blanks and a piece of the tag so far.
    #[default]
    Beginning,
    Thinking,
    /// Blanks between the closing tag and the text go.
    After,
    Text,
}

impl ThinkTags {
    /// The parts in the next piece of text.
    pub(super) fn split(&mut self, piece: &str) -> Vec<ContentPart> {
        if piece.is_empty() {
            return Vec::new();
        }
        if self.state == State::Text && self.held.is_empty() {
            return vec![ContentPart::text(piece)];
        }
        let mut rest = std::mem::take(&mut self.held) + piece;
        let mut parts = Vec::new();
        if self.state == State::Beginning {
            let begun = rest.trim_start();
            if let Some(thinking) = begun.strip_prefix(OPEN) {
                rest = thinking.to_owned();
                self.state = State::Thinking;
            } else if OPEN.starts_with(begun) {
                self.held = rest;
                return parts;
            } else {
                self.state = State::Text;
            }
        }
        if self.state == State::Thinking {
            let (end, close) = match rest.find(CLOSE) {
                Some(at) => (at, Some(at + CLOSE.len())),
                None => (rest.len() - begun_tag(&rest), None),
            };
            if end > 0 {
                parts.push(ContentPart::think(&rest[..end]));
            }
            match close {
                Some(close) => {
                    rest.drain(..close);
                    self.state = State::After;
                }
                None => {
                    self.held = rest.split_off(end);
                    return parts;
                }
            }
        }
        if self.state == State::After {
            rest = rest.trim_start().to_owned();
            if !rest.is_empty() {
                self.state = State::Text;
            }
        }
        if !rest.is_empty() {
            parts.push(ContentPart::text(rest));
        }
        parts
    }

    /// Looks for no more tags.
    pub(super) fn stop(&mut self) {
        if self.state == State::Beginning {
            self.state = State::Text;
        }
    }

    /// The text is over: what was held back.
    pub(super) fn finish(&mut self) -> Option<ContentPart> {
        let held = std::mem::take(&mut self.held);
        let thinking = self.state == State::Thinking;
        self.state = State::Text;
        match (held.is_empty(), thinking) {
            (true, _) => None,
            (false, true) => Some(ContentPart::think(held)),
            (false, false) => Some(ContentPart::text(held)),
        }
    }
}

/// Bytes at the end of `text` that may begin the closing tag.
fn begun_tag(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|length| text.ends_with(&CLOSE[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Answer, StreamPart};
    use proptest::prelude::*;

    fn answer(pieces: &[&str]) -> Answer {
        let mut tags = ThinkTags::default();
        let mut answer = Answer::new();
        let mut push = |part| answer.push(StreamPart::Content(part));
        for piece in pieces {
            tags.split(piece).into_iter().for_each(&mut push);
        }
        tags.finish().into_iter().for_each(&mut push);
        answer
    }

    fn read(text: &str) -> Vec<ContentPart> {
        answer(&[text]).content().to_vec()
    }

    #[test]
    fn thinking_at_the_beginning_is_told_from_the_text() {
        let (think, text) = (ContentPart::think("a < b\n"), ContentPart::text("So: <b>"));
        assert_eq!(read("\n<think>a < b\n</think>\n\nSo: <b>"), [think, text]);
        assert_eq!(read("<think></think>x"), [ContentPart::text("x")]);
        assert_eq!(read("<think>never closed</thi"), [ContentPart::think("never closed</thi")]);
    }

    #[test]
    fn a_tag_elsewhere_is_text() {
        for text in ["The <think>tag</think>.", "<thin", "<thinking>x", "  indented", "</think>a"] {
            assert_eq!(read(text), [ContentPart::text(text)], "{text}");
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            text in "(<think>|</think>|<thi|</|nk>| |\n|a|终){0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let whole = read(&text);
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.retain(|at| text.is_char_boundary(*at));
            at.extend([0, text.len()]);
            at.sort_unstable();
            let pieces: Vec<&str> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let cut = answer(&pieces);
            prop_assert_eq!(cut.content(), whole);
        }
    }
}
