//! One line of `context.jsonl`: a message, or a marker whose role begins with `_`.
//!
//! Markers are written as Python's `json.dumps` does, messages as pydantic does (`kimi-facts` B.4
//! has both); readers accept either style for either.

use std::borrow::Cow;
use std::io;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::files::{self, NonAscii};
use crate::message::{CheckpointId, Message};

const SYSTEM_PROMPT: &str = "_system_prompt";
const CHECKPOINT: &str = "_checkpoint";
const USAGE: &str = "_usage";

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Record {
    /// The system prompt this session was begun with.
    SystemPrompt(String),
    /// A point to go back to.
    Checkpoint(CheckpointId),
    /// Tokens in the context, as the provider counted them.
    Usage(u64),
    /// A message the model sees.
    Message(Message),
    /// A marker of a newer program: kept in the file, not understood.
    UnknownMarker,
}

#[derive(Serialize, Deserialize)]
struct SystemPromptLine<'a> {
    role: Cow<'a, str>,
    content: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct CheckpointLine<'a> {
    role: Cow<'a, str>,
    id: CheckpointId,
}

#[derive(Serialize, Deserialize)]
struct UsageLine<'a> {
    role: Cow<'a, str>,
    token_count: u64,
}

impl Record {
    /// Writes the record and a newline to the end of `out`.
    ///
    /// # Errors
    /// When it cannot be JSON.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let marker = match self {
            Self::Message(message) => {
                serde_json::to_writer(&mut *out, message)?;
                out.push(b'\n');
                return Ok(());
            }
            Self::SystemPrompt(text) => python(&SystemPromptLine {
                role: SYSTEM_PROMPT.into(),
                content: text.as_str().into(),
            })?,
            Self::Checkpoint(id) => python(&CheckpointLine { role: CHECKPOINT.into(), id: *id })?,
            Self::Usage(tokens) => python(&UsageLine { role: USAGE.into(), token_count: *tokens })?,
            Self::UnknownMarker => return Ok(()),
        };
        out.extend_from_slice(marker.as_bytes());
        out.push(b'\n');
        Ok(())
    }
}

fn python<T: Serialize>(value: &T) -> serde_json::Result<String> {
    files::python_json(value, NonAscii::Escape)
}

/// Reads one line, with or without its newline. `None` is a blank one.
///
/// # Errors
/// Why the line is no record, for a person.
pub(super) fn parse(line: &[u8]) -> Result<Option<Record>, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    let read = match read(text) {
        Ok(record) => Ok(record),
        Err(reason) => crate::message::mended(text).map_or(Err(reason), |mended| read(&mended)),
    };
    read.map(Some)
}

#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
}

fn read(text: &str) -> Result<Record, String> {
    // Serde would take a list for a struct.
    if !text.starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    let broken = |error: serde_json::Error| format!("not a record: {error}");
    if let Some(role) = first_role(text) {
        return read_as(role, text).map_err(broken);
    }
    let peek: Peek = serde_json::from_str(text).map_err(broken)?;
    let Some(role) = peek.role else { return Err("no role".to_owned()) };
    read_as(&role, text).map_err(broken)
}

/// The role, where it is the first key, as both programs write it: finding it in any other place
/// means to read the whole line twice.
fn first_role(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("{\"role\":")?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest).strip_prefix('"')?;
    // Roles are short; one with an escape in it is left to the parser.
    let end = rest.bytes().take(32).position(|byte| matches!(byte, b'"' | b'\\'))?;
    (rest.as_bytes()[end] == b'"').then(|| &rest[..end])
}

fn read_as(role: &str, text: &str) -> serde_json::Result<Record> {
    match role {
        SYSTEM_PROMPT => serde_json::from_str::<SystemPromptLine>(text)
            .map(|line| Record::SystemPrompt(line.content.into_owned())),
        CHECKPOINT => {
            serde_json::from_str::<CheckpointLine>(text).map(|line| Record::Checkpoint(line.id))
        }
        USAGE => {
            serde_json::from_str::<UsageLine>(text).map(|line| Record::Usage(line.token_count))
        }
        // Half a line is no record, whatever its role.
        other if other.starts_with('_') => {
            serde_json::from_str::<IgnoredAny>(text).map(|_| Record::UnknownMarker)
        }
        _ => serde_json::from_str::<Message>(text).map(Record::Message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(record: &Record) -> String {
        let mut out = Vec::new();
        record.write(&mut out).expect("record");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn records_look_as_upstream_writes_them() {
        let prompt = Record::SystemPrompt("You are é".into());
        assert_eq!(
            written(&prompt),
            "{\"role\": \"_system_prompt\", \"content\": \"You are \\u00e9\"}\n"
        );
        let mark = Record::Checkpoint(CheckpointId(3));
        assert_eq!(written(&mark), "{\"role\": \"_checkpoint\", \"id\": 3}\n");
        assert_eq!(written(&Record::Usage(13)), "{\"role\": \"_usage\", \"token_count\": 13}\n");
        let message = Record::Message(Message::user("é"));
        assert_eq!(written(&message), "{\"role\":\"user\",\"content\":\"é\"}\n");
        for record in [prompt, mark, Record::Usage(13), message] {
            assert_eq!(parse(written(&record).as_bytes()), Ok(Some(record)));
        }
    }

    #[test]
    fn what_upstream_tolerates_is_tolerated() {
        let spaced = br#"{"role": "user", "name": "me", "content": "hi", "partial": null}"#;
        let mut named = Message::user("hi");
        named.name = Some("me".into());
        assert_eq!(parse(spaced), Ok(Some(Record::Message(named))));
        assert_eq!(parse(b" \r\n"), Ok(None));
        assert_eq!(parse(br#"{"role":"_new","x":1}"#), Ok(Some(Record::UnknownMarker)));
        let control = b"{\"role\":\"user\",\"content\":\"a\tb\x01\"}";
        assert_eq!(parse(control), Ok(Some(Record::Message(Message::user("a\tb\u{1}")))));
        let bad_utf8 = b"{\"role\":\"user\",\"content\":\"a\xff\"}";
        assert_eq!(parse(bad_utf8), Ok(Some(Record::Message(Message::user("a\u{fffd}")))));
        let lone = br#"{"role":"user","content":"a\ud83d b\ud83d\ude00"}"#;
        assert_eq!(parse(lone), Ok(Some(Record::Message(Message::user("a\u{fffd} b😀")))));
    }

    #[test]
    fn what_is_no_record_says_why() {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        let deep = format!("{{\"role\":\"user\",\"content\":{open}{close}}}");
        for (line, reason) in [
            (&b"[\"user\"]"[..], "not a JSON object"),
            (b"{\"content\":\"x\"}", "no role"),
            (b"{\"role\":\"user\",\"conte", "not a record"),
            (b"{\"role\":\"wizard\",\"content\":\"x\"}", "wizard"),
            (b"{\"role\":\"_usage\",\"token_count\":-1}", "-1"),
            (b"{\"role\":7}", "integer"),
            (b"\0\0\0\0", "not a JSON object"),
            (deep.as_bytes(), "recursion"),
        ] {
            let error = parse(line).expect_err("bad line");
            assert!(error.contains(reason), "{error}");
        }
    }
}
