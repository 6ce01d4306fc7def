//! D-Mail and reverts.

use super::*;

fn mail(id: &str, checkpoint: u64) -> Piece {
    call(id, "SendDMail", &json!({"message": "skip it", "checkpoint_id": checkpoint}))
}

fn okabe() -> Stage {
    Stage { tools: tools(&["SendDMail"]), ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn a_dmail_takes_the_context_back_and_the_steps_go_on() {
    let mut world = okabe().start([
        vec![text("reading"), call("s", "Sleep", &json!({"say": "much"}))],
        vec![mail("m", 1)],
        vec![text("done")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepBegin", "Checkpoint", "Reverted", "Done"]),
        [
            "Checkpoint 0.0 before user (0 messages)",
            "StepBegin 1",
            "Checkpoint 0.1 before step 1 (2 messages)",
            "StepBegin 2",
            "Checkpoint 0.2 before step 2 (5 messages)",
            "Reverted to 0.1 by AgentDMail, mail Some(\"skip it\"): 8 -> 2 messages, next 1.1",
            "Checkpoint 1.1 before user (2 messages)",
            "StepBegin 3",
            "Checkpoint 1.2 before step 3 (4 messages)",
            "Done Finished",
        ]
    );
    let history = world.history().await;
    assert_eq!(
        history[..3],
        ["user: <system>CHECKPOINT 0</system>", "user: go", "user: <system>CHECKPOINT 1</system>"]
    );
    assert!(history[3].starts_with("user: <system>You just got a D-Mail"), "{history:?}");
    assert!(history[3].contains("skip it"));
    assert_eq!(history[4..], ["user: <system>CHECKPOINT 2</system>", "assistant: done"]);
}

#[tokio::test(start_paused = true)]
async fn a_dmail_to_nowhere_and_a_second_one_are_errors_for_the_model() {
    let mut world = okabe().start([
        vec![mail("far", 9)],
        vec![mail("one", 0), mail("two", 1)],
        vec![text("done")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["Reverted"]).len(), 1);
    let far = world.script.messages(1);
    assert!(row(far.last().unwrap()).contains("CHECKPOINT 2"));
    assert!(row(&far[far.len() - 2]).contains("There is no checkpoint with the given ID"));
}

#[tokio::test(start_paused = true)]
async fn a_plain_no_in_the_same_step_discards_the_mail() {
    let mut world =
        okabe().start([vec![mail("m", 0), call("r", "Run", &json!({}))], vec![text("next turn")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Reject, "");
    let lines = world.rest().await;
    assert!(only(&lines, &["Reverted"]).is_empty());
    assert_eq!(outcome(&lines), "Done Finished");
    assert!(only(&world.prompt("on").await, &["Reverted"]).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_person_goes_back() {
    let mut world = Stage::default().start([vec![text("a1")], vec![text("a2")], vec![text("a3")]]);
    world.prompt("q1").await;
    world.prompt("q2").await;
    world.send(Command::Revert { to: at(0, 2), mail: None });
    assert_eq!(
        [line(&world.next().await), line(&world.next().await)],
        ["Reverted to 0.2 by User, mail None: 4 -> 2 messages, next 1.2", "Status 2 of 200000"]
    );
    let lines = world.prompt("q3").await;
    assert!(lines.contains(&"Checkpoint 1.2 before user (2 messages)".to_owned()), "{lines:?}");
    let (folder, context) = world.end().await;
    let history: Vec<String> = context.history().iter().map(row).collect();
    assert_eq!(history, ["user: q1", "assistant: a1", "user: q3", "assistant: a3"]);
    assert!(std::fs::read_to_string(folder.path().join("context_1.jsonl")).unwrap().contains("q2"));
}

#[tokio::test(start_paused = true)]
async fn a_person_sends_a_mail_back_and_the_model_answers_at_once() {
    let mut world = Stage::default().start([vec![text("a1")], vec![text("a2")]]);
    world.prompt("q1").await;
    world.send(Command::Revert { to: at(0, 1), mail: Some("shorter, please".into()) });
    let lines = world.rest().await;
    assert_eq!(
        lines,
        [
            "Reverted to 0.1 by User, mail Some(\"shorter, please\"): 2 -> 1 messages, next 1.1",
            "Status 1 of 200000",
            "TurnBegin shorter, please",
            "Checkpoint 1.1 before user (1 messages)",
            "StepBegin 1",
            "Checkpoint 1.2 before step 1 (2 messages)",
            "text a2",
            lines[7].as_str(),
            "TurnEnd",
            "Done Finished",
        ]
    );
    let history = world.history().await;
    assert_eq!((history[0].as_str(), history[2].as_str()), ("user: q1", "assistant: a2"));
    assert!(history[1].contains("D-Mail") && history[1].contains("shorter, please"));
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_of_another_life_or_of_none_is_refused() {
    let mut world = Stage::default().start([vec![text("a1")]]);
    world.prompt("q1").await;
    world.send(Command::Revert { to: at(1, 0), mail: None });
    assert!(line(&world.next().await).contains("earlier context"));
    world.send(Command::Revert { to: at(0, 7), mail: Some("x".into()) });
    assert!(line(&world.next().await).contains("There is no checkpoint 0.7"));
    assert_eq!(world.history().await.len(), 2);
}
