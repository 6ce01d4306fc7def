//! Events of the responses API in, stream parts out. Pure.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::llm::calls::Joiner;
use crate::llm::receive::{self, Peer};
use crate::llm::sse::SseEvent;
use crate::llm::surrogate::Mender;
use crate::llm::{FinishReason, LlmError, StreamPart};
use crate::message::{ContentPart, TokenUsage};

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    peer: Peer,
    joiner: Joiner,
    /// Items of the output by their index.
    items: BTreeMap<u64, Item>,
    text: Mender,
    thinking: Mender,
    has_id: bool,
    finish: Option<FinishReason>,
    parts: VecDeque<StreamPart>,
}

/// What has come of an item piece by piece.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    /// Was anything of it handed out? Then its whole, which comes last, is no news.
    has_pieces: bool,
    /// Is it complete?
    done: bool,
}

impl Reader {
    /// A reader of what `host` sends.
    pub(crate) fn new(host: &str) -> Self {
        Self {
            peer: Peer::new(host),
            joiner: Joiner::default(),
            items: BTreeMap::new(),
            text: Mender::default(),
            thinking: Mender::default(),
            has_id: false,
            finish: None,
            parts: VecDeque::new(),
        }
    }

    fn take(&mut self, event: &Value, marked: bool) -> Result<(), LlmError> {
        let index = event.get("output_index").and_then(Value::as_u64).unwrap_or_default();
        let response = &event["response"];
        match text(event, "type") {
            "response.created" | "response.in_progress" => self.start(response),
            "response.output_item.added" => self.open(index, &event["item"], marked),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.items.entry(index).or_default().has_pieces = true;
                self.say(text(event, "delta"), marked);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.entry(index).or_default().has_pieces = true;
                self.think(text(event, "delta"), marked, None);
            }
            // Parts of a summary are paragraphs.
            "response.reasoning_summary_part.added"
                if self.items.get(&index).is_some_and(|item| item.has_pieces) =>
            {
                self.think("\n\n", false, None);
            }
            "response.function_call_arguments.delta" => {
                self.arguments(index, text(event, "delta"), marked);
            }
            "response.output_item.done" => self.close(index, &event["item"], marked),
            "response.completed" | "response.incomplete" => self.over(response, marked),
            "response.failed" => return Err(self.peer.refused(&response["error"])),
            "error" => return Err(self.peer.refused(event)),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(self.peer.refused(event));
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, response: &Value) {
        let id = text(response, "id");
        if !id.is_empty() && !std::mem::replace(&mut self.has_id, true) {
            self.joiner.name_calls_after(id);
            self.parts.push_back(StreamPart::MessageId(id.to_owned()));
        }
    }

    fn open(&mut self, index: u64, item: &Value, marked: bool) {
        if text(item, "type") == "function_call" && !self.items.contains_key(&index) {
            let function = json!({"name": item["name"]});
            let call = json!({"index": index, "id": item["call_id"], "function": function});
            self.joiner.deltas(&[call], marked, &mut self.parts);
            self.items.insert(index, Item::default());
            self.arguments(index, text(item, "arguments"), marked);
        }
    }

    fn arguments(&mut self, index: u64, piece: &str, marked: bool) {
        if piece.is_empty() {
            return;
        }
        if let Some(item) = self.items.get_mut(&index) {
            item.has_pieces = true;
            let more = json!({"index": index, "function": {"arguments": piece}});
            self.joiner.deltas(&[more], marked, &mut self.parts);
        }
    }

    /// An item is complete; whatever of it has not come in pieces is taken now.
    fn close(&mut self, index: u64, item: &Value, marked: bool) {
        let kind = text(item, "type");
        if kind == "function_call" {
            self.open(index, item, marked);
        }
        let known = self.items.entry(index).or_default();
        let is_news = !known.has_pieces;
        if std::mem::replace(&mut known.done, true) {
            return;
        }
        match kind {
            "function_call" if is_news => {
                let whole = Some(text(item, "arguments")).filter(|text| !text.trim().is_empty());
                self.arguments(index, whole.unwrap_or("{}"), marked);
            }
            "message" if is_news => {
                for part in item["content"].as_array().into_iter().flatten() {
                    self.say(text(part, "text"), marked);
                    self.say(text(part, "refusal"), marked);
                }
            }
            "reasoning" => {
                let summary = item["summary"].as_array().into_iter().flatten();
                let texts: Vec<&str> = summary.map(|part| text(part, "text")).collect();
                let whole = if is_news { texts.join("\n\n") } else { String::new() };
                let encrypted = text(item, "encrypted_content");
                let encrypted = (!encrypted.is_empty()).then(|| encrypted.to_owned());
                self.think(&whole, marked, encrypted);
            }
            _ => {}
        }
    }

    fn say(&mut self, piece: &str, marked: bool) {
        let piece = self.text.mend(piece, marked);
        if !piece.is_empty() {
            self.joiner.content(ContentPart::text(piece), &mut self.parts);
        }
    }

    fn think(&mut self, piece: &str, marked: bool, encrypted: Option<String>) {
        let think = self.thinking.mend(piece, marked);
        if !think.is_empty() || encrypted.is_some() {
            self.joiner.content(ContentPart::Think { think, encrypted }, &mut self.parts);
        }
    }

    /// The answer is complete, or as complete as it will be.
    fn over(&mut self, response: &Value, marked: bool) {
        self.start(response);
        for (index, item) in (0_u64..).zip(response["output"].as_array().into_iter().flatten()) {
            self.close(index, item, marked);
        }
        self.count(&response["usage"]);
        self.finish = Some(match text(&response["incomplete_details"], "reason") {
            "" if self.joiner.has_calls() => FinishReason::ToolCalls,
            "" => FinishReason::Stop,
            "max_output_tokens" => FinishReason::Length,
            "content_filter" => FinishReason::ContentFilter,
            other => FinishReason::Other(other.to_owned()),
        });
    }

    fn count(&mut self, usage: &Value) {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        let input = number(&usage["input_tokens"]);
        let cached = number(&usage["input_tokens_details"]["cached_tokens"]).min(input);
        let usage = TokenUsage {
            input_other: input - cached,
            output: number(&usage["output_tokens"]),
            input_cache_read: cached,
            input_cache_creation: 0,
        };
        if usage != TokenUsage::default() {
            self.parts.push_back(StreamPart::Usage(usage));
        }
    }
}

impl receive::Reader for Reader {
    fn event(&mut self, event: &SseEvent) -> Result<(), LlmError> {
        if event.data.trim() == "[DONE]" {
            return Ok(());
        }
        match self.peer.json(event)? {
            Some((event, marked)) => self.take(&event, marked),
            None => Ok(()),
        }
    }

    fn whole(&mut self, answer: &Value, marked: bool) -> Result<(), LlmError> {
        if text(answer, "object") != "response" {
            return self.take(answer, marked);
        }
        if !answer["error"].is_null() {
            return Err(self.peer.refused(&answer["error"]));
        }
        self.over(answer, marked);
        Ok(())
    }

    fn end(&mut self) -> Result<(), LlmError> {
        let Some(reason) = self.finish.take() else {
            return Err(self.peer.cut_off(self.has_id || self.joiner.has_calls()));
        };
        let (thinking, text) = (self.thinking.finish(), self.text.finish());
        if let Some(rest) = thinking {
            self.joiner.content(ContentPart::think(rest.to_string()), &mut self.parts);
        }
        if let Some(rest) = text {
            self.joiner.content(ContentPart::text(rest.to_string()), &mut self.parts);
        }
        self.joiner.finish(&mut self.parts);
        self.parts.push_back(StreamPart::Finish(reason));
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.finish.is_some()
    }

    fn pop(&mut self) -> Option<StreamPart> {
        self.parts.pop_front()
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
