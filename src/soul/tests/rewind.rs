//! Files are taken back with the conversation, without it, and come forth again.

use std::path::Path;

use super::*;
use crate::config::SnapshotConfig;
use crate::snapshot::{Place, Tracker, Worker};
use crate::wire::RewindScope;

/// The snapshots of a session in `folder`, which is the workspace too; what the engine itself writes
/// is ignored.
pub(super) fn worker(folder: &Path) -> Worker {
    let folder = std::fs::canonicalize(folder).unwrap();
    let own = "*.jsonl\nshare\nplans\n.store\nstate.json\n.ignore\n";
    std::fs::write(folder.join(".ignore"), own).unwrap();
    let place = Place { session_dir: folder.clone(), store: folder.join(".store") };
    Worker::start(Tracker::open(place, vec![folder], SnapshotConfig::default()).unwrap()).unwrap()
}

fn stage() -> Stage {
    Stage {
        tools: tools(&["WriteFile", "Bash", "SendDMail"]),
        state: state(|state| state.yolo = true),
        snapshots: true,
        ..Stage::default()
    }
}

fn write(id: &str, path: &str, content: &str) -> Piece {
    call(id, "WriteFile", &json!({"path": path, "content": content}))
}

fn bash(id: &str, command: &str) -> Piece {
    call(id, "Bash", &json!({"command": command}))
}

fn read(world: &World, name: &str) -> Option<String> {
    std::fs::read_to_string(world.folder.path().join(name)).ok()
}

async fn until(world: &mut World, kind: &str) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let told = line(&world.next().await);
        let is_last = told.starts_with(kind);
        lines.push(told);
        if is_last {
            return lines;
        }
    }
}

#[tokio::test]
async fn both_go_back_to_a_step_and_come_forth_again() {
    let mut world = stage().start([
        vec![write("w", "a.txt", "one\n")],
        vec![bash("b", "echo two > a.txt; rm gone.txt; mkdir -p d; echo x > d/new.txt")],
        vec![bash("b2", "echo three > a.txt")],
        vec![text("done")],
    ]);
    std::fs::write(world.folder.path().join("gone.txt"), "there\n").unwrap();
    world.prompt("go").await;
    // Somebody else works in the folder too.
    std::fs::write(world.folder.path().join("theirs.txt"), "mine\n").unwrap();
    assert_eq!(read(&world, "a.txt").as_deref(), Some("three\n"));

    world.send(Command::PreviewRewind { to: Some(at(0, 2)), scope: RewindScope::Both });
    let told = until(&mut world, "Preview").await;
    assert_eq!(
        told.last().unwrap(),
        r#"Preview [("a.txt", Restore), ("d", Remove), ("new.txt", Remove), ("gone.txt", Create)]"#
    );
    assert_eq!(read(&world, "a.txt").as_deref(), Some("three\n"));

    world.send(Command::Rewind { to: at(0, 2), scope: RewindScope::Both, chosen: vec![] });
    let told = until(&mut world, "Status").await;
    let told = only(&told, &["Files", "Reverted"]);
    assert_eq!(
        told[0],
        r#"Files restored ["a.txt", "gone.txt"], removed ["d", "new.txt"], left []"#
    );
    assert!(told[1].starts_with("Reverted to 0.2 by User"), "{told:?}");
    assert_eq!(read(&world, "a.txt").as_deref(), Some("one\n"));
    assert_eq!(read(&world, "gone.txt").as_deref(), Some("there\n"));
    assert_eq!(read(&world, "d/new.txt"), None);
    assert_eq!(read(&world, "theirs.txt").as_deref(), Some("mine\n"));

    world.send(Command::RedoRewind { chosen: vec![] });
    until(&mut world, "Restored").await;
    assert_eq!(read(&world, "a.txt").as_deref(), Some("three\n"));
    assert_eq!(read(&world, "gone.txt"), None);
    assert_eq!(read(&world, "d/new.txt").as_deref(), Some("x\n"));
    assert_eq!(read(&world, "theirs.txt").as_deref(), Some("mine\n"));
    let history = world.history().await;
    assert_eq!(history.last().map(String::as_str), Some("assistant: done"));
}

#[tokio::test]
async fn files_alone_go_back_and_the_model_is_told() {
    let mut world = stage().start([vec![write("w", "a.txt", "one\n")], vec![text("done")]]);
    world.prompt("go").await;
    world.send(Command::Rewind { to: at(0, 0), scope: RewindScope::Files, chosen: vec![] });
    until(&mut world, "Files").await;
    assert_eq!(read(&world, "a.txt"), None);
    let history = world.history().await;
    assert!(history.last().unwrap().contains("a.txt"), "{history:?}");
    assert!(history.iter().any(|row| row == "assistant: done"));
}

#[tokio::test]
async fn the_slash_command_shows_first_and_does_it_when_told_to() {
    let mut world = stage().start([vec![write("w", "a.txt", "one\n")], vec![text("done")]]);
    world.prompt("go").await;
    let shown = world.prompt("/rewind files").await;
    assert!(
        shown.iter().any(|line| line.contains("remove") && line.contains("a.txt")),
        "{shown:?}"
    );
    assert_eq!(read(&world, "a.txt").as_deref(), Some("one\n"));
    world.prompt("/rewind 0 files now").await;
    assert_eq!(read(&world, "a.txt"), None);
    world.prompt("/redo files").await;
    assert_eq!(read(&world, "a.txt").as_deref(), Some("one\n"));
    let told = world.prompt("/rewind 99 files").await;
    assert!(told.iter().any(|line| line.contains("No snapshot knows checkpoint 0.99")), "{told:?}");
}

#[tokio::test]
async fn an_edit_of_the_person_while_an_approval_waits_is_not_the_commands() {
    let mut world = Stage { state: SessionState::default(), ..stage() }
        .start([vec![bash("b", "echo changed > cmd.txt")], vec![text("done")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    std::fs::write(world.folder.path().join("mine.txt"), "mine").unwrap();
    world.answer(&request, ApprovalChoice::Approve, "");
    world.rest().await;
    world.send(Command::Rewind { to: at(0, 0), scope: RewindScope::Files, chosen: vec![] });
    until(&mut world, "Files").await;
    assert_eq!(
        (read(&world, "mine.txt").as_deref(), read(&world, "cmd.txt")),
        (Some("mine"), None)
    );
}

#[tokio::test]
async fn a_dmail_of_the_agent_touches_no_file_and_that_is_told() {
    let mut world = stage().start([
        vec![write("w", "a.txt", "one\n")],
        vec![call("m", "SendDMail", &json!({"message": "hm", "checkpoint_id": 1}))],
        vec![text("done")],
    ]);
    let mut told = world.prompt("go").await;
    assert_eq!(read(&world, "a.txt").as_deref(), Some("one\n"));
    if only(&told, &["Notification The D-Mail"]).is_empty() {
        told = until(&mut world, "Notification The D-Mail").await;
    }
    assert_eq!(only(&told, &["Notification"]).len(), 1);
    // The address before the way back still does it.
    world.send(Command::Rewind { to: at(0, 1), scope: RewindScope::Files, chosen: vec![] });
    until(&mut world, "Files").await;
    assert_eq!(read(&world, "a.txt"), None);
}

#[tokio::test]
async fn while_a_turn_runs_nothing_is_taken_back() {
    let mut world = stage().start([vec![Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    until(&mut world, "StepBegin").await;
    world.send(Command::Rewind { to: at(0, 0), scope: RewindScope::Files, chosen: vec![] });
    until(&mut world, "Refused").await;
    world.send(Command::Cancel);
    world.rest().await;
}
