//! Hiding tool results for a person: `Command::Hide`.

use super::Soul;
use crate::context::hide::{Hidden, NotHidden};
use crate::wire::{ContextRewritten, Extension, MessagesHidden};

/// What stands where a compaction has the name of its strategy.
const BY_HAND: &str = "hide";

impl Soul {
    /// Hides for a front end.
    pub(super) fn hide_by_user(&mut self, messages: &[u64]) {
        let Hidden { change, messages } = match self.context.hide(messages) {
            Ok(hidden) => hidden,
            Err(NotHidden::Refused(reason)) => {
                self.refuse(format!("Nothing was hidden: {reason}."));
                return;
            }
            Err(NotHidden::Context(error)) => {
                self.refuse(format!("Nothing was hidden: {error}."));
                return;
            }
        };
        self.compacted_to = 0;
        let numbers = messages.iter().map(|message| message.index).collect();
        // The same record a compaction leaves, so that `/pin` can bring these back too.
        self.hub.extension(Extension::ContextRewritten(ContextRewritten {
            generation: change.old_generation,
            strategy: BY_HAND.to_owned(),
            is_fallback: false,
            messages,
        }));
        self.hub.extension(Extension::MessagesHidden(MessagesHidden { messages: numbers, change }));
        self.tell_status();
    }
}
