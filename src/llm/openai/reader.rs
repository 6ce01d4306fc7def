//! Chat completion chunks in, stream parts out. Pure.

use std::collections::VecDeque;

use serde_json::Value;

use super::think::ThinkTags;
use crate::llm::calls::Joiner;
use crate::llm::receive::{self, Peer};
use crate::llm::sse::SseEvent;
use crate::llm::surrogate::Mender;
use crate::llm::{FinishReason, LlmError, StreamPart};
use crate::message::{ContentPart, TokenUsage};

/// Fields in which servers send thinking.
const REASONING_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    peer: Peer,
    reasoning_keys: Vec<String>,
    joiner: Joiner,
    text: Mender,
    thinking: Mender,
    tags: ThinkTags,
    counts: Counts,
    usage: Option<TokenUsage>,
    has_id: bool,
    finish: Option<FinishReason>,
    done: bool,
    /// What can be handed out, in order.
    parts: VecDeque<StreamPart>,
}

/// Token counts as they were told, maybe over several chunks.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    prompt: u64,
    completion: u64,
    cached: u64,
}

impl Reader {
    /// A reader of what `host` sends; `reasoning_key` is a further field thinking may come in.
    pub(crate) fn new(host: &str, reasoning_key: Option<&str>) -> Self {
        let configured = reasoning_key.filter(|key| !key.is_empty());
        Self {
            peer: Peer::new(host),
            reasoning_keys: configured
                .into_iter()
                .chain(REASONING_KEYS)
                .map(str::to_owned)
                .collect(),
            joiner: Joiner::default(),
            text: Mender::default(),
            thinking: Mender::default(),
            tags: ThinkTags::default(),
            counts: Counts::default(),
            usage: None,
            has_id: false,
            finish: None,
            done: false,
            parts: VecDeque::new(),
        }
    }

    /// Takes one chunk, or a whole answer that was not streamed.
    ///
    /// # Errors
    /// [`LlmError::Status`] for an error object.
    fn chunk(&mut self, chunk: &Value, marked: bool) -> Result<(), LlmError> {
        let is_error = |key: &str| chunk.get(key).and_then(Value::as_str) == Some("error");
        match chunk.get("error") {
            Some(error) if !error.is_null() => return Err(self.peer.refused(error)),
            _ if is_error("object") || is_error("type") => return Err(self.peer.refused(chunk)),
            _ => {}
        }
        if let Some(id) = text(chunk, "id").filter(|_| !self.has_id) {
            self.has_id = true;
            self.joiner.name_calls_after(id);
            self.parts.push_back(StreamPart::MessageId(id.to_owned()));
        }
        // An empty list comes from Azure at the beginning and from everybody with the counts.
        let choice = chunk.get("choices").and_then(|choices| choices.get(0));
        if let Some(choice) = choice {
            if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
                self.delta(delta, marked);
            }
            if let Some(reason) = text(choice, "finish_reason") {
                self.finish = Some(finish_reason(reason));
            }
        }
        let usages = [
            chunk.get("x_groq").and_then(|groq| groq.get("usage")),
            choice.and_then(|choice| choice.get("usage")),
            chunk.get("usage"),
        ];
        for usage in usages.into_iter().flatten() {
            self.counts.read(usage);
        }
        self.counts.read_cached(chunk);
        self.tell_usage();
        Ok(())
    }

    fn delta(&mut self, delta: &Value, marked: bool) {
        let thinking = self.reasoning_keys.iter().find_map(|key| text(delta, key));
        if let Some(thinking) = thinking {
            let thinking = self.thinking.mend(thinking, marked);
            if !thinking.is_empty() {
                // A server that tells thinking from text has no tags in its text.
                self.tags.stop();
                self.joiner.content(ContentPart::think(thinking), &mut self.parts);
            }
        }
        let said = [delta.get("content"), delta.get("refusal")].into_iter().flatten();
        for piece in said.flat_map(pieces) {
            let piece = self.text.mend(piece, marked);
            for part in self.tags.split(&piece) {
                self.joiner.content(part, &mut self.parts);
            }
        }
        if let Some(calls) = delta.get("tool_calls").and_then(Value::as_array) {
            if !calls.is_empty()
                && let Some(part) = self.tags.finish()
            {
                self.joiner.content(part, &mut self.parts);
            }
            self.joiner.deltas(calls, marked, &mut self.parts);
        }
    }

    fn tell_usage(&mut self) {
        let usage = self.counts.usage();
        if usage != TokenUsage::default() && self.usage != Some(usage) {
            self.usage = Some(usage);
            self.parts.push_back(StreamPart::Usage(usage));
        }
    }
}

impl receive::Reader for Reader {
    fn event(&mut self, event: &SseEvent) -> Result<(), LlmError> {
        if event.data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        match self.peer.json(event)? {
            Some((chunk, marked)) => self.chunk(&chunk, marked),
            None => Ok(()),
        }
    }

    fn whole(&mut self, answer: &Value, marked: bool) -> Result<(), LlmError> {
        self.chunk(answer, marked)
    }

    fn end(&mut self) -> Result<(), LlmError> {
        if !self.is_finished() {
            return Err(self.peer.cut_off(self.has_id || self.joiner.has_calls()));
        }
        if let Some(rest) = self.thinking.finish() {
            self.joiner.content(ContentPart::think(rest.to_string()), &mut self.parts);
        }
        let rest = self.text.finish().map(|c| c.to_string()).unwrap_or_default();
        for part in self.tags.split(&rest).into_iter().chain(self.tags.finish()) {
            self.joiner.content(part, &mut self.parts);
        }
        self.joiner.finish(&mut self.parts);
        let reason = self.finish.take().unwrap_or(if self.joiner.has_calls() {
            FinishReason::ToolCalls
        } else {
            FinishReason::Stop
        });
        self.parts.push_back(StreamPart::Finish(reason));
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn pop(&mut self) -> Option<StreamPart> {
        self.parts.pop_front()
    }
}

impl Counts {
    fn read(&mut self, usage: &Value) {
        let number = |key: &str| usage.get(key).and_then(Value::as_u64);
        self.prompt = number("prompt_tokens").unwrap_or(self.prompt);
        self.completion = number("completion_tokens").unwrap_or(self.completion);
        self.read_cached(usage);
        let details = usage.get("prompt_tokens_details");
        let detailed = details.and_then(|details| details.get("cached_tokens")?.as_u64());
        // DeepSeek's name for it.
        let hit = number("prompt_cache_hit_tokens");
        self.cached = detailed.or(hit).unwrap_or(self.cached);
    }

    /// Kimi tells it beside the counts, or beside their object.
    fn read_cached(&mut self, value: &Value) {
        let cached = value.get("cached_tokens").and_then(Value::as_u64);
        self.cached = cached.unwrap_or(self.cached);
    }

    fn usage(self) -> TokenUsage {
        let cached = self.cached.min(self.prompt);
        TokenUsage {
            input_other: self.prompt - cached,
            output: self.completion,
            input_cache_read: cached,
            input_cache_creation: 0,
        }
    }
}

/// A field's text, unless it is empty.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The texts of a content: a string, or a list of parts as Mistral sends it.
fn pieces(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().filter_map(|part| text(part, "text")).collect(),
        _ => Vec::new(),
    }
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;
