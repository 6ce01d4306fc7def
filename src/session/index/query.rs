//! What is looked for: words that must all be there, each as it is typed.

use std::ops::Range;

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use super::signature::{Gram, grams};

/// What is looked for. All words must occur; `"several words"` in quotes are one. A word with a capital
/// letter is found as it is written, another one in any case.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) words: Vec<Word>,
}

/// One of the words.
#[derive(Debug, Clone)]
pub(super) struct Word {
    needle: Needle,
    /// Its sequences of bytes, as far as they are the same in any case.
    pub(super) grams: Vec<Gram>,
}

#[derive(Debug, Clone)]
enum Needle {
    /// As it is.
    Exact(Finder<'static>),
    /// In a text whose letters of ASCII were made small.
    Small(Finder<'static>),
    /// With letters beyond ASCII that have two cases.
    Folded(Regex),
}

impl Query {
    /// Reads what a person typed.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut words = Vec::new();
        for (index, part) in text.split('"').enumerate() {
            if index % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        words.retain(|word| !word.trim().is_empty());
        Self { words: words.iter().map(|word| Word::new(word)).collect() }
    }

    /// Is nothing looked for?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Are all words in `text`?
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let small = text.to_ascii_lowercase();
        self.words.iter().all(|word| word.find(text.as_bytes(), small.as_bytes()).next().is_some())
    }

    /// Where in `text` words are, in order, not overlapping.
    #[must_use]
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let small = text.to_ascii_lowercase();
        let mut marks: Vec<Range<usize>> = self
            .words
            .iter()
            .flat_map(|word| word.find(text.as_bytes(), small.as_bytes()))
            .collect();
        marks.sort_by_key(|mark| (mark.start, mark.end));
        marks.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        marks
    }
}

impl Word {
    fn new(word: &str) -> Self {
        let is_exact = word.chars().any(char::is_uppercase);
        let has_cases = |c: char| !c.is_ascii() && c.is_lowercase();
        if is_exact {
            let grams = grams(word.as_bytes(), |_| true);
            return Self { needle: Needle::Exact(finder(word)), grams };
        }
        if word.chars().any(has_cases) {
            // Its sequences are other ones in capitals.
            let grams = grams(word.as_bytes(), <[u8]>::is_ascii);
            let regex = RegexBuilder::new(&regex::escape(word)).case_insensitive(true).build();
            let needle = regex.map_or_else(|_| Needle::Exact(finder(word)), Needle::Folded);
            return Self { needle, grams };
        }
        let grams = grams(word.as_bytes(), |_| true);
        Self { needle: Needle::Small(finder(word)), grams }
    }

    /// Is the text with small letters needed to find it?
    pub(super) fn is_small(&self) -> bool {
        matches!(self.needle, Needle::Small(_))
    }

    /// Where it is in `text`, whose letters of ASCII are all small in `small`.
    pub(super) fn find<'a>(
        &'a self,
        text: &'a [u8],
        small: &'a [u8],
    ) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
        let spans = |finder: &'a Finder<'static>, text: &'a [u8]| {
            let length = finder.needle().len();
            finder.find_iter(text).map(move |at| at..at + length)
        };
        match &self.needle {
            Needle::Exact(finder) => Box::new(spans(finder, text)),
            Needle::Small(finder) => Box::new(spans(finder, small)),
            Needle::Folded(regex) => Box::new(regex.find_iter(text).map(|found| found.range())),
        }
    }
}

fn finder(word: &str) -> Finder<'static> {
    Finder::new(word.as_bytes()).into_owned()
}
