//! The Agent Client Protocol with bad input, old editors and editors that die.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::LIMIT;
use support::acp::{approving, editor, new_session, of, prompt, said, stop, turn};
use support::server::{Piece, Scenario, Server};
use support::wire::{call, scripted, scripted_with};
use support::world::World;

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

#[test]
fn ids_of_every_kind_come_back_and_a_line_of_a_hundred_megabytes_ends_nothing() {
    let world = scripted(&["text: still here"]);
    let mut client = editor(&world, &["acp"], &json!({}));
    for id in [json!(7), json!(-1), json!(0), json!("a"), json!(""), json!(1u64 << 53)] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}}));
        let answer = client.next();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["result"]["sessions"].is_array(), "{answer}");
    }
    let session = new_session(&mut client, &world);
    client.raw(b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/prompt\", \"params\": \"");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..101 {
        client.raw(&megabyte);
    }
    client.raw(b"\"}\n");
    let answer = client.until(|message| message.get("error").is_some()).pop().expect("an answer");
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
    let told = turn(&mut client, &session, "hi", approving);
    assert_eq!(said(&told), "still here");
    assert!(client.end().0.success());
}

/// Kilobytes of memory a process has now, and the processor time it has had, in ticks.
#[cfg(target_os = "linux")]
fn load(id: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("its size");
    let size = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("its state");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().expect("ticks");
    (size, ticks(11) + ticks(12))
}

#[cfg(target_os = "linux")]
#[test]
fn an_editor_that_stops_reading_costs_bounded_memory_and_can_still_cancel() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    // Forty megabytes of answer, piece by piece.
    let piece = format!("text: {}\n", "x".repeat(1000));
    let world = scripted(&[&piece.repeat(40_000), "text: again"]);
    let mut command = world.command(&["acp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program");
    let mut stdin = child.stdin.take().expect("its input");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut read = move || -> Value {
        serde_json::from_str(&lines.next().expect("a line").expect("a line")).expect("JSON")
    };
    let mut send = move |id: Option<&str>, method: &str, params: Value| {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        writeln!(stdin, "{message}").expect("sent");
    };
    send(Some("i"), "initialize", json!({"protocolVersion": 1}));
    send(Some("n"), "session/new", json!({"cwd": world.work(), "mcpServers": []}));
    let session = loop {
        let message = read();
        if message["id"] == "n" {
            break message["result"]["sessionId"].clone();
        }
    };
    send(Some("p"), "session/prompt", prompt(&session, "go"));
    while read()["params"]["update"]["sessionUpdate"] != "agent_message_chunk" {}
    // Until the turn stands still for want of a reader.
    let deadline = Instant::now() + LIMIT;
    let mut seen = (load(child.id()), 0);
    while seen.1 < 10 {
        assert!(Instant::now() < deadline, "it never waits");
        std::thread::sleep(Duration::from_millis(50));
        let now = load(child.id());
        seen = if now.1 == seen.0.1 { (now, seen.1 + 1) } else { (now, 0) };
    }
    // The script itself, parsed, is most of it.
    let held = seen.0.0;
    assert!(held < 400_000, "{held} kB");
    send(None, "session/cancel", json!({"sessionId": session}));
    let mut chunks = 0;
    let end = loop {
        let message = read();
        chunks +=
            usize::from(message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
        if message["id"] == "p" {
            break message;
        }
    };
    assert_eq!(end["result"]["stopReason"], "cancelled", "{chunks} chunks, {held} kB");
    assert!(chunks < 20_000, "the model was read on for nobody: {chunks}");
    send(Some("q"), "session/prompt", prompt(&session, "again"));
    while read()["id"] != "q" {}
    drop(send);
    assert!(child.wait().expect("its end").success());
}

#[test]
fn prompts_of_several_sessions_interleave_and_keep_apart() {
    let gated = |when, first, gate, second| Scenario {
        when,
        answers: vec![vec![Piece::Text(first), Piece::Gate(gate), Piece::Text(second)]],
    };
    let server = Server::start(vec![
        gated("alpha", "a1", "alpha", "a2"),
        gated("beta", "b1", "beta", "b2"),
        gated("gamma", "c1", "gamma", "c2"),
    ]);
    let world = World::new();
    world.write_config(&server.config());
    let mut client = editor(&world, &["acp"], &json!({}));
    let names = ["alpha", "beta", "gamma"];
    let sessions = names.map(|_| new_session(&mut client, &world));
    for (name, session) in names.iter().zip(&sessions) {
        client.request(name, "session/prompt", &prompt(session, name));
    }
    let open = std::cell::Cell::new(3);
    let mut told = client.until(|message| {
        let text = &message["params"]["update"]["content"]["text"];
        if ["a1", "b1", "c1"].iter().any(|first| text == first) {
            open.set(open.get() - 1);
        }
        open.get() == 0
    });
    // They end in another order than they began; one is cancelled.
    server.open("gamma");
    told.extend(client.until_answer("gamma"));
    let cancel = json!({"sessionId": sessions[1]});
    client.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": cancel}));
    told.extend(client.until_answer("beta"));
    assert_eq!(stop(&told), "cancelled");
    server.open("alpha");
    told.extend(client.until_answer("alpha"));
    assert_eq!(stop(&told), "end_turn");
    for (session, text) in sessions.iter().zip(["a1a2", "b1", "c1c2"]) {
        let own: Vec<Value> = told
            .iter()
            .filter(|message| message["params"]["sessionId"] == *session)
            .cloned()
            .collect();
        assert_eq!(said(&own), text);
    }
}

#[test]
fn a_session_closed_in_the_middle_of_an_approval_is_intact() {
    let write = call("c", "WriteFile", &json!({"path": "a", "content": "x"}));
    let world = scripted(&[&write, "text: again"]);
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    client.request("p", "session/prompt", &prompt(&session, "go"));
    let asked = client.until(|message| message["method"] == "session/request_permission");
    let closed = client.call("x", "session/close", &json!({"sessionId": session}));
    assert_eq!(closed["result"], json!({}), "{closed}");
    // A late answer changes nothing.
    let late = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
    client.respond(asked.last().expect("it"), &late);
    let load = json!({"sessionId": session, "cwd": world.work(), "mcpServers": []});
    client.request("l", "session/load", &load);
    let past = client.until_answer("l");
    assert!(past.last().expect("an answer")["result"].is_object(), "{past:#?}");
    assert_eq!(of(&past, "user_message_chunk")[0]["content"]["text"], "go");
    let ends = of(&past, "tool_call_update");
    assert!(ends.iter().any(|update| update["status"] == "failed"), "{past:#?}");
    assert!(!world.work().join("a").exists());
    let told = turn(&mut client, &session, "go on", approving);
    assert_eq!((said(&told).as_str(), stop(&told)), ("again", &json!("end_turn")));
}

#[test]
fn a_login_that_no_longer_counts_asks_for_a_new_one() {
    let world = World::new();
    world.write_config(
        "default_model = \"m\"\n\n[providers.p]\ntype = \"kimi\"\n\
         base_url = \"http://127.0.0.1:1/v1\"\n\
         oauth = { storage = \"file\", key = \"oauth/gone\", client_id = \"c\", \
         device_url = \"http://127.0.0.1:1/d\", token_url = \"http://127.0.0.1:1/t\" }\n\n\
         [models.m]\nprovider = \"p\"\nmodel = \"m\"\nmax_context_size = 100000\n",
    );
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "hi", approving);
    let error = &told.last().expect("an end")["error"];
    assert_eq!(error["code"], -32000, "{error}");
    assert_eq!(error["data"]["authMethods"][0]["id"], "login");
    let message = error["message"].as_str().expect("why");
    assert!(message.contains("log") && message.contains("kimi-tui login"), "{message}");
}

#[test]
fn a_prompt_is_cancelled_by_its_id_and_no_other_is() {
    let answers = vec![vec![Piece::Text("one"), Piece::Gate("never")]];
    let server = Server::start(vec![Scenario { when: "go", answers }]);
    let world = World::new();
    world.write_config(&server.config());
    let mut client = editor(&world, &["acp"], &json!({}));
    let sessions = [new_session(&mut client, &world), new_session(&mut client, &world)];
    for (id, session) in ["a", "b"].iter().zip(&sessions) {
        client.request(id, "session/prompt", &prompt(session, "go"));
        client.until(|message| message["params"]["update"]["content"]["text"] == "one");
    }
    for id in ["b", "a"] {
        let cancel = json!({ "requestId": id });
        client.send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": cancel}));
        let told = client.until(|message| message.get("id").is_some());
        let end = told.last().expect("an answer");
        assert_eq!((&end["id"], &end["result"]["stopReason"]), (&json!(id), &json!("cancelled")));
    }
}
