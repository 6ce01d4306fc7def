//! Earlier contexts brought back: after a clear, a compaction, a revert.

use super::*;

/// SPEC A32.
#[tokio::test(start_paused = true)]
async fn a_cleared_context_is_restored_and_the_restoration_too() {
    let mut world = Stage::default().start([vec![text("one")], vec![text("two")]]);
    world.prompt("first").await;
    world.prompt("/clear").await;
    let lines = world.prompt("/restore").await;
    assert_eq!(
        only(&lines, &["Restored", "Checkpoint", "Done"]),
        [
            "Restored 0: 0 -> 2 messages, next 2.2",
            "Checkpoint 2.0 before user (0 messages)",
            "Checkpoint 2.1 before step 1 (1 messages)",
            "Done Finished",
        ]
    );
    world.prompt("second").await;
    let asked: Vec<String> = world.script.messages(1).iter().map(row).collect();
    assert_eq!(asked, ["user: first", "assistant: one", "user: second"]);
    world.prompt("/restore").await;
    assert!(world.history().await.is_empty(), "the cleared one is back");
}

/// SPEC A32: a compaction is undone.
#[tokio::test(start_paused = true)]
async fn a_compaction_is_undone_by_the_command_of_a_front_end() {
    let history: Vec<Message> =
        (0..4).flat_map(|n| [Message::user(format!("q{n}")), Message::assistant("a")]).collect();
    let mut world = Stage { history, ..Stage::default() }.start([vec![text("SUMMARY")]]);
    world.prompt("/compact").await;
    world.send(Command::Restore { generation: Some(Generation(0)) });
    let lines = world.lines_until(|message| line(message).starts_with("Restored")).await;
    assert_eq!(lines, ["Restored 0: 3 -> 8 messages, next 2.0"]);
    let (folder, context) = world.end().await;
    assert_eq!(context.history().len(), 8);
    let timeline = std::fs::read_to_string(folder.path().join("timeline.jsonl")).expect("timeline");
    assert!(timeline.contains("ContextRestored"));
}

/// SPEC A32: what a revert took away comes back with /redo, but only while nothing hangs on it.
#[tokio::test(start_paused = true)]
async fn a_revert_is_redone_until_the_conversation_goes_on() {
    let mut world =
        Stage::default().start([vec![text("one")], vec![text("two")], vec![text("three")]]);
    world.prompt("first").await;
    let lines = world.prompt("/redo").await;
    assert!(lines.iter().any(|line| line.contains("nothing to redo")), "{lines:?}");
    world.prompt("second").await;
    world.send(Command::Revert { to: at(0, 2), mail: None });
    world.lines_until(|message| line(message).starts_with("Reverted")).await;
    let lines = world.prompt("/redo").await;
    assert_eq!(only(&lines, &["Restored"]), ["Restored 0: 2 -> 4 messages, next 2.4"]);
    world.send(Command::Revert { to: at(2, 2), mail: None });
    world.lines_until(|message| line(message).starts_with("Reverted")).await;
    world.prompt("third").await;
    let lines = world.prompt("/redo").await;
    assert!(lines.iter().any(|line| line.contains("/restore 2 brings back")), "{lines:?}");
    assert_eq!(world.history().await[2], "user: third");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_cannot_be_restored() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    for wrong in ["/restore", "/restore 7", "/restore last"] {
        let lines = world.prompt(wrong).await;
        assert!(lines[1].starts_with("text "), "{lines:?}");
        assert_eq!(outcome(&lines), "Done Finished");
    }
    world.send(Command::Restore { generation: None });
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines[0].contains("could not be restored"), "{lines:?}");
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "StepBegin 1").await;
    world.send(Command::Restore { generation: None });
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines.last().is_some_and(|line| line.contains("A turn is running")), "{lines:?}");
}
