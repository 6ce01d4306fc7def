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
