//! Compaction: when a context is made shorter, by which strategy, and what is done when that fails.
//!
//! The context is not touched before the new one is there, so a failure or a cancel leaves it as
//! it was.

use tokio_util::sync::CancellationToken;

use super::strategy::{CompactionContext, strategy};
use super::turn::Stop;
use super::{Model, Soul};
use crate::config::CompactionStrategyKind;
use crate::context::compaction;
use crate::context::rewrite::Rewrite;
use crate::message::CheckpointRef;
use crate::wire::{CheckpointCreated, ContextRewritten, ContextSize, Empty, Event, Extension};

/// Messages that must have come since the last compaction before the next one: summarising a
/// summary gains nothing, and a long tail would ask for it at each step.
const NEW_MESSAGES: usize = 4;

/// What came of a compaction that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compacted {
    /// The context is a new one.
    Done,
    /// There was nothing to be made shorter.
    NothingToDo,
}

impl Soul {
    /// Compacts when the window is nearly full.
    pub(super) async fn compact_if_needed(
        &mut self,
        model: &Model,
        cancel: &CancellationToken,
    ) -> Result<(), Stop> {
        let is_new = self.compacted_to == 0
            || self.context.history().len() >= self.compacted_to + NEW_MESSAGES;
        if !is_new || !self.is_nearly_full(model) {
            return Ok(());
        }
        tracing::info!("Context too long, compacting...");
        self.compact_by_itself(model, cancel).await?;
        // Once more when hiding was not enough: then there is nothing left to hide, and
        // `hide_then_summary` summarises. A summary is never summarised here.
        if self.compaction.strategy == CompactionStrategyKind::HideThenSummary
            && self.is_nearly_full(model)
            && !self.was_summarised
        {
            self.compact_by_itself(model, cancel).await?;
        }
        Ok(())
    }

    /// Compacts without being told to, hooks and all.
    pub(super) async fn compact_by_itself(
        &mut self,
        model: &Model,
        cancel: &CancellationToken,
    ) -> Result<Compacted, Stop> {
        self.before_compaction("auto", cancel).await;
        let done = self.compact(model, None, cancel).await?;
        if done == Compacted::Done {
            self.after_compaction("auto");
        }
        Ok(done)
    }

    fn is_nearly_full(&self, model: &Model) -> bool {
        compaction::should_compact(
            self.context.tokens_with_pending(),
            model.max_context,
            self.limits.reserved_context_size,
            self.limits.compaction_trigger_ratio,
        )
    }

    /// Makes the context shorter by the strategy that is configured, or, when that fails, by the
    /// fallback if there is one.
    pub(super) async fn compact(
        &mut self,
        model: &Model,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Compacted, Stop> {
        let kind = self.compaction.strategy;
        let failure = match self.compact_by(kind, false, model, focus, cancel).await {
            Err(Stop::Provider(error)) => error,
            other => return other,
        };
        let Some(fallback) = self.compaction.fallback.filter(|fallback| *fallback != kind) else {
            return Err(failure.into());
        };
        tracing::warn!(%failure, fallback = fallback.name(), "compaction failed");
        match self.compact_by(fallback, true, model, focus, cancel).await? {
            Compacted::NothingToDo => Err(failure.into()),
            Compacted::Done => {
                let what = format!("{failure}. Instead: {}.", fallback.name());
                self.notify("The context could not be summarised", &what, "warning");
                Ok(Compacted::Done)
            }
        }
    }

    async fn compact_by(
        &mut self,
        kind: CompactionStrategyKind,
        is_fallback: bool,
        model: &Model,
        focus: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Compacted, Stop> {
        let context = CompactionContext {
            history: self.context.history(),
            token_count: self.context.tokens_with_pending(),
            max_context_size: model.max_context,
            reserved_context_size: self.limits.reserved_context_size,
            llm: model.provider.as_ref(),
            attempts: self.limits.max_retries_per_step,
            cancel,
            focus,
        };
        let strategy = strategy(kind, is_fallback);
        if !strategy.has_work(&context) {
            return Ok(Compacted::NothingToDo);
        }
        tracing::info!(strategy = kind.name(), "Compacting context...");
        if !is_fallback {
            self.hub.event(Event::CompactionBegin(Empty {}));
        }
        let Some(rewrite) = strategy.compact(context).await? else {
            return Ok(Compacted::NothingToDo);
        };
        self.take_over(rewrite, kind, is_fallback)?;
        Ok(Compacted::Done)
    }

    /// Puts `rewrite` in the context's place and tells what happened.
    fn take_over(
        &mut self,
        rewrite: Rewrite,
        kind: CompactionStrategyKind,
        is_fallback: bool,
    ) -> Result<(), Stop> {
        let change = self.context.replace(&rewrite.messages, rewrite.tokens)?;
        self.compacted_to = self.context.history().len();
        self.was_summarised =
            rewrite.changed.iter().any(|one| one.fate == crate::wire::MessageFate::Summarised);
        self.hub.extension(Extension::ContextRewritten(ContextRewritten {
            generation: change.old_generation,
            strategy: kind.name().to_owned(),
            is_fallback,
            messages: rewrite.changed,
        }));
        for kept in self.context.checkpoints() {
            self.mark(CheckpointRef { generation: change.new_generation, id: kept.id }, false);
        }
        self.hub.extension(Extension::ContextCompacted(change));
        for checkpoint in self.context.checkpoints() {
            let at = CheckpointRef { generation: change.new_generation, id: checkpoint.id };
            let size =
                ContextSize { messages: checkpoint.messages as u64, tokens: checkpoint.tokens };
            let made = CheckpointCreated { at, step: None, size };
            self.hub.extension(Extension::CheckpointCreated(made));
        }
        self.hub.event(Event::CompactionEnd(Empty {}));
        self.tell_status();
        Ok(())
    }
}
