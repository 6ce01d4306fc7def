//! Hooks around prompts, tools, turns and compactions. Real processes, so a real clock.

use super::*;
use crate::config::HookEvent;

fn stage(hooks: &[(HookEvent, &str, &str)]) -> Stage {
    let hooks = hooks
        .iter()
        .map(|&(event, matcher, command)| HookConfig {
            event,
            matcher: matcher.into(),
            command: command.into(),
            timeout: 20,
        })
        .collect();
    Stage { hooks, ..Stage::default() }
}

fn block(reason: &str) -> String {
    format!("echo '{reason}' >&2; exit 2")
}

#[tokio::test]
async fn a_blocked_tool_does_not_run_and_the_model_hears_why() {
    let no = block("not on Fridays");
    let mut world = stage(&[(HookEvent::PreToolUse, "^Run$", &no)]).start([
        vec![call("t1", "Run", &json!({})), call("t2", "Sleep", &json!({"say": "slept"}))],
        vec![text("ok")],
    ]);
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Approve"]).is_empty(), "nobody is asked: {lines:?}");
    assert_eq!(only(&lines, &["HookTriggered", "HookResolved"]).len(), 2);
    assert!(lines.contains(&"ToolResult t1 Hook blocked".to_owned()));
    assert!(lines.contains(&"ToolResult t2 slept".to_owned()));
    let history = world.history().await;
    assert!(history[2].contains("not on Fridays"), "{history:?}");
}

#[tokio::test]
async fn a_blocked_prompt_never_reaches_the_model() {
    let no = block("no secrets, please");
    let mut world = stage(&[(HookEvent::UserPromptSubmit, "", &no)]).start([]);
    let lines = world.prompt("my password is x").await;
    let told = only(&lines, &["TurnBegin", "text", "TurnEnd", "Done"]);
    let wanted =
        ["TurnBegin my password is x", "text no secrets, please", "TurnEnd", "Done Finished"];
    assert_eq!(told, wanted);
    assert!(world.history().await.is_empty());
}

#[tokio::test]
async fn a_hook_at_the_end_sends_the_model_on_once() {
    let more = block("run the tests too");
    let mut world =
        stage(&[(HookEvent::Stop, "", &more)]).start([vec![text("done")], vec![text("green")]]);
    let lines = world.prompt("fix it").await;
    assert_eq!(only(&lines, &["TurnBegin"]), ["TurnBegin fix it"]);
    let history = world.history().await;
    let wanted = ["user: fix it", "assistant: done", "user: run the tests too", "assistant: green"];
    assert_eq!(history, wanted);
}

#[tokio::test]
async fn everything_else_is_told_as_it_happens() {
    let note = "cat >> heard; echo >> heard";
    let events = [
        HookEvent::SessionStart,
        HookEvent::PostToolUse,
        HookEvent::PostToolUseFailure,
        HookEvent::StopFailure,
        HookEvent::PreCompact,
        HookEvent::PostCompact,
        HookEvent::SessionEnd,
    ];
    let hooks: Vec<_> = events.iter().map(|&event| (event, "", note)).collect();
    let mut world = stage(&hooks).start([
        vec![call("t1", "Sleep", &json!({"say": "slept"})), call("t2", "Nope", &json!({}))],
        vec![text("ok")],
        vec![text("more")],
        vec![text("summary")],
        vec![Piece::Refuse(status(401))],
    ]);
    world.prompt("go").await;
    world.prompt("on").await;
    world.prompt("/compact").await;
    world.prompt("fail").await;
    let (folder, _) = world.end().await;
    let heard = std::fs::read_to_string(folder.path().join("heard")).expect("heard");
    for event in events {
        let name = format!("\"hook_event_name\":\"{}\"", event.name());
        assert_eq!(heard.matches(&name).count(), 1, "{}\n{heard}", event.name());
    }
    for detail in ["\"tool_output\":\"slept\"", "\"tool_name\":\"Nope\"", "\"trigger\":\"manual\""]
    {
        assert!(heard.contains(detail), "{detail}\n{heard}");
    }
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_a_hook() {
    let slow = "sleep 15; exit 2";
    let mut world =
        stage(&[(HookEvent::PreToolUse, "", slow)]).start([vec![call("t1", "Sleep", &json!({}))]]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message).starts_with("HookTriggered")).await;
    let begun = std::time::Instant::now();
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
    assert!(begun.elapsed() < Duration::from_secs(5));
}
