//! Approvals: once, for the session, no, and no with a word.

use super::*;

fn run(id: &str, say: &str) -> Piece {
    call(id, "Run", &json!({"say": say}))
}

#[tokio::test(start_paused = true)]
async fn approved_once_runs_and_asks_again() {
    let mut world =
        Stage::default().start([vec![run("a", "x")], vec![run("b", "x")], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    for id in ["a", "b"] {
        let request = world.request().await;
        assert_eq!((request.tool_call_id.as_str(), request.sender.as_str()), (id, "Run"));
        world.answer(&request, ApprovalChoice::Approve, "");
    }
    let lines = world.rest().await;
    assert_eq!(lines[0], "Answer Approve \"\"");
    assert_eq!(lines[1], "ToolResult b x");
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn approved_for_the_session_settles_the_others_and_is_stored() {
    let mut world = Stage::default().start([
        vec![run("a", "x"), run("b", "y"), call("c", "Run", &json!({"action": "edit file"}))],
        vec![run("d", "z")],
        vec![text("ok")],
    ]);
    world.send(Command::Prompt("go".into()));
    let mut requests = Vec::new();
    for _ in 0..3 {
        requests.push(world.request().await);
    }
    requests.sort_by(|a, b| a.tool_call_id.cmp(&b.tool_call_id));
    world.answer(&requests[0], ApprovalChoice::ApproveForSession, "");
    let lines = world.lines_until(|m| line(m).starts_with("ToolResult b")).await;
    assert_eq!(only(&lines, &["Answer"]), ["Answer ApproveForSession \"\"", "Answer Approve \"\""]);
    world.answer(&requests[2], ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert!(only(&lines, &["Approve?"]).is_empty(), "{lines:?}");
    assert_eq!(outcome(&lines), "Done Finished");
    let (folder, _) = world.end().await;
    assert_eq!(SessionState::load(folder.path()).auto_approve_actions, ["run command"]);
}

#[tokio::test(start_paused = true)]
async fn a_plain_no_ends_the_turn() {
    let mut world = Stage::default().start([vec![run("a", "x"), call("s", "Sleep", &json!({}))]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Reject, "");
    let lines = world.rest().await;
    assert!(lines.contains(&"ToolResult a Rejected by user".to_owned()), "{lines:?}");
    assert_eq!(outcome(&lines), "Done Finished");
    assert_eq!(world.script.times_asked(), 1);
    let history = world.history().await;
    assert_eq!(history.len(), 4);
    assert!(history[2].starts_with("tool a: <system>ERROR: The tool call is rejected"));
}

#[tokio::test(start_paused = true)]
async fn a_no_with_a_word_goes_to_the_model() {
    let mut world = Stage::default().start([vec![run("a", "x")], vec![text("as you say")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Reject, "use b.txt");
    let lines = world.rest().await;
    assert!(lines.contains(&"ToolResult a Rejected: use b.txt".to_owned()), "{lines:?}");
    assert!(lines.contains(&"text as you say".to_owned()));
    assert!(row(&world.script.messages(1)[2]).contains("User feedback: use b.txt"));
}

#[tokio::test(start_paused = true)]
async fn yolo_and_stored_answers_ask_nobody() {
    let stored = state(|state| state.auto_approve_actions.push("run command".into()));
    let yolo = state(|state| state.yolo = true);
    for state in [stored, yolo] {
        let mut world =
            Stage { state, ..Stage::default() }.start([vec![run("a", "x")], vec![text("ok")]]);
        let lines = world.prompt("go").await;
        assert!(only(&lines, &["Approve?", "Answer"]).is_empty());
        assert!(lines.contains(&"ToolResult a x".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_nobody_waits_for_are_dropped() {
    let mut world = Stage::default().start([vec![run("a", "x")], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    let stranger = ApprovalRequest { id: "stranger".into(), ..request.clone() };
    world.answer(&stranger, ApprovalChoice::Reject, "");
    world.answer(&request, ApprovalChoice::Approve, "");
    world.answer(&request, ApprovalChoice::Reject, "");
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["Answer"]), ["Answer Approve \"\""]);
    assert_eq!(outcome(&lines), "Done Finished");
}
