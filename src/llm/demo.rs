//! The demo model: no network, no key, no intelligence. It is used when nothing is configured.
//!
//! It looks at the conversation and the offered tools and answers a handful of plain requests by
//! rule, with the real tools, so that a newcomer meets approvals, todos, checkpoints and a D-Mail at
//! once. The same conversation always gets the same answer. `scene` reads the conversation, `wish`
//! the request, `play` decides; here the decision becomes a stream.

mod beside;
mod offer;
mod plan;
mod play;
mod recap;
mod report;
mod scene;
mod travel;
mod wish;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use serde_json::Value;

use self::scene::Scene;
use super::{ChatProvider, ChatRequest, FinishReason, LlmError, PartStream, StreamPart};
use crate::message::{ContentPart, Message, TokenUsage, ToolCall, estimate_tokens as tokens};

/// The demo model's name.
pub const DEMO_MODEL_NAME: &str = "demo";

/// Its context window in tokens: small, so that the gauge moves and compaction can be met; smaller
/// than the usual reserve, which then does not count.
pub const DEMO_CONTEXT: u64 = 32_768;

/// The pause after each piece: a few words.
const PACE: Duration = Duration::from_millis(10);

/// The demo model, at a pace that can be read.
#[must_use]
pub fn demo() -> Arc<dyn ChatProvider> {
    demo_at(PACE)
}

/// The demo model with another pause between pieces; tests take none.
#[must_use]
pub fn demo_at(pace: Duration) -> Arc<dyn ChatProvider> {
    Arc::new(Demo { pace, answers: AtomicU64::new(0) })
}

/// What the demo model does in an answer, in order.
#[derive(Debug, Clone, PartialEq)]
enum Move {
    Think(String),
    Say(String),
    Call { tool: String, arguments: Value },
}

struct Demo {
    pace: Duration,
    answers: AtomicU64,
}

impl ChatProvider for Demo {
    fn model_name(&self) -> &str {
        DEMO_MODEL_NAME
    }

    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        Box::pin(async move {
            let moves = if request.tools.is_empty() {
                vec![Move::Say(recap::recap(request.messages))]
            } else {
                play::moves(&Scene::read(&request))
            };
            let number = self.answers.fetch_add(1, Ordering::Relaxed);
            // Both numbers: the first alone would repeat when a session is opened again.
            let id = format!("demo-{}-{number}", request.messages.len());
            let parts = parts(&id, &moves, input_tokens(&request));
            let pace = self.pace;
            Ok(stream::iter(parts)
                .then(move |part| async move {
                    if !pace.is_zero() {
                        tokio::time::sleep(pace).await;
                    }
                    Ok(part)
                })
                .boxed())
        })
    }
}

/// The stream of an answer, cut into pieces as a model's is.
fn parts(id: &str, moves: &[Move], input: u64) -> Vec<StreamPart> {
    let mut parts = vec![StreamPart::MessageId(id.to_owned())];
    let mut output = 0;
    let mut calls = 0;
    for one in moves {
        match one {
            Move::Think(text) => {
                output += tokens(text);
                let think = |piece| StreamPart::Content(ContentPart::think(piece));
                parts.extend(pieces(text).into_iter().map(think));
            }
            Move::Say(text) => {
                output += tokens(text);
                let say = |piece| StreamPart::Content(ContentPart::text(piece));
                parts.extend(pieces(text).into_iter().map(say));
            }
            Move::Call { tool, arguments } => {
                let arguments = arguments.to_string();
                output += tokens(&arguments) + 8;
                let call = ToolCall::new(format!("{id}-{calls}"), tool.as_str(), None);
                parts.push(StreamPart::ToolCall(call));
                parts.extend(pieces(&arguments).into_iter().map(StreamPart::ToolCallArguments));
                calls += 1;
            }
        }
    }
    let usage = TokenUsage { input_other: input, output, ..TokenUsage::default() };
    parts.push(StreamPart::Usage(usage));
    let finish = if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
    parts.push(StreamPart::Finish(finish));
    parts
}

/// `text` cut after a few words, or a few characters of a script without spaces.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut width = 0;
    for c in text.chars() {
        piece.push(c);
        width += if c.is_ascii() { 1 } else { 3 };
        let may_cut = c.is_whitespace() || !c.is_ascii();
        if width >= 24 || (may_cut && width >= 12) {
            pieces.push(std::mem::take(&mut piece));
            width = 0;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn input_tokens(request: &ChatRequest<'_>) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        tokens(&tool.name) + tokens(&tool.description) + tokens(&tool.parameters.to_string())
    });
    let messages = request.messages.iter().map(message_tokens);
    tokens(request.system) + tools.sum::<u64>() + messages.sum::<u64>()
}

fn message_tokens(message: &Message) -> u64 {
    let content = message.content.iter().map(|part| match part {
        ContentPart::Text { text } => tokens(text),
        ContentPart::Think { think, .. } => tokens(think),
        // What a picture costs is the provider's secret; this is about what one does.
        _ => 1000,
    });
    let calls = message.calls().iter().map(|call| tokens(call.arguments()) + 8);
    content.sum::<u64>() + calls.sum::<u64>() + 4
}

#[cfg(test)]
mod tests;
