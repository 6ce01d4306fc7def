//! Summarising a long context, without the model call: when, what, with which words, and what then.
//!
//! `kimi-facts` F.3 has the rules of the Python program. Two of its warts are left out: it compacts
//! on every step when the window is not larger than the reserve, and it counts `CHECKPOINT n` rows
//! as messages worth keeping.

use crate::message::{
    ContentPart, Message, Role, bytes_within, estimate_tokens, message_hundredths,
};

const SUMMARY_NOTE: &str =
    "<system>Previous context has been compacted. Here is the compaction output:</system>";

/// What is to be summarised and what stays as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionPlan {
    /// The older messages, never none.
    pub to_compact: Vec<Message>,
    /// The newest ones. Begins with what a person or the model said, never with a tool's result.
    pub to_keep: Vec<Message>,
}

/// Is it time? `tokens` in a window of `max_context`, when `reserved` tokens are to stay free or the
/// window is full to `ratio` (0 to 1). A reserve that is not smaller than the window does not count,
/// and a window of 0 is an unknown one.
#[must_use]
pub fn should_compact(tokens: u64, max_context: u64, reserved: u64, ratio: f64) -> bool {
    if max_context == 0 {
        return false;
    }
    let by_reserve = reserved < max_context && tokens.saturating_add(reserved) >= max_context;
    let by_ratio = ratio > 0.0 && tokens as f64 >= max_context as f64 * ratio;
    by_reserve || by_ratio
}

/// Splits `history` so that the last `keep` messages of a person or the model, with the results of
/// its tools, stay. `None` when nothing would be left to summarise.
#[must_use]
pub fn plan(history: &[Message], keep: usize) -> Option<CompactionPlan> {
    let said: Vec<&Message> = history.iter().filter(|m| !m.is_checkpoint_note()).collect();
    let starts = said
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| matches!(message.role, Role::User | Role::Assistant))
        .map(|(index, _)| index);
    let split = match keep {
        0 => said.len(),
        keep => starts.take(keep).collect::<Vec<_>>().get(keep - 1).copied()?,
    };
    if split == 0 {
        return None;
    }
    let (to_compact, to_keep) = said.split_at(split);
    Some(CompactionPlan {
        to_compact: to_compact.iter().copied().cloned().collect(),
        to_keep: to_keep.iter().copied().cloned().collect(),
    })
}

/// The message that asks for the summary: every message's text under a heading, then `prompt`, then
/// what the person wants looked after (`focus`). Only text goes in.
#[must_use]
pub fn compaction_input(plan: &CompactionPlan, prompt: &str, focus: Option<&str>) -> Message {
    let mut parts = Vec::new();
    for (index, message) in plan.to_compact.iter().enumerate() {
        let role = role_name(message.role);
        let number = index + 1;
        parts.push(ContentPart::text(format!("## Message {number}\nRole: {role}\nContent:\n")));
        parts.extend(message.content.iter().filter(|part| part.as_text().is_some()).cloned());
    }
    let mut request = format!("\n{prompt}");
    if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
        request.push_str(
            "\n\nThe user asks for this above all; keep whatever it concerns in full detail:\n",
        );
        request.push_str(focus);
    }
    parts.push(ContentPart::text(request));
    Message::new(Role::User, parts)
}

/// The context after it: the summary in the person's place, without the model's thinking, and what
/// was kept.
#[must_use]
pub fn compacted(summary: &[ContentPart], plan: CompactionPlan) -> Vec<Message> {
    let mut parts = vec![ContentPart::text(SUMMARY_NOTE)];
    parts.extend(summary.iter().filter(|part| !matches!(part, ContentPart::Think { .. })).cloned());
    let mut messages = vec![Message::new(Role::User, parts)];
    messages.extend(plan.to_keep);
    messages
}

/// Shortens the longest texts to be summarised so that all of them together stay below `tokens`:
/// a summary of a cut log is better than a request the provider refuses.
pub fn fit(plan: &mut CompactionPlan, tokens: u64) {
    let weights = |plan: &CompactionPlan| -> Vec<u64> {
        plan.to_compact.iter().map(|message| message_hundredths(message) / 100).collect()
    };
    let mut sorted = weights(plan);
    if sorted.iter().sum::<u64>() <= tokens {
        return;
    }
    sorted.sort_unstable();
    // The largest limit with which the sum fits: small messages stay whole, large ones share the rest.
    let (mut left, mut limit) = (tokens, 0);
    for (index, weight) in sorted.iter().enumerate() {
        limit = left / (sorted.len() - index) as u64;
        if *weight > limit {
            break;
        }
        left -= weight;
    }
    for message in &mut plan.to_compact {
        let mut rest = limit;
        for part in &mut message.content {
            if let ContentPart::Text { text } = part {
                let weight = estimate_tokens(text);
                if weight > rest {
                    *text = shortened(text, rest);
                }
                rest = rest.saturating_sub(weight);
            }
        }
    }
}

/// The beginning and the end of `text`, `tokens` together, and how much is missing between them.
fn shortened(text: &str, tokens: u64) -> String {
    let head = bytes_within(text.chars(), tokens / 2);
    let tail = text.len() - bytes_within(text[head..].chars().rev(), tokens / 2);
    let missing = text[head..tail].chars().count();
    format!("{}\n[… {missing} characters left out …]\n{}", &text[..head], &text[tail..])
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolReturn};
    use proptest::prelude::*;

    #[test]
    fn it_is_time_by_reserve_or_by_ratio_but_not_in_a_small_window() {
        assert!(should_compact(206_000, 256_000, 50_000, 0.85));
        assert!(!should_compact(205_999, 256_000, 50_000, 0.85));
        assert!(should_compact(850_000, 1_000_000, 50_000, 0.85));
        assert!(!should_compact(849_999, 1_000_000, 50_000, 0.85));
        assert!(!should_compact(10, 50_000, 50_000, 0.85));
        assert!(!should_compact(10, 8_000, 50_000, 0.85));
        assert!(should_compact(6_800, 8_000, 50_000, 0.85));
        assert!(!should_compact(10, 0, 50_000, 0.85));
        assert!(should_compact(u64::MAX, 10, 5, f64::NAN));
    }

    fn calling(id: &str) -> Message {
        let mut message = Message::assistant("calling");
        message.tool_calls = Some(vec![ToolCall::new(id, "Bash", Some("{}".into()))]);
        message
    }

    #[test]
    fn the_tail_keeps_two_messages_their_results_and_no_stale_checkpoint() {
        let result = Message::tool_result("t", &ToolReturn::ok("out", "done"));
        let history = [
            Message::user("first"),
            Message::assistant("answer"),
            Message::system_note("CHECKPOINT 3"),
            Message::user("second"),
            Message::system_note("CHECKPOINT 4"),
            calling("t"),
            result.clone(),
            Message::system_note("CHECKPOINT 5"),
        ];
        let plan = plan(&history, 2).expect("plan");
        assert_eq!(plan.to_compact, [Message::user("first"), Message::assistant("answer")]);
        assert_eq!(plan.to_keep, [Message::user("second"), calling("t"), result]);
    }

    #[test]
    fn nothing_to_do_is_none() {
        assert_eq!(plan(&[], 2), None);
        assert_eq!(plan(&[Message::user("a"), Message::assistant("b")], 2), None);
        assert_eq!(plan(&[Message::user("a")], 2), None);
        assert_eq!(plan(&[Message::system_note("CHECKPOINT 0")], 0), None);
        assert_eq!(plan(&[Message::user("a")], 0).expect("all").to_keep, []);
    }

    #[test]
    fn the_request_has_the_text_and_the_result_has_no_thinking() {
        let mut asked = Message::user("look");
        asked.content.push(ContentPart::think("hidden"));
        let plan = CompactionPlan {
            to_compact: vec![asked, Message::assistant("seen")],
            to_keep: vec![Message::user("go on")],
        };
        let input = compaction_input(&plan, "PROMPT", Some(" the tests "));
        assert_eq!(input.role, Role::User);
        let text = crate::message::text_of(&input.content, "");
        assert!(text.starts_with(
            "## Message 1\nRole: user\nContent:\nlook## Message 2\nRole: assistant\nContent:\nseen\nPROMPT"
        ));
        assert!(text.ends_with(":\nthe tests") && !text.contains("hidden"));
        assert!(!compaction_input(&plan, "PROMPT", Some(" ")).text().contains("above all"));
        let after = compacted(&[ContentPart::think("hm"), ContentPart::text("SUMMARY")], plan);
        assert_eq!(
            serde_json::to_string(&after[0]).expect("json"),
            r#"{"role":"user","content":[{"type":"text","text":"<system>Previous context has been compacted. Here is the compaction output:</system>"},{"type":"text","text":"SUMMARY"}]}"#
        );
        assert_eq!(after[1..], [Message::user("go on")]);
    }

    #[test]
    fn long_texts_are_cut_in_the_middle_and_short_ones_stay() {
        let mut plan = CompactionPlan {
            to_compact: vec![
                Message::user("short"),
                Message::assistant(format!("begin{}end", "终".repeat(1000))),
                Message::assistant(format!("first{}last", "x".repeat(8000))),
            ],
            to_keep: vec![],
        };
        let whole = plan.clone();
        fit(&mut plan, 4000);
        assert_eq!(plan, whole);
        fit(&mut plan, 801);
        assert_eq!(plan.to_compact[0], whole.to_compact[0]);
        for (message, ends) in
            plan.to_compact[1..].iter().zip([("begin", "end"), ("first", "last")])
        {
            let text = message.text();
            assert!(text.starts_with(ends.0) && text.ends_with(ends.1), "{text}");
            assert!(text.contains("characters left out"));
            assert!((380..=420).contains(&estimate_tokens(&text)), "{}", estimate_tokens(&text));
        }
        fit(&mut plan, 0);
        assert!(estimate_tokens(&plan.to_compact[1].text()) < 20);
    }

    proptest! {
        #[test]
        fn a_plan_loses_nothing_and_orphans_nothing(
            kinds in prop::collection::vec(0..4_u8, 0..24), keep in 0..5_usize
        ) {
            let history: Vec<Message> = kinds.iter().enumerate().map(|(i, kind)| match kind {
                0 => Message::user(format!("u{i}")),
                1 => calling(&i.to_string()),
                2 => Message::tool_result(i.to_string(), &ToolReturn::ok("x", "")),
                _ => Message::system_note(&format!("CHECKPOINT {i}")),
            }).collect();
            let said: Vec<_> =
                history.iter().filter(|m| !m.is_checkpoint_note()).cloned().collect();
            let talk = |messages: &[Message]| {
                messages.iter().filter(|m| m.role != Role::Tool).count()
            };
            match plan(&history, keep) {
                Some(plan) => {
                    prop_assert!(!plan.to_compact.is_empty());
                    prop_assert_eq!(talk(&plan.to_keep), keep);
                    prop_assert!(plan.to_keep.first().is_none_or(|m| m.role != Role::Tool));
                    let joined: Vec<_> =
                        plan.to_compact.into_iter().chain(plan.to_keep).collect();
                    prop_assert_eq!(joined, said);
                }
                None => prop_assert!(
                    said.is_empty() || talk(&said) < keep || (talk(&said) == keep && said[0].role != Role::Tool)
                ),
            }
        }
    }
}
