//! Hiding single tool results because a person wants it: a placeholder takes their place in a new
//! generation, which keeps the checkpoints. The old one has them, so this can be restored.

use std::collections::BTreeSet;

use super::error::ContextError;
use super::record::Record;
use super::rewrite::{self, HIDDEN_RESULT, is_hidden};
use super::store::Context;
use crate::message::{ContentPart, Message, Role};
use crate::wire::{ContextChange, MessageFate, RewrittenMessage};

/// Why nothing was hidden.
#[derive(Debug)]
pub enum NotHidden {
    /// It makes no sense: why, for a person.
    Refused(String),
    /// The disk does not take it; nothing has changed.
    Context(ContextError),
}

/// What hiding did.
#[derive(Debug)]
pub struct Hidden {
    /// Sizes and generations.
    pub change: ContextChange,
    /// The results, as they were.
    pub messages: Vec<RewrittenMessage>,
}

impl Context {
    /// Puts a placeholder in the place of the tool results `wanted`: numbers in the history, from 0,
    /// in any order. Their calls stay, as every provider wants a result for each call.
    ///
    /// # Errors
    /// When a number names no tool result, or one that is hidden already, or the files cannot be
    /// written.
    pub fn hide(&mut self, wanted: &[u64]) -> Result<Hidden, NotHidden> {
        let chosen = chosen(self.history(), wanted).map_err(NotHidden::Refused)?;
        let memory = self.memory();
        let mut marks = memory.checkpoints.iter().peekable();
        let (mut records, mut messages) = (Vec::new(), Vec::new());
        let mut saved = 0_u64;
        for (at, message) in memory.history.iter().enumerate() {
            while let Some(mark) = marks.next_if(|mark| mark.messages <= at) {
                records.push(Record::Usage(mark.tokens.saturating_sub(saved)));
                records.push(Record::Checkpoint(mark.id));
            }
            if chosen.contains(&at) {
                let was = rewrite::rewritten(at, message, MessageFate::Hidden);
                let placeholder = hidden(message);
                let is = rewrite::estimate(std::slice::from_ref(&placeholder));
                saved = saved.saturating_add(was.tokens.saturating_sub(is));
                messages.push(was);
                records.push(Record::Message(placeholder));
            } else {
                records.push(Record::Message(message.clone()));
            }
        }
        for mark in marks {
            records.push(Record::Usage(mark.tokens.saturating_sub(saved)));
            records.push(Record::Checkpoint(mark.id));
        }
        records.push(Record::Usage(memory.tokens().saturating_sub(saved)));
        let change = self.begin_again(records).map_err(NotHidden::Context)?;
        Ok(Hidden { change, messages })
    }
}

fn chosen(history: &[Message], wanted: &[u64]) -> Result<BTreeSet<usize>, String> {
    if wanted.is_empty() {
        return Err("no message was named".to_owned());
    }
    wanted
        .iter()
        .map(|&number| {
            let at = usize::try_from(number).ok().filter(|at| *at < history.len());
            let Some(at) = at else {
                return Err(format!("there is no message {number}; there are {}", history.len()));
            };
            if history[at].role != Role::Tool {
                return Err(format!(
                    "message {number} is no tool result, and only those can be hidden"
                ));
            }
            if is_hidden(&history[at]) {
                return Err(format!("message {number} is hidden already"));
            }
            Ok(at)
        })
        .collect()
}

fn hidden(message: &Message) -> Message {
    Message { content: vec![ContentPart::text(HIDDEN_RESULT)], ..message.clone() }
}
