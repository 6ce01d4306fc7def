//! What the demo model answers when no tools are offered: a summary for compaction, in the form that
//! `prompts/compact.md` asks for, or one line.

use super::report::plural;
use super::words::short;
use crate::message::Message;

/// One message of what is to be summarised.
struct Piece {
    role: String,
    text: String,
}

/// The summary.
pub(super) fn recap(messages: &[Message]) -> String {
    let pieces = messages.last().map(pieces).unwrap_or_default();
    if pieces.is_empty() {
        let asked = messages.last().map(Message::text).unwrap_or_default();
        return short(&format!("Demo session: {asked}"), 60);
    }
    let of = |role: &'static str| pieces.iter().filter(move |piece| piece.role == role);
    let asks: Vec<String> = of("user")
        .filter(|piece| !piece.text.trim_start().starts_with('<'))
        .map(|piece| short(&piece.text, 100))
        .collect();
    let errors: Vec<String> = of("tool")
        .filter_map(|piece| piece.text.trim_start().strip_prefix("<system>ERROR: "))
        .map(|text| format!("- {}", short(text.split("</system>").next().unwrap_or(text), 160)))
        .collect();
    let said: Vec<String> =
        of("assistant").map(|piece| format!("- {}", short(&piece.text, 120))).collect();
    let focus = asks.last().map_or("Nothing in particular.", String::as_str);
    let done: Vec<String> = asks.iter().map(|ask| format!("- The user asked: {ask}")).collect();
    let last = said.iter().rev().take(3).rev().cloned().collect::<Vec<_>>();
    let results = plural(of("tool").count(), "tool result");
    let blocks = [
        ("current_focus", focus.to_owned()),
        ("environment", "- The demo model, offline; this summary is made by rule.".to_owned()),
        ("completed_tasks", tail(done, 12)),
        ("active_issues", tail(errors, 6)),
        ("code_state", String::new()),
        (
            "important_context",
            format!(
                "- {} and {results} were summarised. The last answers were:\n{}",
                plural(pieces.len(), "message"),
                last.join("\n")
            ),
        ),
    ];
    let blocks = blocks.iter().map(|(name, text)| match text.trim() {
        "" => format!("<{name}>\n</{name}>"),
        text => format!("<{name}>\n{text}\n</{name}>"),
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn tail(lines: Vec<String>, count: usize) -> String {
    let skipped = lines.len().saturating_sub(count);
    lines[skipped..].join("\n")
}

/// The messages in a compaction's input: parts that begin with `## Message n`, each before its text.
fn pieces(input: &Message) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let texts: Vec<&str> = input.content.iter().filter_map(|part| part.as_text()).collect();
    // The last part is the request for a summary.
    for text in texts.iter().take(texts.len().saturating_sub(1)) {
        let head = text.strip_prefix("## Message ").and_then(|head| head.split_once("\nRole: "));
        if let Some((_, rest)) = head {
            let (role, text) = rest.split_once('\n').unwrap_or((rest, ""));
            let text = text.strip_prefix("Content:\n").unwrap_or(text);
            pieces.push(Piece { role: role.trim().to_lowercase(), text: text.to_owned() });
        } else if let Some(piece) = pieces.last_mut() {
            piece.text.push_str(text);
        }
    }
    pieces
}
