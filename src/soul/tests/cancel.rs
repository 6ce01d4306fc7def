//! Cancel in every state a turn can be in: soon over, everything closed, nothing half kept.

use super::*;

const NOTE: &str = "user: <system>The user interrupted you here. \
                    What you were saying or doing may be incomplete.</system>";

/// Prompts, cancels once the line `when` was told, and returns the lines after that.
async fn cancel_after(world: &mut World, when: &str) -> Vec<String> {
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message).starts_with(when)).await;
    let began = tokio::time::Instant::now();
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert_eq!(outcome(&lines), "Done Cancelled");
    assert_eq!(only(&lines, &["TurnEnd", "StepInterrupted"]), ["TurnEnd"]);
    lines
}

#[tokio::test(start_paused = true)]
async fn before_the_first_piece() {
    let mut world = Stage::default().start([vec![Piece::Hang], vec![text("back")]]);
    cancel_after(&mut world, "Checkpoint 0.1").await;
    assert_eq!(outcome(&world.prompt("again").await), "Done Finished");
    assert_eq!(world.history().await, ["user: go", NOTE, "user: again", "assistant: back"]);
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_what_was_said_is_kept_and_cards_are_closed() {
    let mut world = Stage::default().start([vec![
        think("hm"),
        text("I will "),
        text("now"),
        call("t1", "Sleep", &json!({"say": "never"})),
        Piece::Hang,
    ]]);
    let lines = cancel_after(&mut world, "ToolCall t1").await;
    assert_eq!(only(&lines, &["ToolResult"]), ["ToolResult t1 Cancelled"]);
    let (_folder, context) = world.end().await;
    let history: Vec<String> = context.history().iter().map(row).collect();
    assert_eq!(history, ["user: go", "assistant: I will now", NOTE]);
    assert_eq!(context.history()[1], Message::assistant("I will now"));
}

#[tokio::test(start_paused = true)]
async fn while_tools_run_each_call_gets_a_result() {
    let mut world = Stage::default().start([vec![
        call("slow", "Sleep", &json!({"ms": 60_000})),
        call("fast", "Sleep", &json!({"ms": 1, "say": "fast"})),
    ]]);
    let lines = cancel_after(&mut world, "ToolResult fast").await;
    assert_eq!(only(&lines, &["ToolResult"]), ["ToolResult slow Cancelled"]);
    let history = world.history().await;
    assert_eq!(history[1], "assistant:  [slow, fast]");
    assert!(history[2].starts_with("tool slow: <system>ERROR: Cancelled by the user."));
    assert_eq!(history[3..], ["tool fast: fast", NOTE]);
}

#[tokio::test(start_paused = true)]
async fn while_an_approval_waits_it_is_withdrawn_first() {
    let mut world = Stage::default().start([vec![call("a", "Run", &json!({}))]]);
    let lines = cancel_after(&mut world, "Approve? a").await;
    assert_eq!(
        only(&lines, &["Answer", "ToolResult", "TurnEnd"]),
        [
            "Answer Reject \"Withdrawn: the call ended before anybody answered.\"",
            "ToolResult a Cancelled",
            "TurnEnd"
        ]
    );
    let history = world.history().await;
    assert!(history[2].starts_with("tool a: <system>ERROR: Cancelled by the user."), "{history:?}");
    assert_eq!(history[3..], [NOTE]);
}

#[tokio::test(start_paused = true)]
async fn in_the_wait_before_a_retry_the_failed_attempt_is_not_kept() {
    let slow = LlmError::Status {
        host: "test".into(),
        status: 429,
        message: "slow down".into(),
        retry_after: Some(Duration::from_secs(50)),
    };
    let mut world = Stage::default().start([vec![text("half"), Piece::Break(slow)]]);
    cancel_after(&mut world, "StepRetry").await;
    assert_eq!(world.script.times_asked(), 1);
    assert_eq!(world.history().await, ["user: go", NOTE]);
}

#[tokio::test(start_paused = true)]
async fn in_a_compaction_the_context_stays_as_it_was() {
    let history = vec![
        Message::user("q1"),
        Message::assistant("a1"),
        Message::user("q2"),
        Message::assistant("a2"),
    ];
    let mut world =
        Stage { history, ..Stage::default() }.start([vec![text("part of a summary"), Piece::Hang]]);
    world.send(Command::Prompt("/compact".into()));
    world.lines_until(|message| line(message) == "CompactionBegin").await;
    let began = tokio::time::Instant::now();
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert_eq!(lines, ["TurnCut None", "TurnEnd", "Done Cancelled"]);
    assert_eq!(world.history().await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn in_a_compaction_that_began_by_itself_nothing_is_lost_and_it_begins_again() {
    let long = "x".repeat(4000);
    let history = vec![
        Message::user(&long),
        Message::assistant("a1"),
        Message::user("q2"),
        Message::assistant("a2"),
    ];
    let mut world = Stage { history, max_context: 900, ..Stage::default() }.start([
        vec![text("part of a summary"), Piece::Hang],
        vec![text("SUMMARY")],
        vec![text("back")],
    ]);
    cancel_after(&mut world, "CompactionBegin").await;
    assert_eq!(outcome(&world.prompt("again").await), "Done Finished");
    let history = world.history().await;
    assert!(history[0].ends_with("SUMMARY"), "{history:?}");
    assert_eq!(history[1..], [NOTE, "user: again", "assistant: back"]);
}

/// A retry of a compaction waits like any other, and is cancelled like any other.
#[tokio::test(start_paused = true)]
async fn in_the_wait_before_a_compaction_is_tried_again() {
    let history = ["q1", "a1", "q2", "a2"].map(Message::user).to_vec();
    let slow = LlmError::Status {
        host: "test".into(),
        status: 429,
        message: "slow down".into(),
        retry_after: Some(Duration::from_secs(50)),
    };
    let mut world = Stage { history, ..Stage::default() }.start([vec![Piece::Refuse(slow)]]);
    world.send(Command::Prompt("/compact".into()));
    world.lines_until(|message| line(message) == "CompactionBegin").await;
    // The request was refused at once: it is the wait that runs.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.script.times_asked(), 1);
    let began = tokio::time::Instant::now();
    world.send(Command::Cancel);
    assert_eq!(world.rest().await, ["TurnCut None", "TurnEnd", "Done Cancelled"]);
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert_eq!(world.history().await.len(), 4);
}

/// Processes of this machine whose command line has `mark`, zombies not counted.
#[cfg(target_os = "linux")]
fn processes(mark: &str) -> Vec<String> {
    let folders = std::fs::read_dir("/proc").expect("process table").flatten();
    folders
        .filter_map(|folder| {
            let words = std::fs::read(folder.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            words.contains(mark).then_some(words)
        })
        .collect()
}

/// On the real clock, for processes know no other. The machine may be busy, so the best of some
/// attempts counts; a cancel that waits for something would never make it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_runs_is_ended_with_everything_it_started() {
    let mut quickest = Duration::MAX;
    for attempt in 0..5 {
        let mark = format!("8{}{attempt}", std::process::id());
        let command = format!(
            "sleep {mark} & (trap '' TERM; sleep {mark} & wait) & trap '' TERM; sleep {mark}"
        );
        let mut world = Stage {
            tools: tools(&["Bash"]),
            state: state(|state| state.yolo = true),
            ..Stage::default()
        }
        .start([vec![call("t1", "Bash", &json!({"command": command}))]]);
        world.send(Command::Prompt("go".into()));
        let patience = std::time::Instant::now();
        while processes(&mark).iter().filter(|words| words.starts_with("sleep")).count() < 3 {
            assert!(patience.elapsed() < Duration::from_secs(60), "the command does not begin");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let began = std::time::Instant::now();
        world.send(Command::Cancel);
        let lines = world.rest().await;
        quickest = quickest.min(began.elapsed());
        assert_eq!(outcome(&lines), "Done Cancelled");
        assert_eq!(only(&lines, &["ToolResult"]), ["ToolResult t1 Cancelled"]);
        let patience = std::time::Instant::now();
        while !processes(&mark).is_empty() {
            assert!(patience.elapsed() < Duration::from_secs(20), "{:?}", processes(&mark));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let history = world.history().await;
        assert!(history[2].starts_with("tool t1: "), "every call is answered: {history:?}");
        if quickest < Duration::from_millis(100) {
            return;
        }
    }
    panic!("no cancel was done within 100 ms; the quickest took {quickest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_pauses_can_be_cancelled() {
    let flood: Vec<Piece> = (0..200_000).map(|_| text("x")).collect();
    let mut world = Stage::default().start([flood]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "text x").await;
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert_eq!(outcome(&lines), "Done Cancelled");
    assert!(lines.len() < 100_000, "{}", lines.len());
}

#[tokio::test(start_paused = true)]
async fn shutdown_in_a_turn_ends_it_and_keeps_what_was_said() {
    let mut world = Stage::default().start([vec![text("so far"), Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "text so far").await;
    assert_eq!(world.history().await, ["user: go", "assistant: so far", NOTE]);
}

#[tokio::test(start_paused = true)]
async fn when_every_front_end_is_gone_the_session_ends() {
    let mut world = Stage::default().start([vec![Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "StepBegin 1").await;
    drop(world.commands);
    let soul = tokio::time::timeout(PATIENCE, world.task).await.expect("it ends").expect("soul");
    assert_eq!(soul.context.history().len(), 2);
}
