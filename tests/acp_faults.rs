//! The Agent Client Protocol with bad input, old editors and editors that die.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::LIMIT;
use support::server::{Piece, Scenario, Server};
use support::wire::{Client, call, scripted, scripted_with};
use support::world::World;

fn editor(world: &World, args: &[&str], capabilities: &Value) -> Client {
    let mut client = Client::run(world, args);
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    let answer = client.call("hello", "initialize", &hello);
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    client
}

fn new_session(client: &mut Client, world: &World) -> Value {
    let answer = client.call("new", "session/new", &json!({"cwd": world.work(), "mcpServers": []}));
    let session = answer["result"]["sessionId"].clone();
    assert!(session.is_string(), "{answer}");
    session
}

fn prompt(session: &Value, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Updates of one kind.
fn of<'a>(told: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let updates = told.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}

#[test]
fn what_is_no_message_is_told_and_ends_nothing() {
    let world = scripted(&["text: still here"]);
    let mut client = editor(&world, &["acp"], &json!({}));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"x\",\"params\":\"{}\"}}",
        "x".repeat(20 << 20)
    );
    for (line, code) in [
        ("not json", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/li", -32700),
        (deep.as_str(), -32700),
        ("\u{fffd}", -32700),
        ("[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/list\"}]", -32600),
        ("7", -32600),
        ("{\"id\": 1, \"method\": 3}", -32600),
        (long.as_str(), -32601),
    ] {
        client.raw(line.as_bytes());
        client.raw(b"\n");
        let answer = client.next();
        let start: String = line.chars().take(40).collect();
        assert_eq!(answer["error"]["code"], code, "{start}: {answer}");
        if code != -32601 {
            assert!(answer["id"].is_null(), "{start}: {answer}");
        }
    }
    // Blank lines, bytes that are no UTF-8, answers and news nobody asked for.
    client.raw(b"\n  \n");
    client.raw(b"\xff\xfe\n");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}}));
    client
        .send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": 5}));
    client
        .send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "_unknown/news"}));
    let session = new_session(&mut client, &world);
    let end = client.call("p", "session/prompt", &prompt(&session, "hi"));
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert!(client.end().0.success());
}

#[test]
fn wrong_parameters_and_states_have_their_errors() {
    let world = scripted_with(&["text: x"], "");
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let cwd = json!(world.work());
    for (method, params, code) in [
        ("session/fly", json!({}), -32601),
        ("_own/method", json!({}), -32601),
        ("initialize", json!({}), -32602),
        ("session/new", json!({}), -32602),
        ("session/new", json!({"cwd": "relative"}), -32602),
        ("session/new", json!({"cwd": "/no/such/folder"}), -32603),
        ("session/new", json!({"cwd": 5}), -32602),
        ("session/load", json!({"cwd": cwd, "sessionId": "no-such"}), -32002),
        ("session/load", json!({"cwd": cwd, "sessionId": "../../etc"}), -32002),
        ("session/resume", json!({"cwd": cwd, "sessionId": "no-such"}), -32002),
        ("session/delete", json!({"sessionId": "no-such"}), -32002),
        ("session/close", json!({"sessionId": "no-such"}), -32002),
        ("session/list", json!({"cursor": "x"}), -32602),
        ("session/prompt", json!({"sessionId": "no-such", "prompt": []}), -32602),
        ("session/prompt", json!({"sessionId": session, "prompt": []}), -32602),
        ("session/prompt", json!({"sessionId": session, "prompt": "text"}), -32602),
        ("session/set_mode", json!({"sessionId": session, "modeId": "fast"}), -32602),
        ("session/set_model", json!({"sessionId": session, "modelId": "none"}), -32602),
        ("session/set_mode", json!({"sessionId": "no-such", "modeId": "plan"}), -32602),
        ("authenticate", json!({"methodId": "none"}), -32602),
    ] {
        let answer = client.call("x", method, &params);
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        assert!(answer["error"]["message"].is_string());
    }
    let end = client.call("p", "session/prompt", &prompt(&session, "hi"));
    assert_eq!(end["result"]["stopReason"], "end_turn", "the session is intact");
}

#[test]
fn a_prompt_during_a_prompt_is_refused_and_two_sessions_work_at_once() {
    let answers = vec![vec![Piece::Text("one"), Piece::Gate("go"), Piece::Text("two")]];
    let server = Server::start(vec![
        Scenario { when: "slow", answers },
        Scenario { when: "fast", answers: vec![vec![Piece::Text("quick")]] },
    ]);
    let world = World::new();
    world.write_config(&server.config());
    let mut client = editor(&world, &["acp"], &json!({}));
    let slow = new_session(&mut client, &world);
    let fast = new_session(&mut client, &world);
    client.request("s", "session/prompt", &prompt(&slow, "slow"));
    client.until(|message| message["params"]["update"]["content"]["text"] == "one");
    let refused = client.call("again", "session/prompt", &prompt(&slow, "slow"));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let done = client.call("f", "session/prompt", &prompt(&fast, "fast"));
    assert_eq!(done["result"]["stopReason"], "end_turn");
    server.open("go");
    assert_eq!(client.answer("s")["result"]["stopReason"], "end_turn");
}

#[test]
fn limits_and_failures_of_the_provider_end_a_prompt_with_their_reason() {
    let todo = call("c", "Todo", &json!({"todos": []}));
    let world = scripted(&[&todo, &todo]);
    let mut client = editor(&world, &["--max-steps-per-turn", "1", "acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let end = client.call("p", "session/prompt", &prompt(&session, "hi"));
    assert_eq!(end["result"]["stopReason"], "max_turn_requests");

    let refusal =
        vec![vec![Piece::Refuse("401 Unauthorized", "{\"error\": {\"message\": \"bad key\"}}")]];
    let server = Server::start(vec![Scenario { when: "hi", answers: refusal }]);
    let world = World::new();
    world.write_config(&server.config());
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let end = client.call("p", "session/prompt", &prompt(&session, "hi"));
    assert_eq!(end["error"]["code"], -32603, "{end}");
    assert!(end["error"]["message"].as_str().expect("why").contains("401"), "{end}");
}

#[test]
fn an_editor_of_the_old_libraries_gets_the_shapes_it_knows() {
    let world = scripted(&["text: x"]);
    let old = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    let mut client = editor(&world, &["acp"], &old);
    let new = client.call("new", "session/new", &json!({"cwd": world.work()}));
    let models = &new["result"]["models"];
    assert_eq!(models["currentModelId"], "s", "{new}");
    assert_eq!(models["availableModels"][0]["modelId"], "s");
    let session = new["result"]["sessionId"].clone();
    let set = client.call("m", "session/set_model", &json!({"sessionId": session, "modelId": "s"}));
    assert_eq!(set["result"], json!({}), "{set}");
    client.request("p", "session/prompt", &prompt(&session, "hi"));
    let told = client.until_answer("p");
    assert_eq!(of(&told, "agent_message_chunk").len(), 1);
    for kind in ["usage_update", "session_info_update", "config_option_update", "notice"] {
        assert!(of(&told, kind).is_empty(), "{kind}: {told:#?}");
    }
}

#[test]
fn one_session_at_a_time_and_the_first_is_the_flags() {
    let world = scripted(&["text: x"]);
    let mut client = editor(&world, &["--acp", "--session", "mine"], &json!({}));
    let first = new_session(&mut client, &world);
    assert_eq!(first, "mine");
    let second = new_session(&mut client, &world);
    assert_ne!(second, first);
    let closed = client.call("p", "session/prompt", &prompt(&first, "hi"));
    assert_eq!(closed["error"]["code"], -32602, "the first was closed: {closed}");
}

#[test]
fn an_editor_that_dies_leaves_nothing_running() {
    let sleep = json!({"command": "echo $$ > pid; sleep 1000", "timeout": 300});
    let world = scripted(&[&call("c", "Bash", &sleep)]);
    let mut client = editor(&world, &["--yolo", "acp"], &json!({}));
    let session = new_session(&mut client, &world);
    client.request("p", "session/prompt", &prompt(&session, "go"));
    let deadline = Instant::now() + LIMIT;
    let pid = loop {
        let text = fs::read_to_string(world.work().join("pid")).unwrap_or_default();
        if let Some(Ok(pid)) = text.strip_suffix('\n').map(str::parse) {
            break pid;
        }
        assert!(Instant::now() < deadline, "the command does not run");
        std::thread::sleep(Duration::from_millis(5));
    };
    let (status, last) = client.end();
    assert!(status.success());
    // It is told how its prompt ended, if it still reads.
    assert!(last.iter().any(|message| message["id"] == "p"), "{last:#?}");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
    while rustix::process::test_kill_process(pid).is_ok() {
        assert!(Instant::now() < deadline, "{pid:?} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(world.sessions().len(), 1, "the session is kept");
}
