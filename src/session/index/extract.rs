//! The text in a session's files: what was said, which commands ran, what came of them. What a tool
//! was given and what it answered is cut, so that a log somebody printed does not become the index.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::record::RawRecorded;

/// Begins a piece of text, with a sign for who speaks behind it. No text has it in it.
pub(super) const MARK: char = '\u{1e}';
/// What is kept of something said, in bytes.
const SAID: usize = 64 * 1024;
/// What is kept of what a tool was called with.
const CALLED: usize = 2048;
/// What is kept of the beginning and the end of what a tool answered.
const ANSWERED: (usize, usize) = (1536, 512);
/// A longer line is a picture or a film.
const LONGEST_LINE: usize = 16 << 20;

/// The file a session's text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    /// The record of what was seen: all of it, whatever was compacted or reverted later.
    Wire,
    /// The context, in a session without a record.
    Context,
}

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// What a tool was called with.
    Call,
    /// What a tool answered.
    Output,
    /// Nobody: it is what the session is called.
    Title,
}

impl Speaker {
    /// Nobody searches for one of these.
    fn sign(self) -> char {
        match self {
            Self::User => '\u{11}',
            Self::Assistant => '\u{12}',
            Self::Call => '\u{13}',
            Self::Output => '\u{14}',
            Self::Title => '\u{15}',
        }
    }

    /// By its sign.
    pub(super) fn of(sign: u8) -> Self {
        let all = [Self::User, Self::Call, Self::Output, Self::Title];
        all.into_iter().find(|who| who.sign() == char::from(sign)).unwrap_or(Self::Assistant)
    }
}

/// Collects the text of lines.
#[derive(Debug)]
pub(super) struct Extractor {
    source: Source,
    /// What was collected.
    pub(super) text: String,
    /// Did the last line hold a piece of the model's text, which the next piece goes on with?
    is_speaking: bool,
}

impl Extractor {
    pub(super) fn new(source: Source) -> Self {
        Self { source, text: String::new(), is_speaking: false }
    }

    /// Takes one line in. What cannot be read says nothing.
    pub(super) fn line(&mut self, line: &[u8]) {
        if line.len() > LONGEST_LINE {
            return;
        }
        match self.source {
            Source::Wire if !says_something(line) => {}
            Source::Wire => {
                if let Ok(record) = serde_json::from_slice::<RawRecorded>(line) {
                    self.event(&record.message.kind, &record.message.payload);
                }
            }
            Source::Context => {
                if let Ok(row) = serde_json::from_slice::<Value>(line) {
                    self.row(&row);
                }
            }
        }
    }

    fn event(&mut self, kind: &str, payload: &Value) {
        let was_speaking = std::mem::take(&mut self.is_speaking);
        match kind {
            "TurnBegin" | "SteerInput" => {
                self.add(Speaker::User, &text_of(&payload["user_input"]), SAID);
            }
            "ContentPart" if payload["type"] == "text" => {
                let piece = payload["text"].as_str().unwrap_or_default();
                if was_speaking {
                    self.push(piece, SAID);
                } else {
                    self.add(Speaker::Assistant, piece, SAID);
                }
                self.is_speaking = true;
            }
            "PlanDisplay" => self.add(Speaker::Assistant, str_of(&payload["content"]), SAID),
            "BtwBegin" => self.add(Speaker::User, str_of(&payload["question"]), SAID),
            "BtwEnd" => self.add(Speaker::Assistant, str_of(&payload["response"]), SAID),
            "ToolCall" => self.call(&payload["function"]),
            "ToolResult" => self.output(&text_of(&payload["return_value"]["output"])),
            "SubagentEvent" => {
                let event = &payload["event"];
                self.event(str_of(&event["type"]), &event["payload"]);
            }
            _ => {}
        }
    }

    fn row(&mut self, row: &Value) {
        let text = text_of(&row["content"]);
        match str_of(&row["role"]) {
            "user" if is_program(&text) => {}
            "user" => self.add(Speaker::User, &text, SAID),
            "assistant" => {
                self.add(Speaker::Assistant, &text, SAID);
                for call in row["tool_calls"].as_array().into_iter().flatten() {
                    self.call(&call["function"]);
                }
            }
            "tool" => self.output(&text),
            _ => {}
        }
    }

    fn call(&mut self, function: &Value) {
        let arguments = str_of(&function["arguments"]);
        let mut words = str_of(&function["name"]).to_owned();
        match serde_json::from_str::<Value>(arguments) {
            Ok(value) => leaves(&value, &mut words),
            Err(_) => {
                words.push(' ');
                words.push_str(arguments);
            }
        }
        self.add(Speaker::Call, &words, CALLED);
    }

    fn output(&mut self, text: &str) {
        let (head, tail) = ANSWERED;
        if text.len() <= head + tail {
            return self.add(Speaker::Output, text, head + tail);
        }
        self.add(Speaker::Output, text, head);
        self.text.push_str(" … ");
        let from = text.ceil_char_boundary(text.len() - tail);
        self.push(&text[from..], tail);
    }

    fn add(&mut self, speaker: Speaker, text: &str, limit: usize) {
        if text.trim().is_empty() {
            return;
        }
        self.text.push(MARK);
        self.text.push(speaker.sign());
        self.push(text, limit);
    }

    /// Without control characters, which no search looks for and no screen should see.
    fn push(&mut self, text: &str, limit: usize) {
        let text = &text[..text.floor_char_boundary(limit)];
        if text.bytes().any(|byte| byte < b' ' && byte != b'\n' || byte == 0x7f) {
            let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
            self.text.extend(text.chars().map(plain));
        } else {
            self.text.push_str(text);
        }
    }
}

/// Is it one of the events that hold text? Most lines need not be read.
fn says_something(line: &[u8]) -> bool {
    const KINDS: [&str; 8] = [
        "\"TurnBegin\"",
        "\"SteerInput\"",
        "\"ContentPart\"",
        "\"ToolCall\"",
        "\"ToolResult\"",
        "\"PlanDisplay\"",
        "\"SubagentEvent\"",
        "\"Btw",
    ];
    let head = &line[..line.len().min(120)];
    KINDS.iter().any(|kind| memchr::memmem::find(head, kind.as_bytes()).is_some())
}

/// Was this put in by the program in the person's place?
fn is_program(text: &str) -> bool {
    let text = text.trim_start();
    ["<system-reminder>", "<notification", "<system>"].iter().any(|tag| text.starts_with(tag))
}

/// A text, or the texts of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part["type"] == "text")
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn str_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// All texts in `value`, as far as they will be kept.
fn leaves(value: &Value, out: &mut String) {
    if out.len() > CALLED {
        return;
    }
    match value {
        Value::String(text) => {
            out.push(' ');
            out.push_str(&text[..text.floor_char_boundary(CALLED)]);
        }
        Value::Array(values) => values.iter().for_each(|value| leaves(value, out)),
        Value::Object(map) => map.values().for_each(|value| leaves(value, out)),
        _ => {}
    }
}
