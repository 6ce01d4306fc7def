//! Messages that a compaction took away, brought back.

use super::*;
use crate::wire::record::TIMELINE_FILE;

/// A session of eight messages, compacted: two stay, six are summarised.
async fn compacted(more: impl IntoIterator<Item = Vec<Piece>>) -> World {
    let long = "x".repeat(4000);
    let mut history: Vec<Message> =
        (0..4).flat_map(|n| [Message::user(format!("q{n}")), Message::assistant("a")]).collect();
    history[3] = Message::assistant(format!("the long one {long}"));
    let answers = std::iter::once(vec![text("SUMMARY")]).chain(more);
    let mut world = Stage { history, max_context: 1500, ..Stage::default() }.start(answers);
    assert_eq!(outcome(&world.prompt("/compact").await), "Done Finished");
    world
}

#[tokio::test(start_paused = true)]
async fn what_a_compaction_took_away_is_listed_the_largest_first() {
    let mut world = compacted([]).await;
    let lines = world.prompt("/pin").await;
    let said = &lines[1];
    assert!(said.contains("(llm_summary) took 6 messages"), "{said}");
    let long = said.find("the long one").expect("listed");
    assert!(long < said.find("q0").expect("listed"), "{said}");
    assert!(said.contains("\n   3  "), "its number is there: {said}");
    assert_eq!(outcome(&lines), "Done Finished");
}

/// S4: what was dropped can be brought back.
#[tokio::test(start_paused = true)]
async fn a_pinned_message_is_quoted_at_the_end_and_the_model_reads_it() {
    let mut world = compacted([vec![text("I remember")]]).await;
    world.send(Command::Pin { generation: Generation(0), messages: vec![4, 2, 4] });
    let lines = world.lines_until(|message| line(message).starts_with("Status")).await;
    assert_eq!(lines[0], "Pinned [2, 4] of 0: 4 messages");
    world.prompt("go on").await;
    let asked = world.script.messages(1);
    let quote = asked[3].text();
    assert!(quote.contains("## Message 2 (user)\nq1\n\n## Message 4 (user)\nq2"), "{quote}");
    assert!(asked[3].is_reminder());
    assert_eq!(asked[4], Message::user("go on"));
    let (folder, context) = world.end().await;
    assert_eq!(context.generation(), Generation(1), "no new file, the checkpoints stay");
    let timeline = std::fs::read_to_string(folder.path().join(TIMELINE_FILE)).expect("timeline");
    assert!(timeline.contains("\"MessagesPinned\""), "{timeline}");
    let (again, _) = Context::open(folder.path()).expect("open");
    assert_eq!(again.history(), context.history());
    assert_eq!(again.last_rewrite().expect("on record").messages.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn the_slash_command_pins_by_number_and_says_what_is_wrong() {
    let mut world = compacted([]).await;
    for (wrong, word) in [
        ("/pin 17", "no message 17"),
        ("/pin three", "no number"),
        ("/pin 3 3 3", "in the context again"),
        ("/pin 0 1 2 3 4 5", "are free"),
    ] {
        let lines = world.prompt(wrong).await;
        assert!(lines.iter().any(|line| line.contains(word)), "{wrong}: {lines:?}");
        assert_eq!(outcome(&lines), "Done Finished");
    }
    let (_folder, context) = world.end().await;
    assert_eq!(context.history().len(), 4, "one pin worked");
}

#[tokio::test(start_paused = true)]
async fn a_hidden_result_comes_back_with_the_call_it_answers() {
    let mut history = vec![Message::user("go")];
    for n in 0..7 {
        let id = format!("t{n}");
        let mut asking = Message::assistant("");
        let arguments = json!({"command": format!("cmd {n}")}).to_string();
        asking.tool_calls = Some(vec![ToolCall::new(&id, "Bash", Some(arguments))]);
        history
            .extend([asking, Message::tool_result(&id, &ToolReturn::ok(format!("out {n}"), ""))]);
    }
    let compaction = CompactionConfig {
        strategy: crate::config::CompactionStrategyKind::HideToolResults,
        ..CompactionConfig::default()
    };
    let mut world = Stage { history, compaction, ..Stage::default() }.start([]);
    world.prompt("/compact").await;
    let lines = world.prompt("/pin 2").await;
    assert_eq!(only(&lines, &["Pinned"]), ["Pinned [2] of 0: 16 messages"]);
    let (_folder, context) = world.end().await;
    let quote = context.history().last().expect("quote").text();
    assert!(quote.contains("## Message 2 (result of Bash cmd 0)\nout 0"), "{quote}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_pinned_from_nowhere_from_now_or_while_a_turn_runs() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    let lines = world.prompt("/pin").await;
    assert!(lines[1].contains("No compaction"), "{lines:?}");
    for (generation, word) in [(0, "in the context"), (7, "generation 7")] {
        world.send(Command::Pin { generation: Generation(generation), messages: vec![0] });
        let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
        assert!(lines.last().expect("told").contains(word), "{lines:?}");
    }
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "StepBegin 1").await;
    world.send(Command::Pin { generation: Generation(0), messages: vec![0] });
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines.last().expect("told").contains("A turn is running"), "{lines:?}");
}
