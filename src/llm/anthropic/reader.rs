//! Events of the messages API in, stream parts out. Pure.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::request::REDACTED;
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
    blocks: BTreeMap<u64, Block>,
    usage: TokenUsage,
    has_id: bool,
    finish: Option<FinishReason>,
    done: bool,
    parts: VecDeque<StreamPart>,
}

/// A content block that is open.
#[derive(Debug)]
enum Block {
    Text(Mender),
    Think { mender: Mender, signature: String },
    Call { has_arguments: bool },
}

impl Reader {
    /// A reader of what `host` sends.
    pub(crate) fn new(host: &str) -> Self {
        Self {
            peer: Peer::new(host),
            joiner: Joiner::default(),
            blocks: BTreeMap::new(),
            usage: TokenUsage::default(),
            has_id: false,
            finish: None,
            done: false,
            parts: VecDeque::new(),
        }
    }

    fn take(&mut self, event: &Value, marked: bool) -> Result<(), LlmError> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match text(event, "type") {
            "message_start" => self.start(&event["message"]),
            "content_block_start" => self.open(index, &event["content_block"], marked),
            "content_block_delta" => self.delta(index, &event["delta"], marked),
            "content_block_stop" => self.close(index),
            "message_delta" => {
                self.stopped(&event["delta"]);
                self.count(&event["usage"]);
            }
            "message_stop" => self.done = true,
            "error" => return Err(self.peer.refused(event)),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(self.peer.refused(event));
            }
            // `ping`, and what later versions add.
            _ => {}
        }
        Ok(())
    }

    /// A message begins. Some gateways say so twice; the first one names it.
    fn start(&mut self, message: &Value) {
        let id = text(message, "id");
        if !id.is_empty() && !std::mem::replace(&mut self.has_id, true) {
            self.joiner.name_calls_after(id);
            self.parts.push_back(StreamPart::MessageId(id.to_owned()));
        }
        self.count(&message["usage"]);
    }

    fn open(&mut self, index: u64, block: &Value, marked: bool) {
        self.close(index);
        match text(block, "type") {
            "text" => {
                self.blocks.insert(index, Block::Text(Mender::default()));
                self.said(index, text(block, "text"), marked);
            }
            "thinking" => {
                let signature = text(block, "signature").to_owned();
                self.blocks.insert(index, Block::Think { mender: Mender::default(), signature });
                self.said(index, text(block, "thinking"), marked);
            }
            "redacted_thinking" => {
                let encrypted = Some(format!("{REDACTED}{}", text(block, "data")));
                self.content(ContentPart::Think { think: String::new(), encrypted });
            }
            "tool_use" => {
                let input = block.get("input").and_then(Value::as_object);
                let input = input.filter(|input| !input.is_empty());
                let function = match input {
                    Some(input) => json!({"name": block["name"], "arguments": input}),
                    None => json!({"name": block["name"]}),
                };
                let call = json!({"index": index, "id": block["id"], "function": function});
                self.joiner.deltas(&[call], marked, &mut self.parts);
                self.blocks.insert(index, Block::Call { has_arguments: input.is_some() });
            }
            // Blocks of tools that run at the server.
            other => tracing::debug!(other, "a block of an unknown kind is passed over"),
        }
    }

    fn delta(&mut self, index: u64, delta: &Value, marked: bool) {
        match text(delta, "type") {
            "text_delta" => self.said(index, text(delta, "text"), marked),
            "thinking_delta" => self.said(index, text(delta, "thinking"), marked),
            "signature_delta" => {
                if let Some(Block::Think { signature, .. }) = self.blocks.get_mut(&index) {
                    signature.push_str(text(delta, "signature"));
                }
            }
            "input_json_delta" => self.arguments(index, text(delta, "partial_json"), marked),
            _ => {}
        }
    }

    fn said(&mut self, index: u64, piece: &str, marked: bool) {
        let part = match self.blocks.get_mut(&index) {
            Some(Block::Text(mender)) => ContentPart::text(mender.mend(piece, marked)),
            Some(Block::Think { mender, .. }) => ContentPart::think(mender.mend(piece, marked)),
            _ => return,
        };
        self.content(part);
    }

    fn arguments(&mut self, index: u64, piece: &str, marked: bool) {
        if let Some(Block::Call { has_arguments }) = self.blocks.get_mut(&index)
            && !piece.is_empty()
        {
            *has_arguments = true;
            let more = json!({"index": index, "function": {"arguments": piece}});
            self.joiner.deltas(&[more], marked, &mut self.parts);
        }
    }

    /// A block is over.
    fn close(&mut self, index: u64) {
        match self.blocks.remove(&index) {
            Some(Block::Text(mut mender)) => {
                let rest = mender.finish().map(String::from).unwrap_or_default();
                self.content(ContentPart::text(rest));
            }
            Some(Block::Think { mut mender, signature }) => {
                let think = mender.finish().map(String::from).unwrap_or_default();
                let encrypted = Some(signature).filter(|signature| !signature.is_empty());
                self.content(ContentPart::Think { think, encrypted });
            }
            // A tool without arguments: nothing else tells that they are complete.
            Some(Block::Call { has_arguments: false }) => {
                let none = json!({"index": index, "function": {"arguments": "{}"}});
                self.joiner.deltas(&[none], false, &mut self.parts);
            }
            Some(Block::Call { .. }) | None => {}
        }
    }

    fn content(&mut self, part: ContentPart) {
        let empty = match &part {
            ContentPart::Text { text } => text.is_empty(),
            ContentPart::Think { think, encrypted } => think.is_empty() && encrypted.is_none(),
            _ => false,
        };
        if !empty {
            self.joiner.content(part, &mut self.parts);
        }
    }

    fn stopped(&mut self, delta: &Value) {
        self.finish = match text(delta, "stop_reason") {
            "" => return,
            "end_turn" | "stop_sequence" => Some(FinishReason::Stop),
            "tool_use" => Some(FinishReason::ToolCalls),
            "max_tokens" | "model_context_window_exceeded" => Some(FinishReason::Length),
            "refusal" => Some(FinishReason::ContentFilter),
            other => Some(FinishReason::Other(other.to_owned())),
        };
    }

    /// Counts are cumulative; a gateway that leaves some out at the end sends them as 0.
    fn count(&mut self, usage: &Value) {
        let before = self.usage;
        let number = |key: &str, before: u64| {
            usage.get(key).and_then(Value::as_u64).filter(|count| *count > 0).unwrap_or(before)
        };
        self.usage = TokenUsage {
            input_other: number("input_tokens", before.input_other),
            output: number("output_tokens", before.output),
            input_cache_read: number("cache_read_input_tokens", before.input_cache_read),
            input_cache_creation: number(
                "cache_creation_input_tokens",
                before.input_cache_creation,
            ),
        };
        if self.usage != before {
            self.parts.push_back(StreamPart::Usage(self.usage));
        }
    }
}

impl receive::Reader for Reader {
    fn event(&mut self, event: &SseEvent) -> Result<(), LlmError> {
        if event.data.trim() == "[DONE]" {
            // Some gateways end as OpenAI does.
            return Ok(());
        }
        match self.peer.json(event)? {
            Some((event, marked)) => self.take(&event, marked),
            None => Ok(()),
        }
    }

    fn whole(&mut self, answer: &Value, marked: bool) -> Result<(), LlmError> {
        if text(answer, "type") != "message" {
            return self.take(answer, marked);
        }
        self.start(answer);
        for (index, block) in (0_u64..).zip(answer["content"].as_array().into_iter().flatten()) {
            self.open(index, block, marked);
            self.close(index);
        }
        self.stopped(answer);
        self.done = true;
        Ok(())
    }

    fn end(&mut self) -> Result<(), LlmError> {
        if !self.is_finished() {
            return Err(self.peer.cut_off(self.has_id || self.joiner.has_calls()));
        }
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        open.into_iter().for_each(|index| self.close(index));
        self.joiner.finish(&mut self.parts);
        let reason = self.finish.take().unwrap_or(match self.joiner.has_calls() {
            true => FinishReason::ToolCalls,
            false => FinishReason::Stop,
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

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
