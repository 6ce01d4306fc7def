//! Token usage as providers report it.

use serde::{Deserialize, Serialize};

/// Tokens of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens that were neither read from nor written to a cache.
    #[serde(default)]
    pub input_other: u64,
    /// Output tokens, thinking included.
    #[serde(default)]
    pub output: u64,
    /// Input tokens read from the provider's cache.
    #[serde(default)]
    pub input_cache_read: u64,
    /// Input tokens written to the provider's cache.
    #[serde(default)]
    pub input_cache_creation: u64,
}

impl TokenUsage {
    /// All input tokens, however they were billed.
    #[must_use]
    pub fn input(&self) -> u64 {
        self.input_other
            .saturating_add(self.input_cache_read)
            .saturating_add(self.input_cache_creation)
    }

    /// Counts another call's tokens, too.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.input_other, other.input_other),
            (&mut self.output, other.output),
            (&mut self.input_cache_read, other.input_cache_read),
            (&mut self.input_cache_creation, other.input_cache_creation),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Input and output together: what the context holds after the call.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input().saturating_add(self.output)
    }
}
