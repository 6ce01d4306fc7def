//! The body of a chat completions request.

use serde_json::{Map, Value, json};

use super::schema;
use crate::llm::{ChatRequest, LlmError, ToolSpec};
use crate::message::{ContentPart, Message, Role, ToolCall};

/// Knobs of kind `kimi` that upstream reads from the environment (`kimi-cli` `llm.py:331-383`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampling {
    /// `KIMI_MODEL_TEMPERATURE`.
    pub temperature: Option<f64>,
    /// `KIMI_MODEL_TOP_P`.
    pub top_p: Option<f64>,
    /// `KIMI_MODEL_MAX_COMPLETION_TOKENS`, or `KIMI_MODEL_MAX_TOKENS`: tokens an answer may have.
    /// Zero or less: no limit is sent at all.
    pub max_completion_tokens: Option<i64>,
    /// `KIMI_MODEL_THINKING_KEEP`: what of earlier thinking the server keeps, `all` for instance.
    pub thinking_keep: Option<String>,
}

impl Sampling {
    /// The knobs as `env` has them; an empty variable counts as unset.
    ///
    /// # Errors
    /// [`LlmError::Protocol`] that names the variable, when one is no number.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Self, LlmError> {
        fn number<T: std::str::FromStr>(
            env: &dyn Fn(&str) -> Option<String>,
            name: &str,
        ) -> Result<Option<T>, LlmError> {
            let Some(text) = env(name).filter(|text| !text.trim().is_empty()) else {
                return Ok(None);
            };
            let wrong = |_| {
                LlmError::Protocol(format!("{name} is \"{text}\", which is no number. Unset it"))
            };
            text.trim().parse().map(Some).map_err(wrong)
        }
        let limit = match number(env, "KIMI_MODEL_MAX_COMPLETION_TOKENS")? {
            None => number(env, "KIMI_MODEL_MAX_TOKENS")?,
            limit => limit,
        };
        Ok(Self {
            temperature: number(env, "KIMI_MODEL_TEMPERATURE")?,
            top_p: number(env, "KIMI_MODEL_TOP_P")?,
            max_completion_tokens: limit,
            thinking_keep: env("KIMI_MODEL_THINKING_KEEP").filter(|text| !text.trim().is_empty()),
        })
    }
}

/// Should the model think?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    On,
    Off,
    /// Wanted, but not known to be possible: nothing is said about it.
    Unsaid,
}

/// Which of the two ways of speaking chat completions, and with what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    /// Kind `kimi`, or kind `openai_legacy`?
    pub(super) is_kimi: bool,
    pub(super) model: String,
    /// Tokens of the context window.
    pub(super) max_context: u64,
    /// Tokens an answer may have, as configured.
    pub(super) max_output: Option<u64>,
    pub(super) thinking: Thinking,
    /// The field that thinking goes back in; `None`: it does not go back.
    pub(super) reasoning_key: Option<String>,
    pub(super) sampling: Sampling,
}

impl Dialect {
    /// The whole body.
    pub(super) fn body(&self, request: &ChatRequest<'_>) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        // What caches go by comes first, and what may differ from call to call after it.
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|spec| tool(spec, self.is_kimi));
            body.insert("tools".into(), tools.collect());
        }
        body.insert("messages".into(), Value::Array(self.messages(request)));
        body.insert("stream".into(), json!(true));
        body.insert("stream_options".into(), json!({"include_usage": true}));
        if self.is_kimi {
            self.add_kimi(&mut body, request);
        } else {
            if self.thinking == Thinking::On {
                body.insert("reasoning_effort".into(), json!("high"));
            }
            if let Some(limit) = self.max_output {
                body.insert(self.output_limit_key().into(), json!(limit));
            }
        }
        Value::Object(body)
    }

    /// The name of the limit: OpenAI has given it a new one, which others do not know.
    fn output_limit_key(&self) -> &'static str {
        let is_new = ["gpt-5", "o1", "o3", "o4"].iter().any(|name| self.model.starts_with(name));
        if is_new { "max_completion_tokens" } else { "max_tokens" }
    }

    fn add_kimi(&self, body: &mut Map<String, Value>, request: &ChatRequest<'_>) {
        let mut thinking = match self.thinking {
            Thinking::On => json!({"type": "enabled"}),
            Thinking::Off => json!({"type": "disabled"}),
            Thinking::Unsaid => Value::Null,
        };
        if let (Thinking::On, Some(keep)) = (self.thinking, &self.sampling.thinking_keep) {
            thinking["keep"] = json!(keep);
        }
        let fields = [
            ("thinking", thinking),
            ("temperature", json!(self.sampling.temperature)),
            ("top_p", json!(self.sampling.top_p)),
            ("max_completion_tokens", json!(self.completion_budget(request.input_tokens))),
            ("prompt_cache_key", json!(request.cache_key)),
        ];
        let said = fields.into_iter().filter(|(_, value)| !value.is_null());
        body.extend(said.map(|(key, value)| (key.to_owned(), value)));
    }

    /// Tokens the answer may have: what the window leaves, and no more than the person allows.
    fn completion_budget(&self, input: Option<u64>) -> Option<u64> {
        let hard = match self.sampling.max_completion_tokens {
            Some(limit) => Some(u64::try_from(limit).ok().filter(|limit| *limit > 0)?),
            None => self.max_output,
        };
        match input.filter(|_| self.max_context > 0) {
            Some(input) => {
                let rest = self.max_context.saturating_sub(input);
                Some(hard.unwrap_or(self.max_context).min(rest).max(1))
            }
            // A window of unknown size, or an input of which nobody knows what it leaves.
            None => hard,
        }
    }

    fn messages(&self, request: &ChatRequest<'_>) -> Vec<Value> {
        let mut out = Vec::new();
        if !request.system.is_empty() {
            out.push(json!({"role": "system", "content": request.system}));
        }
        let mut pictures = Vec::new();
        for message in request.messages {
            if message.role != Role::Tool {
                out.extend(pictures_of_results(&mut pictures));
            }
            match message.role {
                Role::System => out.push(json!({"role": "system", "content": message.text()})),
                Role::User => out.extend(user(message)),
                Role::Assistant => out.extend(self.assistant(message)),
                Role::Tool => out.push(self.result(message, &mut pictures)),
            }
        }
        out.extend(pictures_of_results(&mut pictures));
        out
    }

    fn assistant(&self, message: &Message) -> Option<Value> {
        let parts: Vec<Value> = message.content.iter().filter_map(part).collect();
        let thinking: String = message.content.iter().filter_map(thought).collect();
        let reasoning =
            self.reasoning_key.as_ref().filter(|key| !key.is_empty() && !thinking.is_empty());
        if parts.is_empty() && message.calls().is_empty() && reasoning.is_none() {
            // Nothing that can be said again, and servers refuse an empty message.
            return None;
        }
        let mut out = Map::new();
        out.insert("role".into(), json!("assistant"));
        // Beside calls an empty content is left out: some servers refuse it, some answer worse.
        if !parts.is_empty() || message.calls().is_empty() {
            out.insert("content".into(), joined(parts, ""));
        }
        if let Some(key) = reasoning {
            out.insert(key.clone(), json!(thinking));
        }
        if !message.calls().is_empty() {
            out.insert("tool_calls".into(), message.calls().iter().map(call).collect());
        }
        if self.is_kimi && message.partial == Some(true) {
            out.insert("partial".into(), json!(true));
        }
        Some(Value::Object(out))
    }

    /// A tool message. Only Kimi takes pictures in one; elsewhere they follow in a user message.
    fn result(&self, message: &Message, pictures: &mut Vec<Value>) -> Value {
        let mut parts: Vec<Value> = message.content.iter().filter_map(part).collect();
        if !self.is_kimi {
            pictures.extend(parts.extract_if(.., |part| part["type"] != "text"));
        }
        json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": joined(parts, "\n"),
        })
    }
}

/// The user message that shows what tools returned beside text, if they did.
fn pictures_of_results(pictures: &mut Vec<Value>) -> Option<Value> {
    if pictures.is_empty() {
        return None;
    }
    let mut parts = vec![json!({"type": "text", "text": "What the tools above returned:"})];
    parts.append(pictures);
    Some(json!({"role": "user", "content": parts}))
}

fn user(message: &Message) -> Option<Value> {
    let parts: Vec<Value> = message.content.iter().filter_map(part).collect();
    if parts.is_empty() {
        return None;
    }
    let mut out = json!({"role": "user"});
    if let Some(name) = &message.name {
        out["name"] = json!(name);
    }
    out["content"] = match parts.as_slice() {
        [_] => joined(parts, ""),
        _ => Value::Array(parts),
    };
    Some(out)
}

/// Parts that are all text as one string, which every server takes; others as they are.
fn joined(parts: Vec<Value>, separator: &str) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    match texts {
        Some(texts) => json!(texts.join(separator)),
        None => Value::Array(parts),
    }
}

/// A part as it is sent; thinking, empty text and what nobody knows are not.
fn part(part: &ContentPart) -> Option<Value> {
    let media = |kind: &str, url: &str| Some(json!({"type": kind, kind: {"url": url}}));
    match part {
        ContentPart::Text { text } if text.is_empty() => None,
        ContentPart::Text { text } => Some(json!({"type": "text", "text": text})),
        ContentPart::ImageUrl { image_url } => media("image_url", &image_url.url),
        ContentPart::AudioUrl { audio_url } => media("audio_url", &audio_url.url),
        ContentPart::VideoUrl { video_url } => media("video_url", &video_url.url),
        ContentPart::Think { .. } | ContentPart::Unknown(_) => None,
    }
}

fn thought(part: &ContentPart) -> Option<&str> {
    match part {
        ContentPart::Think { think, .. } => Some(think),
        _ => None,
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = call.arguments();
    // Servers put the arguments into their prompt as JSON and refuse the whole conversation when
    // they are none, now and at every later request.
    let arguments = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => json!({"invalid_arguments": arguments}).to_string(),
    };
    let mut out = json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": arguments},
    });
    if let (Some(out), Some(Value::Object(extras))) = (out.as_object_mut(), &call.extras) {
        // Gemini's signature: nothing to other servers.
        for (key, value) in extras.iter().filter(|(key, _)| *key != "thought_signature") {
            out.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    out
}

fn tool(spec: &ToolSpec, is_kimi: bool) -> Value {
    let mut parameters =
        if is_kimi { schema::patched(&spec.parameters) } else { spec.parameters.clone() };
    match parameters.as_object_mut() {
        // A schema without a type is refused by Kimi, one without properties by others.
        Some(schema) => {
            schema.entry("type").or_insert_with(|| json!("object"));
            schema.entry("properties").or_insert_with(|| json!({}));
        }
        None => parameters = json!({"type": "object", "properties": {}}),
    }
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": parameters,
        },
    })
}

#[cfg(test)]
mod tests;
