//! Chunks of a Gemini answer in, stream parts out. Pure.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::request::SIGNATURE;
use crate::llm::receive::{self, Peer};
use crate::llm::sse::SseEvent;
use crate::llm::surrogate::Mender;
use crate::llm::{FinishReason, LlmError, StreamPart};
use crate::message::{ContentPart, TokenUsage, ToolCall};

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    peer: Peer,
    id: Option<String>,
    calls: usize,
    text: Mender,
    thinking: Mender,
    usage: Option<TokenUsage>,
    finish: Option<FinishReason>,
    parts: VecDeque<StreamPart>,
}

impl Reader {
    /// A reader of what `host` sends.
    pub(crate) fn new(host: &str) -> Self {
        Self {
            peer: Peer::new(host),
            id: None,
            calls: 0,
            text: Mender::default(),
            thinking: Mender::default(),
            usage: None,
            finish: None,
            parts: VecDeque::new(),
        }
    }

    fn take(&mut self, chunk: &Value, marked: bool) -> Result<(), LlmError> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.peer.refused(chunk));
        }
        let id = text(chunk, "responseId");
        if self.id.is_none() && !id.is_empty() {
            self.id = Some(id.to_owned());
            self.parts.push_back(StreamPart::MessageId(id.to_owned()));
        }
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, marked);
        }
        if !text(&chunk["promptFeedback"], "blockReason").is_empty() {
            self.finish = Some(FinishReason::ContentFilter);
        }
        self.finish = match text(candidate, "finishReason") {
            "" => self.finish.take(),
            "STOP" => Some(FinishReason::Stop),
            "MAX_TOKENS" => Some(FinishReason::Length),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => Some(FinishReason::ContentFilter),
            other => Some(FinishReason::Other(other.to_owned())),
        };
        self.count(&chunk["usageMetadata"]);
        Ok(())
    }

    fn part(&mut self, part: &Value, marked: bool) {
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            // Gemini gives no ids, or may: results are matched by them here.
            let base = self.id.as_deref().unwrap_or("call");
            let id = match text(call, "id") {
                "" => format!("{base}-{}", self.calls),
                id => id.to_owned(),
            };
            let args = call.get("args").filter(|args| args.is_object());
            let args = args.map_or_else(|| "{}".to_owned(), Value::to_string);
            let mut call = ToolCall::new(id, text(call, "name"), Some(args));
            let signature = text(part, "thoughtSignature");
            call.extras = (!signature.is_empty()).then(|| json!({SIGNATURE: signature}));
            self.calls += 1;
            self.parts.push_back(StreamPart::ToolCall(call));
            return;
        }
        let piece = text(part, "text");
        let said = if part.get("thought").and_then(Value::as_bool) == Some(true) {
            ContentPart::think(self.thinking.mend(piece, marked))
        } else {
            ContentPart::text(self.text.mend(piece, marked))
        };
        let empty = matches!(&said, ContentPart::Text { text } if text.is_empty())
            || matches!(&said, ContentPart::Think { think, .. } if think.is_empty());
        if !empty {
            self.parts.push_back(StreamPart::Content(said));
        }
    }

    fn count(&mut self, usage: &Value) {
        let number = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
        let input = number("promptTokenCount").saturating_add(number("toolUsePromptTokenCount"));
        let cached = number("cachedContentTokenCount").min(input);
        let usage = TokenUsage {
            input_other: input - cached,
            output: number("candidatesTokenCount").saturating_add(number("thoughtsTokenCount")),
            input_cache_read: cached,
            input_cache_creation: 0,
        };
        if usage != TokenUsage::default() && self.usage != Some(usage) {
            self.usage = Some(usage);
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
            Some((chunk, marked)) => self.take(&chunk, marked),
            None => Ok(()),
        }
    }

    fn whole(&mut self, answer: &Value, marked: bool) -> Result<(), LlmError> {
        match answer {
            // Without `alt=sse` a gateway streams an array.
            Value::Array(chunks) => chunks.iter().try_for_each(|chunk| self.take(chunk, marked)),
            chunk => self.take(chunk, marked),
        }
    }

    fn end(&mut self) -> Result<(), LlmError> {
        let Some(reason) = self.finish.take() else {
            return Err(self.peer.cut_off(self.id.is_some() || self.calls > 0));
        };
        if let Some(rest) = self.thinking.finish() {
            self.parts.push_back(StreamPart::Content(ContentPart::think(rest.to_string())));
        }
        if let Some(rest) = self.text.finish() {
            self.parts.push_back(StreamPart::Content(ContentPart::text(rest.to_string())));
        }
        let called = self.calls > 0 && reason == FinishReason::Stop;
        let reason = if called { FinishReason::ToolCalls } else { reason };
        self.parts.push_back(StreamPart::Finish(reason));
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        false
    }

    fn pop(&mut self) -> Option<StreamPart> {
        self.parts.pop_front()
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Answer;
    use crate::llm::receive::Reader as _;

    fn read(chunks: &Value) -> Result<Answer, LlmError> {
        let mut reader = Reader::new("h");
        reader.whole(chunks, false)?;
        reader.end()?;
        let mut answer = Answer::new();
        std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
        Ok(answer)
    }

    fn chunk(parts: &Value) -> Value {
        json!({"responseId": "r", "candidates": [{"content": {"parts": parts}}]})
    }

    #[test]
    fn thinking_text_and_calls() {
        let answer = read(&json!([
            chunk(&json!([{"text": "Hm", "thought": true}])),
            chunk(&json!([{"text": "On "}, {"text": "it"}])),
            chunk(&json!([
                {"functionCall": {"name": "LS", "args": {"a": 1}}, "thoughtSignature": "s"},
                {"functionCall": {"name": "Now"}},
            ])),
            {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4,
                               "candidatesTokenCount": 3, "thoughtsTokenCount": 2}},
        ]))
        .expect("an answer");
        assert_eq!(answer.content(), [ContentPart::think("Hm"), ContentPart::text("On it")]);
        assert_eq!((answer.id(), answer.finish()), (Some("r"), Some(&FinishReason::ToolCalls)));
        let [ls, now] = answer.calls() else { panic!("two calls") };
        assert_eq!((ls.id.as_str(), ls.arguments()), ("r-0", "{\"a\":1}"));
        assert_eq!(ls.extras, Some(json!({SIGNATURE: "s"})));
        assert_eq!((now.id.as_str(), now.arguments()), ("r-1", "{}"));
        let usage = answer.usage().expect("usage");
        assert_eq!((usage.input_other, usage.input_cache_read, usage.output), (6, 4, 5));
    }

    #[test]
    fn what_is_withheld_and_what_fails() {
        let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
        let answer = read(&blocked).expect("an end");
        assert_eq!(answer.finish(), Some(&FinishReason::ContentFilter));
        let error = json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}});
        assert_eq!(read(&error).expect_err("error").status(), Some(503));
        assert!(read(&chunk(&json!([{"text": "a"}]))).is_err(), "cut off");
    }
}
