//! Prices, ledgers, hidden results, and calls that are stopped one by one.

use super::*;
use crate::context::rewrite::HIDDEN_RESULT;
use crate::wire::LedgerKind;

/// A turn of two calls and an answer.
async fn worked() -> World {
    let mut world = Stage::default().start([
        vec![
            call("t1", "Sleep", &json!({"say": "word ".repeat(400)})),
            call("t2", "Sleep", &json!({"say": "short"})),
            usage(900, 20),
        ],
        vec![text("done"), usage(1500, 10)],
        vec![text("again")],
    ]);
    assert_eq!(outcome(&world.prompt("go").await), "Done Finished");
    world
}

#[tokio::test(start_paused = true)]
async fn the_price_of_going_back_is_told_and_nothing_is_done() {
    let mut world = worked().await;
    world.send(Command::PreviewRevert { to: at(0, 1) });
    let message = world.next().await;
    assert_eq!(line(&message), "Price of 0.1: 4 of 5 messages, files []");
    world.send(Command::Revert { to: at(0, 1), mail: None });
    let DoorMessage::Event(Event::Extension(Extension::ContextReverted(done))) = world.next().await
    else {
        panic!("it goes back");
    };
    let DoorMessage::Event(Event::Extension(Extension::RevertPreview(told))) = message else {
        panic!("a price");
    };
    assert_eq!((told.before, told.after), (done.change.before, done.change.after), "exact");
    let (folder, _) = world.end().await;
    let timeline = std::fs::read_to_string(folder.path().join("timeline.jsonl")).expect("timeline");
    assert!(!timeline.contains("RevertPreview"), "a question is no news to keep");
}

#[tokio::test(start_paused = true)]
async fn a_price_of_nothing_and_one_while_a_turn_runs_are_refused() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    world.send(Command::PreviewRevert { to: at(0, 7) });
    assert!(line(&world.next().await).contains("There is no checkpoint 0.7"));
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "StepBegin 1").await;
    for command in [Command::PreviewRevert { to: at(0, 0) }, Command::Hide { messages: vec![0] }] {
        world.send(command);
        let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
        assert!(lines.last().expect("told").contains("A turn is running"), "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_result_keeps_its_place_its_checkpoints_and_its_way_back() {
    let mut world = worked().await;
    world.send(Command::Hide { messages: vec![2] });
    let lines = world.lines_until(|message| line(message).starts_with("Status")).await;
    assert_eq!(lines[..2], ["Rewritten by hide: [2]", "Hidden [2]: 0 -> 1"]);
    // The checkpoints are still there, under the same numbers.
    world.send(Command::PreviewRevert { to: at(1, 2) });
    assert!(line(&world.next().await).starts_with("Price of 1.2: 1 of 5"));
    world.prompt("more").await;
    let asked = world.script.messages(2);
    assert_eq!(asked[2].text(), HIDDEN_RESULT);
    assert_eq!(asked[2].tool_call_id.as_deref(), Some("t1"));
    assert_eq!(asked[3].text(), "short");
    for (wrong, word) in [(2, "hidden already"), (0, "no tool result"), (99, "no message 99")] {
        world.send(Command::Hide { messages: vec![wrong] });
        assert!(line(&world.next().await).contains(word), "{wrong}");
    }
    world.send(Command::Pin { generation: Generation(0), messages: vec![2] });
    let lines = world.lines_until(|message| line(message).starts_with("Status")).await;
    assert!(lines[0].starts_with("Pinned [2] of 0"), "{lines:?}");
    world.send(Command::Restore { generation: Some(Generation(0)) });
    world.lines_until(|message| line(message).starts_with("Status")).await;
    let (folder, context) = world.end().await;
    assert!(context.history()[2].text().starts_with("word word"), "it is back");
    let generations = crate::session::generations::list(folder.path()).expect("list");
    let began = generations[1].began.as_ref().expect("told");
    assert_eq!(began.cause, crate::session::generations::Cause::Hidden);
    assert!(began.after.tokens < began.before.tokens - 300, "{began:?}");
    assert_eq!(generations[1].steps.len(), 5, "three of before, two of after");
}

#[tokio::test(start_paused = true)]
async fn the_ledger_is_told_while_a_turn_runs_too() {
    let mut world = Stage::default().start([
        vec![call("t1", "Sleep", &json!({"say": "word ".repeat(400)}))],
        vec![Piece::Hang],
    ]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "StepBegin 2").await;
    world.send(Command::Ledger);
    let told = loop {
        if let DoorMessage::Event(Event::Extension(Extension::ContextLedger(told))) =
            world.next().await
        {
            break told;
        }
    };
    let kinds: Vec<LedgerKind> = told.messages.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [LedgerKind::User, LedgerKind::Assistant, LedgerKind::ToolResult]);
    assert!(told.messages[2].tokens > 300, "{told:?}");
    let tools = told.shares.iter().find(|share| share.kind == LedgerKind::Tools);
    assert!(tools.is_some_and(|share| share.tokens > 0), "the tools are part of each request");
}

#[tokio::test(start_paused = true)]
async fn one_call_is_stopped_and_the_others_go_on() {
    let mut world = Stage::default().start([
        vec![
            call("slow", "Sleep", &json!({"ms": 60_000, "live": "here"})),
            call("other", "Sleep", &json!({"ms": 500, "say": "other"})),
        ],
        vec![text("I see")],
    ]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "Output here").await;
    let began = tokio::time::Instant::now();
    world.send(Command::CancelCall { tool_call_id: "slow".into() });
    let lines = world.rest().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(
        only(&lines, &["ToolResult"]),
        ["ToolResult slow Cancelled", "ToolResult other other"]
    );
    assert_eq!(outcome(&lines), "Done Finished");
    world.send(Command::CancelCall { tool_call_id: "slow".into() });
    assert!(line(&world.next().await).contains("does not run any more"));
    let history = world.history().await;
    assert!(
        history[2].starts_with("tool slow: <system>ERROR: Cancelled by the user."),
        "{history:?}"
    );
    assert_eq!(history[3..], ["tool other: other", "assistant: I see"]);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_call_that_waits_for_an_approval_takes_its_panel_with_it() {
    let mut world =
        Stage::default().start([vec![call("a", "Run", &json!({}))], vec![text("fine")]]);
    world.send(Command::Prompt("go".into()));
    world.request().await;
    world.send(Command::CancelCall { tool_call_id: "a".into() });
    let lines = world.rest().await;
    let told = only(&lines, &["Answer", "ToolResult", "Done"]);
    assert!(told[0].starts_with("Answer Reject \"Withdrawn"), "{lines:?}");
    assert_eq!(told[1..], ["ToolResult a Cancelled", "Done Finished"]);
}

#[tokio::test(start_paused = true)]
async fn equal_calls_are_stopped_together() {
    let arguments = json!({"ms": 60_000, "live": "here"});
    let mut world = Stage::default().start([
        vec![call("one", "Sleep", &arguments), call("two", "Sleep", &arguments)],
        vec![text("fine")],
    ]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "Output here").await;
    world.send(Command::CancelCall { tool_call_id: "two".into() });
    let lines = world.rest().await;
    assert_eq!(
        only(&lines, &["ToolResult"]),
        ["ToolResult one Cancelled", "ToolResult two Cancelled"]
    );
}
