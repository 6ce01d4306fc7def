//! Chat completion chunks in, stream parts out. Pure.

use std::collections::VecDeque;

use serde_json::Value;

use super::calls::Joiner;
use crate::llm::sse::SseEvent;
use crate::llm::surrogate::{self, Mender};
use crate::llm::{FinishReason, LlmError, StreamPart, refusal};
use crate::message::{ContentPart, TokenUsage};

/// Fields in which servers send thinking.
const REASONING_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads one answer.
#[derive(Debug)]
pub(super) struct Reader {
    host: String,
    reasoning_keys: Vec<String>,
    joiner: Joiner,
    text: Mender,
    thinking: Mender,
    counts: Counts,
    usage: Option<TokenUsage>,
    has_id: bool,
    finish: Option<FinishReason>,
    done: bool,
    /// What can be handed out, in order.
    pub(super) parts: VecDeque<StreamPart>,
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
    pub(super) fn new(host: &str, reasoning_key: Option<&str>) -> Self {
        let configured = reasoning_key.filter(|key| !key.is_empty());
        Self {
            host: host.to_owned(),
            reasoning_keys: configured
                .into_iter()
                .chain(REASONING_KEYS)
                .map(str::to_owned)
                .collect(),
            joiner: Joiner::default(),
            text: Mender::default(),
            thinking: Mender::default(),
            counts: Counts::default(),
            usage: None,
            has_id: false,
            finish: None,
            done: false,
            parts: VecDeque::new(),
        }
    }

    /// Who sends.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// The error of an answer that broke in `detail`'s way; another attempt may work.
    pub(super) fn broken(&self, detail: &str) -> LlmError {
        LlmError::Connection { host: self.host.clone(), detail: detail.to_owned() }
    }

    /// Has the server said that the answer is over? (It may still send counts.)
    pub(super) fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// Has the server said its very last word?
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes one event of the stream.
    ///
    /// # Errors
    /// [`LlmError::Status`] for an error object, [`LlmError::Connection`] for what is no chunk.
    pub(super) fn event(&mut self, event: &SseEvent) -> Result<(), LlmError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        match surrogate::parse(data) {
            Ok((error, _)) if event.name == "error" && error.get("error").is_none() => {
                Err(self.error(&error))
            }
            Ok((chunk, marked)) => self.chunk(&chunk, marked),
            Err(_) if event.name == "error" => Err(self.error(&Value::from(data))),
            Err(error) => Err(self.broken(&format!(
                "a piece of the answer is not JSON ({error}): {}",
                refusal::shorten(data)
            ))),
        }
    }

    /// Takes one chunk, or a whole answer that was not streamed.
    ///
    /// # Errors
    /// [`LlmError::Status`] for an error object.
    pub(super) fn chunk(&mut self, chunk: &Value, marked: bool) -> Result<(), LlmError> {
        let is_error = |key: &str| chunk.get(key).and_then(Value::as_str) == Some("error");
        match chunk.get("error") {
            Some(error) if !error.is_null() => return Err(self.error(error)),
            _ if is_error("object") || is_error("type") => return Err(self.error(chunk)),
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

    /// The stream has ended.
    ///
    /// # Errors
    /// [`LlmError::Connection`] when it ended before the answer did.
    pub(super) fn end(&mut self) -> Result<(), LlmError> {
        if !self.is_finished() {
            let began = self.has_id || self.joiner.has_calls();
            let detail = if began {
                "the answer was cut off before its end"
            } else {
                "it closed the connection without an answer"
            };
            return Err(self.broken(detail));
        }
        for (mender, part) in [
            (&mut self.thinking, ContentPart::think as fn(String) -> ContentPart),
            (&mut self.text, ContentPart::text),
        ] {
            if let Some(rest) = mender.finish() {
                self.joiner.content(part(rest.to_string()), &mut self.parts);
            }
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

    fn delta(&mut self, delta: &Value, marked: bool) {
        let thinking = self.reasoning_keys.iter().find_map(|key| text(delta, key));
        if let Some(thinking) = thinking {
            let thinking = self.thinking.mend(thinking, marked);
            if !thinking.is_empty() {
                self.joiner.content(ContentPart::think(thinking), &mut self.parts);
            }
        }
        let said = [delta.get("content"), delta.get("refusal")].into_iter().flatten();
        for piece in said.flat_map(pieces) {
            let piece = self.text.mend(piece, marked);
            if !piece.is_empty() {
                self.joiner.content(ContentPart::text(piece), &mut self.parts);
            }
        }
        if let Some(calls) = delta.get("tool_calls").and_then(Value::as_array) {
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

    fn error(&self, error: &Value) -> LlmError {
        let message = refusal::in_json(error).unwrap_or_else(|| error.to_string());
        LlmError::Status {
            host: self.host.clone(),
            status: error_status(error, &message),
            message: refusal::shorten(&message),
            retry_after: None,
        }
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

/// The status an error in a 200 stream would have had: its own code, or what its words say.
fn error_status(error: &Value, message: &str) -> u16 {
    for key in ["code", "status", "status_code"] {
        let code = match error.get(key) {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        if let Some(code) = code.filter(|code| (400..600).contains(code)) {
            return u16::try_from(code).unwrap_or(500);
        }
    }
    let field = |key| text(error, key).unwrap_or_default();
    let words = format!("{} {} {message}", field("type"), field("code")).to_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if says(&["rate limit", "rate_limit", "too many requests"]) {
        429
    } else if says(&["server", "internal", "overload", "unavailable", "timeout", "timed out"]) {
        500
    } else if says(&["authentication", "unauthorized", "invalid_api_key"]) {
        401
    } else {
        400
    }
}

#[cfg(test)]
mod tests;
