//! What the engine is doing, and its numbers.

use std::sync::Arc;

use crate::message::{TodoItem, TokenUsage};
use crate::wire::{McpStatus, SessionInfo};

/// What the engine is doing.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Activity {
    /// No session is open yet.
    #[default]
    Opening,
    /// It waits for a prompt.
    Idle,
    /// A turn runs.
    Running {
        /// Since when, seconds since 1970.
        since: f64,
        /// The step, from 1; 0 before the first.
        step: u64,
        /// Was it told to stop?
        cancelling: bool,
    },
    /// It could not be opened, or is gone.
    Gone,
}

impl Activity {
    /// Does a turn run?
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }
}

/// A word that goes away by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Toast {
    /// The text.
    pub text: String,
    /// When it goes, seconds since 1970.
    pub until: f64,
}

/// One answer of the model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CallCost {
    /// The turn, from 1.
    pub turn: u64,
    /// The step of it, from 1.
    pub step: u64,
    /// Its tokens.
    pub usage: TokenUsage,
    /// What it cost, where a price is configured.
    pub cost: Option<f64>,
}

/// What the engine is doing, and its numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// What it is doing.
    pub activity: Activity,
    /// Facts about the session.
    pub info: Arc<SessionInfo>,
    /// Tokens in the context.
    pub context_tokens: Option<u64>,
    /// Size of the window.
    pub max_context_tokens: Option<u64>,
    /// Tokens of the last call.
    pub last_usage: Option<TokenUsage>,
    /// Tokens of all calls on this screen.
    pub total_usage: TokenUsage,
    /// What they cost, where the model's price is configured.
    pub cost: Option<f64>,
    /// How many calls that was.
    pub requests: u64,
    /// Every call, oldest first.
    pub calls: Vec<CallCost>,
    /// Turns that have begun.
    pub turns: u64,
    /// Was a part of the cost reckoned at today's price, because it was not known what it was then?
    pub cost_is_estimate: bool,
    /// Is plan mode on?
    pub plan_mode: bool,
    /// MCP servers.
    pub mcp: McpStatus,
    /// A call is tried again: what to say about it.
    pub retry: Option<String>,
    /// A word that goes away by itself.
    pub toast: Option<Toast>,
    /// The todo list.
    pub todos: Vec<TodoItem>,
    /// How long the last turn ran, in seconds.
    pub last_turn: Option<f64>,
    /// Did the last turn fail, and has nobody been there since?
    pub has_failed: bool,
    /// The git branch of the work folder.
    pub branch: Option<String>,
    /// Was the branch asked for since something may have changed it?
    pub is_branch_known: bool,
}

impl Status {
    /// The part of the window in use, 0 to 1.
    #[must_use]
    pub fn context_usage(&self) -> Option<f64> {
        let max = self.max_tokens();
        let used = self.context_tokens?;
        #[expect(clippy::cast_precision_loss, reason = "a ratio for a gauge")]
        (max > 0).then(|| used as f64 / max as f64)
    }

    /// Prices the calls made before the session was opened, of which the record tells the tokens only.
    pub fn price_the_past(&mut self) {
        let Some(price) = self.info.price else { return };
        for call in self.calls.iter_mut().filter(|call| call.cost.is_none()) {
            let cost = price.cost(&call.usage);
            call.cost = Some(cost);
            *self.cost.get_or_insert(0.0) += cost;
            self.cost_is_estimate = true;
        }
    }

    /// What the next call would cost if the context grew by `growth`: what the last call sent is read
    /// from the cache again where one is used, and the answer is as long as they are on average.
    #[must_use]
    pub fn next_cost(&self, growth: u64) -> Option<f64> {
        let price = self.info.price?;
        let last = self.last_usage?;
        let input = self.context_tokens?.saturating_add(growth);
        let has_cache = last.input_cache_read + last.input_cache_creation > 0;
        let cached = if has_cache { last.input().min(input) } else { 0 };
        Some(price.cost(&TokenUsage {
            input_other: input - cached,
            input_cache_read: cached,
            input_cache_creation: 0,
            output: self.total_usage.output / self.requests.max(1),
        }))
    }

    /// Size of the window, in tokens; 0 when unknown.
    #[must_use]
    pub fn max_tokens(&self) -> u64 {
        self.max_context_tokens.unwrap_or(self.info.max_context_tokens)
    }
}
