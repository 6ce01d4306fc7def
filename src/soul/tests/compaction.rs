//! Compaction: when, with what result, and what a failure leaves.

use super::*;

fn talk() -> Vec<Message> {
    (1..=3)
        .flat_map(|n| {
            [Message::user(format!("q{n}")), Message::assistant(format!("a{n} {}", "y".repeat(40)))]
        })
        .collect()
}

fn small() -> Stage {
    Stage { history: talk(), max_context: 1000, ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn compact_replaces_the_older_part() {
    // Room for the summary's prompt beside the history.
    let stage = Stage { max_context: 2000, ..small() };
    let mut world = stage.start([vec![think("hm"), text("SUMMARY"), usage(90, 17)]]);
    assert_eq!(
        world.prompt("/compact the plan").await,
        [
            "Status 29 of 2000",
            "TurnBegin /compact the plan",
            "CompactionBegin",
            "Rewritten by llm_summary: [0, 1, 2, 3]",
            "Compacted 0 -> 1: 6 -> 3 messages",
            "Checkpoint 1.0 before user (0 messages)",
            "CompactionEnd",
            "Status 26 of 2000",
            "text The context has been compacted.",
            "TurnEnd",
            "Done Finished",
        ]
    );
    let (system, asked) = world.script.asked.lock().unwrap()[0].clone();
    assert_eq!(system, crate::prompts::COMPACT_SYSTEM);
    let asked = asked[0].text();
    assert!(asked.contains("q1") && asked.contains("the plan") && !asked.contains("q3"), "{asked}");
    let history = world.history().await;
    assert!(history[0].contains("compacted") && history[0].ends_with("SUMMARY"), "{history:?}");
    assert_eq!(history[1], "user: q3");
    assert!(history[2].starts_with("assistant: a3"));
}

#[tokio::test(start_paused = true)]
async fn too_little_to_compact_says_so() {
    let mut world = Stage::default().start([]);
    let lines = world.prompt("/compact").await;
    assert_eq!(lines[1], "text There is nothing to compact yet.");
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_failure_leaves_the_context_and_says_why() {
    let refuse = || vec![Piece::Refuse(status(500))];
    let mut world = small().start([refuse(), refuse(), refuse()]);
    let lines = world.prompt("/compact").await;
    assert_eq!(lines[1..3], ["TurnBegin /compact", "CompactionBegin"]);
    assert!(lines[3].starts_with("TurnFailed "), "{lines:?}");
    assert_eq!(lines[4], "TurnEnd");
    assert!(outcome(&lines).contains("ProviderFailed"), "{lines:?}");
    assert_eq!(world.script.times_asked(), 3);
    assert_eq!(world.history().await.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_full_window_is_compacted_before_the_step_and_not_at_each_one() {
    // Every answer fills the window again.
    let full = |piece| vec![piece, usage(940, 10)];
    let mut world = small().start([
        full(call("t1", "Sleep", &json!({"say": "one"}))),
        vec![text("SUMMARY")],
        full(call("t2", "Sleep", &json!({"say": "two"}))),
        full(text("done")),
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["StepBegin", "CompactionBegin", "CompactionEnd", "Done"]),
        [
            "StepBegin 1",
            "StepBegin 2",
            "CompactionBegin",
            "CompactionEnd",
            "StepBegin 3",
            "Done Finished",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_automatic_compaction_ends_the_turn() {
    let mut world = small().start([
        vec![call("t", "Sleep", &json!({})), usage(940, 10)],
        vec![Piece::Refuse(status(400))],
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(
        only(&lines, &["Compaction", "StepInterrupted", "TurnEnd"]),
        ["CompactionBegin", "StepInterrupted", "TurnEnd"]
    );
    assert_eq!(world.history().await.len(), 9);
}
