//! Compaction: the model summarises the older part of the context, which is then replaced.

use tokio_util::sync::CancellationToken;

use super::ask::Ask;
use super::turn::Stop;
use super::{Model, Soul};
use crate::context::compaction::{self, CompactionPlan};
use crate::context::estimate_tokens;
use crate::llm::{Answer, ChatRequest};
use crate::message::{CheckpointRef, ContentPart, Message};
use crate::prompts;
use crate::wire::{CheckpointCreated, ContextSize, Empty, Event, Extension};

/// Messages that stay as they are (`kimi-cli` `soul/compaction.py`).
const KEPT_MESSAGES: usize = 2;
/// Messages that must have come since the last compaction before the next one: summarising a
/// summary gains nothing, and a long tail would ask for it at each step.
const NEW_MESSAGES: usize = 4;

/// What came of a compaction that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compacted {
    /// The context is a new one.
    Done,
    /// There was too little to summarise.
    NothingToDo,
}

impl Soul {
    /// Compacts when the window is nearly full.
    pub(super) async fn compact_if_needed(
        &mut self,
        model: &Model,
        cancel: &CancellationToken,
    ) -> Result<(), Stop> {
        let is_due = compaction::should_compact(
            self.context.tokens_with_pending(),
            model.max_context,
            self.limits.reserved_context_size,
            self.limits.compaction_trigger_ratio,
        );
        let is_new = self.compacted_to == 0
            || self.context.history().len() >= self.compacted_to + NEW_MESSAGES;
        if is_due && is_new {
            self.before_compaction("auto", cancel).await;
            if self.compact(model, None, cancel).await? == Compacted::Done {
                self.after_compaction("auto");
            }
        }
        Ok(())
    }

    /// Has the model summarise the context. The context is only touched when the summary is there.
    pub(super) async fn compact(
        &mut self,
        model: &Model,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Compacted, Stop> {
        let Some(plan) = compaction::plan(self.context.history(), KEPT_MESSAGES) else {
            return Ok(Compacted::NothingToDo);
        };
        self.hub.event(Event::CompactionBegin(Empty {}));
        let summary = self.summarise(&plan, model, focus, cancel).await?;
        let tokens = tokens_after(&summary, &plan);
        let messages = compaction::compacted(summary.content(), plan);
        let change = self.context.replace(&messages, tokens)?;
        self.compacted_to = self.context.history().len();
        self.hub.extension(Extension::ContextCompacted(change));
        for checkpoint in self.context.checkpoints() {
            let at = CheckpointRef { generation: change.new_generation, id: checkpoint.id };
            let size =
                ContextSize { messages: checkpoint.messages as u64, tokens: checkpoint.tokens };
            self.hub.extension(Extension::CheckpointCreated(CheckpointCreated {
                at,
                step: None,
                size,
            }));
        }
        self.hub.event(Event::CompactionEnd(Empty {}));
        self.tell_status();
        Ok(Compacted::Done)
    }

    async fn summarise(
        &self,
        plan: &CompactionPlan,
        model: &Model,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Answer, Stop> {
        let input = [compaction::compaction_input(plan, prompts::compact(), focus)];
        let ask = Ask {
            provider: model.provider.as_ref(),
            request: ChatRequest {
                system: prompts::COMPACT_SYSTEM,
                tools: &[],
                messages: &input,
                cache_key: None,
                input_tokens: Some(estimate(&input)),
            },
            cancel,
            attempts: self.limits.max_retries_per_step,
            wants_text: true,
        };
        Ok(ask.run(&mut |_| {}).await?)
    }
}

/// What the summary and the kept messages come to: counted where the provider counted, else
/// estimated.
fn tokens_after(summary: &Answer, plan: &CompactionPlan) -> u64 {
    let summarised = summary.usage().map_or_else(
        || summary.content().iter().filter_map(ContentPart::as_text).map(estimate_tokens).sum(),
        |usage| usage.output,
    );
    summarised + estimate(&plan.to_keep)
}

fn estimate(messages: &[Message]) -> u64 {
    messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(ContentPart::as_text)
        .map(estimate_tokens)
        .sum()
}
