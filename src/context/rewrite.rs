//! Making a context shorter without asking a model: hiding old tool results, cutting off the beginning.
//! And what a rewrite did to each message, for the screen. Pure.
//!
//! The rules are those of KLIP-13, sections 3 and 4, and of the learning guide's section 8.3.

use std::collections::HashSet;

use crate::message::{ContentPart, Message, Role, key_argument, message_hundredths, without_tags};
use crate::wire::{MessageFate, RewrittenMessage};

/// What stands in the place of a hidden result. Never changed: contexts on disk have it.
pub const HIDDEN_RESULT: &str = "<system>历史 tool_call已隐藏</system>";
/// Groups of calls whose results stay when older ones are hidden.
pub const KEPT_GROUPS: usize = 5;
/// Messages that stay when the beginning is cut off.
pub const KEPT_BY_TRUNCATION: usize = 10;
/// Characters of a message that are shown in a list of what went.
const PREVIEW_CHARS: usize = 80;

/// A rewritten context.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// The messages of the new context.
    pub messages: Vec<Message>,
    /// Their tokens: counted as far as a provider counted, else estimated.
    pub tokens: u64,
    /// What happened to messages that are not in it as they were.
    pub changed: Vec<RewrittenMessage>,
}

/// What `messages` weigh together, in tokens.
#[must_use]
pub fn estimate(messages: &[Message]) -> u64 {
    messages.iter().map(message_hundredths).fold(0, u64::saturating_add) / 100
}

/// What became of `message`, which was number `index` of the history.
#[must_use]
pub fn rewritten(index: usize, message: &Message, fate: MessageFate) -> RewrittenMessage {
    RewrittenMessage {
        index: index as u64,
        role: message.role,
        fate,
        tokens: message_hundredths(message) / 100,
        tool_call_id: message.tool_call_id.clone(),
        preview: preview(message),
    }
}

/// How `message` begins, on one line; for one that says nothing, what it calls.
#[must_use]
pub fn preview(message: &Message) -> String {
    let mut text = message.text();
    if text.trim().is_empty() {
        let calls = message.calls().iter().map(|call| {
            let name = &call.function.name;
            let argument = key_argument(name, call.arguments()).unwrap_or_default();
            format!("{name} {argument}").trim_end().to_owned()
        });
        text = calls.collect::<Vec<_>>().join("; ");
    }
    let text = without_tags(&text);
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.len() > PREVIEW_CHARS * 4 {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words.chars().take(PREVIEW_CHARS).collect()
}

/// Hides the results of all but the last `keep` groups of calls. A group is one assistant message
/// with calls, and the results that answer them; parallel calls stay or go together. `tokens` is
/// what the history had. `None` when there is nothing (left) to hide.
#[must_use]
pub fn hide_tool_results(history: &[Message], tokens: u64, keep: usize) -> Option<Rewrite> {
    let mut groups: Vec<&Message> = history.iter().filter(|m| !m.calls().is_empty()).collect();
    groups.drain(..groups.len().saturating_sub(keep));
    let kept: HashSet<&str> =
        groups.iter().flat_map(|m| m.calls()).map(|call| call.id.as_str()).collect();
    let mut changed = Vec::new();
    let mut messages = Vec::with_capacity(history.len());
    for (index, message) in history.iter().enumerate() {
        let id = message.tool_call_id.as_deref();
        let is_old = message.role == Role::Tool && id.is_none_or(|id| !kept.contains(id));
        if is_old && !is_hidden(message) {
            changed.push(rewritten(index, message, MessageFate::Hidden));
            let content = vec![ContentPart::text(HIDDEN_RESULT)];
            messages.push(Message { content, ..message.clone() });
        } else if !message.is_checkpoint_note() {
            // A new context numbers its checkpoints from 0, so the old numbers would mislead.
            messages.push(message.clone());
        }
    }
    if changed.is_empty() {
        return None;
    }
    let (before, after) = (estimate(history), estimate(&messages));
    let tokens = tokens.saturating_sub(before.saturating_sub(after));
    Some(Rewrite { messages, tokens, changed })
}

/// Does the placeholder stand in the place of this result?
pub(super) fn is_hidden(message: &Message) -> bool {
    matches!(message.content.as_slice(), [ContentPart::Text { text }] if text == HIDDEN_RESULT)
}

/// Cuts off all but the last `keep` messages, checkpoint rows not counted, and puts a warning in
/// their place. More stay when a result would lose the call it answers. `failed`: because a
/// summary could not be had. `None` when there is nothing to cut off.
#[must_use]
pub fn truncate(history: &[Message], keep: usize, failed: bool) -> Option<Rewrite> {
    let said: Vec<(usize, &Message)> =
        history.iter().enumerate().filter(|(_, m)| !m.is_checkpoint_note()).collect();
    let mut start = said.len().saturating_sub(keep);
    while start > 0 && said.get(start).is_some_and(|(_, m)| m.role == Role::Tool) {
        start -= 1;
    }
    let (cut, kept) = said.split_at(start);
    if cut.is_empty() || cut.iter().all(|(_, message)| is_truncation_note(message)) {
        return None;
    }
    let mut messages = vec![truncation_note(failed)];
    messages.extend(kept.iter().map(|(_, message)| (*message).clone()));
    let changed = cut.iter().map(|(at, m)| rewritten(*at, m, MessageFate::Dropped)).collect();
    Some(Rewrite { tokens: estimate(&messages), messages, changed })
}

const TRUNCATED: &str = "早期对话历史已被截断。部分上下文信息可能丢失。";

fn truncation_note(failed: bool) -> Message {
    let why = if failed { "LLM 压缩失败，" } else { "" };
    Message::system_note(&format!("[警告] {why}{TRUNCATED}"))
}

fn is_truncation_note(message: &Message) -> bool {
    *message == truncation_note(true) || *message == truncation_note(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolReturn};
    use proptest::prelude::*;

    fn calling(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| ToolCall::new(*id, "Bash", Some("{}".into()))).collect();
        Message { tool_calls: Some(calls), ..Message::new(Role::Assistant, vec![]) }
    }

    fn result(id: &str, text: &str) -> Message {
        Message::tool_result(id, &ToolReturn::ok(text, ""))
    }

    fn ids(rewrite: &Rewrite) -> Vec<&str> {
        rewrite.changed.iter().filter_map(|one| one.tool_call_id.as_deref()).collect()
    }

    #[test]
    fn old_groups_are_hidden_as_a_whole_and_keep_their_ids() {
        let long = "x".repeat(400);
        let mut history = vec![
            Message::user("go"),
            calling(&["a", "b"]),
            result("a", &long),
            result("b", &long),
            Message::system_note("CHECKPOINT 3"),
        ];
        for id in ["1", "2", "3", "4", "5"] {
            history.extend([calling(&[id]), result(id, &long)]);
        }
        let rewrite = hide_tool_results(&history, 1000, KEPT_GROUPS).expect("two to hide");
        assert_eq!(ids(&rewrite), ["a", "b"]);
        assert_eq!(rewrite.messages.len(), history.len() - 1, "the checkpoint row went");
        assert_eq!(rewrite.messages[2].text(), "<system>历史 tool_call已隐藏</system>");
        assert_eq!(rewrite.messages[2].tool_call_id.as_deref(), Some("a"));
        assert_eq!(rewrite.messages[5].text(), long);
        assert!(rewrite.tokens < 850 && rewrite.tokens > 780, "{}", rewrite.tokens);
        let first = &rewrite.changed[0];
        assert_eq!(
            (first.index, first.tokens, first.fate),
            (2, crate::message::estimate_tokens(&long), MessageFate::Hidden)
        );
        assert_eq!(first.preview, "x".repeat(80));
        assert_eq!(hide_tool_results(&rewrite.messages, 100, KEPT_GROUPS), None);
    }

    #[test]
    fn nothing_is_hidden_while_there_are_few_groups() {
        let history = [calling(&["a"]), result("a", "out")];
        assert_eq!(hide_tool_results(&history, 10, KEPT_GROUPS), None);
        assert_eq!(hide_tool_results(&[Message::user("a")], 10, 0), None);
    }

    #[test]
    fn the_beginning_is_cut_off_with_a_warning() {
        let mut history: Vec<Message> = (0..12).map(|n| Message::user(format!("m{n}"))).collect();
        history.insert(11, Message::system_note("CHECKPOINT 4"));
        let rewrite = truncate(&history, KEPT_BY_TRUNCATION, true).expect("two to cut");
        assert_eq!(
            rewrite.messages[0].text(),
            "<system>[警告] LLM 压缩失败，早期对话历史已被截断。部分上下文信息可能丢失。</system>"
        );
        assert_eq!(rewrite.messages.len(), 11);
        assert_eq!(rewrite.messages[1], Message::user("m2"));
        assert!(!rewrite.messages.iter().any(Message::is_checkpoint_note));
        assert_eq!(rewrite.changed.len(), 2);
        assert_eq!(truncate(&rewrite.messages, KEPT_BY_TRUNCATION, false), None);
        assert_eq!(truncate(&history[..10], KEPT_BY_TRUNCATION, false), None);
    }

    #[test]
    fn no_result_loses_its_call() {
        let mut history = vec![Message::user("go"), calling(&["a", "b", "c"])];
        history.extend(["a", "b", "c"].map(|id| result(id, "out")));
        let rewrite = truncate(&history, 2, false).expect("one to cut");
        assert_eq!(rewrite.messages[1..], history[1..]);
    }

    proptest! {
        #[test]
        fn a_rewrite_keeps_order_calls_and_results(
            kinds in prop::collection::vec(0..4_u8, 0..40), keep in 0..6_usize
        ) {
            let mut history = Vec::new();
            for (n, kind) in kinds.iter().enumerate() {
                let id = n.to_string();
                match kind {
                    0 => history.push(Message::user(format!("u{n}"))),
                    1 => history.push(Message::assistant(format!("a{n}"))),
                    2 => history.push(Message::system_note(&format!("CHECKPOINT {n}"))),
                    _ => history.extend([calling(&[&id]), result(&id, "a long result")]),
                }
            }
            if let Some(hidden) = hide_tool_results(&history, 50, keep) {
                let said = history.iter().filter(|m| !m.is_checkpoint_note());
                prop_assert_eq!(said.clone().count(), hidden.messages.len());
                for (old, new) in said.zip(&hidden.messages) {
                    prop_assert_eq!(&old.role, &new.role);
                    prop_assert_eq!(&old.tool_call_id, &new.tool_call_id);
                }
                prop_assert_eq!(hide_tool_results(&hidden.messages, 50, keep), None);
            }
            if let Some(cut) = truncate(&history, keep, false) {
                prop_assert!(cut.messages.len() > keep);
                prop_assert!(cut.messages.get(1).is_none_or(|m| m.role != Role::Tool));
            }
        }
    }
}
