//! A conversation a provider accepts: every tool call has one result, right behind the message
//! that makes it, and no result stands alone. Pure.
//!
//! The engine never writes anything else, but a record can be damaged, or end in a crash.

use std::borrow::Cow;

use crate::message::{Message, Role, ToolReturn};

/// What a call whose result was lost is answered with.
pub(crate) fn lost_result() -> ToolReturn {
    ToolReturn::error(
        "The result of this call was lost when the session was interrupted. \
         It may have been carried out, in part or as a whole.",
        "Interrupted",
    )
}

/// `history` as it is when it is sound, else a sound copy.
pub(crate) fn sound(history: &[Message]) -> Cow<'_, [Message]> {
    if is_sound(history) {
        return Cow::Borrowed(history);
    }
    let mut out = Vec::with_capacity(history.len() + 1);
    let mut rest = history;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        if message.role == Role::Tool {
            continue;
        }
        out.push(message.clone());
        if message.calls().is_empty() {
            continue;
        }
        let results = rest.iter().take_while(|next| next.role == Role::Tool).count();
        let (results, behind) = rest.split_at(results);
        rest = behind;
        for call in message.calls() {
            let answer = results.iter().find(|r| r.tool_call_id.as_deref() == Some(&call.id));
            out.push(
                answer.cloned().unwrap_or_else(|| Message::tool_result(&call.id, &lost_result())),
            );
        }
    }
    Cow::Owned(out)
}

fn is_sound(history: &[Message]) -> bool {
    let mut expected = [].iter();
    for message in history {
        if message.role == Role::Tool {
            let call: Option<&crate::message::ToolCall> = expected.next();
            if call.map(|call| call.id.as_str()) != message.tool_call_id.as_deref() {
                return false;
            }
        } else {
            if expected.len() != 0 {
                return false;
            }
            expected = message.calls().iter();
        }
    }
    expected.len() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;
    use proptest::prelude::*;

    fn calling(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| ToolCall::new(*id, "Bash", None)).collect();
        Message { tool_calls: Some(calls), ..Message::new(Role::Assistant, vec![]) }
    }

    fn result(id: &str) -> Message {
        Message::tool_result(id, &ToolReturn::ok("out", ""))
    }

    #[test]
    fn a_sound_history_is_not_copied() {
        let history = [Message::user("q"), calling(&["a", "b"]), result("a"), result("b")];
        assert!(matches!(sound(&history), Cow::Borrowed(_)));
    }

    #[test]
    fn holes_strays_and_disorder_in_the_middle_are_repaired_for_the_request() {
        let lost = |id: &str| Message::tool_result(id, &lost_result());
        let q = Message::user("q");
        let cases = [
            (
                vec![calling(&["a", "b"]), result("b"), q.clone()],
                vec![calling(&["a", "b"]), lost("a"), result("b"), q.clone()],
            ),
            (vec![result("x"), q.clone()], vec![q.clone()]),
            (
                vec![calling(&["a", "b"]), result("b"), result("a")],
                vec![calling(&["a", "b"]), result("a"), result("b")],
            ),
            (vec![calling(&["a"]), q.clone()], vec![calling(&["a"]), lost("a"), q.clone()]),
        ];
        for (history, expected) in cases {
            let repaired = sound(&history);
            assert_eq!(repaired.as_ref(), expected);
            assert!(is_sound(&repaired));
        }
    }

    proptest! {
        #[test]
        fn any_history_becomes_sound_and_loses_only_strays(
            rows in prop::collection::vec((0_u8..4, 0_usize..3, 0_usize..3), 0..12),
        ) {
            let ids = ["a", "b", "c"];
            let history: Vec<Message> = rows
                .into_iter()
                .map(|(kind, one, other)| match kind {
                    0 => Message::user("q"),
                    1 => Message::assistant("a"),
                    2 => calling(&ids[one.min(other)..=one.max(other)]),
                    _ => result(ids[one]),
                })
                .collect();
            let repaired = sound(&history);
            prop_assert!(is_sound(&repaired));
            let spoken = |messages: &[Message]| -> Vec<Message> {
                messages.iter().filter(|m| m.role != Role::Tool).cloned().collect()
            };
            prop_assert_eq!(spoken(&repaired), spoken(&history));
            prop_assert!(matches!(sound(&repaired), Cow::Borrowed(_)));
        }
    }
}
