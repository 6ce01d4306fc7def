//! Taking files back on the real program: the agent writes, edits, deletes and runs a script; the
//! person goes back with the timeline, and forth again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;
use support::server::{Piece, Scenario, Server, text_of};
use support::terminal::Terminal;
use support::world::World;

const CTRL_D: &str = "\x04";
const CTRL_T: &str = "\x14";
const UP: &str = "\x1b[A";
const READY: &str = "Ask something";

fn call(id: &'static str, name: &'static str, arguments: serde_json::Value) -> Piece {
    Piece::Call { id, name, arguments }
}

/// Every file of the work folder and its text.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                todo.push(entry.path());
                continue;
            }
            let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn conversation_and_files_go_back_to_step_two_and_forth_again() {
    let edit = json!({"path": "notes.txt", "edit": {"old": "one", "new": "two"}});
    let script = "printf 'script\\n' > made.txt; mkdir -p out; cp notes.txt out/copy; rm keep.txt";
    let work = Scenario {
        when: "Work",
        answers: vec![
            vec![call("w", "WriteFile", json!({"path": "notes.txt", "content": "one\n"}))],
            vec![call("e", "EditFile", edit)],
            vec![call("d", "Bash", json!({"command": "rm old.txt"}))],
            vec![call("s", "Bash", json!({"command": script}))],
            vec![Piece::Text("All is done.")],
        ],
    };
    let next = Scenario { when: "Next", answers: vec![vec![Piece::Text("Next is done.")]] };
    let world = World::new();
    let server = Server::start(vec![work, next]);
    world.write_config(&server.config());
    for name in ["old.txt", "keep.txt"] {
        fs::write(world.work().join(name), "there before\n").unwrap();
    }
    let mut screen = Terminal::start(&world, &["--yolo", "Work"], 120, 40);
    screen.wait_for_text("All is done.");
    screen.wait_for_text(READY);
    let after = tree(&world.work());
    assert_eq!(after.keys().collect::<Vec<_>>(), ["made.txt", "notes.txt", "out/copy"]);
    // Somebody else's file.
    fs::write(world.work().join("theirs.txt"), "theirs\n").unwrap();

    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    // The latest checkpoint is that of step 5.
    for _ in 0..3 {
        screen.send(UP);
    }
    screen.send("b");
    screen.wait_for_text("Take conversation and files back to checkpoint 0.2?");
    screen.wait_for_text("made.txt");
    assert!(!screen.text().contains("theirs.txt"), "{}", screen.text());
    screen.send("\r");
    screen.wait_for_text("Files taken back to checkpoint 0.2");
    screen.wait_for_text("Back to checkpoint 2");
    let mut step_two = BTreeMap::from(
        [("keep.txt", "there before\n"), ("notes.txt", "one\n"), ("old.txt", "there before\n")]
            .map(|(name, text)| (name.to_owned(), text.to_owned())),
    );
    step_two.insert("theirs.txt".to_owned(), "theirs\n".to_owned());
    assert_eq!(tree(&world.work()), step_two);

    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send("u");
    screen.wait_for_text("Bring forth what was taken back?");
    screen.send("\r");
    screen.wait_for_text("Files brought forth again");
    let mut all = after;
    all.insert("theirs.txt".to_owned(), "theirs\n".to_owned());
    assert_eq!(tree(&world.work()), all);

    // The model has the whole conversation again.
    screen.send("Next\r");
    screen.wait_for_text("Next is done.");
    let last = server.requests().pop().expect("a request");
    let told: Vec<String> = last["messages"].as_array().unwrap().iter().map(text_of).collect();
    assert!(told.iter().any(|text| text == "All is done."), "{told:?}");
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
}
