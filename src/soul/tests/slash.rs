//! Slash commands of the engine.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_unknown_command_is_named_and_a_path_is_a_prompt() {
    let mut world = Stage::default().start([vec![text("a path")]]);
    assert_eq!(
        world.prompt("/nope now").await,
        [
            "TurnBegin /nope now",
            "text Unknown slash command \"/nope\".",
            "TurnEnd",
            "Done Finished",
        ]
    );
    let lines = world.prompt("/usr/bin/env is missing").await;
    assert!(lines.contains(&"text a path".to_owned()), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn clear_empties_the_context_and_keeps_the_old_one() {
    let mut world = Stage::default().start([vec![text("a")]]);
    world.prompt("q").await;
    assert_eq!(
        world.prompt("/reset").await,
        [
            "TurnBegin /reset",
            "Cleared 0 -> 1: 2 -> 0 messages",
            "text The context has been cleared. Files were not touched.",
            "Status 0 of 200000",
            "TurnEnd",
            "Done Finished",
        ]
    );
    let (folder, context) = world.end().await;
    assert!(context.is_empty());
    assert_eq!(context.system_prompt(), Some("You are a test."));
    assert!(folder.path().join("context_1.jsonl").exists());
}

#[tokio::test(start_paused = true)]
async fn yolo_is_switched_and_stored() {
    let run = || vec![call("r", "Run", &json!({"say": "x"}))];
    let mut world = Stage::default().start([run(), vec![text("ok")]]);
    let lines = world.prompt("/yolo").await;
    assert!(lines.contains(&"Info \"\" yolo=true".to_owned()), "{lines:?}");
    assert!(only(&world.prompt("go").await, &["Approve?"]).is_empty());
    let stored = |world: &World| SessionState::load(world.folder.path()).yolo;
    assert!(stored(&world));
    world.prompt("/yolo").await;
    assert!(!stored(&world));
}

#[tokio::test(start_paused = true)]
async fn init_is_a_turn_with_its_prompt() {
    let mut world = Stage::default().start([vec![text("written")]]);
    let lines = world.prompt("/init").await;
    assert_eq!(lines[0], "TurnBegin /init");
    assert!(lines.contains(&"text written".to_owned()));
    assert_eq!(world.script.messages(0)[0], Message::user(crate::prompts::init()));
}
