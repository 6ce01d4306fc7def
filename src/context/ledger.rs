//! What a context consists of, by kind and by message. Pure.

use super::pin::named;
use super::rewrite::{is_hidden, preview};
use crate::message::{ContentPart, Message, Role, estimate_tokens, message_hundredths};
use crate::wire::{LedgerKind, LedgerMessage, LedgerShare};

/// Every message of `history` with what it weighs, oldest first.
#[must_use]
pub fn messages(history: &[Message]) -> Vec<LedgerMessage> {
    let mut turns_ago = 0;
    let mut out: Vec<LedgerMessage> = Vec::with_capacity(history.len());
    let mut calls = std::collections::HashMap::new();
    for call in history.iter().flat_map(Message::calls) {
        calls.insert(call.id.as_str(), call);
    }
    for (index, message) in history.iter().enumerate().rev() {
        let id = message.tool_call_id.clone().filter(|_| message.role == Role::Tool);
        out.push(LedgerMessage {
            index: index as u64,
            kind: kind(message),
            tokens: message_hundredths(message) / 100,
            turns_ago,
            call: id.as_deref().and_then(|id| calls.get(id)).map(|call| named(call)),
            tool_call_id: id,
            is_hidden: message.role == Role::Tool && is_hidden(message),
            preview: preview(message),
        });
        if is_prompt(message) {
            turns_ago += 1;
        }
    }
    out.reverse();
    out
}

/// Tokens by kind, in the order a request has them. `system` and `tools` are what those weigh.
#[must_use]
pub fn shares(history: &[Message], system: u64, tools: u64) -> Vec<LedgerShare> {
    let of = |kind: LedgerKind| {
        let those = history.iter().filter(|message| self::kind(message) == kind);
        let (mut tokens, mut messages) = (0_u64, 0);
        for message in those {
            tokens = tokens.saturating_add(message_hundredths(message));
            messages += 1;
        }
        LedgerShare { kind, tokens: tokens / 100, messages }
    };
    let thought = |message: &Message| -> u64 {
        let parts = message.content.iter();
        parts
            .map(|part| match part {
                ContentPart::Think { think, .. } => estimate_tokens(think),
                _ => 0,
            })
            .sum()
    };
    let thinking: Vec<u64> = history.iter().map(thought).filter(|tokens| *tokens > 0).collect();
    [
        LedgerShare { kind: LedgerKind::System, tokens: system, messages: 0 },
        LedgerShare { kind: LedgerKind::Tools, tokens: tools, messages: 0 },
        of(LedgerKind::User),
        of(LedgerKind::Note),
        of(LedgerKind::Assistant),
        LedgerShare {
            kind: LedgerKind::Thinking,
            tokens: thinking.iter().sum(),
            messages: thinking.len() as u64,
        },
        of(LedgerKind::ToolResult),
    ]
    .into_iter()
    .filter(|share| share.tokens > 0 || share.messages > 0)
    .collect()
}

fn kind(message: &Message) -> LedgerKind {
    match message.role {
        Role::System => LedgerKind::System,
        Role::User if message.is_note() => LedgerKind::Note,
        Role::User => LedgerKind::User,
        Role::Assistant => LedgerKind::Assistant,
        Role::Tool => LedgerKind::ToolResult,
    }
}

fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && !message.is_checkpoint_note() && !message.is_reminder()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolReturn};

    #[test]
    fn every_message_has_its_weight_its_kind_and_its_age() {
        let mut asking = Message::new(
            Role::Assistant,
            vec![ContentPart::think("x".repeat(400)), ContentPart::text("look")],
        );
        let arguments = r#"{"path": "a.rs"}"#.to_owned();
        asking.tool_calls = Some(vec![ToolCall::new("t1", "ReadFile", Some(arguments))]);
        let long = "word ".repeat(400);
        let history = [
            Message::user("first"),
            asking,
            Message::tool_result("t1", &ToolReturn::ok(&long, "")),
            Message::system_note("CHECKPOINT 3"),
            Message::user("second"),
            Message::assistant("done"),
        ];
        let ledger = messages(&history);
        let ages: Vec<u64> = ledger.iter().map(|one| one.turns_ago).collect();
        assert_eq!(ages, [1, 1, 1, 1, 0, 0], "a checkpoint's note is no prompt");
        assert_eq!(ledger[2].kind, LedgerKind::ToolResult);
        assert_eq!(ledger[2].call.as_deref(), Some("ReadFile a.rs"));
        assert_eq!(ledger[2].tokens, estimate_tokens(&long));
        let shares = shares(&history, 500, 0);
        let of = |kind| shares.iter().find(|share| share.kind == kind).copied();
        assert_eq!(of(LedgerKind::System).map(|share| share.tokens), Some(500));
        assert_eq!(of(LedgerKind::Tools), None, "there are none");
        assert_eq!(of(LedgerKind::User).map(|share| share.messages), Some(2));
        assert_eq!(of(LedgerKind::Note).map(|share| share.messages), Some(1));
        assert_eq!(
            (ledger[3].kind, ledger[3].preview.as_str()),
            (LedgerKind::Note, "CHECKPOINT 3")
        );
        let thinking = of(LedgerKind::Thinking).expect("thinking");
        assert_eq!((thinking.tokens, thinking.messages), (estimate_tokens(&"x".repeat(400)), 1));
        assert!(of(LedgerKind::Assistant).expect("said").tokens < 20, "thinking counts apart");
    }
}
