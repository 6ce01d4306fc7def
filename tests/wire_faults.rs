//! What clients of the wire get wrong: the right error, no hang, no orphan, the session intact.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use support::LIMIT;
use support::wire::{Client, call, payloads, scripted};
use support::world::{World, lines, records};

fn error(answer: &Value) -> (Value, i64, &str) {
    (
        answer["id"].clone(),
        answer["error"]["code"].as_i64().expect("a code"),
        answer["error"]["message"].as_str().expect("a message"),
    )
}

fn prompt(text: &str) -> Value {
    json!({ "user_input": text })
}

/// A command that writes its process id and then waits for the world to end.
fn endless() -> String {
    call("t1", "Bash", &json!({"command": "echo $$ > pid; sleep 600 & echo $! > child; wait"}))
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nobody may be there to wait for an orphan: one that has ended does not run.
fn running(file: &PathBuf) -> bool {
    let text = std::fs::read_to_string(file).expect("an id");
    let pid = Pid::from_raw(text.trim().parse().expect("an id")).expect("an id");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", text.trim())).unwrap_or_default();
    test_kill_process(pid).is_ok() && !stat.contains(") Z")
}

/// Starts a turn whose command never ends, and waits until it runs.
fn mid_turn(client: &mut Client, world: &World) -> [PathBuf; 2] {
    client.initialize();
    client.request("1", "prompt", &prompt("go"));
    let files = ["pid", "child"].map(|name| world.work().join(name));
    until("the command", || files.iter().all(|file| lines(file).len() == 1));
    files
}

/// Is everything of the command gone, and can the session be gone on with?
fn all_is_well(world: &World, files: &[PathBuf]) {
    until("the command's end", || files.iter().all(|file| !running(file)));
    let session = world.sessions().pop().expect("the session");
    // The server may still be ending.
    until("the turn's end in the record", || {
        let told = records(&session.join("wire.jsonl"));
        told.last().is_some_and(|record| record["message"]["type"] == "TurnEnd")
    });
    until("the end of the server", || {
        let lock = std::fs::File::open(session.join(".lock")).expect("the session's lock");
        lock.try_lock().is_ok()
    });
    // The scripts begin again with the new process: these have no command.
    let scripts = json!(["text: and on"]).to_string();
    std::fs::write(world.share().join("scripts.json"), scripts).expect("scripts");
    let id = session.file_name().expect("a name").to_str().expect("text");
    let mut client = Client::with(world, &["--session", id]);
    client.initialize();
    client.request("r", "replay", &Value::Null);
    assert_eq!(payloads(&client.until_answer("r"), "TurnBegin").len(), 1);
    let answer = client.call("2", "prompt", &prompt("and on"));
    assert_eq!(answer["result"], json!({"status": "finished"}));
    assert!(client.end().0.success());
}

#[test]
fn lines_that_are_no_messages_get_their_errors() {
    let world = scripted(&["text: still here"]);
    let mut client = Client::start(&world);
    let deep = "[".repeat(200_000);
    let null = Value::Null;
    for (line, code, message) in [
        ("{\"jsonrpc\":", -32700, "Invalid JSON format"),
        ("hello", -32700, "Invalid JSON format"),
        (&deep, -32700, "Invalid JSON format"),
        ("[]", -32600, "Invalid request"),
        ("[{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"cancel\"}]", -32600, "Invalid request"),
        ("42", -32600, "Invalid request"),
        ("{\"jsonrpc\":\"1.0\",\"id\":\"1\",\"method\":\"cancel\"}", -32600, "Invalid request"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"cancel\"}", -32600, "Invalid request"),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":5}", -32600, "Invalid request"),
        ("{\"jsonrpc\":\"2.0\"}", -32600, "Invalid request"),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"1\"}", -32600, "Invalid response"),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"error\":5}", -32600, "Invalid response"),
    ] {
        client.raw(format!("{line}\n").as_bytes());
        assert_eq!(error(&client.next()), (null.clone(), code, message), "{line:.60}");
    }
    client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"cancel\"}\n");
    assert_eq!(error(&client.next()), (null, -32700, "Invalid JSON format"));
    for (method, params) in [
        ("initialize", json!({})),
        ("initialize", json!({"protocol_version": 1})),
        ("initialize", json!({"protocol_version": "1.10", "external_tools": [{"name": "x"}]})),
        ("initialize", json!({"protocol_version": "1.10", "hooks": "all"})),
        ("prompt", Value::Null),
        ("prompt", json!({"user_input": 5})),
        ("prompt", json!({"user_input": " "})),
        ("prompt", json!([])),
        ("steer", json!({})),
        ("set_plan_mode", json!({"enabled": "yes"})),
    ] {
        let answer = client.call("7", method, &params);
        let words = format!("Invalid parameters for method `{method}`");
        assert_eq!(error(&answer), (json!("7"), -32602, words.as_str()), "{params}");
    }
    for method in ["dance", "kimi_tui/revert", "event", "request", ""] {
        let words = format!("Unexpected method received: {method}");
        assert_eq!(
            error(&client.call("8", method, &Value::Null)),
            (json!("8"), -32601, words.as_str())
        );
    }
    // Notifications with errors and answers to nothing get no answer.
    client.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"dance\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"prompt\"}\n");
    client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"never-asked\",\"result\":{}}\n");
    client.raw(
        b"{\"jsonrpc\":\"2.0\",\"id\":\"never-asked\",\"error\":{\"code\":1,\"message\":\"x\"}}\n",
    );
    assert_eq!(client.call("9", "prompt", &prompt("hi"))["result"], json!({"status": "finished"}));
    assert!(client.end().0.success());
}

#[test]
fn a_line_of_a_hundred_megabytes_is_read_and_a_longer_one_refused() {
    let world = scripted(&["text: still here"]);
    let mut client = Client::start(&world);
    let piece = vec![b'x'; 1 << 20];
    let long = |client: &mut Client, count: usize| {
        for _ in 0..count {
            client.raw(&piece);
        }
        client.raw(b"\n");
        client.next()
    };
    assert_eq!(error(&long(&mut client, 99)).1, -32700);
    assert_eq!(error(&long(&mut client, 101)), (Value::Null, -32600, "Invalid request"));
    assert_eq!(client.call("9", "prompt", &prompt("hi"))["result"], json!({"status": "finished"}));
}

#[test]
fn a_client_that_closes_its_side_in_the_middle_of_a_turn_leaves_no_orphan() {
    let world = scripted(&[&endless(), "text: x"]);
    let mut client = Client::with(&world, &["--yolo"]);
    let files = mid_turn(&mut client, &world);
    let (status, told) = client.end();
    assert!(status.success());
    let last = told.last().expect("the prompt's answer");
    assert_eq!((&last["id"], &last["result"]["status"]), (&json!("1"), &json!("cancelled")));
    all_is_well(&world, &files);
}

#[test]
fn a_client_that_dies_leaves_no_orphan() {
    // The client is a shell that is killed: both pipes break at once.
    let world = scripted(&[&endless(), "text: x"]);
    let mut command = std::process::Command::new("sh");
    let message = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": "1", "method": "prompt", "params": prompt("go")})
    );
    std::fs::write(world.work().join("input"), message).expect("input");
    let script =
        format!("(cat input; sleep 600) | {} --wire --yolo | sleep 600", support::world::program());
    command.args(["-c", &script]).current_dir(world.work()).env_clear().envs(world.environment());
    use std::os::unix::process::CommandExt;
    let mut child = command.process_group(0).spawn().expect("the client");
    let files = ["pid", "child"].map(|name| world.work().join(name));
    until("the command", || files.iter().all(|file| lines(file).len() == 1));
    let group = Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("an id");
    rustix::process::kill_process_group(group, rustix::process::Signal::HUP).expect("sent");
    child.wait().expect("its end");
    all_is_well(&world, &files);
}

#[test]
fn a_server_that_is_killed_takes_the_command_of_its_turn_along() {
    let world = scripted(&[&endless(), "text: x"]);
    let mut client = Client::with(&world, &["--yolo"]);
    let files = mid_turn(&mut client, &world);
    client.kill();
    client.wait();
    until("the command's end", || files.iter().all(|file| !running(file)));
}

#[test]
fn a_signal_ends_it_cleanly() {
    let world = scripted(&[&endless(), "text: x"]);
    let mut client = Client::with(&world, &["--yolo"]);
    let files = mid_turn(&mut client, &world);
    let pid = Pid::from_raw(i32::try_from(client.id()).expect("an id")).expect("an id");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    assert!(client.wait().success());
    all_is_well(&world, &files);
}

/// Kilobytes of memory a process has, at most so far.
#[cfg(target_os = "linux")]
fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("its peak");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_stops_reading_costs_bounded_memory_and_can_still_cancel() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    // Forty megabytes of answer, piece by piece.
    let piece = format!("text: {}\n", "x".repeat(1000));
    let world = scripted(&[&piece.repeat(40_000)]);
    let mut command = world.command(&["--wire"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program");
    let mut stdin = child.stdin.take().expect("its input");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    writeln!(
        stdin,
        "{}",
        json!({"id": "i", "method": "initialize", "params": {"protocol_version": "1.10"}})
    )
    .expect("sent");
    lines.next().expect("an answer").expect("an answer");
    writeln!(stdin, "{}", json!({"id": "0", "method": "prompt", "params": prompt("/x")}))
        .expect("sent");
    while !lines.next().expect("an answer").expect("an answer").contains("\"id\":\"0\"") {}
    writeln!(stdin, "{}", json!({"id": "1", "method": "prompt", "params": prompt("go")}))
        .expect("sent");
    // Until the turn stands still for want of a reader.
    let cpu = |id: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("its state");
        let fields: Vec<&str> =
            stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks")
    };
    let deadline = Instant::now() + LIMIT;
    let mut seen = (0, 0);
    while seen.1 < 10 {
        assert!(Instant::now() < deadline, "it never waits");
        std::thread::sleep(Duration::from_millis(50));
        let now = cpu(child.id());
        seen = if now == seen.0 { (now, seen.1 + 1) } else { (now, 0) };
    }
    let held = peak(child.id());
    writeln!(stdin, "{}", json!({"id": "c", "method": "cancel"})).expect("sent");
    let mut events = 0;
    let status = loop {
        let line: Value =
            serde_json::from_str(&lines.next().expect("more").expect("more")).expect("JSON");
        events += usize::from(line["method"] == "event");
        if line["id"] == "1" {
            break line["result"]["status"].clone();
        }
    };
    assert_eq!(status, "cancelled");
    assert!(events < 20_000, "the model was read on for nobody: {events}");
    // The script itself, parsed, is most of it.
    assert!(held < 400_000, "{held} kB");
    drop(stdin);
    assert!(child.wait().expect("its end").success());
}

#[test]
fn ten_thousand_events_a_second_pass() {
    let world = scripted(&[&"text: x\n".repeat(20_000)]);
    let mut client = Client::start(&world);
    client.initialize();
    let begun = Instant::now();
    client.request("1", "prompt", &prompt("go"));
    let told = client.until_answer("1");
    let took = begun.elapsed();
    assert_eq!(payloads(&told, "ContentPart").len(), 20_000);
    // A debug build on a busy machine: the bench has the real number.
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn retries_and_step_limits_are_told() {
    let world = scripted(&[
        "error: 429 slow down",
        &format!("text: a\n{}", call("t", "Todo", &json!({"todos": []}))),
    ]);
    let mut client = Client::with(&world, &["--max-steps-per-turn", "1", "--agent", "okabe"]);
    client.initialize();
    client.request("1", "prompt", &prompt("go"));
    let told = client.until_answer("1");
    let retry = &payloads(&told, "StepRetry")[0];
    assert_eq!(
        (&retry["n"], &retry["next_attempt"], &retry["max_attempts"], &retry["status_code"]),
        (&json!(1), &json!(2), &json!(3), &json!(429))
    );
    assert!(retry["wait_s"].is_f64() && retry["error_type"].is_string());
    assert_eq!(
        told.last().expect("the answer")["result"],
        json!({"status": "max_steps_reached", "steps": 1})
    );
}

#[test]
fn a_record_that_cannot_be_read_is_told_and_the_session_goes_on() {
    let world = scripted(&["text: a", "text: b"]);
    let mut client = Client::start(&world);
    client.initialize();
    client.call("1", "prompt", &prompt("go"));
    let record = world.sessions()[0].join("wire.jsonl");
    std::fs::remove_file(&record).expect("the record");
    std::fs::create_dir(&record).expect("in its place");
    let answer = client.call("2", "replay", &json!({}));
    assert_eq!(error(&answer), (json!("2"), -32603, "Replay failed"));
    std::fs::remove_dir(&record).expect("out of the way");
    let answer = client.call("3", "prompt", &prompt("go on"));
    assert_eq!(answer["result"], json!({"status": "finished"}));
}

#[test]
fn a_login_that_has_ended_is_told_with_what_to_do() {
    let world = World::new();
    world.write_config(
        "default_model = \"m\"\n[providers.p]\ntype = \"kimi\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         oauth = { storage = \"file\", key = \"oauth/nowhere\" }\n\
         [models.m]\nprovider = \"p\"\nmodel = \"k\"\nmax_context_size = 9000\n",
    );
    let mut client = Client::start(&world);
    client.initialize();
    let answer = client.call("1", "prompt", &prompt("go"));
    let (id, code, message) = error(&answer);
    assert_eq!((id, code), (json!("1"), -32004), "{answer}");
    assert!(message.contains("/login"), "{message}");
}

#[test]
fn a_command_that_a_killed_server_left_behind_is_found_again_and_can_be_stopped() {
    let arguments = json!({
        "command": "echo $$ > pid; sleep 600", "description": "left behind",
        "run_in_background": true,
    });
    let world = scripted(&[&call("b", "Bash", &arguments), "text: It runs."]);
    let args = ["--yolo", "--session", "killed"];
    let mut client = Client::with(&world, &args);
    client.call("1", "prompt", &prompt("go"));
    let pid = world.work().join("pid");
    until("it runs", || lines(&pid).len() == 1);
    client.kill();
    client.wait();
    assert!(running(&pid), "nobody has ended it");

    let mut client = Client::with(&world, &args);
    let can = json!({"kimi_tui": true});
    // What is found may be told before the answer comes.
    client.request("i", "initialize", &json!({"protocol_version": "1.10", "capabilities": can}));
    let told = client.until(|message| message["params"]["type"] == "Notification");
    let note = &payloads(&told, "Notification")[0];
    let body = note["body"].as_str().expect("words");
    assert!(note["title"].as_str().expect("words").contains("still runs"), "{note}");
    assert!(body.contains("left behind"), "{note}");
    let (_, id) = body.split_once('(').expect("its id");
    let task_id = id.split(')').next().expect("its id");
    client.call("2", "kimi_tui/stop_task", &json!({ "task_id": task_id }));
    until("its end", || !running(&pid));
    assert!(client.end().0.success());
}
