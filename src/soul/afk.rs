//! A person who is away: nothing is asked, everything is approved, and the model knows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Soul;
use super::state::SharedState;
use crate::context::ContextError;
use crate::message::Message;
use crate::prompts;

/// Is the person away? Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Away {
    state: SharedState,
    /// A front end that has nobody at it, for as long as it says so.
    for_now: Arc<AtomicBool>,
}

impl Away {
    /// As `state` has it.
    pub(crate) fn new(state: SharedState) -> Self {
        Self { state, for_now: Arc::default() }
    }

    /// Is there nobody who could be asked?
    pub(crate) fn is(&self) -> bool {
        self.for_now.load(Ordering::Relaxed) || self.is_for_session()
    }

    /// Did the person say so for the session?
    pub(crate) fn is_for_session(&self) -> bool {
        self.state.read(|state| state.afk)
    }

    /// A front end says whether nobody is at it. Not stored.
    pub(crate) fn set_for_now(&self, away: bool) {
        self.for_now.store(away, Ordering::Relaxed);
    }
}

impl Soul {
    /// The person goes away, or is back.
    pub(super) fn toggle_afk(&mut self) {
        let afk = !self.away.is_for_session();
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
    /// Not when nobody is at the front end for now: then the prompt was written for that
    /// (`kimi-cli` `soul/dynamic_injections/afk_mode.py:13-70`).
    pub(super) fn tell_of_afk(&mut self) -> Result<(), ContextError> {
        if self.skips_afk_reminder {
            return Ok(());
        }
        let afk = self.away.is_for_session();
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
