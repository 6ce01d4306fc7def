//! What is on disk after a turn: `context.jsonl` byte for byte, and the records.

use super::*;
use crate::wire::record::read_story;

#[tokio::test(start_paused = true)]
async fn context_jsonl_is_that_of_the_reference() {
    let run = call("tc1", "Sleep", &json!({"say": "hi\n"}));
    let mut world = Stage::default()
        .start([vec![think("pondering"), text("On it"), run, usage(13, 2)], vec![text("done")]]);
    world.prompt("run it").await;
    let (folder, _) = world.end().await;
    let file = std::fs::read_to_string(folder.path().join("context.jsonl")).unwrap();
    assert_eq!(
        file.lines().collect::<Vec<_>>(),
        [
            r#"{"role": "_system_prompt", "content": "You are a test."}"#,
            r#"{"role": "_checkpoint", "id": 0}"#,
            r#"{"role":"user","content":"run it"}"#,
            r#"{"role": "_checkpoint", "id": 1}"#,
            r#"{"role": "_usage", "token_count": 13}"#,
            r#"{"role":"assistant","content":[{"type":"think","think":"pondering","encrypted":null},{"type":"text","text":"On it"}],"tool_calls":[{"type":"function","id":"tc1","function":{"name":"Sleep","arguments":"{\"say\":\"hi\\n\"}"}}]}"#,
            r#"{"role": "_usage", "token_count": 15}"#,
            r#"{"role":"tool","content":"hi\n","tool_call_id":"tc1"}"#,
            r#"{"role": "_checkpoint", "id": 2}"#,
            r#"{"role":"assistant","content":"done"}"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_record_holds_the_turn_in_order_and_no_requests() {
    let mut world = Stage::default()
        .start([vec![text("On "), text("it"), call("r", "Run", &json!({}))], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Approve, "");
    world.rest().await;
    let (folder, _) = world.end().await;
    let story = read_story(folder.path()).unwrap();
    assert_eq!(story.bad_lines, 0);
    let lines: Vec<String> =
        story.events.iter().map(|recorded| event_line(&recorded.message)).collect();
    assert_eq!(
        lines,
        [
            "TurnBegin go",
            "Checkpoint 0.0 before user (0 messages)",
            "StepBegin 1",
            "Checkpoint 0.1 before step 1 (1 messages)",
            "text On it",
            "ToolCall r Run",
            lines[6].as_str(),
            "Answer Approve \"\"",
            "ToolResult r done",
            "StepBegin 2",
            "Checkpoint 0.2 before step 2 (3 messages)",
            "text ok",
            lines[12].as_str(),
            "TurnEnd",
        ]
    );
}
