//! The Agent Client Protocol, with the client libraries of other languages: those of npm and PyPI.
//!
//! They are used where they are installed: `KIMI_ACP_NPM` names a folder whose `node_modules` has
//! `@agentclientprotocol/sdk` (or the older `@zed-industries/agent-client-protocol`),
//! `KIMI_ACP_PYTHON` a Python with `agent-client-protocol`; several are separated as in `PATH`.
//! Without these variables the libraries that `node` and `python3` find by themselves are used.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;
use support::server::{Piece, Scenario, Server};
use support::world::{World, program};

const CASES: [&str; 10] = [
    "initialize",
    "new",
    "prompt",
    "permissions",
    "questions",
    "cancel",
    "image",
    "bad input",
    "list",
    "load",
];

fn answers() -> Server {
    let say = |when, pieces: &[Piece]| Scenario { when, answers: vec![pieces.to_vec()] };
    let write = |when: &'static str| {
        let path = when.strip_prefix("Write ").expect("a file");
        let arguments = json!({"path": path, "content": "new\n"});
        let call = Piece::Call { id: "c", name: "WriteFile", arguments };
        Scenario { when, answers: vec![vec![call], vec![Piece::Text("Done.")]] }
    };
    let questions = json!({"questions": [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"question": "Which sizes?", "multi_select": true, "options": [
            {"label": "Small"}, {"label": "Large"},
        ]},
    ]});
    let ask = Piece::Call { id: "q", name: "AskUserQuestion", arguments: questions };
    Server::start(vec![
        Scenario { when: "Ask", answers: vec![vec![ask], vec![Piece::Text("Done.")]] },
        say("Hello", &[Piece::Think("hm"), Piece::Text("Hello,"), Piece::Text(" you.")]),
        say("Wait", &[Piece::Text("one"), Piece::Gate("never"), Piece::Text("two")]),
        say("Look", &[Piece::Text("I see.")]),
        write("Write once.txt"),
        write("Write no.txt"),
        write("Write none.txt"),
        write("Write always.txt"),
        write("Write unasked.txt"),
    ])
}

fn client(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp_clients").join(name)
}

/// Runs `command` with the work folder, the program and its arguments, as an editor would.
fn passes(mut command: Command, what: &str) {
    let server = answers();
    let world = World::new();
    world.write_config(&(server.config() + "capabilities = [\"image_in\", \"thinking\"]\n"));
    command.arg(world.work()).arg(program()).arg("acp");
    // The interpreters may need what is in the environment; the agent must see only the test's.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("KIMI_") || name.starts_with("OPENAI_") {
            command.env_remove(name);
        }
    }
    command.envs(world.environment()).stdin(Stdio::null()).current_dir(world.work());
    let Output { status, stdout, stderr } = command.output().expect("the client");
    let said = String::from_utf8_lossy(&stdout);
    let passed: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
    let why = String::from_utf8_lossy(&stderr);
    assert!(status.success() && passed == CASES, "{what}: {status}, passed {passed:?}\n{why}");
}

/// Does it run, and well?
fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Says so even where the output of tests is not shown.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// What the variable names, else what there is.
fn named_or(variable: &str, found: impl FnOnce() -> Option<PathBuf>) -> Vec<PathBuf> {
    match std::env::var_os(variable) {
        Some(list) => std::env::split_paths(&list).collect(),
        None => found().into_iter().collect(),
    }
}

#[test]
fn the_npm_library_drives_the_agent() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let resolve = "require.resolve('@agentclientprotocol/sdk')";
    let folders = named_or("KIMI_ACP_NPM", || {
        succeeds(Command::new("node").args(["-e", resolve]).current_dir(&here)).then_some(here)
    });
    if folders.is_empty() {
        skipped("@agentclientprotocol/sdk is not installed (npm i, or KIMI_ACP_NPM)");
    }
    for folder in folders {
        let mut command = Command::new("node");
        command.arg(client("client.mjs")).arg(&folder);
        passes(command, &folder.display().to_string());
    }
}

#[test]
fn the_python_library_drives_the_agent() {
    let pythons = named_or("KIMI_ACP_PYTHON", || {
        let python = PathBuf::from("python3");
        succeeds(Command::new(&python).args(["-c", "import acp"])).then_some(python)
    });
    if pythons.is_empty() {
        skipped("agent-client-protocol is not installed (pip, or KIMI_ACP_PYTHON)");
    }
    for python in pythons {
        let mut command = Command::new(&python);
        command.arg(client("client.py"));
        passes(command, &python.display().to_string());
    }
}
