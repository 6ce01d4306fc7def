//! A context in memory: what its records add up to.

use super::error::ContextError;
use super::record::Record;
use crate::message::{CheckpointId, Message, message_hundredths};
use crate::wire::ContextSize;

/// A point in the current generation that can be gone back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub id: CheckpointId,
    /// Messages before it.
    pub messages: usize,
    /// Tokens before it, the estimate of what no provider had counted included.
    pub tokens: u64,
    /// Where its marker begins in the file, in bytes.
    pub(super) offset: u64,
    counted: u64,
    pending: u64,
}

/// What the records of a file add up to.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Memory {
    pub(super) system_prompt: Option<String>,
    /// Where the system prompt's record begins in the file, in bytes.
    pub(super) prompt_offset: u64,
    pub(super) history: Vec<Message>,
    pub(super) checkpoints: Vec<Checkpoint>,
    pub(super) next_checkpoint: CheckpointId,
    /// Tokens of the last `_usage`.
    pub(super) counted: u64,
    /// What came after it, in hundredths of a token.
    pending: u64,
}

impl Memory {
    /// Takes in a record that begins at byte `offset` of the file.
    pub(super) fn apply(&mut self, record: Record, offset: u64) {
        match record {
            Record::SystemPrompt(text) => {
                self.system_prompt = Some(text);
                self.prompt_offset = offset;
            }
            Record::Checkpoint(id) => {
                self.checkpoints.push(Checkpoint {
                    id,
                    messages: self.history.len(),
                    tokens: self.tokens(),
                    offset,
                    counted: self.counted,
                    pending: self.pending,
                });
                let next = CheckpointId(id.0.saturating_add(1));
                self.next_checkpoint = self.next_checkpoint.max(next);
            }
            Record::Usage(tokens) => {
                self.counted = tokens;
                self.pending = 0;
            }
            Record::Message(message) => {
                self.pending = self.pending.saturating_add(message_hundredths(&message));
                self.history.push(message);
            }
            Record::UnknownMarker => {}
        }
    }

    /// Where the checkpoint `id` is in the list.
    ///
    /// # Errors
    /// When it is not there.
    pub(super) fn checkpoint_index(&self, id: CheckpointId) -> Result<usize, ContextError> {
        self.checkpoints.iter().position(|mark| mark.id == id).ok_or_else(|| {
            ContextError::UnknownCheckpoint {
                id,
                first: self.checkpoints.first().map(|mark| mark.id),
                last: self.checkpoints.last().map(|mark| mark.id),
            }
        })
    }

    /// Forgets the checkpoint at `index` and everything after it, the system prompt excepted.
    pub(super) fn cut(&mut self, index: usize) {
        let Some(mark) = self.checkpoints.get(index).cloned() else { return };
        self.checkpoints.truncate(index);
        self.history.truncate(mark.messages);
        self.counted = mark.counted;
        self.pending = mark.pending;
        let ids = self.checkpoints.iter().map(|mark| mark.id.0.saturating_add(1));
        self.next_checkpoint = CheckpointId(ids.max().unwrap_or(0));
    }

    /// Moves everything but the system prompt by `bytes` in the file.
    pub(super) fn shift(&mut self, bytes: u64) {
        for mark in &mut self.checkpoints {
            mark.offset = mark.offset.saturating_add(bytes);
        }
    }

    /// Tokens, the estimate included.
    pub(super) fn tokens(&self) -> u64 {
        self.counted.saturating_add(self.pending / 100)
    }

    /// Messages and tokens.
    pub(super) fn size(&self) -> ContextSize {
        ContextSize { messages: self.history.len() as u64, tokens: self.tokens() }
    }
}
