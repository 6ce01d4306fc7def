//! The session's title, and what a person gives the model to know without asking anything.

use super::Soul;
use crate::message::Message;
use crate::wire::{Event, TurnBegin};

/// Longest title a person can give, in characters (as the Python program's).
const LONGEST_TITLE: usize = 200;

impl Soul {
    /// Gives the session a title.
    pub(super) fn set_title(&mut self, title: &str) {
        let words = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = words.chars().take(LONGEST_TITLE).collect();
        let title = title.trim_end().to_owned();
        if title.is_empty() {
            return;
        }
        let changed = self.state.change(|state| {
            state.custom_title = Some(title.clone());
            state.title_generated = true;
        });
        if let Err(error) = changed {
            self.refuse(format!("The title could not be kept: {error}."));
            return;
        }
        self.info.title = title;
        self.tell_info();
    }

    /// Adds a message to the context; recorded as a turn in which nothing happened, as the Python
    /// program does.
    pub(super) fn import(&mut self, source: &str, message: Message) {
        if let Err(error) = self.context.append(&[message]) {
            self.refuse(format!("{source} could not be imported: {error}."));
            return;
        }
        let said = format!("[User imported context from {source}]");
        self.hub.event(Event::TurnBegin(TurnBegin { user_input: said.into() }));
        self.hub.event(Event::turn_end());
        self.sync();
    }
}
