//! Questions to the person: asked, answered, dismissed, and never left open.

use super::*;
use crate::wire::{QuestionAnswer, QuestionRequest};

pub(super) fn ask(id: &str) -> Piece {
    let options = json!([{"label": "A"}, {"label": "B"}]);
    call(id, "AskUserQuestion", &json!({"questions": [{"question": "Which?", "options": options}]}))
}

/// Waits for the next question; the lines before it are dropped.
pub(super) async fn question(world: &mut World) -> QuestionRequest {
    loop {
        if let DoorMessage::Request(Request::QuestionRequest(request)) = world.next().await {
            return request;
        }
    }
}

pub(super) fn answer(world: &World, request: &QuestionRequest, answer: &str) {
    let text = request.questions[0].question.clone();
    let answers = if answer.is_empty() { [].into() } else { [(text, answer.to_owned())].into() };
    world.send(Command::Respond(Response::Question(QuestionAnswer {
        request_id: request.id.clone(),
        answers,
    })));
}

fn stage(change: impl FnOnce(&mut SessionState)) -> Stage {
    Stage { tools: tools(&["AskUserQuestion"]), state: state(change), ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn an_answer_goes_to_the_model_and_the_turn_goes_on() {
    let mut world = stage(|_| {}).start([vec![ask("t1")], vec![text("B it is")]]);
    world.send(Command::Prompt("go".into()));
    let request = question(&mut world).await;
    assert_eq!(request.tool_call_id.as_deref(), Some("t1"));
    answer(&world, &request, "B");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    let history = world.history().await;
    assert!(history[2].contains(r#"{"answers":{"Which?":"B"}}"#), "{history:?}");
}

#[tokio::test(start_paused = true)]
async fn dismissed_questions_do_not_end_the_turn() {
    let mut world = stage(|_| {}).start([vec![ask("t1")], vec![text("then A")]]);
    world.send(Command::Prompt("go".into()));
    let request = question(&mut world).await;
    answer(&world, &request, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    assert!(world.history().await[2].contains("dismissed"));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_while_the_person_is_away() {
    let mut world = stage(|state| state.afk = true).start([vec![ask("t1")], vec![text("A")]]);
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Question"]).is_empty(), "{lines:?}");
    assert!(world.history().await[3].contains("away"));
}

/// A front end with nobody at it: nothing is asked, nothing is stored, and the model is not told.
#[tokio::test(start_paused = true)]
async fn nobody_is_asked_while_nobody_is_at_the_front_end_and_that_is_not_stored() {
    let mut world = stage(|_| {}).start([
        vec![ask("t1"), call("r", "Run", &json!({}))],
        vec![text("A")],
        vec![ask("t2")],
        vec![text("B")],
    ]);
    world.send(Command::SetAway(true));
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Question", "Approve?"]).is_empty(), "{lines:?}");
    assert!(row(&world.script.messages(1)[2]).contains("away"));
    assert_eq!(world.script.messages(0).len(), 1, "no reminder");
    assert!(!SessionState::load(world.folder.path()).afk);
    world.send(Command::SetAway(false));
    world.send(Command::Prompt("go".into()));
    let request = question(&mut world).await;
    // Gone again in the middle of a turn: what is open stays open.
    world.send(Command::SetAway(true));
    answer(&world, &request, "B");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

/// `/afk` while the session runs reaches the questions too, not only what was stored before.
#[tokio::test(start_paused = true)]
async fn afk_that_begins_while_the_session_runs_reaches_the_questions() {
    let mut world = stage(|_| {}).start([vec![ask("t1")], vec![text("A")]]);
    world.prompt("/afk").await;
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Question"]).is_empty(), "{lines:?}");
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_not_told_of_afk_when_that_is_configured() {
    let away = Stage { skips_afk_reminder: true, ..stage(|state| state.afk = true) };
    let mut world = away.start([vec![text("A")]]);
    world.prompt("go").await;
    assert_eq!(world.script.messages(0), [Message::user("go")]);
    let mut told = stage(|state| state.afk = true).start([vec![text("A")]]);
    told.prompt("go").await;
    assert_eq!(told.script.messages(0).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_turn_and_a_late_answer_with_it() {
    let mut world = stage(|_| {}).start([vec![ask("t1")], vec![text("on")]]);
    world.send(Command::Prompt("go".into()));
    let request = question(&mut world).await;
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
    answer(&world, &request, "B");
    assert_eq!(outcome(&world.prompt("on").await), "Done Finished");
}
