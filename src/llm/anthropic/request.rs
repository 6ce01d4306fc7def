//! The body of a messages request.

use serde_json::{Map, Value, json};

use super::super::turns::{CallIds, Media, arguments_object, data_url};
use crate::config::{Capability, ResolvedModel};
use crate::llm::{ChatRequest, ToolSpec};
use crate::message::{ContentPart, Message, Role};

/// Tokens an answer may have when nobody says: what Claude Opus 4 can give at most.
const OUTPUT: u64 = 32_000;
/// The least an answer must have room for beside its thinking.
const ROOM: u64 = 1024;
/// Marks where the provider may cache up to.
const BREAKPOINT: &str = "cache_control";
/// What marks a redacted thought in [`ContentPart::Think`]: no signature holds a colon.
pub(super) const REDACTED: &str = "redacted_thinking:";
/// What OpenAI's encrypted reasoning begins with; Anthropic would refuse it as a signature.
const FOREIGN: &str = "gAAAA";

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model decides how much (Claude from 4.6 on).
    Adaptive,
    /// With that many tokens at most.
    Budget(u64),
    Off,
}

/// How the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    pub(super) model: String,
    /// One of Anthropic's own, or a compatible one?
    pub(super) is_claude: bool,
    /// Tokens of the context window; 0 when unknown.
    pub(super) max_context: u64,
    pub(super) max_output: u64,
    pub(super) thinking: Thinking,
}

impl Dialect {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        let name = model.model.to_ascii_lowercase();
        let is_claude = name.contains("claude");
        let max_output = model.max_output_tokens.unwrap_or_else(|| usual_output(&name));
        let can = |capability| model.capabilities.contains(&capability);
        let thinks = can(Capability::AlwaysThinking)
            || (model.thinking && can(Capability::Thinking))
            || (model.thinking && is_claude && version(&name) >= Some((4, 0)));
        let budget = (max_output / 2).min(16_000);
        let thinking = match thinks {
            true if version(&name) >= Some((4, 6)) => Thinking::Adaptive,
            true if budget >= ROOM => Thinking::Budget(budget),
            _ => Thinking::Off,
        };
        Self {
            model: model.model.clone(),
            is_claude,
            max_context: model.max_context_size,
            max_output,
            thinking,
        }
    }

    /// The whole body. What caches go by comes first and in their order: tools, system, messages.
    pub(super) fn body(&self, request: &ChatRequest<'_>) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        if !request.tools.is_empty() {
            let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
            mark(tools.last_mut());
            body.insert("tools".into(), Value::Array(tools));
        }
        if !request.system.trim().is_empty() {
            let mut system = [json!({"type": "text", "text": request.system})];
            mark(system.last_mut());
            body.insert("system".into(), json!(system));
        }
        let mut messages = self.messages(request.messages);
        // The end, and the end of the question before: a cache looks back only so far.
        let ends = messages.iter_mut().rev().filter(|message| message["role"] == "user").take(2);
        for message in ends {
            mark(last_block(message));
        }
        body.insert("messages".into(), Value::Array(messages));
        let limit = self.limit(request.input_tokens);
        body.insert("max_tokens".into(), json!(limit));
        match self.thinking {
            Thinking::Adaptive => {
                body.insert("thinking".into(), json!({"type": "adaptive"}));
            }
            Thinking::Budget(budget) if limit >= 2 * ROOM => {
                let budget = budget.min(limit - ROOM);
                let thinking = json!({"type": "enabled", "budget_tokens": budget});
                body.insert("thinking".into(), thinking);
            }
            Thinking::Budget(_) | Thinking::Off => {}
        }
        body.insert("stream".into(), json!(true));
        Value::Object(body)
    }

    /// Tokens the answer may have: no more than the window leaves.
    fn limit(&self, input: Option<u64>) -> u64 {
        match input.filter(|_| self.max_context > 0) {
            Some(input) => self.max_output.min(self.max_context.saturating_sub(input)).max(1),
            None => self.max_output,
        }
    }

    fn messages(&self, history: &[Message]) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::new();
        let mut ids = CallIds::new(true);
        for message in history {
            let (role, blocks) = match message.role {
                Role::System | Role::User => ("user", blocks(&message.content)),
                Role::Assistant => ("assistant", self.assistant(message, &mut ids)),
                Role::Tool => ("user", vec![result(message, &ids)]),
            };
            if blocks.is_empty() {
                // Empty messages are refused, now and in every later request.
                continue;
            }
            // Results of one step, and what follows them, must be one message.
            match out.last_mut().filter(|last| last["role"] == role) {
                Some(last) => {
                    if let Some(content) = last["content"].as_array_mut() {
                        content.extend(blocks);
                    }
                }
                None => out.push(json!({"role": role, "content": blocks})),
            }
        }
        out
    }

    fn assistant(&self, message: &Message, ids: &mut CallIds) -> Vec<Value> {
        let mut out = Vec::new();
        for part in &message.content {
            match part {
                ContentPart::Think { think, encrypted } => {
                    out.extend(self.thought(think, encrypted.as_deref()));
                }
                other => out.extend(block(other)),
            }
        }
        ids.next_message();
        for call in message.calls() {
            out.push(json!({
                "type": "tool_use",
                "id": ids.add(&call.id),
                "name": call.function.name,
                "input": arguments_object(call.arguments()),
            }));
        }
        out
    }

    /// A thought as it goes back: unchanged with its signature. Claude takes no other.
    fn thought(&self, think: &str, signature: Option<&str>) -> Option<Value> {
        match signature {
            Some(signature) if signature.starts_with(REDACTED) => {
                let data = &signature[REDACTED.len()..];
                Some(json!({"type": "redacted_thinking", "data": data}))
            }
            Some(signature) if !signature.starts_with(FOREIGN) => {
                Some(json!({"type": "thinking", "thinking": think, "signature": signature}))
            }
            // Compatible servers sign nothing and want it back all the same.
            _ if !self.is_claude && !think.is_empty() => {
                Some(json!({"type": "thinking", "thinking": think, "signature": ""}))
            }
            _ => None,
        }
    }
}

/// What a Claude can give at most, by its (lower case) name.
fn usual_output(name: &str) -> u64 {
    match version(name) {
        Some((3, 5)) => 8192,
        Some((3, 0..5)) => 4096,
        _ => OUTPUT,
    }
}

/// A Claude's version by its (lower case) name: `claude-opus-4-6`, `claude-3-5-sonnet-20241022`.
fn version(name: &str) -> Option<(u32, u32)> {
    let name = &name[name.find("claude")?..];
    let mut numbers = name
        .split(|c: char| !c.is_ascii_digit())
        // A date is no version.
        .filter(|digits| (1..=2).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok());
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

fn mark(block: Option<&mut Value>) {
    if let Some(Value::Object(block)) = block {
        block.insert(BREAKPOINT.to_owned(), json!({"type": "ephemeral"}));
    }
}

/// The last block of a message that can be marked: thinking cannot.
fn last_block(message: &mut Value) -> Option<&mut Value> {
    message["content"].as_array_mut()?.last_mut()
}

fn tool(spec: &ToolSpec) -> Value {
    let mut schema = spec.parameters.clone();
    match schema.as_object_mut() {
        Some(map) => {
            map.entry("type").or_insert_with(|| json!("object"));
        }
        None => schema = json!({"type": "object", "properties": {}}),
    }
    json!({"name": spec.name, "description": spec.description, "input_schema": schema})
}

fn result(message: &Message, ids: &CallIds) -> Value {
    let id = ids.sent(message.tool_call_id.as_deref().unwrap_or_default());
    let mut out = json!({"type": "tool_result", "tool_use_id": id});
    let blocks = blocks(&message.content);
    if !blocks.is_empty() {
        out["content"] = json!(blocks);
    }
    out
}

fn blocks(parts: &[ContentPart]) -> Vec<Value> {
    parts.iter().filter_map(block).collect()
}

/// A part as a block; blank texts are refused, so they are left out.
fn block(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text { text } if text.trim().is_empty() => None,
        ContentPart::Text { text } => Some(json!({"type": "text", "text": text})),
        ContentPart::ImageUrl { image_url } => Some(match data_url(&image_url.url) {
            Some(Media { kind, data }) => json!({"type": "image",
                "source": {"type": "base64", "media_type": kind, "data": data}}),
            None => json!({"type": "image", "source": {"type": "url", "url": image_url.url}}),
        }),
        ContentPart::AudioUrl { .. } => Some(left_out("a sound")),
        ContentPart::VideoUrl { .. } => Some(left_out("a film")),
        ContentPart::Think { .. } | ContentPart::Unknown(_) => None,
    }
}

/// What stands for a part that the model cannot take.
fn left_out(what: &str) -> Value {
    json!({"type": "text", "text": format!("({what} was here, which this model cannot take)")})
}

#[cfg(test)]
mod tests;
