//! Failures of the provider: which are tried again, how long, and what is said at the end.

use super::*;

fn broken() -> LlmError {
    LlmError::Connection { host: "test".into(), detail: "reset".into() }
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_is_tried_again_and_leaves_no_trace() {
    let mut world = Stage::default().start([
        vec![text("lost"), call("t", "Sleep", &json!({})), Piece::Break(broken())],
        vec![Piece::Refuse(status(503))],
        vec![text("here")],
    ]);
    let began = tokio::time::Instant::now();
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepBegin", "text", "StepRetry", "ToolResult", "Done"]),
        [
            "StepBegin 1",
            "text lost",
            "StepRetry 1: 2 of 3 (APIConnectionError None)",
            "StepRetry 1: 3 of 3 (APIStatusError Some(503))",
            "text here",
            "Done Finished",
        ]
    );
    let waited = began.elapsed();
    assert!(waited >= Duration::from_millis(900) && waited < Duration::from_secs(2), "{waited:?}");
    assert_eq!(world.history().await, ["user: go", "assistant: here"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_says_what_to_do() {
    let refuse = |code| vec![Piece::Refuse(status(code))];
    let mut world =
        Stage::default().start([refuse(429), refuse(429), refuse(429), vec![text("ok")]]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["StepRetry"]).len(), 2);
    assert_eq!(only(&lines, &["StepInterrupted", "TurnEnd"]), ["StepInterrupted", "TurnEnd"]);
    let end = outcome(&lines);
    assert!(end.contains("ProviderFailed") && end.contains("retryable: true"), "{end}");
    assert!(end.contains("answered 429") && end.contains("quota"), "{end}");
    let told = lines.iter().position(|line| line.starts_with("TurnFailed "));
    assert!(told.is_some_and(|at| lines[at].contains("quota")), "it is recorded: {lines:?}");
    assert!(told < lines.iter().position(|line| line == "TurnEnd"), "{lines:?}");
    assert_eq!(outcome(&world.prompt("again").await), "Done Finished");
    assert_eq!(world.history().await, ["user: go", "user: again", "assistant: ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_key_is_not_tried_twice() {
    let mut world = Stage::default().start([vec![Piece::Refuse(status(401))]]);
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["StepRetry"]).is_empty());
    assert!(outcome(&lines).contains("API key"), "{lines:?}");
    assert!(outcome(&lines).contains("retryable: false"));
}

#[tokio::test(start_paused = true)]
async fn thinking_alone_and_silence_count_as_failures() {
    let mut world =
        Stage::default().start([vec![think("hm")], vec![], vec![think("hm"), text("yes")]]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepRetry"]),
        [
            "StepRetry 1: 2 of 3 (APIEmptyResponseError None)",
            "StepRetry 1: 3 of 3 (APIEmptyResponseError None)"
        ]
    );
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn an_answer_the_filter_withheld_is_not_asked_for_again() {
    let mut world = Stage::default().start([vec![finish(FinishReason::ContentFilter)]]);
    let lines = world.prompt("go").await;
    assert!(outcome(&lines).contains("content filter"), "{lines:?}");
    assert_eq!(world.script.times_asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_names_a_wait_gets_it() {
    let slow = LlmError::Status {
        host: "test".into(),
        status: 429,
        message: "slow down".into(),
        retry_after: Some(Duration::from_secs(20)),
    };
    let mut world = Stage::default().start([vec![Piece::Refuse(slow)], vec![text("ok")]]);
    let began = tokio::time::Instant::now();
    world.prompt("go").await;
    assert!(began.elapsed() >= Duration::from_secs(20));
}
