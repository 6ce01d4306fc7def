//! Bringing messages back that a compaction took away: `Command::Pin` and `/pin`.

use super::Soul;
use super::turn::Stop;
use crate::context::ContextError;
use crate::context::{pin, rewrite};
use crate::message::{Generation, Role};
use crate::wire::{ContextRewritten, Extension, MessagesPinned, RewrittenMessage};

/// Messages that `/pin` lists.
const LISTED: usize = 30;

/// Why nothing was pinned.
enum NotPinned {
    /// It makes no sense; said to the person.
    Refused(String),
    /// The disk does not take it.
    Context(ContextError),
}

impl From<ContextError> for NotPinned {
    fn from(error: ContextError) -> Self {
        Self::Context(error)
    }
}

impl Soul {
    /// Pins for a front end.
    pub(super) fn pin_by_user(&mut self, generation: Generation, messages: &[u64]) {
        match self.pin(generation, messages) {
            Ok(_) => {}
            Err(NotPinned::Refused(reason)) => {
                self.refuse(format!("The messages could not be brought back: {reason}."));
            }
            Err(NotPinned::Context(error)) => {
                self.refuse(format!("The messages could not be brought back: {error}."));
            }
        }
    }

    /// `/pin [n…]`: with numbers brings those messages back, without any lists what the last
    /// compaction took away.
    pub(super) fn pin_command(&mut self, arguments: &str) -> Result<(), Stop> {
        let Some(rewritten) = self.context.last_rewrite() else {
            self.say(
                "No compaction of this session is on record, so there is nothing to bring back.",
            );
            return Ok(());
        };
        if arguments.is_empty() {
            self.say(&list(&rewritten));
            return Ok(());
        }
        let words = arguments.split(|c: char| c == ',' || c.is_whitespace());
        let numbers: Result<Vec<u64>, &str> = words
            .filter(|word| !word.is_empty())
            .map(|word| word.trim_start_matches('#').parse().map_err(|_| word))
            .collect();
        let numbers = match numbers {
            Ok(numbers) => numbers,
            Err(word) => {
                self.say(&format!("\"{word}\" is no number. /pin lists the messages."));
                return Ok(());
            }
        };
        match self.pin(rewritten.generation, &numbers) {
            Ok(tokens) => self.say(&format!(
                "They are in the context again, quoted at its end: about {tokens} tokens."
            )),
            Err(NotPinned::Refused(reason)) => {
                self.say(&format!("That is not possible: {reason}."));
            }
            Err(NotPinned::Context(error)) if error.is_io() => return Err(error.into()),
            Err(NotPinned::Context(error)) => {
                self.say(&format!("That is not possible: {error}."));
            }
        }
        Ok(())
    }

    /// Puts `messages` of `generation` at the end of the context, and says what they weigh.
    fn pin(&mut self, generation: Generation, messages: &[u64]) -> Result<u64, NotPinned> {
        if generation == self.context.generation() {
            return Err(NotPinned::Refused("they are in the context".to_owned()));
        }
        let old = self.context.transcript(generation)?.messages;
        let message = pin::pinned(&old, messages, generation).map_err(NotPinned::Refused)?;
        let tokens = rewrite::estimate(std::slice::from_ref(&message));
        let free = self
            .info
            .max_context_tokens
            .checked_sub(self.context.tokens_with_pending())
            .filter(|_| self.info.max_context_tokens > 0);
        if self.info.max_context_tokens > 0 && free.is_none_or(|free| tokens >= free) {
            return Err(NotPinned::Refused(format!(
                "they weigh about {tokens} tokens, and {} are free. Choose fewer",
                free.unwrap_or(0)
            )));
        }
        self.context.append(&[message])?;
        let mut messages = messages.to_vec();
        messages.sort_unstable();
        messages.dedup();
        let size = self.context.size();
        let pinned = MessagesPinned { generation, messages, tokens, size };
        self.hub.extension(Extension::MessagesPinned(pinned));
        self.tell_status();
        Ok(tokens)
    }
}

/// What a compaction took away, the largest first.
fn list(rewritten: &ContextRewritten) -> String {
    let mut messages: Vec<&RewrittenMessage> = rewritten.messages.iter().collect();
    messages.sort_by_key(|message| (std::cmp::Reverse(message.tokens), message.index));
    let all: u64 = messages.iter().map(|message| message.tokens).sum();
    let mut text = format!(
        "The last compaction ({}) took {} out of the context, about {all} tokens. The largest first:\n",
        rewritten.strategy,
        if messages.len() == 1 {
            "a message".to_owned()
        } else {
            format!("{} messages", messages.len())
        },
    );
    for message in messages.iter().take(LISTED) {
        let whose = match message.role {
            Role::Tool => "result",
            Role::Assistant => "model",
            Role::User | Role::System => "user",
        };
        text.push_str(&format!(
            "\n{:>4}  {:>7} tokens  {whose:<6}  {}",
            message.index, message.tokens, message.preview
        ));
    }
    if let Some(more) = messages.len().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("\n… and {more} smaller ones"));
    }
    text.push_str("\n\n/pin with their numbers brings messages back.");
    text
}
