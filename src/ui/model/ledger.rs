//! What the context consists of, as the engine told it, and where one stands in it.

use crate::wire::{ContextLedger, LedgerMessage};

/// The ledger over the screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LedgerView {
    /// What was told; none before the answer.
    pub ledger: Option<ContextLedger>,
    /// The marked row.
    pub marked: usize,
    /// The latest first, not the largest?
    pub by_age: bool,
    /// Are the calls of the model listed with what they cost, not the messages?
    pub by_call: bool,
}

impl LedgerView {
    /// The messages in the order they are shown.
    #[must_use]
    pub fn rows(&self) -> Vec<&LedgerMessage> {
        let Some(ledger) = &self.ledger else { return Vec::new() };
        let mut rows: Vec<&LedgerMessage> = ledger.messages.iter().collect();
        if self.by_age {
            rows.reverse();
        } else {
            rows.sort_by_key(|row| (std::cmp::Reverse(row.tokens), row.index));
        }
        rows
    }

    /// The marked message.
    #[must_use]
    pub fn marked_row(&self) -> Option<&LedgerMessage> {
        self.rows().get(self.marked).copied()
    }

    /// Takes in what the engine told; the same message stays marked.
    pub fn set(&mut self, ledger: ContextLedger) {
        let marked = self.marked_row().map(|row| row.index);
        self.ledger = Some(ledger);
        let rows = self.rows();
        let place = marked.and_then(|index| rows.iter().position(|row| row.index == index));
        self.marked = place.unwrap_or(self.marked).min(rows.len().saturating_sub(1));
    }

    /// The other order; the same message stays marked.
    pub fn turn_over(&mut self) {
        let marked = self.marked_row().map(|row| row.index);
        self.by_age = !self.by_age;
        let place = self.rows().iter().position(|row| Some(row.index) == marked);
        self.marked = place.unwrap_or(0);
    }
}
