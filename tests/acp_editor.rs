//! What an editor offers: its files with what is not saved, its terminals, its MCP servers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::acp::{chosen, new_session, of, stop, turn};
use support::wire::{Client, call, listed, scripted};
use support::world::World;

fn editor(world: &World, capabilities: &Value) -> (Client, Value) {
    let mut client = Client::run(world, &["acp"]);
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    client.call("hello", "initialize", &hello);
    let answer = client.call("new", "session/new", &json!({"cwd": world.work(), "mcpServers": []}));
    (client, answer["result"]["sessionId"].clone())
}

/// Prompts, and answers what is asked by `answer` until the end; gives everything that came.
fn prompt(
    client: &mut Client,
    session: &Value,
    answer: impl Fn(&str, &Value) -> Value,
) -> Vec<Value> {
    let text = json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]});
    client.request("p", "session/prompt", &text);
    let mut all = Vec::new();
    loop {
        let message = client.next();
        if message["id"] == "p" && message.get("method").is_none() {
            all.push(message);
            return all;
        }
        if message.get("id").is_some() && message.get("method").is_some() {
            let method = message["method"].as_str().expect("a method");
            let result = match method {
                "session/request_permission" => {
                    json!({"outcome": {"outcome": "selected", "optionId": "approve"}})
                }
                method => answer(method, &message["params"]),
            };
            client.respond(&message, &result);
        }
        all.push(message);
    }
}

fn methods(all: &[Value]) -> Vec<&str> {
    let requests = all.iter().filter(|message| message.get("id").is_some());
    requests.filter_map(|message| message["method"].as_str()).collect()
}

#[test]
fn files_are_read_and_written_through_the_editor() {
    let world = scripted(&[
        &call("r", "ReadFile", &json!({"path": "a.txt"})),
        &call(
            "e",
            "EditFile",
            &json!({"path": "a.txt", "edit": {"old": "unsaved", "new": "edited"}}),
        ),
        "text: done",
    ]);
    let file = world.work().join("a.txt");
    fs::write(&file, "saved\n").expect("a file");
    let can = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "auth": {}});
    let (mut client, session) = editor(&world, &can);
    let all = prompt(&mut client, &session, |method, params| match method {
        "fs/read_text_file" => {
            assert!(params["path"].as_str().expect("a path").ends_with("/a.txt"));
            json!({"content": "unsaved\n"})
        }
        "fs/write_text_file" => {
            assert_eq!(params["content"], "edited\n");
            assert_eq!(params["sessionId"], session);
            Value::Null
        }
        other => panic!("{other}"),
    });
    assert_eq!(all.last().expect("an end")["result"]["stopReason"], "end_turn");
    assert!(methods(&all).contains(&"fs/write_text_file"), "{}", listed(&all));
    assert_eq!(
        fs::read_to_string(&file).expect("the file"),
        "saved\n",
        "it is the editor's to save"
    );
    let told = listed(&all);
    assert!(told.contains("unsaved"), "{told}");
}

#[test]
fn a_file_the_editor_cannot_give_is_read_from_disk() {
    let world = scripted(&[&call("r", "ReadFile", &json!({"path": "a.txt"})), "text: done"]);
    fs::write(world.work().join("a.txt"), "saved\n").expect("a file");
    let (mut client, session) = editor(&world, &json!({"fs": {"readTextFile": true}}));
    // No answer of the protocol: as good as none.
    let all = prompt(&mut client, &session, |_, _| json!({"nothing": 1}));
    let told = listed(&all);
    assert!(told.contains("saved"), "{told}");
}

#[test]
fn commands_run_in_the_terminal_of_the_editor() {
    let world =
        scripted(&[&call("b", "Bash", &json!({"command": "touch ran; echo hi"})), "text: done"]);
    let (mut client, session) = editor(&world, &json!({"terminal": true}));
    let all = prompt(&mut client, &session, |method, params| match method {
        "terminal/create" => {
            assert_eq!(
                (&params["command"], &params["args"]),
                (&json!("bash"), &json!(["-c", "touch ran; echo hi"]))
            );
            assert_eq!(params["outputByteLimit"], 50_000);
            json!({"terminalId": "term-1"})
        }
        "terminal/wait_for_exit" => json!({"exitCode": 3, "signal": null}),
        "terminal/output" => json!({"output": "from the editor", "truncated": false}),
        "terminal/release" => json!({}),
        other => panic!("{other}"),
    });
    assert_eq!(
        methods(&all),
        [
            "session/request_permission",
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/output",
            "terminal/release",
        ]
    );
    assert!(!world.work().join("ran").exists(), "it ran here");
    let updates: Vec<&Value> = all
        .iter()
        .map(|message| &message["params"]["update"])
        .filter(|update| update["sessionUpdate"] == "tool_call_update")
        .collect();
    let shown = updates.iter().position(|update| update["content"][0]["terminalId"] == "term-1");
    assert!(shown.is_some(), "{}", listed(&all));
    let end = updates.last().expect("an end");
    assert_eq!(
        (&end["status"], &end["content"][0]["type"]),
        (&json!("failed"), &json!("terminal"))
    );
    // The model hears what came of it.
    let context = world.sessions()[0].join("context.jsonl");
    let context = fs::read_to_string(context).expect("the context");
    assert!(context.contains("from the editor") && context.contains("exit code: 3"), "{context}");
}

#[test]
fn a_cancel_releases_the_terminal() {
    let world = scripted(&[&call("b", "Bash", &json!({"command": "sleep 1000"}))]);
    let (mut client, session) = editor(&world, &json!({"terminal": true}));
    let text = json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]});
    client.request("p", "session/prompt", &text);
    let asked = |client: &Client, method: &str| {
        client.until(|message| message["method"] == method).pop().expect("a request")
    };
    let permission = asked(&client, "session/request_permission");
    client
        .respond(&permission, &json!({"outcome": {"outcome": "selected", "optionId": "approve"}}));
    let create = asked(&client, "terminal/create");
    client.respond(&create, &json!({"terminalId": "term-1"}));
    asked(&client, "terminal/wait_for_exit");
    client.send(
        &json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}),
    );
    let (mut is_released, mut stop) = (false, Value::Null);
    while !is_released || stop.is_null() {
        let message = client.next();
        is_released |= message["method"] == "terminal/release";
        if message["id"] == "p" && message.get("method").is_none() {
            stop = message["result"]["stopReason"].clone();
        }
    }
    assert_eq!(stop, "cancelled");
}

#[test]
fn the_servers_of_the_editor_are_used_and_no_others() {
    let world = scripted(&["text: done"]);
    let marks = |name: &str| {
        let mark = world.work().join(name);
        json!({"name": name, "command": "touch", "args": [mark], "env": []})
    };
    let own =
        json!({"mcpServers": {"own": {"command": "touch", "args": [world.work().join("own")]}}});
    fs::write(world.share().join("mcp.json"), own.to_string()).expect("mcp.json");
    let mut client = Client::run(&world, &["acp"]);
    client.call("hello", "initialize", &json!({"protocolVersion": 1}));
    let new = json!({"cwd": world.work(), "mcpServers": [marks("theirs")]});
    let session = client.call("new", "session/new", &new)["result"]["sessionId"].clone();
    let all = prompt(&mut client, &session, |_, _| Value::Null);
    assert_eq!(all.last().expect("an end")["result"]["stopReason"], "end_turn");
    assert!(world.work().join("theirs").exists(), "the editor's server was started");
    assert!(!world.work().join("own").exists(), "mcp.json was read");
}

fn refusal(what: &str) -> Value {
    json!({"code": -32603, "message": format!("{what} does not work")})
}

#[test]
fn files_that_the_editor_cannot_write_are_told_as_such() {
    let write = call("w", "WriteFile", &json!({"path": "a.txt", "content": "x"}));
    let world = scripted(&[&write, "text: done"]);
    let can = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = support::acp::editor(&world, &["acp"], &can);
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", |method, _| match method {
        "session/request_permission" => Ok(chosen("approve")),
        method => Err(refusal(method)),
    });
    assert_eq!(stop(&told), "end_turn", "the turn goes on: {}", listed(&told));
    let end = of(&told, "tool_call_update").pop().expect("an end").clone();
    assert_eq!(end["status"], "failed");
    assert!(end["content"].to_string().contains("fs/write_text_file does not work"), "{end}");
    assert!(!world.work().join("a.txt").exists(), "it was written past the editor");
}

#[test]
fn a_terminal_that_fails_in_any_of_its_steps_ends_the_call_and_is_given_back() {
    for failing in ["terminal/create", "terminal/wait_for_exit", "terminal/output"] {
        let bash = call("b", "Bash", &json!({"command": "touch ran"}));
        let world = scripted(&[&bash, "text: done", "text: more"]);
        let mut client = support::acp::editor(&world, &["acp"], &json!({"terminal": true}));
        let session = new_session(&mut client, &world);
        let told = turn(&mut client, &session, "go", |method, _| match method {
            method if method == failing => Err(refusal(method)),
            "session/request_permission" => Ok(chosen("approve")),
            "terminal/create" => Ok(json!({"terminalId": "t"})),
            "terminal/wait_for_exit" => Ok(json!({"exitCode": 0})),
            "terminal/output" => Ok(json!({"output": "", "truncated": false})),
            _ => Ok(json!({})),
        });
        assert_eq!(stop(&told), "end_turn", "{failing}");
        let end = of(&told, "tool_call_update").pop().expect("an end").clone();
        assert_eq!(end["status"], "failed", "{failing}: {}", listed(&told));
        let is_released = methods(&told).contains(&"terminal/release");
        assert_eq!(is_released, failing != "terminal/create", "{failing}");
        let context = fs::read_to_string(world.sessions()[0].join("context.jsonl")).expect("it");
        assert!(context.contains(&format!("{failing} does not work")), "{failing}: {context}");
        assert!(!world.work().join("ran").exists(), "{failing}: it ran here");
    }
}

/// An editor that was asked for a file in the turn of the request `p`, its session, and what it was
/// told up to that.
fn asked_for_a_file(world: &World) -> (Client, Value, Vec<Value>) {
    fs::write(world.work().join("a.txt"), "saved").expect("a file");
    let can = json!({"fs": {"readTextFile": true}});
    let mut client = support::acp::editor(world, &["acp"], &can);
    let session = new_session(&mut client, world);
    client.request("p", "session/prompt", &support::acp::prompt(&session, "go"));
    let told = client.until(|message| message["method"] == "fs/read_text_file");
    (client, session, told)
}

#[test]
fn a_cancel_that_is_sent_as_a_request_cancels_and_is_answered() {
    for method in ["session/cancel", "$/cancel_request"] {
        let read = call("r", "ReadFile", &json!({"path": "a.txt"}));
        let world = scripted(&[&read, "text: again"]);
        let (mut client, session, _) = asked_for_a_file(&world);
        client.request("c", method, &json!({"sessionId": session, "requestId": "p"}));
        let mut ends = Vec::new();
        while ends.len() < 2 {
            let message = client.next();
            if message["id"] == "c" || message["id"] == "p" {
                assert!(message.get("error").is_none(), "{method}: {message}");
                ends.push(message["result"]["stopReason"].clone());
            }
        }
        assert!(ends.contains(&json!("cancelled")) && ends.contains(&Value::Null), "{ends:?}");
    }
}

#[test]
fn an_editor_that_answers_nothing_can_still_cancel() {
    let read = call("r", "ReadFile", &json!({"path": "a.txt"}));
    let world = scripted(&[&read, "text: again"]);
    let (mut client, session, asked) = asked_for_a_file(&world);
    let cancel = json!({"sessionId": session});
    client.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": cancel}));
    assert_eq!(client.answer("p")["result"]["stopReason"], "cancelled");
    // The late answer is nobody's.
    client.respond(asked.last().expect("it"), &json!({"content": "late"}));
    let told = turn(&mut client, &session, "go on", support::acp::approving);
    assert_eq!(stop(&told), "end_turn");
}

#[test]
fn servers_of_the_editor_that_fail_are_told_and_stop_nothing() {
    let world = scripted(&["text: done"]);
    let mut client = support::acp::editor(&world, &["acp"], &json!({"session": {"notices": {}}}));
    let gone = json!({"name": "gone", "command": "/no/such/server", "args": [], "env": []});
    let ends = json!({"name": "ends", "command": "false", "args": [], "env": []});
    let deaf = json!({"type": "http", "name": "deaf", "url": "http://127.0.0.1:1/", "headers": []});
    let sse = json!({"type": "sse", "name": "sse", "url": "http://127.0.0.1:1/", "headers": []});
    let new = json!({"cwd": world.work(), "mcpServers": [gone, ends, deaf, sse]});
    let session = client.call("new", "session/new", &new)["result"]["sessionId"].clone();
    assert!(session.is_string());
    let told = turn(&mut client, &session, "go", support::acp::approving);
    assert_eq!(stop(&told), "end_turn", "{}", listed(&told));
    let told = listed(&told);
    for name in ["gone", "ends", "deaf", "sse"] {
        assert!(told.contains(name), "nothing is said of {name}: {told}");
    }
}
