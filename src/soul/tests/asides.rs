//! Side questions: answered beside the turn, streamed, and kept nowhere.

use super::*;

fn ask(world: &World, id: &str, question: &str) {
    world.send(Command::SideQuestion { id: id.into(), question: question.into() });
}

fn is_answered(message: &DoorMessage) -> bool {
    matches!(message, DoorMessage::Event(Event::BtwEnd(_)))
}

/// Waits for the answer of a side question; what was told before it is dropped.
async fn answer(world: &mut World) -> crate::wire::BtwEnd {
    loop {
        if let DoorMessage::Event(Event::BtwEnd(end)) = world.next().await {
            return end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_side_question_is_answered_while_a_turn_runs_and_is_not_kept() {
    let mut world = Stage::default().start([
        vec![text("the first answer")],
        vec![call("t1", "Sleep", &json!({"ms": 60_000}))],
        vec![think("hm"), text("It is "), text("42")],
        vec![text("done")],
    ]);
    world.prompt("first").await;
    world.send(Command::Prompt("second".into()));
    world.lines_until(|message| line(message).starts_with("ToolCall t1")).await;
    ask(&world, "q", "what was it?");
    let lines = world.lines_until(is_answered).await;
    let expected = ["BtwBegin", "Aside It is ", "Aside 42", "Aside done", "BtwEnd"];
    assert_eq!(only(&lines, &["Btw", "Aside"]), expected);
    let asked = world.script.messages(2);
    let rows: Vec<String> = asked.iter().map(row).collect();
    assert_eq!(rows[..3], ["user: first", "assistant: the first answer", "user: second"]);
    assert!(rows[3].contains("Question: what was it?") && asked.len() == 4, "{rows:?}");
    // The turn has gone on all the while.
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["ToolResult", "Done"]), ["ToolResult t1 done", "Done Finished"]);
    let (folder, context) = world.end().await;
    assert!(context.history().iter().all(|m| !m.text().contains("what was it")));
    let record = std::fs::read_to_string(folder.path().join("wire.jsonl")).expect("record");
    assert!(record.contains("BtwEnd") && record.contains("It is 42"));
}

#[tokio::test(start_paused = true)]
async fn the_slash_command_works_in_a_turn_and_between_turns() {
    let mut world = Stage::default().start([
        vec![text("idle")],
        vec![call("t1", "Sleep", &json!({"ms": 60_000}))],
        vec![text("busy")],
        vec![text("done")],
    ]);
    let lines = world.prompt("/btw  why? ").await;
    let expected = ["TurnBegin /btw  why? ", "BtwBegin", "Aside idle", "Aside done", "BtwEnd"];
    assert_eq!(lines[..5], expected);
    assert_eq!(outcome(&lines), "Done Finished");
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message).starts_with("ToolCall t1")).await;
    world.send(Command::Prompt("/btw and now?".into()));
    assert_eq!(answer(&mut world).await.response.as_deref(), Some("busy"));
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    let lines = world.prompt("/btw").await;
    assert!(lines[1].contains("what you want to know"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_side_question_is_cancelled_by_itself_and_the_turn_goes_on() {
    let mut world = Stage::default().start([
        vec![call("t1", "Sleep", &json!({"ms": 60_000}))],
        vec![text("so far"), Piece::Hang],
        vec![text("done")],
    ]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message).starts_with("ToolCall t1")).await;
    ask(&world, "q", "what?");
    world.lines_until(|message| line(message) == "Aside so far").await;
    ask(&world, "q", "again?");
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines.last().expect("told").contains("being answered already"), "{lines:?}");
    let began = tokio::time::Instant::now();
    world.send(Command::CancelSideQuestion { id: "q".into() });
    let end = answer(&mut world).await;
    assert!(began.elapsed() < Duration::from_millis(100));
    assert_eq!((end.id.as_str(), end.error.as_deref()), ("q", Some("Cancelled.")));
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn between_turns_a_cancel_ends_side_questions_and_failures_are_told() {
    let mut world = Stage::default().start([
        vec![text("half"), Piece::Hang],
        vec![text("half"), Piece::Break(status(500))],
        vec![text("whole")],
        vec![Piece::Refuse(status(401))],
    ]);
    ask(&world, "", "what?");
    world.lines_until(|message| line(message) == "Aside half").await;
    world.send(Command::Cancel);
    assert_eq!(answer(&mut world).await.error.as_deref(), Some("Cancelled."));
    ask(&world, "b", "what?");
    let lines = world.lines_until(is_answered).await;
    let expected = ["BtwBegin", "Aside half", "Aside again", "Aside whole", "Aside done", "BtwEnd"];
    assert_eq!(lines, expected);
    ask(&world, "c", "what?");
    let end = answer(&mut world).await;
    assert!(end.response.is_none() && end.error.is_some_and(|error| error.contains("config.toml")));
    ask(&world, "d", " ");
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines[0].contains("no question"), "{lines:?}");
}
