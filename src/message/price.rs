//! What tokens cost.

use serde::{Deserialize, Serialize};

use super::TokenUsage;

/// What a model's tokens cost, per million, in whatever currency the person counts in.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Price {
    /// Input that no cache knew.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input read from the provider's cache; as other input when absent.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; as other input when absent.
    #[serde(default)]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What `usage` costs.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "no bill counts 2^53 tokens")]
    pub fn cost(&self, usage: &TokenUsage) -> f64 {
        let millions = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        millions(usage.input_other, self.input)
            + millions(usage.output, self.output)
            + millions(usage.input_cache_read, self.cache_read.unwrap_or(self.input))
            + millions(usage.input_cache_creation, self.cache_write.unwrap_or(self.input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_costs_what_it_costs_or_what_input_does() {
        let usage = TokenUsage {
            input_other: 1_000_000,
            output: 500_000,
            input_cache_read: 2_000_000,
            input_cache_creation: 1_000_000,
        };
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: None };
        assert!((price.cost(&usage) - (3.0 + 7.5 + 0.6 + 3.0)).abs() < 1e-9);
    }
}
