//! Notes of background work: before the next step, or with the next prompt, and once.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::tools::Note;
use crate::wire::Notification;

fn note(id: &str, delivered: &Arc<AtomicUsize>) -> Note {
    let delivered = Arc::clone(delivered);
    let mut note = Note::new(Notification {
        id: id.into(),
        category: "task".into(),
        kind: "task.completed".into(),
        source_kind: "background_task".into(),
        source_id: "bash-1".into(),
        title: format!("{id} is done"),
        body: String::new(),
        severity: "info".into(),
        created_at: 1.0,
        payload: serde_json::Map::new(),
    });
    note.on_delivery = Some(Box::new(move || {
        delivered.fetch_add(1, Ordering::Relaxed);
    }));
    note
}

/// The titles of notes in the order of the rows, and whose the other rows are.
fn titles(rows: &[Message]) -> Vec<String> {
    rows.iter()
        .map(|row| match row.text().split_once("Title: ") {
            Some((_, rest)) => rest.lines().next().unwrap_or_default().to_owned(),
            None => format!("{:?}", row.role),
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_note_that_comes_while_nothing_runs_is_read_with_the_next_prompt() {
    let mut world = Stage::default().start([vec![text("seen")]]);
    let delivered = Arc::default();
    world.notifier.send(note("idle", &delivered));
    assert!(matches!(world.next().await, DoorMessage::Event(Event::Notification(_))));
    world.prompt("go").await;
    assert_eq!(titles(&world.script.messages(0)), ["idle is done", "User"]);
    assert_eq!((delivered.load(Ordering::Relaxed), world.notifier.waiting()), (1, 0));
    assert_eq!(world.end().await.1.history().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn notes_that_come_in_a_turn_are_read_before_the_next_step_four_at_once() {
    let mut world = Stage::default().start([
        vec![call("t1", "Sleep", &json!({"ms": 1000}))],
        vec![call("t2", "Sleep", &json!({}))],
        vec![text("seen")],
    ]);
    let delivered = Arc::default();
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message).starts_with("ToolCall")).await;
    for id in ["a", "b", "c", "d", "e"] {
        world.notifier.send(note(id, &delivered));
    }
    world.rest().await;
    let asked = world.script.messages(1);
    assert_eq!(titles(&asked[3..]), ["a is done", "b is done", "c is done", "d is done"]);
    assert_eq!(titles(&world.script.messages(2)[9..]), ["e is done"]);
    assert_eq!(delivered.load(Ordering::Relaxed), 5);
}

/// The prompts whose turns began, and how they ended.
fn turns(lines: &[String]) -> Vec<&str> {
    only(lines, &["TurnBegin", "Done"])
}

#[tokio::test(start_paused = true)]
async fn a_turn_begins_for_a_note_when_a_front_end_says_that_it_is_the_moment() {
    let mut world = Stage::default().start([vec![text("seen")]]);
    // Nothing to read: nothing happens.
    world.send(Command::ReadNotes);
    world.notifier.send(note("idle", &Arc::default()));
    world.send(Command::ReadNotes);
    let lines = world.rest().await;
    let begin = format!("TurnBegin {}", crate::wire::TurnBegin::TASKS_ENDED);
    assert_eq!(turns(&lines), [begin.as_str(), "Done Finished"]);
    assert_eq!(titles(&world.script.messages(0)), ["idle is done", "User"]);
    world.send(Command::ReadNotes);
    world.send(Command::ReadNotes);
    let (_folder, context) = world.end().await;
    assert_eq!(context.history().len(), 3, "one turn only");
}

#[tokio::test(start_paused = true)]
async fn a_note_that_is_no_news_waits_for_the_next_prompt() {
    let mut world = Stage::default().start([vec![text("seen")]]);
    let mut old = note("old", &Arc::default());
    old.wakes = false;
    world.notifier.send(old);
    world.send(Command::ReadNotes);
    let lines = world.prompt("go").await;
    assert_eq!(turns(&lines), ["TurnBegin go", "Done Finished"]);
    assert_eq!(titles(&world.script.messages(0)), ["old is done", "User"]);
}

#[tokio::test(start_paused = true)]
async fn the_switch_keeps_turns_from_beginning_by_themselves() {
    let mut staff = crate::soul::Staff::default();
    staff.limits.auto_turn = false;
    let mut world = Stage { staff, ..Stage::default() }.start([vec![text("seen")]]);
    world.notifier.send(note("idle", &Arc::default()));
    world.send(Command::ReadNotes);
    assert_eq!(turns(&world.prompt("go").await), ["TurnBegin go", "Done Finished"]);
}

#[tokio::test(start_paused = true)]
async fn after_three_failures_in_a_row_no_turn_begins_until_the_person_prompts() {
    let refused = || vec![Piece::Refuse(status(401))];
    let mut world = Stage::default().start([
        refused(),
        refused(),
        refused(),
        vec![text("hello")],
        vec![text("seen")],
    ]);
    for id in ["a", "b", "c"] {
        world.notifier.send(note(id, &Arc::default()));
        world.send(Command::ReadNotes);
        assert!(outcome(&world.rest().await).starts_with("Done ProviderFailed"));
    }
    world.notifier.send(note("d", &Arc::default()));
    world.send(Command::ReadNotes);
    assert_eq!(turns(&world.prompt("go").await), ["TurnBegin go", "Done Finished"]);
    world.notifier.send(note("e", &Arc::default()));
    world.send(Command::ReadNotes);
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    assert_eq!(world.script.times_asked(), 5);
}

#[tokio::test]
async fn tasks_are_waited_for_and_the_model_goes_on_with_each() {
    let tools = Toolset::select(&["Bash".into()], &[]).expect("tools");
    let mut limits = state(|_| {});
    limits.yolo = true;
    let sleep = |id: &str, seconds: &str| {
        let command = format!("sleep {seconds}; echo {id}");
        call(id, "Bash", &json!({"command": command, "description": id, "run_in_background": true}))
    };
    let mut world = Stage { tools, state: limits, ..Stage::default() }.start([
        vec![sleep("one", "0.2")],
        vec![text("begun")],
        vec![text("one is done")],
        vec![sleep("two", "1000")],
        vec![text("again")],
    ]);
    assert_eq!(outcome(&world.prompt("go").await), "Done Finished");
    world.send(Command::AwaitTasks { seconds: 60 });
    let lines = world.rest().await;
    assert_eq!(turns(&lines).len(), 2, "{lines:?}");
    assert!(world.script.messages(2).iter().any(|message| message.text().contains("completed")));
    // Nothing runs: it is over at once.
    world.send(Command::AwaitTasks { seconds: 60 });
    assert_eq!(turns(&world.rest().await), ["Done Finished"]);
    world.prompt("more").await;
    world.send(Command::AwaitTasks { seconds: 1 });
    let lines = world.rest().await;
    assert_eq!(outcome(&lines), "Done Finished");
    assert!(lines.iter().any(|line| line.contains("not waited for any longer")), "{lines:?}");
    world.send(Command::AwaitTasks { seconds: 60 });
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
    world.end().await;
}
