//! The body of a Gemini request.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::super::turns::{Media, arguments_object, data_url};
use crate::config::{Capability, ResolvedModel};
use crate::llm::{ChatRequest, ToolSpec};
use crate::message::{ContentPart, Message, Role, ToolCall};

/// The field of a call's extras in which its signature waits to go back.
pub(super) const SIGNATURE: &str = "thought_signature";

/// How the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    pub(super) model: String,
    /// Tokens an answer may have, as configured.
    pub(super) max_output: Option<u64>,
    pub(super) thinks: bool,
}

impl Dialect {
    pub(super) fn of(model: &ResolvedModel) -> Self {
        let can = |capability| model.capabilities.contains(&capability);
        Self {
            model: model.model.clone(),
            max_output: model.max_output_tokens,
            thinks: can(Capability::AlwaysThinking)
                || (model.thinking && can(Capability::Thinking)),
        }
    }

    /// The whole body; what caches go by comes first.
    pub(super) fn body(&self, request: &ChatRequest<'_>) -> Value {
        let mut body = Map::new();
        if !request.system.is_empty() {
            let system = json!({"parts": [{"text": request.system}]});
            body.insert("systemInstruction".into(), system);
        }
        if !request.tools.is_empty() {
            let tools: Vec<Value> = request.tools.iter().map(tool).collect();
            body.insert("tools".into(), json!([{"functionDeclarations": tools}]));
        }
        body.insert("contents".into(), Value::Array(contents(request.messages)));
        let mut generation = Map::new();
        if let Some(limit) = self.max_output {
            generation.insert("maxOutputTokens".into(), json!(limit));
        }
        if self.thinks {
            generation.insert("thinkingConfig".into(), json!({"includeThoughts": true}));
        }
        if !generation.is_empty() {
            body.insert("generationConfig".into(), Value::Object(generation));
        }
        Value::Object(body)
    }
}

fn contents(history: &[Message]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    // Results are matched by the function's name.
    let mut names: HashMap<&str, &str> = HashMap::new();
    for message in history {
        let (role, parts) = match message.role {
            Role::System | Role::User => ("user", parts(&message.content)),
            Role::Assistant => {
                names.clear();
                for call in message.calls() {
                    names.insert(&call.id, &call.function.name);
                }
                let mut said = parts(&message.content);
                said.extend(message.calls().iter().map(call));
                ("model", said)
            }
            Role::Tool => ("user", result(message, &names)),
        };
        if parts.is_empty() {
            continue;
        }
        match out.last_mut().filter(|last| last["role"] == role) {
            Some(last) => {
                if let Some(all) = last["parts"].as_array_mut() {
                    all.extend(parts);
                }
            }
            None => out.push(json!({"role": role, "parts": parts})),
        }
    }
    out
}

fn call(call: &ToolCall) -> Value {
    let args = arguments_object(call.arguments());
    let mut out = json!({"functionCall": {"name": call.function.name, "args": args}});
    if let Some(signature) = call.extras.as_ref().and_then(|extras| extras.get(SIGNATURE)) {
        out["thoughtSignature"] = signature.clone();
    }
    out
}

fn result(message: &Message, names: &HashMap<&str, &str>) -> Vec<Value> {
    let id = message.tool_call_id.as_deref().unwrap_or_default();
    let name = names.get(id).copied().unwrap_or(id);
    let texts: Vec<&str> = message.content.iter().filter_map(ContentPart::as_text).collect();
    let response = json!({"name": name, "response": {"output": texts.join("\n")}});
    let mut out = vec![json!({"functionResponse": response})];
    let rest = message.content.iter().filter(|part| part.as_text().is_none());
    out.extend(rest.filter_map(part));
    out
}

fn parts(parts: &[ContentPart]) -> Vec<Value> {
    parts.iter().filter_map(part).collect()
}

fn part(part: &ContentPart) -> Option<Value> {
    let url = match part {
        ContentPart::Text { text } if text.is_empty() => return None,
        ContentPart::Text { text } => return Some(json!({"text": text})),
        ContentPart::ImageUrl { image_url } => &image_url.url,
        ContentPart::AudioUrl { audio_url } => &audio_url.url,
        ContentPart::VideoUrl { video_url } => &video_url.url,
        ContentPart::Think { .. } | ContentPart::Unknown(_) => return None,
    };
    Some(match data_url(url) {
        Some(Media { kind, data }) => json!({"inlineData": {"mimeType": kind, "data": data}}),
        None => json!({"fileData": {"fileUri": url}}),
    })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "parametersJsonSchema": spec.parameters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolReturn;

    #[test]
    fn a_step_with_calls_and_their_results() {
        let mut first = ToolCall::new("c1", "LS", Some("{\"path\":\".\"}".into()));
        first.extras = Some(json!({SIGNATURE: "sig"}));
        let step = Message {
            tool_calls: Some(vec![first, ToolCall::new("c2", "Now", None)]),
            ..Message::new(
                Role::Assistant,
                vec![ContentPart::think("hm"), ContentPart::text("on it")],
            )
        };
        let done = |id| Message::tool_result(id, &ToolReturn::ok("out", ""));
        let history = [
            Message::user("hi"),
            step,
            done("c1"),
            done("c2"),
            Message::system_note("CHECKPOINT 1"),
        ];
        let response =
            |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "out"}}});
        assert_eq!(
            json!(contents(&history)),
            json!([
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [
                    {"text": "on it"},
                    {"functionCall": {"name": "LS", "args": {"path": "."}}, "thoughtSignature": "sig"},
                    {"functionCall": {"name": "Now", "args": {}}},
                ]},
                {"role": "user", "parts": [
                    response("LS"), response("Now"), {"text": "<system>CHECKPOINT 1</system>"},
                ]},
            ])
        );
    }
}
