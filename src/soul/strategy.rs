//! Compaction strategies (KLIP-13): how a context is made shorter, never when.
//!
//! A strategy maps messages to messages. It keeps their order and the link between calls and
//! results. The loop decides when ([`super::compaction`]), and puts the outcome into the context.

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::ask::{Ask, News, NoAnswer};
use crate::config::CompactionStrategyKind;
use crate::context::compaction::{self, CompactionPlan};
use crate::context::rewrite::{self, Rewrite};
use crate::llm::{Answer, ChatProvider, ChatRequest};
use crate::message::Message;
use crate::prompts;
use crate::wire::MessageFate;

/// Messages of a person or the model that a summary leaves as they are (`kimi-cli`
/// `soul/compaction.py`).
const KEPT_MESSAGES: usize = 2;

/// What a strategy has to go on.
#[derive(Clone, Copy)]
pub(super) struct CompactionContext<'a> {
    /// The conversation.
    pub(super) history: &'a [Message],
    /// Its tokens, the estimate of what no provider has counted included.
    pub(super) token_count: u64,
    /// The window; 0 when it is unknown.
    pub(super) max_context_size: u64,
    /// Tokens of it to be kept free.
    pub(super) reserved_context_size: u64,
    /// Who can be asked.
    pub(super) llm: &'a dyn ChatProvider,
    /// Attempts of a question there may be.
    pub(super) attempts: u64,
    /// Ends a question at once.
    pub(super) cancel: &'a CancellationToken,
    /// What a person wants looked after.
    pub(super) focus: Option<&'a str>,
}

/// What a strategy comes to: a new context, or none when there is nothing to do.
pub(super) type Outcome = Result<Option<Rewrite>, NoAnswer>;

/// A way to make a context shorter.
pub(super) trait CompactionStrategy: Send + Sync {
    /// Is there something to do? Asked first, so that nothing is announced in vain.
    fn has_work(&self, context: &CompactionContext<'_>) -> bool;

    /// Does it.
    fn compact<'a>(&'a self, context: CompactionContext<'a>) -> BoxFuture<'a, Outcome>;
}

/// The strategy of this kind. `is_fallback`: another one has failed.
pub(super) fn strategy(
    kind: CompactionStrategyKind,
    is_fallback: bool,
) -> &'static dyn CompactionStrategy {
    match kind {
        CompactionStrategyKind::LlmSummary => &LlmSummary,
        CompactionStrategyKind::HideToolResults => &HideToolResults,
        CompactionStrategyKind::HideThenSummary => &HideThenSummary,
        CompactionStrategyKind::Truncate if is_fallback => &Truncate { is_fallback: true },
        CompactionStrategyKind::Truncate => &Truncate { is_fallback: false },
    }
}

/// The model summarises all but the last messages.
struct LlmSummary;

impl CompactionStrategy for LlmSummary {
    fn has_work(&self, context: &CompactionContext<'_>) -> bool {
        compaction::plan(context.history, KEPT_MESSAGES).is_some()
    }

    fn compact<'a>(&'a self, context: CompactionContext<'a>) -> BoxFuture<'a, Outcome> {
        async move {
            let Some(plan) = compaction::plan(context.history, KEPT_MESSAGES) else {
                return Ok(None);
            };
            let summary = summarise(&plan, &context).await?;
            let tokens = tokens_after(&summary, &plan);
            let said = context.history.iter().enumerate().filter(|(_, m)| !m.is_checkpoint_note());
            let changed = said
                .take(plan.to_compact.len())
                .map(|(at, m)| rewrite::rewritten(at, m, MessageFate::Summarised))
                .collect();
            let messages = compaction::compacted(summary.content(), plan);
            Ok(Some(Rewrite { messages, tokens, changed }))
        }
        .boxed()
    }
}

/// Results of older calls give way to a placeholder.
struct HideToolResults;

impl HideToolResults {
    fn rewrite(context: &CompactionContext<'_>) -> Option<Rewrite> {
        rewrite::hide_tool_results(context.history, context.token_count, rewrite::KEPT_GROUPS)
    }
}

impl CompactionStrategy for HideToolResults {
    fn has_work(&self, context: &CompactionContext<'_>) -> bool {
        Self::rewrite(context).is_some()
    }

    fn compact<'a>(&'a self, context: CompactionContext<'a>) -> BoxFuture<'a, Outcome> {
        async move { Ok(Self::rewrite(&context)) }.boxed()
    }
}

/// Hiding, and a summary when there is nothing to hide.
struct HideThenSummary;

impl CompactionStrategy for HideThenSummary {
    fn has_work(&self, context: &CompactionContext<'_>) -> bool {
        HideToolResults.has_work(context) || LlmSummary.has_work(context)
    }

    fn compact<'a>(&'a self, context: CompactionContext<'a>) -> BoxFuture<'a, Outcome> {
        match HideToolResults::rewrite(&context) {
            Some(rewrite) => async move { Ok(Some(rewrite)) }.boxed(),
            None => LlmSummary.compact(context),
        }
    }
}

/// The older part is cut off.
struct Truncate {
    is_fallback: bool,
}

impl Truncate {
    fn rewrite(&self, context: &CompactionContext<'_>) -> Option<Rewrite> {
        rewrite::truncate(context.history, rewrite::KEPT_BY_TRUNCATION, self.is_fallback)
    }
}

impl CompactionStrategy for Truncate {
    fn has_work(&self, context: &CompactionContext<'_>) -> bool {
        self.rewrite(context).is_some()
    }

    fn compact<'a>(&'a self, context: CompactionContext<'a>) -> BoxFuture<'a, Outcome> {
        async move { Ok(self.rewrite(&context)) }.boxed()
    }
}

async fn summarise(
    plan: &CompactionPlan,
    context: &CompactionContext<'_>,
) -> Result<Answer, NoAnswer> {
    let mut plan = plan.clone();
    if let Some(budget) = input_budget(context) {
        compaction::fit(&mut plan, budget);
    }
    let input = [compaction::compaction_input(&plan, prompts::compact(), context.focus)];
    let ask = Ask {
        provider: context.llm,
        request: ChatRequest {
            system: prompts::COMPACT_SYSTEM,
            tools: &[],
            messages: &input,
            cache_key: None,
            input_tokens: Some(rewrite::estimate(&input)),
        },
        cancel: context.cancel,
        // Nobody hears what a summary says while it is made.
        room: None,
        attempts: context.attempts,
        wants_text: true,
    };
    let answer = ask
        .run(&mut |news| {
            if let News::Retry { next_attempt, .. } = news {
                tracing::info!("Retrying compaction for the {} time", next_attempt - 1);
            }
        })
        .await?;
    if let Some(usage) = answer.usage() {
        let (input, output) = (usage.input(), usage.output);
        tracing::info!("Compaction used {input} input tokens and {output} output tokens");
    }
    Ok(answer)
}

/// Tokens the conversation to be summarised may have: the window without the request itself and
/// without room for the summary. Estimates are rough, so a tenth stays free.
fn input_budget(context: &CompactionContext<'_>) -> Option<u64> {
    let window = context.max_context_size;
    if window == 0 {
        return None;
    }
    let prompt = crate::context::estimate_tokens(prompts::compact())
        + crate::context::estimate_tokens(prompts::COMPACT_SYSTEM)
        + context.focus.map_or(0, crate::context::estimate_tokens);
    // A reserve that is not smaller than the window counts for nothing, as in the trigger.
    let room = (window / 4).min(context.reserved_context_size).min(8_192);
    Some((window - window / 10).saturating_sub(prompt + room))
}

/// What the summary and the kept messages come to: counted where the provider counted, else
/// estimated.
fn tokens_after(summary: &Answer, plan: &CompactionPlan) -> u64 {
    let summarised = summary.usage().map_or_else(
        || rewrite::estimate(&[Message::new(crate::message::Role::User, summary.content().into())]),
        |usage| usage.output,
    );
    summarised + rewrite::estimate(&plan.to_keep)
}
