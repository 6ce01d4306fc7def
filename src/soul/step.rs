//! A step: one model call and its tool calls, then one write of all of it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::ask::{Ask, News, NoAnswer};
use super::calls::{self, Calls};
use super::compaction::Compacted;
use super::repetition::Repetition;
use super::turn::{Ended, Stop, check_capabilities};
use super::{Model, Soul, overflow, repair};
use crate::config::CompactionStrategyKind;
use crate::context::{ContextError, estimate_tokens};
use crate::llm::{Answer, ChatRequest, FinishReason, StreamPart};
use crate::message::{ContentPart, Message, Role};
use crate::tools::{ToolContext, ToolServices};
use crate::wire::{Event, Hub, RevertCause, StepRetry, ToolCallPart, TurnBegin};

/// What comes after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one.
    Step,
    /// Nothing: the turn is over.
    Done(Ended),
}

impl Soul {
    /// Takes step `n` of a turn.
    pub(super) async fn step(
        &mut self,
        n: u64,
        model: &Model,
        repetition: &mut Repetition,
        cancel: &CancellationToken,
    ) -> Result<Next, Stop> {
        self.compact_if_needed(model, cancel).await?;
        self.begin_step(n)?;
        let answer = match self.ask_and_shorten(n, model, cancel).await? {
            Ok(answer) => answer,
            Err(NoAnswer::Cancelled(so_far)) => {
                self.keep_cut_off(&so_far)?;
                return Err(Stop::Cancelled);
            }
            Err(NoAnswer::Failed(error)) => return Err(error.into()),
        };
        self.tell_finish(answer.finish());
        self.tell_answer_status(&answer);
        self.act(answer, model, repetition, cancel).await
    }

    fn begin_step(&mut self, n: u64) -> Result<(), ContextError> {
        self.checkpoint(Some(n))?;
        self.tell_notes()?;
        self.remind_of_plan()?;
        self.services.denwa().set_next_checkpoint(self.context.next_checkpoint());
        Ok(())
    }

    /// Asks the model. When the provider finds the conversation too long, it is compacted and the
    /// model asked once more.
    async fn ask_and_shorten(
        &mut self,
        n: u64,
        model: &Model,
        cancel: &CancellationToken,
    ) -> Result<Result<Answer, NoAnswer>, Stop> {
        // Hiding may not be enough; then the second round summarises.
        let hides_first = self.compaction.strategy == CompactionStrategyKind::HideThenSummary;
        let mut rounds = if hides_first { 2 } else { 1 };
        loop {
            let error = match self.ask(n, model, cancel).await {
                Err(NoAnswer::Failed(error)) if rounds > 0 && overflow::is_too_long(&error) => {
                    error
                }
                other => return Ok(other),
            };
            rounds -= 1;
            tracing::info!(%error, "Context too long, compacting...");
            if self.compact_by_itself(model, cancel).await? == Compacted::NothingToDo {
                return Err(error.into());
            }
            self.hub.event(Event::StepRetry(StepRetry {
                n,
                next_attempt: 2,
                max_attempts: 2,
                wait_s: 0.0,
                error_type: error.kind().to_owned(),
                status_code: error.status(),
            }));
            self.begin_step(n)?;
        }
    }

    async fn ask(
        &self,
        n: u64,
        model: &Model,
        cancel: &CancellationToken,
    ) -> Result<Answer, NoAnswer> {
        let history = repair::sound(self.context.history());
        let ask = Ask {
            provider: model.provider.as_ref(),
            request: ChatRequest {
                system: self.context.system_prompt().unwrap_or_default(),
                tools: self.tools.specs(),
                messages: &history,
                cache_key: Some(&self.session_id.0),
                input_tokens: Some(self.context.tokens_with_pending()),
            },
            cancel,
            room: Some(self.hub.room()),
            attempts: self.limits.max_retries_per_step,
            wants_text: false,
        };
        let hub = &self.hub;
        ask.run(&mut |news| match news {
            News::Part(part) => tell_part(hub, part),
            News::Retry { next_attempt, wait, error } => {
                hub.event(Event::StepRetry(StepRetry {
                    n,
                    next_attempt,
                    max_attempts: ask.attempts,
                    wait_s: seconds(wait),
                    error_type: error.kind().to_owned(),
                    status_code: error.status(),
                }));
            }
        })
        .await
    }

    /// Makes the calls of `answer`, keeps everything, and says how it goes on.
    async fn act(
        &mut self,
        answer: Answer,
        model: &Model,
        repetition: &mut Repetition,
        cancel: &CancellationToken,
    ) -> Result<Next, Stop> {
        let usage = answer.usage();
        let message = answer.into_message();
        self.services.launcher().use_model(model);
        let context = self.tool_context(cancel);
        let results = Calls::start(
            message.calls(),
            &self.hub,
            &self.tools,
            &self.hooks,
            &self.approvals,
            &self.running,
            &context,
        )
        .finish(cancel)
        .await;
        self.calls_ended();
        let mut tool_messages: Vec<Message> = message
            .calls()
            .iter()
            .zip(&results.returns)
            .map(|(call, result)| Message::tool_result(&call.id, result))
            .collect();
        let verdict = repetition.see(message.calls());
        for (at, reminder) in verdict.reminders {
            if let Some(message) = tool_messages.get_mut(at) {
                message.content.push(ContentPart::text(reminder));
            }
        }
        // From here to the end of the write nothing waits, so nothing can cut it in two.
        self.context.grow(
            usage.map(|usage| usage.input()),
            &message,
            usage.map(|usage| usage.total()),
            &tool_messages,
        )?;
        if results.cancelled {
            return Err(Stop::Cancelled);
        }
        let mail = self.services.denwa().take();
        if self.approvals.take_rejected() {
            // A person's no stops everything, a message to the past too; unless they said what to
            // do next.
            let steered = self.take_steers(model)?;
            return Ok(if steered { Next::Step } else { Next::Done(Ended::Rejected) });
        }
        let travelled = mail.is_some();
        if let Some(mail) = mail {
            self.go_back(mail.checkpoint, RevertCause::AgentDMail, Some(&mail.message))?;
        }
        let steered = self.take_steers(model)?;
        if let Some(tool) = verdict.stop.filter(|_| !travelled && !steered) {
            self.notify(
                "The turn was stopped: the model goes in circles",
                &format!("It made the same call of {tool} step after step. Tell it what to do."),
                "warning",
            );
            return Ok(Next::Done(Ended::Repeated));
        }
        let goes_on = travelled || steered || !message.calls().is_empty();
        Ok(if goes_on { Next::Step } else { Next::Done(Ended::Finished) })
    }

    fn tool_context(&self, cancel: &CancellationToken) -> ToolContext {
        let services: std::sync::Arc<dyn ToolServices> = self.services.clone();
        ToolContext {
            work_dir: self.info.work_dir.clone(),
            added_dirs: self.added_dirs.clone(),
            call_id: String::new(),
            called_as: String::new(),
            cancelled: cancel.clone(),
            services,
        }
    }

    /// Puts what a person steered in since the last step into the context. True when there was some.
    fn take_steers(&mut self, model: &Model) -> Result<bool, ContextError> {
        let mut any = false;
        for input in self.desk.take_steers() {
            let message = Message::new(Role::User, input.clone().into_parts());
            if let Err(stop) = check_capabilities(&message, model) {
                self.notify("A steer was left out", &stop.to_string(), "warning");
                continue;
            }
            self.context.append(&[message])?;
            self.hub.event(Event::SteerInput(TurnBegin { user_input: input }));
            any = true;
        }
        Ok(any)
    }

    /// Keeps what the model had said when it was cut off, and closes the cards of calls that were
    /// never made. Thinking without its end and calls without a result are no use to it later.
    fn keep_cut_off(&mut self, so_far: &Answer) -> Result<(), ContextError> {
        for call in so_far.calls() {
            calls::tell(&self.hub, call, &calls::cancelled_return());
        }
        let said: Vec<ContentPart> = so_far
            .content()
            .iter()
            .filter(|part| !matches!(part, ContentPart::Think { .. }))
            .cloned()
            .collect();
        if said.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty())) {
            return Ok(());
        }
        self.context.append(&[Message::new(Role::Assistant, said)])
    }

    fn tell_answer_status(&self, answer: &Answer) {
        let tokens = answer.usage().map_or_else(
            || {
                let said = answer.content().iter().filter_map(ContentPart::as_text);
                self.context.size().tokens + said.map(estimate_tokens).sum::<u64>()
            },
            |usage| usage.total(),
        );
        self.tell_call_status(tokens, answer.usage(), answer.id());
    }

    fn tell_finish(&self, finish: Option<&FinishReason>) {
        match finish {
            Some(FinishReason::Length) => self.notify(
                "The answer is cut off",
                "The model reached its limit of output tokens. Ask it to go on.",
                "warning",
            ),
            Some(FinishReason::ContentFilter) => self.notify(
                "Part of the answer was withheld",
                "The provider's content filter stopped the model. Put it in other words.",
                "warning",
            ),
            _ => {}
        }
    }
}

fn tell_part(hub: &Hub, part: &StreamPart) {
    match part {
        // Some servers send pieces with nothing in them.
        StreamPart::Content(ContentPart::Text { text }) if text.is_empty() => {}
        StreamPart::Content(ContentPart::Think { think, encrypted: None }) if think.is_empty() => {}
        StreamPart::ToolCallArguments(more) if more.is_empty() => {}
        StreamPart::Content(part) => hub.event(Event::ContentPart(part.clone())),
        StreamPart::ToolCall(call) => hub.event(Event::ToolCall(call.clone())),
        StreamPart::ToolCallArguments(more) => {
            hub.event(Event::ToolCallPart(ToolCallPart { arguments_part: Some(more.clone()) }));
        }
        StreamPart::Usage(_) | StreamPart::MessageId(_) | StreamPart::Finish(_) => {}
    }
}

/// To the millisecond: what a person is told.
fn seconds(wait: Duration) -> f64 {
    (wait.as_secs_f64() * 1000.0).round() / 1000.0
}
