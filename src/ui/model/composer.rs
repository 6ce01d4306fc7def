//! The composer: the draft, what was sent before, and what waits to be sent.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::editor::Editor;
use super::image::{Image, Images};
use super::kills::Kills;
use super::paste::Pastes;
use super::vim::Vim;
use crate::message::{SessionId, UserInput};

/// What would be lost if the program ended now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Draft {
    /// What is being written.
    #[serde(default)]
    pub text: String,
    /// What waits for the running turn to end.
    #[serde(default)]
    pub queue: Vec<String>,
    /// What was put aside, latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stash: Vec<String>,
    /// What waited for a yes or no, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Where the transcript was scrolled to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// A place in a session's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The session.
    pub session: SessionId,
    /// The cell, counted from the end: 1 is the last.
    pub cell: usize,
    /// Its line, from 0.
    pub line: usize,
}

impl Draft {
    /// Is there nothing to lose?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
    /// Is what is written a command for the shell?
    pub is_shell: bool,
    /// Vim's keys, when they are wanted.
    pub vim: Option<Vim>,
    /// What was deleted.
    pub kills: Kills,
    /// What was put aside, latest last.
    pub stash: Vec<String>,
    /// What waits for a yes or no, in words; kept on disk with the draft.
    pub asked: Vec<String>,
    /// Where the transcript is scrolled to; kept on disk with the draft.
    pub place: Option<Place>,
    images: Images,
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

    /// The draft as the history has it: a command for the shell begins with `!`.
    #[must_use]
    pub fn as_remembered(&self) -> String {
        let text = self.text();
        if self.is_shell { format!("!{text}") } else { text }
    }

    /// Takes the draft out, and adds it to the history.
    pub fn take(&mut self) -> String {
        self.recalled = None;
        self.completion = 0;
        let (text, remembered) = (self.text(), self.as_remembered());
        self.editor.take();
        self.pastes.clear();
        self.is_shell = false;
        if let Some(vim) = &mut self.vim {
            vim.restart();
        }
        if !text.trim().is_empty() && self.history.last() != Some(&remembered) {
            self.history.push(remembered);
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

    /// Writes a picture's mark at the cursor.
    pub fn attach(&mut self, image: Image) {
        let mark = self.images.add(image);
        self.editor.insert(&mark);
        self.keep_marks_whole();
    }

    /// `text` as it is sent, with the pictures whose marks stand in it.
    pub fn input(&mut self, text: &str) -> UserInput {
        let input = self.images.input(text);
        let waiting: Vec<&str> = self.queue.iter().chain(&self.stash).map(String::as_str).collect();
        let draft = self.editor.text();
        self.images.keep_in(&[waiting, vec![draft.as_str()]].concat());
        input
    }

    /// Does `text` hold the mark of a picture?
    #[must_use]
    pub fn has_image(&self, text: &str) -> bool {
        !self.images.none_in(text)
    }

    /// Puts the draft aside; says whether there was one.
    pub fn put_aside(&mut self) -> bool {
        if self.editor.is_empty() {
            return false;
        }
        let text = self.text();
        self.stash.push(if self.is_shell { format!("!{text}") } else { text });
        self.editor.take();
        self.pastes.clear();
        self.is_shell = false;
        true
    }

    /// Writes what was put aside into the empty composer.
    pub fn take_from_stash(&mut self, index: usize) {
        if index < self.stash.len() {
            let text = self.stash.remove(index);
            self.show(&text);
        }
    }

    /// Shows an earlier text: one that begins with `!` is a command for the shell.
    pub fn show(&mut self, text: &str) {
        let command = text.strip_prefix('!');
        self.is_shell = command.is_some();
        self.editor = Editor::with_text(command.unwrap_or(text));
        self.keep_marks_whole();
    }

    /// Keeps each mark one thing to the cursor and to Backspace.
    pub fn keep_marks_whole(&mut self) {
        let mut marks = self.pastes.marks().chain(self.images.marks()).peekable();
        if marks.peek().is_some() {
            self.editor.set_atoms(marks);
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
        let text = self.text();
        let draft = Draft {
            text: if self.is_shell && !text.is_empty() { format!("!{text}") } else { text },
            queue: self.queue.iter().cloned().collect(),
            stash: self.stash.clone(),
            asked: self.asked.clone(),
            place: self.place.clone(),
        };
        (draft != self.saved).then(|| {
            self.saved = draft.clone();
            draft
        })
    }

    /// Takes in what an earlier run left unsent; says whether there was something. What was queued
    /// comes back as text: nobody asked for it again.
    pub fn restore(&mut self, draft: Draft) -> bool {
        self.stash.extend(draft.stash.iter().cloned());
        if draft.is_empty() || !self.editor.is_empty() {
            return false;
        }
        self.saved = draft.clone();
        if draft.text.starts_with('!') && draft.queue.is_empty() {
            self.show(&draft.text);
            self.touch(0.0);
            return true;
        }
        let parts: Vec<_> = draft.queue.into_iter().chain([draft.text]).collect();
        let text = parts.join("\n");
        let text = text.trim_end_matches('\n');
        self.paste(text);
        self.touch(0.0);
        !text.is_empty() || !self.stash.is_empty()
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
            None if self.is_shell => (self.history.len() - 1, format!("!{}", self.editor.text())),
            None => (self.history.len() - 1, self.editor.text()),
        };
        let text = self.history[index].clone();
        self.show(&text);
        self.recalled = Some((index, draft));
        true
    }

    /// Shows a later prompt, or the draft again; says whether there was one.
    pub fn recall_next(&mut self) -> bool {
        let Some((index, draft)) = self.recalled.take() else { return false };
        if index + 1 < self.history.len() {
            let text = self.history[index + 1].clone();
            self.show(&text);
            self.recalled = Some((index + 1, draft));
        } else {
            self.show(&draft);
        }
        true
    }

    /// Puts text back that was not sent after all, before what is being written.
    pub fn give_back(&mut self, text: &str) {
        // A prompt must not become a command for the shell.
        if self.is_shell {
            self.put_aside();
            self.is_shell = false;
        }
        let draft = self.editor.text();
        self.editor = if draft.is_empty() {
            Editor::with_text(text)
        } else {
            Editor::with_text(&format!("{text}\n{draft}"))
        };
        self.keep_marks_whole();
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
