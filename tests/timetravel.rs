//! Travelling through the contexts of a session on the real program, and stopping one call of two.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::server::{Piece, Scenario, Server, text_of};
use support::terminal::Terminal;
use support::world::World;

const ALT_T: &str = "\x1bt";
const CTRL_T: &str = "\x14";
const ENTER: &str = "\r";
const ESC: &str = "\x1b";
const UP: &str = "\x1b[A";
/// What an empty composer's footer offers when no turn runs.
const IDLE: &str = "enter send";

fn says(when: &'static str, text: &'static str) -> Scenario {
    Scenario { when, answers: vec![vec![Piece::Text(text)]] }
}

fn start(scenarios: Vec<Scenario>, args: &[&str], size: (u16, u16)) -> (Terminal, Server, World) {
    let world = World::new();
    let server = Server::start(scenarios);
    world.write_config(&server.config());
    let screen = Terminal::start(&world, args, size.0, size.1);
    screen.wait_for_text(IDLE);
    (screen, server, world)
}

/// Sends a prompt, waits for the answer and for the end of the turn.
fn ask(screen: &mut Terminal, prompt: &str, answer: &str) {
    screen.send(prompt);
    screen.send(ENTER);
    screen.wait_for_text(answer);
    screen.wait_for_text(IDLE);
}

/// The texts of the last request's messages, without the system prompt.
fn told(server: &Server) -> Vec<String> {
    let last: Value = server.requests().pop().expect("a request");
    let messages = last["messages"].as_array().expect("messages");
    messages.iter().filter(|m| m["role"] != "system").map(text_of).collect()
}

#[test]
fn back_with_its_price_forth_again_and_a_message_to_the_past() {
    let scenarios = vec![says("of tea", "Tea is a leaf."), says("of salt", "Salt is a stone.")];
    let (mut screen, server, _world) = start(scenarios, &[], (80, 24));
    ask(&mut screen, "Tell me of tea", "Tea is a leaf.");
    ask(&mut screen, "Tell me of salt", "Salt is a stone.");

    // The latest checkpoint is before the answer; the one above it before the prompt.
    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send(UP);
    screen.wait_for_text("Checkpoint 0.2 before a prompt");
    screen.send("r");
    screen.wait_for_text("the model forgets 2 messages");
    screen.send(ENTER);
    screen.wait_for_text("Back to checkpoint 2");
    screen.wait_for_text(IDLE);

    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send("y");
    screen.wait_for_text("Context 0 is back");
    screen.wait_for_text("What you had gone back from is the context again");
    screen.wait_for_text(IDLE);

    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send("d");
    screen.wait_for_text("the model forgets 1 message.");
    screen.send("Please,\x0abe brief");
    screen.wait_for_text("be brief");
    screen.send(ENTER);
    screen.wait_for_text("▌ be brief");
    screen.wait_for_text(IDLE);
    let told = told(&server);
    assert_eq!(told[..3], ["Tell me of tea", "Tea is a leaf.", "Tell me of salt"]);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[3].contains("Please,\nbe brief"), "{told:?}");
}

#[test]
fn what_a_compaction_took_is_pinned_back_and_the_old_context_read_and_restored() {
    let scenarios = vec![
        says("## Message 1", "THE SUMMARY"),
        says("of tea", "Tea is a leaf."),
        says("of salt", "Salt is a stone."),
        says("what now", "This and that."),
        says("and then", "All of it."),
    ];
    let (mut screen, server, _world) = start(scenarios, &[], (120, 40));
    ask(&mut screen, "Tell me of tea", "Tea is a leaf.");
    ask(&mut screen, "Tell me of salt", "Salt is a stone.");
    ask(&mut screen, "/compact", "Context summarised");

    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send("p");
    screen.wait_for_text("Taken out of context 0 (llm_summary)");
    screen.wait_for_text("Tell me of tea");
    screen.send(" ");
    screen.wait_for_text("1 chosen");
    screen.send(ENTER);
    screen.wait_for_text("A message of context 0 quoted at the end");
    screen.wait_for_text(IDLE);
    ask(&mut screen, "so what now", "This and that.");
    let pinned = told(&server);
    assert!(pinned[0].contains("THE SUMMARY"), "{pinned:?}");
    let is_quote = |text: &&String| text.contains("brought back what a compaction");
    assert_eq!(pinned.iter().filter(is_quote).count(), 1, "{pinned:?}");

    // The mark is where it was: on the checkpoint under the row of the compaction.
    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send(UP);
    screen.wait_for_text("The context was summarised");
    screen.send("v");
    screen.wait_for_text("Context 0, as it was when it ended; the present one is 1");
    screen.wait_for_text("Salt is a stone.");
    screen.send("R");
    screen.wait_for_text("Bring context 0 back?");
    screen.send(ENTER);
    screen.wait_for_text("Context 0 is back");
    screen.wait_for_text(IDLE);
    ask(&mut screen, "and then", "All of it.");
    assert_eq!(
        told(&server),
        ["Tell me of tea", "Tea is a leaf.", "Tell me of salt", "Salt is a stone.", "and then"]
    );
}

#[test]
fn one_of_two_calls_is_stopped_and_the_others_result_hidden_later() {
    let call = |id, command: &str| Piece::Call {
        id,
        name: "Bash",
        arguments: json!({"command": command}),
    };
    let work = Scenario {
        when: "Work",
        answers: vec![
            vec![
                call("slow", "echo slow-began; sleep 300"),
                call("other", "while [ ! -e go-on ]; do sleep 0.05; done; seq 1 900"),
            ],
            vec![Piece::Text("One of them is done.")],
        ],
    };
    let scenarios = vec![work, says("go on", "Gladly.")];
    let (mut screen, server, world) = start(scenarios, &["--yolo"], (120, 40));
    screen.send("Work\r");
    screen.wait_for_text("  slow-began");
    screen.send(ALT_T);
    screen.wait_for_text("x stop it");
    // The latest that runs is marked.
    screen.send(UP);
    screen.send("x");
    screen.wait_for_text("1 running");
    std::fs::write(world.work().join("go-on"), "").expect("the file");
    screen.wait_for_text("One of them is done.");
    let after = told(&server);
    assert!(after[2].contains("Cancelled by the user"), "{after:?}");
    assert!(after[3].contains("899\n900"), "{after:?}");
    screen.send(ESC);
    screen.wait_for_text(IDLE);

    screen.send("/context\r");
    screen.wait_for_text("Tool results");
    screen.wait_for_text("the largest first");
    screen.send("x");
    screen.wait_for_text("(hidden)");
    screen.send(ESC);
    screen.wait_for_text("A tool result is hidden from the model");
    ask(&mut screen, "go on", "Gladly.");
    let hidden = told(&server);
    assert!(hidden[2].contains("Cancelled by the user"), "{hidden:?}");
    assert!(!hidden.iter().any(|text| text.contains("899")), "{hidden:?}");
    assert_eq!(hidden.len(), 6, "every call still has its result: {hidden:?}");
}
