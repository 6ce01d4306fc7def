//! A person who is away: nothing is asked, everything is approved, and the model knows it.

use super::Soul;
use crate::context::ContextError;
use crate::message::Message;
use crate::prompts;

impl Soul {
    /// The person goes away, or is back.
    pub(super) fn toggle_afk(&mut self) {
        let afk = !self.approvals.afk();
        self.approvals.set_afk(afk);
        if let Err(error) = self.state.change(|state| state.afk = afk) {
            tracing::warn!(%error, "afk could not be stored");
        }
        self.say(if afk {
            "You are away: every action is approved and no question is asked. /afk again when you \
             are back."
        } else {
            "Welcome back. You are asked before actions again."
        });
        self.tell_status();
    }

    /// Tells the model once that nobody is there, and once that somebody is again.
    pub(super) fn tell_of_afk(&mut self) -> Result<(), ContextError> {
        let afk = self.approvals.afk();
        // Read from the conversation itself: a compaction or a revert may have taken it away.
        let told = self.context.history().iter().rev().find_map(|message| {
            let text = message.text();
            [(prompts::afk(), true), (prompts::afk_over(), false)]
                .into_iter()
                .find_map(|(reminder, is)| (text == reminder).then_some(is))
        });
        if afk != told.unwrap_or(false) {
            let reminder = if afk { prompts::afk() } else { prompts::afk_over() };
            self.context.append(&[Message::user(reminder)])?;
        }
        Ok(())
    }
}
