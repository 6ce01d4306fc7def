//! The vocabulary of a conversation: messages, parts, tool calls, results, usage.
//!
//! These types have the shape of `context.jsonl` rows and of wire payloads at once, as the Python
//! program's do. Nothing here knows a file, a socket or a screen.

mod base64;
mod display;
mod ids;
mod key_argument;
mod mended;
mod part;
mod part_read;
mod price;
mod tokens;
mod tool;
mod usage;

pub use base64::base64;
pub use display::{DiffBlock, DisplayBlock, TodoItem, TodoStatus};
pub use ids::{CheckpointId, CheckpointRef, Generation, SessionId};
pub use key_argument::key_argument;
pub use mended::mended;
pub use part::{ContentPart, MediaUrl, UserInput, text_of};
pub use price::Price;
pub use tokens::{bytes_within, estimate_tokens, message_hundredths};
pub use tool::{FunctionCall, ToolCall, ToolOutput, ToolReturn};
pub use usage::TokenUsage;

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the program. Never stored as a message; see `context`.
    System,
    /// The person, and everything the program says in the person's place.
    User,
    /// The model.
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// One message of a conversation, as a row of `context.jsonl` holds it.
///
/// Absent fields are left out. `content` is a plain string exactly when it is one text part, else a
/// list of parts (`[]` when empty).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// An optional name of the speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is said.
    #[serde(default, serialize_with = "write_content", deserialize_with = "read_content")]
    pub content: Vec<ContentPart>,
    /// The calls an assistant message makes, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// Which call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Set on an assistant message the model is asked to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
}

impl Message {
    /// A message of `role` with these parts and nothing else.
    #[must_use]
    pub fn new(role: Role, content: Vec<ContentPart>) -> Self {
        Self { role, name: None, content, tool_calls: None, tool_call_id: None, partial: None }
    }

    /// A user message of one text part.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![ContentPart::text(text)])
    }

    /// An assistant message of one text part.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![ContentPart::text(text)])
    }

    /// A user message in the program's voice: `<system>text</system>`.
    #[must_use]
    pub fn system_note(text: &str) -> Self {
        Self::user(format!("<system>{text}</system>"))
    }

    /// The tool message that answers `call_id` with `result` (`kimi-cli` `soul/message.py:35-62`).
    #[must_use]
    pub fn tool_result(call_id: impl Into<String>, result: &ToolReturn) -> Self {
        Self { tool_call_id: Some(call_id.into()), ..Self::new(Role::Tool, result.to_parts()) }
    }

    /// All text parts joined by a space.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.content, " ")
    }

    /// The calls of this message; empty when there are none.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// A word of the program to the model that no person sees.
    #[must_use]
    pub fn reminder(text: &str) -> Self {
        Self::user(format!("{REMINDER}\n{text}\n</system-reminder>"))
    }

    /// Is it a word of the program rather than of a person?
    #[must_use]
    pub fn is_reminder(&self) -> bool {
        self.role == Role::User
            && matches!(self.content.as_slice(), [ContentPart::Text { text }]
                if text.starts_with(REMINDER) || text.starts_with("<notification "))
    }

    /// Did the program say it, in the person's place: a reminder, a note, a D-Mail that arrived?
    #[must_use]
    pub fn is_note(&self) -> bool {
        let is_system = |text: &str| text.starts_with("<system>") && text.ends_with("</system>");
        self.is_reminder() || self.role == Role::User && is_system(self.text().trim())
    }

    /// Is this the row that tells the model which checkpoint it stands at?
    #[must_use]
    pub fn is_checkpoint_note(&self) -> bool {
        self.role == Role::User
            && matches!(self.content.as_slice(), [ContentPart::Text { text }]
                if text.strip_prefix("<system>CHECKPOINT ")
                    .and_then(|rest| rest.strip_suffix("</system>"))
                    .is_some_and(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())))
    }
}

/// `text` without the tags by which the program marks its own words for the model.
#[must_use]
pub fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with('<') {
        return Cow::Borrowed(text);
    }
    let mut text = text.replace(REMINDER, "").replace("</system-reminder>", " ");
    text = text.replace("<system>", "").replace("</system>", " ");
    Cow::Owned(text)
}

/// How a reminder begins (`kimi-cli` `soul/dynamic_injections/`).
const REMINDER: &str = "<system-reminder>";

fn write_content<S: Serializer>(content: &[ContentPart], out: S) -> Result<S::Ok, S::Error> {
    match content {
        [ContentPart::Text { text }] => out.serialize_str(text),
        parts => parts.serialize(out),
    }
}

fn read_content<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<ContentPart>, D::Error> {
    input.deserialize_any(StoredContent)
}

/// A string, a list of parts, or null. By hand, because serde's untagged enums copy everything once
/// more, and contexts are megabytes.
struct StoredContent;

impl<'de> Visitor<'de> for StoredContent {
    type Value = Vec<ContentPart>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![ContentPart::text(text)])
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(vec![ContentPart::text(text)])
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::with_capacity(list.size_hint().unwrap_or(2).min(64));
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_part_is_a_string_and_anything_else_a_list() {
        let row = r#"{"role":"user","content":"run it"}"#;
        let message: Message = serde_json::from_str(row).expect("row");
        assert_eq!(message, Message::user("run it"));
        assert_eq!(serde_json::to_string(&message).expect("json"), row);
        let empty = Message::new(Role::Assistant, vec![]);
        assert_eq!(
            serde_json::to_string(&empty).expect("json"),
            r#"{"role":"assistant","content":[]}"#
        );
    }

    #[test]
    fn a_recorded_assistant_row_survives_a_round_trip() {
        let row = r#"{"role":"assistant","content":[{"type":"think","think":"pondering","encrypted":null},{"type":"text","text":"On it"}],"tool_calls":[{"type":"function","id":"tc1","function":{"name":"Shell","arguments":"{\"command\": \"echo hi\"}"}}]}"#;
        let message: Message = serde_json::from_str(row).expect("row");
        assert_eq!(message.calls()[0].function.name, "Shell");
        assert_eq!(serde_json::to_string(&message).expect("json"), row);
    }

    #[test]
    fn checkpoint_notes_are_told_from_talk_about_them() {
        assert!(Message::system_note("CHECKPOINT 12").is_checkpoint_note());
        assert!(!Message::system_note("CHECKPOINT ").is_checkpoint_note());
        assert!(!Message::user("what is <system>CHECKPOINT 1</system>?").is_checkpoint_note());
    }
}
