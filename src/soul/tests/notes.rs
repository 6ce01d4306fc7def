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
