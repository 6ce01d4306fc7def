//! The body of a responses request. Nothing is stored at the server: every request says it all.

use serde_json::{Map, Value, json};

use super::super::turns::{CallIds, arguments_object};
use crate::llm::{ChatRequest, ToolSpec};
use crate::message::{ContentPart, Message, Role};

/// How the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    pub(super) model: String,
    /// Tokens an answer may have, as configured.
    pub(super) max_output: Option<u64>,
    pub(super) thinks: bool,
}

impl Dialect {
    /// The whole body; what caches go by comes first.
    pub(super) fn body(&self, request: &ChatRequest<'_>) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        if !request.system.is_empty() {
            body.insert("instructions".into(), json!(request.system));
        }
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(tool).collect());
        }
        body.insert("input".into(), Value::Array(input(request.messages)));
        if self.thinks {
            body.insert("reasoning".into(), json!({"effort": "high", "summary": "auto"}));
            body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        }
        if let Some(limit) = self.max_output {
            body.insert("max_output_tokens".into(), json!(limit));
        }
        if let Some(key) = request.cache_key {
            body.insert("prompt_cache_key".into(), json!(key));
        }
        body.insert("store".into(), json!(false));
        body.insert("stream".into(), json!(true));
        Value::Object(body)
    }
}

fn input(history: &[Message]) -> Vec<Value> {
    let mut out = Vec::new();
    let mut ids = CallIds::new(false);
    for message in history {
        match message.role {
            Role::System => out.extend(said("system", &message.content)),
            Role::User => out.extend(said("user", &message.content)),
            Role::Assistant => assistant(message, &mut ids, &mut out),
            Role::Tool => out.push(json!({
                "type": "function_call_output",
                "call_id": ids.sent(message.tool_call_id.as_deref().unwrap_or_default()),
                "output": output(&message.content),
            })),
        }
    }
    out
}

fn assistant(message: &Message, ids: &mut CallIds, out: &mut Vec<Value>) {
    for part in &message.content {
        match part {
            // Without its ciphertext a thought means nothing to the server.
            ContentPart::Think { think, encrypted: Some(encrypted) } => {
                let summary: Vec<Value> = (!think.is_empty())
                    .then(|| json!({"type": "summary_text", "text": think}))
                    .into_iter()
                    .collect();
                out.push(json!({
                    "type": "reasoning", "summary": summary, "encrypted_content": encrypted
                }));
            }
            ContentPart::Text { text } if !text.is_empty() => out.push(json!({
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            })),
            _ => {}
        }
    }
    ids.next_message();
    for call in message.calls() {
        out.push(json!({
            "type": "function_call",
            "call_id": ids.add(&call.id),
            "name": call.function.name,
            "arguments": arguments_object(call.arguments()).to_string(),
        }));
    }
}

fn said(role: &str, parts: &[ContentPart]) -> Option<Value> {
    let parts: Vec<Value> = parts.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| json!({"type": "message", "role": role, "content": parts}))
}

/// What a tool returned: text, or parts when there is more.
fn output(parts: &[ContentPart]) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(ContentPart::as_text).collect();
    match texts {
        Some(texts) => json!(texts.join("\n")),
        None => parts.iter().filter_map(part).collect(),
    }
}

fn part(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text { text } if text.is_empty() => None,
        ContentPart::Text { text } => Some(json!({"type": "input_text", "text": text})),
        ContentPart::ImageUrl { image_url } => {
            Some(json!({"type": "input_image", "image_url": image_url.url}))
        }
        ContentPart::AudioUrl { .. } | ContentPart::VideoUrl { .. } => Some(json!({
            "type": "input_text",
            "text": "(a sound or a film was here, which this model cannot take)",
        })),
        ContentPart::Think { .. } | ContentPart::Unknown(_) => None,
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{MediaUrl, ToolCall, ToolReturn};

    #[test]
    fn a_step_with_thinking_and_a_call() {
        let think = |encrypted: Option<&str>| ContentPart::Think {
            think: "hm".into(),
            encrypted: encrypted.map(str::to_owned),
        };
        let mut step = Message::new(
            Role::Assistant,
            vec![think(None), think(Some("gAAAAx")), ContentPart::text("on it")],
        );
        step.tool_calls = Some(vec![ToolCall::new("c1", "LS", None)]);
        let history =
            [Message::user("hi"), step, Message::tool_result("c1", &ToolReturn::ok("out", "ok"))];
        assert_eq!(
            json!(input(&history)),
            json!([
                {"type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}],
                    "encrypted_content": "gAAAAx"},
                {"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "on it"}]},
                {"type": "function_call", "call_id": "c1", "name": "LS", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1",
                    "output": "<system>ok</system>\nout"},
            ])
        );
    }

    #[test]
    fn a_picture_of_a_tool_goes_along() {
        let image_url = MediaUrl { url: "data:image/png;base64,AA".into(), id: None };
        let parts = [ContentPart::text("see"), ContentPart::ImageUrl { image_url }];
        assert_eq!(
            output(&parts),
            json!([{"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA"}])
        );
    }

    #[test]
    fn nothing_is_stored_and_thinking_comes_back_encrypted() {
        let dialect = Dialect { model: "gpt-5".into(), max_output: Some(9), thinks: true };
        let request = ChatRequest {
            system: "Be good.",
            tools: &[],
            messages: &[],
            cache_key: Some("s"),
            input_tokens: None,
        };
        let body = dialect.body(&request);
        assert_eq!((&body["store"], &body["stream"]), (&json!(false), &json!(true)));
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!(
            (&body["max_output_tokens"], &body["prompt_cache_key"]),
            (&json!(9), &json!("s"))
        );
    }
}
