//! The composer: the draft, what was sent before, and what waits to be sent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::editor::Editor;
use super::paste::Pastes;

/// What would be lost if the program ended now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Draft {
    /// What is being written.
    #[serde(default)]
    pub text: String,
    /// What waits for the running turn to end.
    #[serde(default)]
    pub queue: Vec<String>,
}

impl Draft {
    /// Is there nothing to lose?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.queue.is_empty()
    }
}

/// A draft is written to disk when nothing was typed for this many seconds.
const SAVE_AFTER: f64 = 0.4;

/// The composer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Composer {
    /// What is being written.
    pub editor: Editor,
    /// What waits for the running turn to end.
    pub queue: VecDeque<String>,
    history: Vec<String>,
    // Index into `history` while an old prompt is shown, and the draft it hides.
    recalled: Option<(usize, String)>,
    /// Index into the offered completions.
    pub completion: usize,
    pastes: Pastes,
    // When something may have changed that is not on disk, and what is.
    touched: Option<f64>,
    saved: Draft,
}

impl Composer {
    /// Takes what was typed before, oldest first.
    pub fn set_history(&mut self, history: Vec<String>) {
        self.history = history;
        self.recalled = None;
    }

    /// What was sent before, oldest first.
    #[must_use]
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Takes the draft out to be sent; says what to add to the history.
    pub fn take(&mut self) -> String {
        self.recalled = None;
        self.completion = 0;
        let text = self.text();
        self.editor.take();
        self.pastes.clear();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
        }
        text
    }

    /// What is being written, folded pastes as what they are.
    #[must_use]
    pub fn text(&self) -> String {
        let text = self.editor.text();
        if self.pastes.is_empty() { text } else { self.pastes.expand(&text) }
    }

    /// Writes pasted text at the cursor, a long one as a mark.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        match self.pastes.fold(&text) {
            Some(mark) => self.editor.insert(&mark),
            None => self.editor.insert(&text),
        }
        self.keep_marks_whole();
    }

    /// Keeps each mark one thing to the cursor and to Backspace.
    pub fn keep_marks_whole(&mut self) {
        if !self.pastes.is_empty() {
            self.editor.set_atoms(self.pastes.marks());
        }
    }

    /// Something may have changed that is not on disk.
    pub fn touch(&mut self, now: f64) {
        self.touched.get_or_insert(now);
    }

    /// When the draft is to be written to disk; none while it is there.
    #[must_use]
    pub fn save_due(&self) -> Option<f64> {
        self.touched.map(|at| at + SAVE_AFTER)
    }

    /// What is to be written to disk; none when that is there already.
    pub fn take_unsaved(&mut self) -> Option<Draft> {
        self.touched = None;
        let draft = Draft { text: self.text(), queue: self.queue.iter().cloned().collect() };
        (draft != self.saved).then(|| {
            self.saved = draft.clone();
            draft
        })
    }

    /// Takes in what an earlier run left unsent; says whether there was something. What was queued
    /// comes back as text: nobody asked for it again.
    pub fn restore(&mut self, draft: Draft) -> bool {
        if draft.is_empty() || !self.editor.is_empty() {
            return false;
        }
        self.saved = draft.clone();
        let parts: Vec<_> = draft.queue.into_iter().chain([draft.text]).collect();
        self.paste(parts.join("\n").trim_end_matches('\n'));
        self.touch(0.0);
        true
    }

    /// Shows an earlier prompt; says whether there was one.
    pub fn recall_previous(&mut self) -> bool {
        let (index, draft) = match self.recalled.take() {
            Some((0, draft)) => {
                self.recalled = Some((0, draft));
                return false;
            }
            Some((index, draft)) => (index - 1, draft),
            None if self.history.is_empty() => return false,
            None => (self.history.len() - 1, self.editor.text()),
        };
        self.editor = Editor::with_text(&self.history[index]);
        self.recalled = Some((index, draft));
        true
    }

    /// Shows a later prompt, or the draft again; says whether there was one.
    pub fn recall_next(&mut self) -> bool {
        let Some((index, draft)) = self.recalled.take() else { return false };
        if index + 1 < self.history.len() {
            self.editor = Editor::with_text(&self.history[index + 1]);
            self.recalled = Some((index + 1, draft));
        } else {
            self.editor = Editor::with_text(&draft);
        }
        true
    }

    /// Puts text back that was not sent after all, before what is being written.
    pub fn give_back(&mut self, text: &str) {
        let draft = self.editor.text();
        self.editor = if draft.is_empty() {
            Editor::with_text(text)
        } else {
            Editor::with_text(&format!("{text}\n{draft}"))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_survives_a_walk_through_the_history() {
        let mut composer = Composer::default();
        composer.set_history(vec!["one".into(), "two".into()]);
        composer.editor.insert("draft");
        assert!(composer.recall_previous() && composer.recall_previous());
        assert!(!composer.recall_previous());
        assert_eq!(composer.editor.text(), "one");
        assert!(composer.recall_next() && composer.recall_next());
        assert_eq!(composer.editor.text(), "draft");
        assert!(!composer.recall_next());
    }
}
