//! Searching the transcript: what is looked for, and where it was found.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

use super::cell::{Cell, CellId, CellKind};
use super::editor::Editor;
use super::packed::Packed;
use crate::message::DisplayBlock;

/// A search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// The pattern while it is written.
    pub typing: Option<Editor>,
    /// The pattern looked for; empty when nothing is.
    pub pattern: String,
    /// Cells that match, and how often, oldest first.
    pub hits: Vec<(CellId, usize)>,
    /// The match that is shown: its place in `hits`, and which of that cell's.
    pub at: Option<(usize, usize)>,
    /// Did the pager, or an earlier context, have nothing that matches?
    pub is_missed: bool,
    /// What `hits` was found in: number of cells, and the last one's version.
    pub stamp: (usize, u32),
    /// How many overlays there were when it was begun: one begun in a pager, or an earlier context,
    /// ends with that.
    pub depth: usize,
    /// What was looked for outside of that.
    pub outer: Option<Box<Self>>,
}

impl Search {
    /// What is to be marked: what is written now, or what was looked for.
    #[must_use]
    pub fn marked(&self) -> Option<Cow<'_, str>> {
        let typed = self.typing.as_ref().map(Editor::text).filter(|text| !text.is_empty());
        match typed {
            Some(text) => Some(Cow::Owned(text)),
            None => (!self.pattern.is_empty()).then_some(Cow::Borrowed(self.pattern.as_str())),
        }
    }

    /// The number of the match that is shown, from 1, and how many there are.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let total = self.hits.iter().map(|(_, count)| count).sum();
        let at = self.at.map_or(0, |(hit, nth)| {
            self.hits.iter().take(hit).map(|(_, count)| count).sum::<usize>() + nth + 1
        });
        (at, total)
    }

    /// Looks through `cells`, unless nothing changed since.
    pub fn refresh(&mut self, cells: &[Cell]) {
        let stamp = (cells.len(), cells.last().map_or(0, |cell| cell.version));
        if self.stamp == stamp {
            return;
        }
        self.stamp = stamp;
        let shown = self.at.and_then(|(hit, nth)| Some((self.hits.get(hit)?.0, nth)));
        self.hits.clear();
        if let Some(pattern) = compile(&self.pattern) {
            for cell in cells {
                let mut count = 0;
                texts(cell, |text| count += matches(&pattern, text).count());
                if count > 0 {
                    self.hits.push((cell.id, count));
                }
            }
        }
        self.at = shown.and_then(|(cell, nth)| {
            let hit = self.hits.binary_search_by_key(&cell, |(id, _)| *id).ok()?;
            Some((hit, nth.min(self.hits[hit].1 - 1)))
        });
    }
}

/// The pattern as written: a regular expression, small letters standing for both cases unless there
/// is a capital. What is no regular expression is looked for as it stands.
#[must_use]
pub fn compile(pattern: &str) -> Option<Regex> {
    if pattern.is_empty() {
        return None;
    }
    let has_capital = pattern.chars().any(char::is_uppercase);
    let build = |pattern: &str| {
        RegexBuilder::new(pattern)
            .case_insensitive(!has_capital)
            .multi_line(true)
            .size_limit(1 << 20)
            .build()
    };
    build(pattern).or_else(|_| build(&regex::escape(pattern))).ok()
}

/// Matches that show something.
pub fn matches<'t>(
    pattern: &'t Regex,
    text: &'t str,
) -> impl Iterator<Item = regex::Match<'t>> + 't {
    pattern.find_iter(text).filter(|found| !found.is_empty())
}

/// Hands out the texts of a cell as a person can read them.
fn texts(cell: &Cell, mut each: impl FnMut(&str)) {
    match &cell.kind {
        CellKind::User { text, .. } | CellKind::Notice { text, .. } | CellKind::Plan { text } => {
            each(text);
        }
        // Looking through a long session must not leave all of it unpacked.
        CellKind::Assistant { text } | CellKind::Thinking { text, .. } => each(&text.peek()),
        CellKind::Mark(_) => {}
        CellKind::Tool(tool) => {
            each(&tool.name);
            if let Some(argument) = &tool.key_argument {
                each(argument);
            }
            let Some(result) = tool.result.as_ref().map(Packed::peek) else { return };
            let mut is_diff = false;
            for block in &result.display {
                if let DisplayBlock::Diff(diff) = block {
                    is_diff = true;
                    each(&diff.old_text);
                    each(&diff.new_text);
                }
                if let DisplayBlock::Todo { items } = block {
                    items.iter().for_each(|item| each(&item.title));
                }
            }
            if !is_diff {
                each(&result.output.text());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_find_both_cases_and_broken_patterns_are_text() {
        let found = |pattern: &str, text: &str| {
            compile(pattern).map_or(0, |pattern| matches(&pattern, text).count())
        };
        assert_eq!(found("error", "Error ERROR error"), 3);
        assert_eq!(found("Error", "Error ERROR error"), 1);
        assert_eq!(found(r"e\d+", "e1 E22 ex"), 2);
        assert_eq!(found("f(x", "call f(x) now"), 1);
        assert_eq!(found("x*", "abc"), 0, "nothing is no match");
        assert_eq!(found("", "abc"), 0);
    }
}
