//! The script language: one `kind: payload` a line.

use std::time::Duration;

use serde_json::{Map, Value};

use super::HOST;
use super::python::{repr, repr_value, type_name};
use crate::llm::{LlmError, StreamPart};
use crate::message::{ContentPart, MediaUrl, TokenUsage, ToolCall};

/// What a script says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Script {
    /// What is streamed, one part a line.
    pub(super) parts: Vec<StreamPart>,
    /// The answer's id.
    pub(super) id: Option<String>,
    /// Its token counts.
    pub(super) usage: Option<TokenUsage>,
}

/// Reads a script.
///
/// # Errors
/// [`LlmError::Protocol`] for a line that cannot be read; what an `error:` line asks for.
pub(super) fn parse(script: &str) -> Result<Script, LlmError> {
    let mut out = Script::default();
    for (at, raw) in script.lines().enumerate() {
        let line = Line { number: at + 1, raw };
        let trimmed = raw.trim();
        if trimmed.is_empty()
            || trimmed.starts_with('#')
            || trimmed.starts_with("```")
            || trimmed.eq_ignore_ascii_case("echo")
        {
            continue;
        }
        let Some((kind, payload)) = trimmed.split_once(':') else {
            return wrong(format!("Invalid echo DSL at line {line}"));
        };
        let payload = payload.strip_prefix(' ').unwrap_or(payload);
        match kind.trim().to_lowercase().as_str() {
            "error" => return Err(simulated(payload.trim(), &line)),
            "id" => out.id = Some(strip_quotes(payload.trim()).to_owned()),
            "usage" => out.usage = Some(usage(payload)?),
            kind => out.parts.push(part(kind, payload, &line)?),
        }
    }
    Ok(out)
}

/// A line for error texts: `3: 'text'`.
struct Line<'a> {
    number: usize,
    raw: &'a str,
}

impl std::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.number, repr(self.raw))
    }
}

fn wrong<T>(text: impl Into<String>) -> Result<T, LlmError> {
    Err(LlmError::Protocol(text.into()))
}

fn part(kind: &str, payload: &str, line: &Line<'_>) -> Result<StreamPart, LlmError> {
    Ok(match kind {
        "text" => StreamPart::Content(ContentPart::text(strip_quotes(payload))),
        "think" => StreamPart::Content(ContentPart::think(strip_quotes(payload))),
        "image_url" => {
            StreamPart::Content(ContentPart::ImageUrl { image_url: media(kind, payload)? })
        }
        "audio_url" => {
            StreamPart::Content(ContentPart::AudioUrl { audio_url: media(kind, payload)? })
        }
        "video_url" => {
            StreamPart::Content(ContentPart::VideoUrl { video_url: media(kind, payload)? })
        }
        "tool_call" => StreamPart::ToolCall(tool_call(payload, line)?),
        "tool_call_part" => StreamPart::ToolCallArguments(arguments_part(payload)),
        _ => return wrong(format!("Unknown echo DSL kind '{kind}' at line {line}")),
    })
}

fn media(kind: &str, payload: &str) -> Result<MediaUrl, LlmError> {
    match value(payload) {
        Value::String(url) => Ok(MediaUrl { url, id: None }),
        Value::Object(map) => {
            let Some(url) = map.get("url").and_then(Value::as_str) else {
                let got = repr_value(&Value::Object(map));
                return wrong(format!("{kind} requires a url field, got {got}"));
            };
            let id = match map.get("id") {
                None | Some(Value::Null) => None,
                Some(Value::String(id)) => Some(id.clone()),
                Some(_) => return wrong(format!("{kind} id must be a string when provided.")),
            };
            Ok(MediaUrl { url: url.to_owned(), id })
        }
        other => wrong(format!("{kind} expects url string or object, got {}", repr_value(&other))),
    }
}

fn tool_call(payload: &str, line: &Line<'_>) -> Result<ToolCall, LlmError> {
    let map = mapping(payload, "tool_call")?;
    let function = map.get("function").and_then(Value::as_object);
    let field = |key: &str| {
        let set = |value: &&Value| !value.is_null();
        map.get(key).filter(set).or_else(|| function?.get(key).filter(set))
    };
    let id = map.get("id").and_then(Value::as_str);
    let (Some(id), Some(name)) = (id, field("name").and_then(Value::as_str)) else {
        return wrong(format!("tool_call requires string id and name at line {line}"));
    };
    let arguments = match field("arguments") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            return wrong(format!(
                "tool_call.arguments must be a string at line {}, got {}",
                line.number,
                type_name(other)
            ));
        }
    };
    let mut call = ToolCall::new(id, name, arguments);
    call.extras = field("extras").filter(|extras| extras.is_object()).cloned();
    Ok(call)
}

fn arguments_part(payload: &str) -> String {
    let piece = match value(payload) {
        Value::Object(mut map) => map.remove("arguments_part").unwrap_or(Value::Null),
        other => other,
    };
    match piece {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn usage(payload: &str) -> Result<TokenUsage, LlmError> {
    let map = mapping(payload, "usage")?;
    let number = |key: &str| match map.get(key) {
        None => Ok(0),
        Some(value) => {
            let number = match value {
                Value::Number(number) => number.as_u64().or(number.as_f64().map(|n| n as u64)),
                Value::String(text) => text.trim().parse().ok(),
                Value::Bool(flag) => Some(u64::from(*flag)),
                _ => None,
            };
            number.ok_or_else(|| {
                let got = repr_value(value);
                LlmError::Protocol(format!("Usage field '{key}' must be an integer, got {got}"))
            })
        }
    };
    Ok(TokenUsage {
        input_other: number("input_other")?,
        output: number("output")?,
        input_cache_read: number("input_cache_read")?,
        input_cache_creation: number("input_cache_creation")?,
    })
}

/// A JSON object, or `key=value` tokens.
fn mapping(raw: &str, context: &str) -> Result<Map<String, Value>, LlmError> {
    let raw = raw.trim();
    match serde_json::from_str(raw) {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(Value::Null) | Err(_) => {}
        Ok(other) => {
            let got = repr_value(&other);
            return wrong(format!("{context} payload must be an object, got {got}"));
        }
    }
    let mut map = Map::new();
    for token in raw.replace(',', " ").split_whitespace() {
        let Some((key, text)) = token.split_once('=') else {
            return wrong(format!("Invalid token '{token}' in {context} payload."));
        };
        map.insert(key.trim().to_owned(), value(text));
    }
    if map.is_empty() {
        return wrong(format!("{context} payload cannot be empty."));
    }
    Ok(map)
}

/// JSON, or text when it is none.
fn value(raw: &str) -> Value {
    let raw = raw.trim();
    if raw.is_empty() || raw.eq_ignore_ascii_case("null") || raw.eq_ignore_ascii_case("none") {
        return Value::Null;
    }
    serde_json::from_str(raw).unwrap_or_else(|_| Value::from(strip_quotes(raw)))
}

fn strip_quotes(text: &str) -> &str {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// What an `error:` line asks for.
fn simulated(payload: &str, line: &Line<'_>) -> LlmError {
    if payload.is_empty() {
        return LlmError::Protocol(format!("Empty error payload at line {line}"));
    }
    let (first, rest) = payload.split_once(' ').unwrap_or((payload, ""));
    let message = |usual: String| if rest.trim().is_empty() { usual } else { rest.trim().into() };
    let host = HOST.to_owned();
    match first.to_lowercase().as_str() {
        "connection" => {
            LlmError::Connection { host, detail: message("Simulated connection error".into()) }
        }
        "timeout" => {
            // The kind has no place for words; the host is where a person will read them.
            let host = message(host);
            LlmError::Timeout { host, after: Duration::ZERO }
        }
        _ => match first.parse::<u16>() {
            Ok(status) => LlmError::Status {
                host,
                status,
                message: message(format!("Simulated {status} error")),
                retry_after: None,
            },
            Err(_) => LlmError::Protocol(format!(
                "Invalid error spec at line {}: expected status code or \
                 'connection'/'timeout', got {}",
                line.number,
                repr(first)
            )),
        },
    }
}
