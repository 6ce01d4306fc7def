//! One question to the model: the stream, what cancels it, and the attempts after a failure.
//!
//! The only place that retries. What a failed attempt had said is discarded.

use std::time::Duration;

use futures::StreamExt;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use crate::llm::{
    Answer, ChatProvider, ChatRequest, FinishReason, LlmError, StreamPart, retry_delay,
};
use crate::wire::Room;

/// A question.
pub(super) struct Ask<'a> {
    pub(super) provider: &'a dyn ChatProvider,
    pub(super) request: ChatRequest<'a>,
    pub(super) cancel: &'a CancellationToken,
    /// Whether whoever listens keeps up.
    pub(super) room: Option<&'a Room>,
    /// Attempts there may be, at least one.
    pub(super) attempts: u64,
    /// Are tool calls alone no answer?
    pub(super) wants_text: bool,
}

/// What is heard on the way.
pub(super) enum News<'a> {
    /// A piece of the answer.
    Part(&'a StreamPart),
    /// The attempt failed; the next begins after `wait`.
    Retry { next_attempt: u64, wait: Duration, error: &'a LlmError },
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// Somebody cancelled; with what had come of this attempt.
    Cancelled(Box<Answer>),
    /// The provider failed for good.
    Failed(LlmError),
}

impl Ask<'_> {
    /// Asks until there is an answer or no hope of one.
    pub(super) async fn run(
        &self,
        news: &mut (dyn FnMut(News<'_>) + Send),
    ) -> Result<Answer, NoAnswer> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(news).await {
                Ok(answer) => return Ok(answer),
                Err(NoAnswer::Failed(error)) if self.may_retry(attempt, &error) => error,
                Err(other) => return Err(other),
            };
            let asked = match &error {
                LlmError::Status { retry_after, .. } => *retry_after,
                _ => None,
            };
            let wait = retry_delay(attempt, fastrand::f64(), asked);
            tracing::info!(attempt, ?wait, %error, "the model call is tried again");
            attempt += 1;
            news(News::Retry { next_attempt: attempt, wait, error: &error });
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(NoAnswer::Cancelled(Box::default())),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn may_retry(&self, attempt: u64, error: &LlmError) -> bool {
        error.is_retryable() && attempt < self.attempts
    }

    async fn attempt(&self, news: &mut (dyn FnMut(News<'_>) + Send)) -> Result<Answer, NoAnswer> {
        let mut answer = Answer::new();
        let mut stream = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(NoAnswer::Cancelled(Box::new(answer))),
            stream = self.provider.stream(self.request) => stream.map_err(NoAnswer::Failed)?,
        };
        loop {
            // A server that sends faster than we read must not keep commands waiting.
            consume_budget().await;
            if let Some(room) = self.room {
                tokio::select! {
                    biased;
                    () = self.cancel.cancelled() => {
                        return Err(NoAnswer::Cancelled(Box::new(answer)));
                    }
                    () = room.wait() => {}
                }
            }
            let part = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(NoAnswer::Cancelled(Box::new(answer))),
                part = stream.next() => part,
            };
            match part {
                Some(Ok(part)) => {
                    news(News::Part(&part));
                    answer.push(part);
                }
                Some(Err(error)) => return Err(NoAnswer::Failed(error)),
                None => return self.complete(answer).map_err(NoAnswer::Failed),
            }
        }
    }

    /// An answer somebody can use, or why it is none.
    fn complete(&self, answer: Answer) -> Result<Answer, LlmError> {
        let has_text =
            answer.content().iter().filter_map(|part| part.as_text()).any(|t| !t.trim().is_empty());
        if !answer.is_incomplete() && (has_text || !self.wants_text) {
            return Ok(answer);
        }
        Err(match answer.finish() {
            // The same question would end the same way.
            Some(FinishReason::ContentFilter) => {
                LlmError::Protocol("the provider withheld the answer (content filter)".to_owned())
            }
            Some(FinishReason::Length) => LlmError::Protocol(
                "the model used up its output limit before it said anything".to_owned(),
            ),
            _ => LlmError::Empty,
        })
    }
}
