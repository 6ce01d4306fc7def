//! Browsing sessions as a person does it: the overlay on the real program, and the subcommands.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::server::{Piece, Scenario, Server};
use support::terminal::Terminal;
use support::world::World;

const CTRL_G: &str = "\x07";
const CTRL_Y: &str = "\x19";
const ENTER: &str = "\r";
const READY: &str = "Ask something";

/// Says `prompt` in a session of its own in `folder`; the model answers `answer`.
fn talk(world: &World, folder: &PathBuf, prompt: &str) {
    let mut command = world.command(&["--print", "-p", prompt]);
    let output = command.current_dir(folder).output().expect("the program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn two_folders() -> (World, Server, PathBuf) {
    let world = World::new();
    let scenario = |when, text| Scenario { when, answers: vec![vec![Piece::Text(text)]] };
    let server = Server::start(vec![
        scenario("Feed the cat", "The bowl is full of herring."),
        scenario("Water the plants", "The fern is wet."),
    ]);
    world.write_config(&server.config());
    let other = world.home().join("elsewhere");
    fs::create_dir(&other).expect("a folder");
    talk(&world, &other, "Feed the cat");
    talk(&world, &world.work(), "Water the plants");
    (world, server, other)
}

fn run(world: &World, args: &[&str]) -> (bool, String) {
    let output = world.command(args).output().expect("the program");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_session_of_another_folder_is_found_by_what_was_said_resumed_there_and_replayed() {
    let (world, server, other) = two_folders();
    let mut screen = Terminal::start(&world, &[], 120, 40);
    screen.wait_for_text(READY);
    screen.send(CTRL_G);
    screen.wait_for_text("Feed the cat");
    // Said by the model, in no title.
    screen.send("herring");
    screen.wait_until_gone("Water the plants");
    screen.wait_for_text("full of herring");
    screen.send(ENTER);
    screen.wait_until_gone("Sessions of all folders");
    screen.wait_for_text("The bowl is full of herring.");
    screen.wait_for_text(READY);
    screen.send("Feed the cat again\r");
    screen.wait_for("a second answer", |s| s.contents().matches("full of herring").count() > 1);
    let told = server.requests().pop().expect("a request").to_string();
    assert!(told.contains("elsewhere"), "it works in the session's folder");
    assert!(other.is_dir());

    screen.wait_for_text(READY);
    screen.send(CTRL_G);
    screen.wait_for_text("Water the plants");
    screen.send("fern");
    screen.wait_for_text("said The fern is wet.");
    screen.send(CTRL_Y);
    screen.wait_for_text("The end");
    screen.wait_for_text("The fern is wet.");
    let asked = server.requests().len();
    screen.send("\x1b");
    screen.wait_for_text(READY);
    assert_eq!(server.requests().len(), asked, "nothing was carried out");
}

#[test]
fn sessions_are_listed_searched_and_tidied_up_from_the_shell() {
    let (world, _server, _) = two_folders();
    let (ok, here) = run(&world, &["sessions", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&here).expect("JSON");
    assert!(ok && list.len() == 1, "{here}");
    let id = list[0]["id"].as_str().expect("an id").to_owned();
    let (_, all) = run(&world, &["sessions", "--all"]);
    assert!(all.contains("Feed the cat") && all.contains("Water the plants"), "{all}");
    let (_, found) = run(&world, &["sessions", "--all", "--json", "search", "Herring"]);
    assert_eq!(serde_json::from_str::<Value>(&found).expect("JSON"), json!([]), "smart case");
    let (_, found) = run(&world, &["sessions", "--all", "search", "bowl", "herring"]);
    assert!(found.contains("Feed the cat") && !found.contains("Water"), "{found}");

    assert!(run(&world, &["sessions", "rename", &id[..8], "Green", "things"]).0);
    assert!(run(&world, &["sessions"]).1.contains("Green things"));
    assert!(run(&world, &["sessions", "archive", &id]).0);
    assert!(!run(&world, &["sessions"]).1.contains("Green things"));
    assert!(run(&world, &["sessions", "archive", &id, "--undo"]).0);
    let (ok, fork) = run(&world, &["sessions", "fork", &id]);
    assert!(ok && run(&world, &["sessions"]).1.contains("Fork: Green things"));
    assert!(run(&world, &["sessions", "delete", fork.trim()]).0);
    assert!(!run(&world, &["sessions"]).1.contains("Fork: Green things"));
    assert!(run(&world, &["sessions", "restore", fork.trim()]).0);
    assert!(run(&world, &["sessions"]).1.contains("Fork: Green things"));
    assert!(run(&world, &["sessions", "delete", fork.trim()]).0);
    assert!(run(&world, &["sessions", "empty-trash"]).1.contains("1 session removed"));

    let (ok, text) = run(&world, &["export", &id, "-o", "out.md"]);
    assert!(ok, "{text}");
    let page = fs::read_to_string(world.work().join("out.md")).expect("the export");
    assert!(page.contains("The fern is wet."), "{page}");
    assert!(!run(&world, &["export", &id, "-o", "out.md"]).0, "nothing is written over");
    assert!(run(&world, &["export", &id, "-o", "out.zip"]).0);
    let (ok, imported) = run(&world, &["import", "out.zip"]);
    assert!(ok && imported.trim() != id, "{imported}");
    assert!(run(&world, &["sessions"]).1.contains(imported.trim()));
    let (ok, told) = run(&world, &["export", "nobody"]);
    assert!(!ok && told.contains("kimi-tui sessions --all"), "{told}");
}

#[test]
fn without_kimi_json_the_sessions_of_this_folder_are_still_listed() {
    let (world, _server, _) = two_folders();
    for lost in [None, Some("damaged")] {
        let file = world.share().join("kimi.json");
        match lost {
            None => fs::remove_file(&file).expect("kimi.json"),
            Some(text) => fs::write(&file, text).expect("kimi.json"),
        }
        let (ok, here) = run(&world, &["sessions"]);
        assert!(ok && here.contains("Water the plants"), "{here}");
        assert!(!here.contains("Feed the cat"), "{here}");
    }
}
