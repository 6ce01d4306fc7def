//! The composer: the draft, what was sent before, and what waits to be sent.

use std::collections::VecDeque;

use super::editor::Editor;

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
        let text = self.editor.take();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
        }
        text
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
