//! Answering, and what a crash leaves, on the real program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::LIMIT;
use support::server::{Piece, Scenario, Server, text_of};
use support::terminal::Terminal;
use support::world::World;

const READY: &str = "Ask something";
const ASKS: &str = "y approve";

fn with_server(scenario: Scenario) -> (World, Server) {
    let world = World::new();
    let server = Server::start(vec![scenario]);
    world.write_config(&server.config());
    (world, server)
}

fn bash(id: &'static str, command: &str) -> Piece {
    Piece::Call { id, name: "Bash", arguments: json!({"command": command}) }
}

/// What the model was told last.
fn told(server: &Server) -> String {
    let last: Value = server.requests().pop().expect("a request");
    let messages = last["messages"].as_array().expect("messages").clone();
    messages.iter().map(text_of).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn three_approvals_are_answered_three_ways() {
    let calls = vec![
        bash("call-1", "touch one"),
        bash("call-2", "touch two"),
        bash("call-3", "touch three"),
    ];
    let scenario =
        Scenario { when: "Do three", answers: vec![calls, vec![Piece::Text("All three heard.")]] };
    let (world, server) = with_server(scenario);
    let mut screen = Terminal::start(&world, &["Do three"], 100, 30);
    // The calls run side by side, so their requests come in any order.
    let first = asked(&screen, "1 of 3");
    screen.send("y");
    let second = asked(&screen, "1 of 2");
    screen.send("f");
    screen.wait_for_text("What should it do instead?");
    screen.send("use four\r");
    screen.wait_until_gone("What should it do instead?");
    screen.wait_until_gone(&format!("$ touch {second}"));
    let third = asked(&screen, "y approve");
    screen.send("p");
    screen.wait_for_text("All three heard.");
    let there = |name: &str| world.work().join(name).exists();
    assert!(there(&first) && !there(&second) && there(&third));
    assert!(told(&server).contains("use four"), "{}", told(&server));
}

/// What is asked about once the panel says `words`, and listens.
fn asked(screen: &Terminal, words: &str) -> String {
    screen.wait_for_text(words);
    screen.wait_for_text(ASKS);
    let text = screen.text();
    let command = text.split("$ touch ").nth(1).expect("a command");
    command.split_whitespace().next().expect("a name").to_owned()
}

#[test]
fn what_is_typed_ahead_does_not_approve_and_stays_in_the_draft() {
    let answers =
        vec![vec![Piece::Gate("ask"), bash("call-1", "touch done")], vec![Piece::Text("Heard.")]];
    let (world, server) = with_server(Scenario { when: "Go", answers });
    let mut screen = Terminal::start(&world, &["Go"], 100, 30);
    screen.wait_for_text("queues it");
    screen.send("yyy");
    screen.wait_for_text("yyy");
    server.open("ask");
    screen.wait_for_text("$ touch done");
    // Right at the question, as somebody who goes on writing.
    screen.send("y");
    screen.wait_for_text(ASKS);
    assert!(!world.work().join("done").exists());
    screen.send("n");
    // A plain no ends the turn.
    screen.wait_for_text("rejected");
    assert!(!world.work().join("done").exists());
    screen.wait_for_text("yyyy");
}

#[test]
fn a_command_is_edited_runs_so_and_the_model_is_told() {
    let answers = vec![vec![bash("call-1", "touch wrong")], vec![Piece::Text("I saw what ran.")]];
    let (world, server) = with_server(Scenario { when: "Touch it", answers });
    let mut screen = Terminal::start(&world, &["Touch it"], 100, 30);
    screen.wait_for_text(ASKS);
    screen.send("e");
    screen.wait_for_text("run it");
    screen.send("\x15touch right\r");
    screen.wait_for_text("I saw what ran.");
    assert!(world.work().join("right").exists() && !world.work().join("wrong").exists());
    assert!(told(&server).contains("touch right"), "{}", told(&server));
}

#[test]
fn a_draft_and_a_pending_approval_are_there_again_after_a_kill() {
    let answers = vec![vec![Piece::Gate("ask"), bash("call-1", "touch done")]];
    let (world, server) = with_server(Scenario { when: "Go", answers });
    let mut screen = Terminal::start(&world, &["Go"], 100, 30);
    screen.wait_for_text("queues it");
    screen.send("half a thought");
    screen.wait_for_text("half a thought");
    server.open("ask");
    screen.wait_for_text("$ touch done");
    let kept = |word: &str| {
        let folder = std::fs::read_dir(world.share().join("drafts"));
        // A file that is still being written has another name.
        let files = folder.into_iter().flatten().flatten().map(|file| file.path());
        files
            .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
            .any(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(word)))
    };
    let deadline = Instant::now() + LIMIT;
    while !(kept("half a thought") && kept("touch done")) {
        assert!(Instant::now() < deadline, "the draft is not kept");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    screen.signal(Signal::KILL);
    screen.wait_for_end();
    let screen = Terminal::start(&world, &["--continue"], 100, 30);
    screen.wait_for_text("half a thought");
    screen.wait_for_text("this waited for your answer");
    assert!(!world.work().join("done").exists());
}

#[test]
fn a_command_of_ones_own_runs_and_the_model_never_hears_of_it() {
    let answers = vec![vec![Piece::Text("Just this.")]];
    let (world, server) = with_server(Scenario { when: "And you", answers });
    let mut screen = Terminal::start(&world, &[], 100, 30);
    screen.wait_for_text(READY);
    screen.send("!echo its-output > file; cat file\r");
    screen.wait_for_text("  its-output");
    screen.send("\x18");
    screen.wait_for_text(READY);
    screen.send("And you?\r");
    screen.wait_for_text("Just this.");
    assert!(!told(&server).contains("its-output"), "{}", told(&server));
}

#[test]
fn a_newcomer_finds_help_the_login_and_the_way_out() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 80, 24);
    screen.wait_for_text("type /login");
    screen.wait_for_text("ctrl-d  leave");
    screen.send("?");
    screen.wait_for_text("Send; while a turn runs");
    screen.send("\x1b");
    screen.wait_until_gone("Send; while a turn runs");
    screen.send("/login\r");
    screen.wait_for_text("Connect a model");
    screen.send("\x1b");
    screen.wait_until_gone("Connect a model");
    screen.send("\x14");
    screen.wait_until_gone("all keys and commands");
    screen.send("?");
    // The keys of the place it was opened from come first.
    screen.wait_for_text("Earlier checkpoint");
    screen.send("\x1b");
    screen.wait_until_gone("Earlier checkpoint");
    screen.send("\x1b");
    screen.wait_for_text("all keys and commands");
    screen.send("\x04");
    assert_eq!(screen.wait_for_end(), 0);
    assert!(screen.is_restored());
}
