//! A list that is searched by typing: all commands, or what was sent before.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::editor::Editor;
use crate::message::CheckpointRef;
use crate::ui::keymap::Action;

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Carry out an action.
    Action(Action),
    /// Send a slash command, or write it into the composer when it wants an argument.
    Command(String),
    /// Write a text into the composer.
    Text(String),
    /// Write what was put aside into the composer.
    Stash(usize),
    /// Let this model of the configuration answer.
    Model(String),
    /// Let the model think, or not.
    Thinking(bool),
    /// Connect to another service.
    Connect,
    /// Take this provider's key out of the configuration.
    Forget(String),
    /// Look like this theme; looked at while it is marked.
    Theme(String),
    /// Write drafts in this editor from now on; empty for what the environment says.
    Editor(String),
    /// Go on before this checkpoint, in a new session.
    Undo(CheckpointRef),
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerRow {
    /// What is searched and shown.
    pub label: String,
    /// What is shown on the right.
    pub detail: String,
    /// What it stands for.
    pub choice: Choice,
}

/// A list that is searched by typing.
#[derive(Debug, Clone, PartialEq)]
pub struct Picker {
    /// Its title.
    pub title: &'static str,
    /// What an empty list says.
    pub empty: &'static str,
    /// What is typed.
    pub filter: Editor,
    /// Index into what is shown.
    pub marked: usize,
    rows: Vec<PickerRow>,
    // Indexes into `rows`, best first; worked out when the filter changes, not in every frame.
    shown: Vec<usize>,
}

impl Picker {
    /// A list of `rows`, in their order while nothing is typed.
    #[must_use]
    pub fn new(title: &'static str, empty: &'static str, rows: Vec<PickerRow>) -> Self {
        let shown = (0..rows.len()).collect();
        Self { title, empty, filter: Editor::default(), marked: 0, rows, shown }
    }

    /// The lines that match, best first.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &PickerRow> {
        self.shown.iter().map(|&index| &self.rows[index])
    }

    /// The marked line.
    #[must_use]
    pub fn marked_row(&self) -> Option<&PickerRow> {
        self.rows.get(*self.shown.get(self.marked)?)
    }

    /// Moves the mark.
    pub fn step(&mut self, down: bool) {
        let last = self.shown.len().saturating_sub(1);
        self.marked =
            if down { (self.marked + 1).min(last) } else { self.marked.saturating_sub(1) };
    }

    /// Searches again after the filter changed.
    pub fn search(&mut self) {
        self.marked = 0;
        let needle = self.filter.text();
        if needle.trim().is_empty() {
            self.shown = (0..self.rows.len()).collect();
            return;
        }
        let pattern = Pattern::parse(&needle, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buffer = Vec::new();
        let mut scored: Vec<(u32, usize)> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(index, row)| {
                let text = Utf32Str::new(&row.label, &mut buffer);
                Some((pattern.score(text, &mut matcher)?, index))
            })
            .collect();
        scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        self.shown = scored.into_iter().map(|(_, index)| index).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_finds_the_best_match_first_and_nothing_typed_shows_all() {
        let row = |label: &str| PickerRow {
            label: label.into(),
            detail: String::new(),
            choice: Choice::Text(label.into()),
        };
        let rows = vec![row("Scroll down a page"), row("Summarise the context"), row("修复错误")];
        let mut picker = Picker::new("t", "e", rows);
        assert_eq!(picker.shown().len(), 3);
        picker.filter.insert("sumcon");
        picker.search();
        assert_eq!(
            picker.marked_row().map(|row| row.label.as_str()),
            Some("Summarise the context")
        );
        picker.filter = Editor::with_text("修复");
        picker.search();
        assert_eq!(picker.marked_row().map(|row| row.label.as_str()), Some("修复错误"));
        picker.filter = Editor::with_text("zzz");
        picker.search();
        assert_eq!(picker.marked_row(), None);
        picker.step(true);
        assert_eq!(picker.marked, 0);
    }
}
