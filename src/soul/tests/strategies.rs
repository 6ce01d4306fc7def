//! Compaction strategies, their fallback, and a provider that finds the conversation too long.

use super::*;
use crate::config::CompactionStrategyKind as Kind;
use crate::context::rewrite::HIDDEN_RESULT;
use crate::wire::MessageFate;

/// A question, then `groups` calls with long results.
fn calls(groups: usize) -> Vec<Message> {
    let mut history = vec![Message::user("q")];
    for n in 0..groups {
        let id = format!("old{n}");
        let calls = vec![ToolCall::new(&id, "Sleep", Some("{}".into()))];
        history.push(Message {
            tool_calls: Some(calls),
            ..Message::new(crate::message::Role::Assistant, vec![])
        });
        history.push(Message::tool_result(&id, &ToolReturn::ok("x".repeat(400), "")));
    }
    history
}

fn stage(strategy: Kind, fallback: Option<Kind>, history: Vec<Message>) -> Stage {
    let compaction = CompactionConfig { strategy, fallback };
    Stage { compaction, history, max_context: 1000, ..Stage::default() }
}

fn too_long() -> Vec<Piece> {
    let message = "This model's maximum context length is 1000 tokens.".to_owned();
    vec![Piece::Refuse(LlmError::Status {
        host: "test".into(),
        status: 400,
        message,
        retry_after: None,
    })]
}

/// SPEC A44.
#[tokio::test(start_paused = true)]
async fn hiding_asks_no_model_and_tells_what_it_hid() {
    let mut world = stage(Kind::HideToolResults, None, calls(7)).start([]);
    world.send(Command::Prompt("/compact".into()));
    let mut told = None;
    let lines = loop {
        match world.next().await {
            DoorMessage::Event(Event::Extension(Extension::ContextRewritten(what))) => {
                told = Some(what);
            }
            DoorMessage::Event(Event::CompactionEnd(_)) => break world.rest().await,
            _ => {}
        }
    };
    assert!(lines.contains(&"text The context has been compacted.".to_owned()), "{lines:?}");
    let told = told.expect("what was hidden is told");
    assert_eq!((told.strategy.as_str(), told.is_fallback), ("hide_tool_results", false));
    let hidden: Vec<_> = told.messages.iter().map(|m| (m.index, m.fate)).collect();
    assert_eq!(hidden, [(2, MessageFate::Hidden), (4, MessageFate::Hidden)]);
    let again = world.prompt("/compact").await;
    assert!(again.contains(&"text There is nothing to compact yet.".to_owned()), "{again:?}");
    assert_eq!(world.script.times_asked(), 0);
    let (folder, context) = world.end().await;
    assert_eq!(context.history().len(), 15);
    assert_eq!(context.history()[2].text(), HIDDEN_RESULT);
    assert_eq!(context.history()[2].tool_call_id.as_deref(), Some("old0"));
    let timeline = std::fs::read_to_string(folder.path().join("timeline.jsonl")).expect("timeline");
    assert!(timeline.contains("ContextRewritten") && timeline.contains("\"hidden\""), "{timeline}");
}

/// SPEC A45.
#[tokio::test(start_paused = true)]
async fn hide_then_summary_summarises_when_there_is_nothing_to_hide() {
    let mut world =
        stage(Kind::HideThenSummary, None, calls(6)).start([vec![text("SUMMARY"), usage(9, 9)]]);
    let first = world.prompt("/compact").await;
    assert_eq!(only(&first, &["Rewritten"]), ["Rewritten by hide_then_summary: [2]"]);
    assert_eq!(world.script.times_asked(), 0);
    let second = world.prompt("/compact").await;
    assert_eq!(only(&second, &["Rewritten", "Compacted"]).len(), 2, "{second:?}");
    assert!(world.history().await[0].ends_with("SUMMARY"));
}

/// SPEC A45: hiding that is not enough is followed by a summary before the step.
#[tokio::test(start_paused = true)]
async fn hide_then_summary_does_both_when_the_window_stays_full() {
    let full = |piece| vec![piece, usage(1090, 10)];
    let mut world = stage(Kind::HideThenSummary, None, calls(6)).start([
        full(call("t", "Sleep", &json!({}))),
        vec![text("SUMMARY"), usage(9, 9)],
        vec![text("done")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["CompactionEnd"]).len(), 2, "{lines:?}");
    assert_eq!(outcome(&lines), "Done Finished");
}

/// SPEC A41.
#[tokio::test(start_paused = true)]
async fn truncation_keeps_the_last_ten_and_says_so() {
    let history = (0..14).map(|n| Message::user(format!("m{n}"))).collect();
    let mut world = stage(Kind::Truncate, None, history).start([]);
    world.prompt("/compact").await;
    let history = world.history().await;
    assert_eq!(history.len(), 11);
    assert!(history[0].contains("[警告] 早期对话历史已被截断"), "{history:?}");
    assert_eq!(history[1], "user: m4");
}

/// SPEC A41, D17: the fallback steps in when the summary cannot be had, retries included.
#[tokio::test(start_paused = true)]
async fn a_failed_summary_falls_back_where_that_is_configured() {
    let refuse = || vec![Piece::Refuse(status(503))];
    let history = (0..14).map(|n| Message::user(format!("m{n}"))).collect();
    let mut world = stage(Kind::LlmSummary, Some(Kind::Truncate), history).start([
        refuse(),
        refuse(),
        refuse(),
    ]);
    let lines = world.prompt("/compact").await;
    assert_eq!(
        only(&lines, &["Compaction", "Rewritten", "Notification", "Done"]),
        [
            "CompactionBegin",
            "Rewritten by truncate (fallback): [0, 1, 2, 3]",
            "CompactionEnd",
            "Notification The context could not be summarised",
            "Done Finished",
        ]
    );
    assert_eq!(world.script.times_asked(), 3);
    assert!(world.history().await[0].contains("LLM 压缩失败"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_summary_does_not_fall_back() {
    let history = (0..14).map(|n| Message::user(format!("m{n}"))).collect();
    let mut world =
        stage(Kind::LlmSummary, Some(Kind::Truncate), history).start([vec![Piece::Hang]]);
    world.send(Command::Prompt("/compact".into()));
    world.lines_until(|message| line(message) == "CompactionBegin").await;
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
    assert_eq!(world.history().await.len(), 14);
}

fn talk() -> Vec<Message> {
    (0..4).flat_map(|n| [Message::user(format!("q{n}")), Message::assistant("a")]).collect()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_the_provider_finds_too_long_is_compacted_and_asked_once_more() {
    let mut world = stage(Kind::LlmSummary, None, talk()).start([
        too_long(),
        vec![text("SUMMARY")],
        vec![text("done")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepBegin", "Compaction", "StepRetry", "Checkpoint", "text", "Done"]),
        [
            "Checkpoint 0.0 before user (8 messages)",
            "StepBegin 1",
            "Checkpoint 0.1 before step 1 (9 messages)",
            "CompactionBegin",
            "Checkpoint 1.0 before user (0 messages)",
            "CompactionEnd",
            "StepRetry 1: 2 of 2 (APIStatusError Some(400))",
            "Checkpoint 1.1 before step 1 (3 messages)",
            "text done",
            "Done Finished",
        ]
    );
    let history = world.history().await;
    assert_eq!(history[1..], ["assistant: a", "user: go", "assistant: done"]);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_stays_too_long_ends_the_turn_with_advice() {
    let mut world = stage(Kind::LlmSummary, None, talk()).start([
        too_long(),
        vec![text("SUMMARY")],
        too_long(),
    ]);
    let lines = world.prompt("go").await;
    assert!(outcome(&lines).contains("ProviderFailed") && outcome(&lines).contains("/compact"));
    assert_eq!(world.script.times_asked(), 3);
}

/// SPEC A36: what is summarised must fit into the window itself.
#[tokio::test(start_paused = true)]
async fn the_request_for_a_summary_fits_into_the_window() {
    let mut history = vec![Message::user("x".repeat(400_000))];
    history.extend(talk());
    let mut world =
        Stage { history, max_context: 20_000, ..Stage::default() }.start([vec![text("SUMMARY")]]);
    world.prompt("/compact").await;
    let asked = world.script.messages(0);
    let tokens = crate::context::rewrite::estimate(&asked);
    assert!(tokens < 18_000, "{tokens}");
    let asked = asked[0].text();
    assert!(asked.contains("characters left out") && asked.contains("q2"));
}

/// SPEC A46: what the model is shown is shortened when the window is full, never before, whatever
/// the age of a result and however long the pause was.
#[tokio::test(start_paused = true)]
async fn without_a_full_window_no_result_is_ever_hidden() {
    let mut history = vec![Message::user("go")];
    for n in 0..40 {
        let id = format!("t{n}");
        let mut asking = Message::assistant("");
        asking.tool_calls = Some(vec![ToolCall::new(&id, "Bash", Some("{}".into()))]);
        let output = format!("out {n} {}", "x".repeat(2000));
        history.extend([asking, Message::tool_result(&id, &ToolReturn::ok(output, ""))]);
    }
    let before = history.clone();
    // More than half full, which is where a micro-compaction would begin.
    let mut world =
        Stage { history, max_context: 36_000, ..Stage::default() }.start([vec![text("on")]]);
    tokio::time::sleep(Duration::from_secs(7200)).await;
    let lines = world.prompt("next").await;
    assert!(only(&lines, &["CompactionBegin", "Rewritten"]).is_empty(), "{lines:?}");
    let asked = world.script.messages(0);
    assert_eq!(asked[..before.len()], before[..]);
}
