//! Plain turns, tools, limits, steers, capabilities.

use super::*;
use crate::message::MediaUrl;

#[tokio::test(start_paused = true)]
async fn a_turn_with_a_tool_tells_its_whole_story() {
    let mut world = Stage::default().start([
        vec![
            think("pondering"),
            text("On "),
            text("it"),
            call("t1", "Sleep", &json!({"say": "hi"})),
            usage(13, 2),
        ],
        vec![text("done")],
    ]);
    assert_eq!(
        world.prompt("run it").await,
        [
            "TurnBegin run it",
            "Checkpoint 0.0 before user (0 messages)",
            "StepBegin 1",
            "Checkpoint 0.1 before step 1 (1 messages)",
            "think pondering",
            "text On ",
            "text it",
            "ToolCall t1 Sleep",
            "Status 15 of 200000",
            "ToolResult t1 hi",
            "StepBegin 2",
            "Checkpoint 0.2 before step 2 (3 messages)",
            "text done",
            "Status 16 of 200000",
            "TurnEnd",
            "Info \"run it\" yolo=false",
            "Done Finished",
        ]
    );
    assert_eq!(
        world.history().await,
        ["user: run it", "assistant: On it [t1]", "tool t1: hi", "assistant: done"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_title_is_that_of_the_first_prompt_and_stays() {
    let mut world = Stage::default().start([vec![text("one")], vec![text("two")]]);
    let lines = world.prompt("/unknown").await;
    assert!(only(&lines, &["Info"]).is_empty());
    assert_eq!(only(&world.prompt("first").await, &["Info"]), ["Info \"first\" yolo=false"]);
    assert!(only(&world.prompt("second").await, &["Info"]).is_empty());
    let (folder, _) = world.end().await;
    assert_eq!(SessionState::load(folder.path()).custom_title.as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn tools_run_side_by_side_and_rows_keep_the_order_of_the_calls() {
    let mut world = Stage::default().start([
        vec![
            call("slow", "Sleep", &json!({"ms": 3000, "say": "slow"})),
            call("fast", "Sleep", &json!({"ms": 10, "say": "fast"})),
            call("mid", "Sleep", &json!({"ms": 500, "say": "mid"})),
        ],
        vec![text("ok")],
    ]);
    let began = tokio::time::Instant::now();
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["ToolResult"]),
        ["ToolResult fast fast", "ToolResult mid mid", "ToolResult slow slow"]
    );
    assert!(began.elapsed() < Duration::from_millis(3400), "{:?}", began.elapsed());
    assert_eq!(
        world.history().await[1..5],
        ["assistant:  [slow, fast, mid]", "tool slow: slow", "tool fast: fast", "tool mid: mid"]
    );
}

#[tokio::test(start_paused = true)]
async fn identical_calls_are_made_once() {
    let mut world = Stage { tools: tools(&[]), ..Stage::default() }.start([
        vec![
            call("a", "Run", &json!({"say": "x"})),
            call("b", "Run", &json!({"say": "x"})),
            call("c", "Run", &json!({"say": "y"})),
        ],
        vec![text("ok")],
    ]);
    world.send(Command::Prompt("go".into()));
    let (first, second) = (world.request().await, world.request().await);
    let mut asked = [first.tool_call_id.as_str(), second.tool_call_id.as_str()];
    asked.sort_unstable();
    assert_eq!(asked, ["a", "c"]);
    world.answer(&first, ApprovalChoice::Approve, "");
    world.answer(&second, ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["ToolResult", "Approve?"]).len(), 3);
    assert_eq!(world.history().await[2..5], ["tool a: x", "tool b: x", "tool c: y"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_and_one_nobody_knows_are_results_too() {
    let mut world = Stage::default().start([
        vec![call("p", "Panic", &json!({})), call("u", "Nope", &json!({}))],
        vec![text("ok")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["ToolResult"]).len(), 2);
    assert_eq!(outcome(&lines), "Done Finished");
    let history = world.history().await;
    assert!(history[2].contains("ERROR") && history[3].contains("ERROR"), "{history:?}");
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_steps_ends_the_turn() {
    let limits = LoopControl { max_steps_per_turn: 2, ..LoopControl::default() };
    let step = || vec![call("t", "Sleep", &json!({}))];
    let mut world = Stage { limits, ..Stage::default() }.start([step(), step()]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepBegin", "StepInterrupted", "TurnEnd"]),
        ["StepBegin 1", "StepBegin 2", "TurnEnd"]
    );
    assert_eq!(outcome(&lines), "Done MaxStepsReached { steps: 2 }");
}

#[tokio::test(start_paused = true)]
async fn steers_enter_after_the_step_and_keep_the_turn_alive() {
    let mut world = Stage::default()
        .start([vec![Piece::Pause(Duration::from_secs(1)), text("first")], vec![text("second")]]);
    world.send(Command::Prompt("go".into()));
    world.send(Command::Steer("also check b".into()));
    let lines = world.rest().await;
    assert_eq!(
        only(&lines, &["StepBegin", "SteerInput", "text", "TurnEnd"]),
        [
            "StepBegin 1",
            "text first",
            "SteerInput also check b",
            "StepBegin 2",
            "text second",
            "TurnEnd",
        ]
    );
    assert_eq!(
        world.history().await,
        ["user: go", "assistant: first", "user: also check b", "assistant: second"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_steer_that_came_too_late_is_given_back() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    world.send(Command::Steer("nobody".into()));
    assert!(line(&world.next().await).starts_with("Refused No turn"));
    world.send(Command::Prompt("go".into()));
    world.lines_until(|m| line(m) == "StepBegin 1").await;
    world.send(Command::Steer("too late".into()));
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert!(
        lines.iter().any(|l| l.starts_with("Refused") && l.ends_with(": too late")),
        "{lines:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_and_a_revert_are_refused_while_a_turn_runs() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|m| line(m) == "StepBegin 1").await;
    world.send(Command::Prompt("again".into()));
    world.send(Command::Revert { to: at(0, 0), mail: None });
    world.send(Command::SetPlanMode(true));
    let refused = world.lines_until(|m| line(m).contains("Plan mode")).await;
    assert_eq!(only(&refused, &["Refused"]).len(), 2);
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
}

#[tokio::test(start_paused = true)]
async fn without_a_model_or_its_capability_nothing_is_kept() {
    let mut world = Stage { has_model: false, ..Stage::default() }.start([]);
    let lines = world.prompt("hello").await;
    assert_eq!(lines[..2], ["TurnBegin hello", "TurnEnd"]);
    assert_eq!(outcome(&lines), "Done ModelNotSet");
    assert!(world.history().await.is_empty());

    let picture = || {
        Command::Prompt(UserInput::Parts(vec![
            ContentPart::text("look"),
            ContentPart::ImageUrl {
                image_url: MediaUrl { url: "data:image/png;base64,AA".into(), id: None },
            },
        ]))
    };
    let mut world = Stage::default().start([]);
    world.send(picture());
    let lines = world.rest().await;
    assert!(outcome(&lines).contains("NotSupported { capability: \"image_in\""), "{lines:?}");
    assert!(world.history().await.is_empty());

    let capabilities = vec![Capability::ImageIn];
    let mut world = Stage { capabilities, ..Stage::default() }.start([vec![text("nice")]]);
    world.send(picture());
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_blank_prompt_is_refused() {
    let mut world = Stage::default().start([]);
    world.send(Command::Prompt(" \n".into()));
    assert!(line(&world.next().await).starts_with("Refused"));
}

#[tokio::test(start_paused = true)]
async fn a_cut_off_answer_is_told() {
    let mut world = Stage::default().start([vec![text("half a"), finish(FinishReason::Length)]]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["Notification"]), ["Notification The answer is cut off"]);
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn the_model_gets_a_sound_history_even_from_a_damaged_one() {
    let history = vec![
        Message::user("q"),
        Message {
            tool_calls: Some(vec![ToolCall::new("lost", "Sleep", None)]),
            ..Message::assistant("")
        },
        Message::user("and?"),
    ];
    let mut world = Stage { history, ..Stage::default() }.start([vec![text("ok")]]);
    world.prompt("go").await;
    let asked: Vec<String> = world.script.messages(0).iter().map(row).collect();
    assert!(asked[2].starts_with("tool lost: <system>ERROR: The result of this call was lost"));
    assert_eq!(asked.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_defect_ends_the_turn_and_not_the_session() {
    let mut world = Stage::default().start([vec![text("so"), Piece::Panic], vec![text("back")]]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["StepInterrupted", "TurnEnd"]), ["StepInterrupted", "TurnEnd"]);
    assert!(outcome(&lines).contains("defect"), "{lines:?}");
    assert_eq!(outcome(&world.prompt("again").await), "Done Finished");
    assert_eq!(world.history().await, ["user: go", "user: again", "assistant: back"]);
}

#[tokio::test(start_paused = true)]
async fn pieces_with_nothing_in_them_are_not_told() {
    let nothing = Piece::Part(StreamPart::ToolCallArguments(String::new()));
    let mut world = Stage::default().start([
        vec![text(""), think(""), call("t", "Sleep", &json!({})), nothing],
        vec![text("ok")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["text", "think", "ToolCallPart"]), ["text ok"]);
}

#[tokio::test(start_paused = true)]
async fn todos_are_stored_and_live_output_is_told() {
    let todos = json!({"todos": [{"title": "one", "status": "in_progress"}]});
    let mut world = Stage { tools: tools(&["Todo"]), ..Stage::default() }.start([
        vec![call("t", "Todo", &todos), call("s", "Sleep", &json!({"live": "so far"}))],
        vec![text("ok")],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["Output"]), ["Output so far"]);
    let (folder, _) = world.end().await;
    assert_eq!(SessionState::load(folder.path()).todos[0].title, "one");
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_tells_first_how_full_it_is() {
    let history = vec![Message::user("word ".repeat(100))];
    let mut world = Stage { history, ..Stage::default() }.start([]);
    assert_eq!(line(&world.next().await), "Status 109 of 200000");
}
