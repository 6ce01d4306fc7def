//! A session as a Markdown document, to be read and kept.

use std::fmt::Write as _;
use std::time::SystemTime;

use super::error::SessionError;
use super::store::Session;
use super::title::short_title;
use crate::context::{Context, estimate_tokens};
use crate::message::{ContentPart, Message, Role, ToolCall, key_argument};

/// A document and the name it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// `kimi-export-<first eight of the id>-<date>-<time>.md`.
    pub file_name: String,
    /// The document.
    pub text: String,
    /// Messages in it.
    pub messages: usize,
}

/// The living context of `session` as Markdown: what was said, thought, done and found, turn by
/// turn. What the program itself put in (checkpoints, reminders) is left out. Reads only.
///
/// # Errors
/// When the context cannot be read, or nothing was said.
pub fn export_markdown(session: &Session, now: SystemTime) -> Result<Exported, SessionError> {
    let (context, _) = Context::open_read_only(&session.dir)?;
    let said: Vec<&Message> = context.history().iter().filter(|m| !is_internal(m)).collect();
    if said.is_empty() {
        return Err(SessionError::Refused {
            what: format!("session {} cannot be exported", session.id),
            reason: "nothing was said in it",
            advice: "Export another one, or say something first.",
        });
    }
    let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let local = time.to_zoned(jiff::tz::TimeZone::system());
    let turns = turns(&said);
    let calls: usize = said.iter().map(|message| message.calls().len()).sum();
    let mut text = format!(
        "---\nsession_id: {}\nexported_at: {}\nwork_dir: {}\nmessage_count: {}\ntoken_count: {}\n---\n\n",
        quoted(&session.id.0),
        local.strftime("%Y-%m-%dT%H:%M:%S%:z"),
        quoted(&session.work_dir.to_string_lossy()),
        said.len(),
        context.tokens_with_pending(),
    );
    let topic =
        said.iter().find(|message| message.role == Role::User).map(|m| short_title(&m.text()));
    let _ = write!(
        text,
        "# {}\n\n## Overview\n\n- **Topic**: {}\n- **Conversation**: {} turns, {calls} tool calls\n\n---\n",
        one_line(&session.summary().title),
        one_line(&topic.unwrap_or_default()),
        turns.len(),
    );
    for (index, turn) in turns.iter().enumerate() {
        let _ = write!(text, "\n## Turn {}\n", index + 1);
        write_turn(&mut text, turn);
    }
    let file_name =
        format!("kimi-export-{}-{}.md", session.id.short(), local.strftime("%Y%m%d-%H%M%S"));
    Ok(Exported { file_name, text, messages: said.len() })
}

/// Was this put in by the program in the person's place?
pub(super) fn is_internal(message: &Message) -> bool {
    if message.role != Role::User {
        return false;
    }
    let text = message.text();
    let text = text.trim_start();
    ["<system-reminder>", "<notification", "<system>CHECKPOINT "]
        .iter()
        .any(|tag| text.starts_with(tag))
        || (text.starts_with("<system>") && text.trim_end().ends_with("</system>"))
}

fn turns<'a>(said: &[&'a Message]) -> Vec<Vec<&'a Message>> {
    let mut turns: Vec<Vec<&Message>> = Vec::new();
    for message in said {
        match turns.last_mut() {
            Some(turn) if message.role != Role::User => turn.push(message),
            _ => turns.push(vec![message]),
        }
    }
    turns
}

fn write_turn(out: &mut String, turn: &[&Message]) {
    let mut speaker = None;
    for message in turn {
        match message.role {
            Role::User | Role::System => out.push_str("\n### User\n"),
            Role::Assistant if speaker != Some(Role::Assistant) => {
                out.push_str("\n### Assistant\n");
            }
            Role::Assistant | Role::Tool => {}
        }
        if message.role == Role::Tool {
            let body = parts(&message.content);
            details(out, "Result", &fenced("", &body));
            continue;
        }
        speaker = Some(message.role);
        for part in &message.content {
            match part {
                ContentPart::Think { think, .. } if think.trim().is_empty() => {}
                ContentPart::Think { think, .. } => details(out, "Thinking", think.trim()),
                part => {
                    let _ = write!(out, "\n{}\n", one_part(part).trim_end());
                }
            }
        }
        for call in message.calls() {
            write_call(out, call);
        }
    }
}

fn write_call(out: &mut String, call: &ToolCall) {
    let name = one_line(&call.function.name);
    let key = key_argument(&call.function.name, call.arguments()).map(|key| short_title(&key));
    let key = key.map(|key| format!(" (`{}`)", key.replace('`', "'"))).unwrap_or_default();
    let arguments = serde_json::from_str::<serde_json::Value>(call.arguments())
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| call.arguments().to_owned());
    let _ = write!(out, "\n#### Tool call: {name}{key}\n\n{}\n", fenced("json", &arguments));
}

fn details(out: &mut String, summary: &str, body: &str) {
    let _ = write!(out, "\n<details><summary>{summary}</summary>\n\n{body}\n\n</details>\n");
}

/// In a fence longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

pub(super) fn parts(parts: &[ContentPart]) -> String {
    parts.iter().map(one_part).collect::<Vec<_>>().join("\n")
}

fn one_part(part: &ContentPart) -> String {
    match part {
        ContentPart::Text { text } => text.clone(),
        ContentPart::Think { think, .. } => think.clone(),
        ContentPart::ImageUrl { .. } => "[picture]".to_owned(),
        ContentPart::AudioUrl { .. } => "[sound]".to_owned(),
        ContentPart::VideoUrl { .. } => "[film]".to_owned(),
        ContentPart::Unknown(value) => value.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A YAML string on one line.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// The messages as plain text, for another session to read.
pub(super) fn as_text(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages.iter().filter(|message| !is_internal(message)) {
        let speaker = match message.role {
            Role::System => "SYSTEM",
            Role::User => "USER",
            Role::Assistant => "ASSISTANT",
            Role::Tool => "TOOL RESULT",
        };
        let visible = message.content.iter().filter(|p| !matches!(p, ContentPart::Think { .. }));
        let body = visible.map(one_part).collect::<Vec<_>>().join("\n");
        let _ = write!(out, "[{speaker}]\n{body}\n");
        for call in message.calls() {
            let _ = writeln!(out, "Tool call: {}({})", call.function.name, call.arguments());
        }
        out.push('\n');
    }
    out
}

/// A guess at what `text` costs, for a caller that has to know whether it fits.
pub(super) fn weight(text: &str) -> u64 {
    estimate_tokens(text)
}
