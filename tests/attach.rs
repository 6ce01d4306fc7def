//! The screen over an engine in another process: a wire server it starts, and a daemon it joins.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use support::server::{Piece, Scenario, Server};
use support::terminal::Terminal;
use support::viewer::Viewer;
use support::world::{World, program};

const READY: &str = "Ask something";
const ASKS: &str = "y approve";
const CTRL_D: &str = "\x04";

fn bash(id: &'static str, command: &str) -> Piece {
    Piece::Call { id, name: "Bash", arguments: json!({ "command": command }) }
}

fn world_of(scenarios: Vec<Scenario>) -> (World, Server) {
    let world = World::new();
    let server = Server::start(scenarios);
    world.write_config(&server.config());
    (world, server)
}

#[test]
fn the_screen_drives_a_wire_server() {
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "options": [
        {"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"},
    ]}]});
    let ask = Piece::Call { id: "q", name: "AskUserQuestion", arguments: question };
    let (world, server) = world_of(vec![
        Scenario {
            when: "Tidy up",
            answers: vec![
                vec![Piece::Text("First I look."), bash("b1", "echo line-one > made; cat made")],
                vec![Piece::Text("All is **tidy**.")],
            ],
        },
        Scenario {
            when: "Remove it",
            answers: vec![
                vec![bash("b2", "touch removed")],
                vec![Piece::Text("Moved it instead.")],
            ],
        },
        Scenario { when: "Paint", answers: vec![vec![ask], vec![Piece::Text("Painted.")]] },
    ]);
    let args = ["attach", "--", program(), "--wire"];
    let mut screen = Terminal::start(&world, &args, 120, 40);
    screen.wait_for_text(READY);
    screen.send("Tidy up\r");
    screen.wait_for_text("Bash asks: run command");
    screen.wait_for_text(ASKS);
    assert!(!world.work().join("made").exists());
    screen.send("y");
    screen.wait_for_text("All is tidy.");
    assert!(world.work().join("made").exists());
    screen.wait_for_text(READY);
    screen.send("Remove it\r");
    screen.wait_for_text(ASKS);
    screen.send("f");
    screen.wait_for_text("What should it do instead?");
    screen.send("Move it to the attic\r");
    screen.wait_for_text("Moved it instead.");
    assert!(!world.work().join("removed").exists());
    screen.wait_for_text(READY);
    screen.send("Paint\r");
    screen.wait_for_text("Which colour?");
    screen.wait_for_text("choose");
    screen.send("2");
    screen.send("\r");
    screen.wait_for_text("Painted.");
    assert!(server.requests().pop().expect("a request").to_string().contains("Blue"));
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    assert!(screen.is_restored());
    assert_eq!(world.sessions().len(), 1, "the server kept its session");
}

/// A daemon, killed with the test.
struct Daemon(Child);

impl Daemon {
    /// Starts one and waits until it can be joined.
    fn start(world: &World, id: &str) -> Self {
        Self::with(world, id, &[])
    }

    fn with(world: &World, id: &str, more: &[&str]) -> Self {
        let mut command = world.command(&[&["--daemon", "--session", id], more].concat());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the daemon");
        let mut said = String::new();
        BufReader::new(child.stderr.take().expect("its words"))
            .read_line(&mut said)
            .expect("a line");
        assert!(said.contains(&format!("kimi-tui attach {id}")), "{said}");
        Self(child)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn told(world: &World, args: &[&str]) -> (bool, String) {
    let output = world.command(args).stdin(Stdio::null()).output().expect("the program");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_daemon_survives_its_viewers() {
    let (world, server) = world_of(vec![Scenario {
        when: "Work long",
        answers: vec![
            vec![
                Piece::Text("It takes "),
                Piece::Gate("rest"),
                Piece::Text("a while."),
                bash("b", "touch done"),
            ],
            vec![Piece::Text("Finished at last.")],
        ],
    }]);
    let mut daemon = Daemon::start(&world, "long");
    let socket = world.share().join("run/long.sock");
    let mode =
        |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().expect("a folder"))), (0o600, 0o700));

    let mut first = Terminal::start(&world, &["attach", "long"], 120, 40);
    first.wait_for_text(READY);
    first.send("Work long\r");
    first.wait_for_text("It takes");
    // The terminal is killed in the middle of the answer.
    drop(first);
    server.open("rest");
    let second = Terminal::start(&world, &["attach"], 120, 40);
    second.wait_for_text("Work long");
    second.wait_for_text("It takes a while.");
    second.wait_for_text(ASKS);
    // And again while it asks.
    drop(second);
    let mut third = Terminal::start(&world, &["attach", "lo"], 120, 40);
    third.wait_for_text("It takes a while.");
    third.wait_for_text("Bash asks: run command");
    third.wait_for_text(ASKS);
    assert!(!world.work().join("done").exists(), "the approval is still pending");

    // A second screen looks on; it may act when it takes the pen.
    let mut other = Terminal::start(&world, &["attach", "long"], 120, 40);
    other.wait_for_text(ASKS);
    third.send("y");
    third.wait_for_text("Finished at last.");
    other.wait_for_text("Finished at last.");
    assert!(world.work().join("done").exists());
    other.wait_for_text(READY);
    other.send("Work long\r");
    other.wait_for_text("pen");

    let (ok, list) = told(&world, &["daemon", "list"]);
    assert!(ok && list.contains("long") && list.contains("Work long"), "{list}");
    let (ok, said) = told(&world, &["daemon", "stop", "long"]);
    assert!(ok, "{said}");
    assert!(daemon.0.wait().expect("its end").success());
    assert!(!socket.exists());
    let (ok, said) = told(&world, &["attach", "long"]);
    assert!(!ok && said.contains("No daemon runs"), "{said}");
}

#[test]
fn stale_sockets_are_cleaned_and_a_second_daemon_is_refused() {
    let world = World::new();
    let run = world.share().join("run");
    std::fs::create_dir_all(&run).expect("the folder");
    drop(UnixListener::bind(run.join("gone.sock")).expect("a socket"));
    assert_eq!(told(&world, &["daemon", "list"]), (true, String::new()));
    assert!(!run.join("gone.sock").exists());
    // Also when the daemon of that session begins again.
    drop(UnixListener::bind(run.join("s.sock")).expect("a socket"));
    let _daemon = Daemon::start(&world, "s");
    let (ok, said) = told(&world, &["--daemon", "--session", "s"]);
    assert!(!ok && said.contains("open"), "{said}");
    let (_, list) = told(&world, &["daemon", "list"]);
    assert!(list.starts_with("s "), "{list}");
}

#[test]
fn prompts_that_are_piped_in_are_answered_and_then_it_ends() {
    let (world, server) =
        world_of(vec![Scenario { when: "go", answers: vec![vec![Piece::Text("ok")]] }]);
    let mut command = world.command(&["--daemon"]);
    let mut child =
        command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the daemon");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(b"go one\n\ngo two\n").expect("prompts");
    drop(stdin);
    assert!(child.wait().expect("its end").success());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn prompts_may_be_messages_and_what_is_none_ends_the_input() {
    let (world, server) =
        world_of(vec![Scenario { when: "", answers: vec![vec![Piece::Text("ok")]] }]);
    let mut command = world.command(&["--daemon", "--input-format", "stream-json"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the daemon");
    let mut stdin = child.stdin.take().expect("its input");
    let lines = [
        r#"{"role": "user", "content": "first\nwith a second line"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"second"}]}"#,
        "third",
        r#"{"role": "user", "content": "fourth"}"#,
    ];
    stdin.write_all(lines.join("\n").as_bytes()).expect("prompts");
    drop(stdin);
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Line 3 of standard input is no prompt"), "{said}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "what came before it is answered, what came after is not");
    let first = requests[0].to_string();
    assert!(first.contains(r"first\nwith a second line") && !first.contains("role\\"), "{first}");
}

#[test]
fn a_viewer_of_the_plain_protocol_is_served_too() {
    let (world, _server) =
        world_of(vec![Scenario { when: "go", answers: vec![vec![Piece::Text("ok")]] }]);
    let _daemon = Daemon::start(&world, "plain");
    let stream = UnixStream::connect(world.share().join("run/plain.sock")).expect("joined");
    let mut out = stream.try_clone().expect("a side");
    let mut lines = BufReader::new(stream).lines();
    let mut call = |id: &str, method: &str, params: Value| -> Vec<Value> {
        writeln!(out, "{}", json!({"id": id, "method": method, "params": params})).expect("sent");
        let mut seen = Vec::new();
        while seen.last().is_none_or(|last: &Value| last["id"] != id) {
            let line = lines.next().expect("more").expect("a line");
            seen.push(serde_json::from_str(&line).expect("JSON"));
        }
        seen
    };
    let hello = call("1", "initialize", json!({"protocol_version": "1.10"}));
    assert!(hello.last().expect("an answer")["result"].get("kimi_tui").is_none());
    let told = call("2", "prompt", json!({"user_input": "go"}));
    assert_eq!(told.last().expect("an answer")["result"], json!({"status": "finished"}));
    assert!(told.iter().any(|line| line["params"]["type"] == "TurnEnd"));
}

#[test]
fn one_viewer_at_a_time_has_the_pen_and_it_is_free_when_its_holder_dies() {
    let (world, _server) = world_of(vec![Scenario {
        when: "go",
        answers: vec![vec![bash("b", "touch made")], vec![Piece::Text("ok")]],
    }]);
    let _daemon = Daemon::start(&world, "pen");
    let socket = world.share().join("run/pen.sock");
    let (mut first, holds) = Viewer::join(&socket);
    assert!(holds);
    let (mut second, holds) = Viewer::join(&socket);
    assert!(!holds);
    let go = json!({"user_input": "go"});
    assert_eq!(second.call("1", "prompt", &go)["error"]["code"], -32010);

    // It is taken: both hear of it, and only the second may act.
    assert_eq!(second.call("2", "kimi_tui/take_pen", &json!({}))["result"], json!({}));
    assert_eq!(first.told("kimi_tui/pen"), json!({"held": false}));
    assert_eq!(second.told("kimi_tui/pen"), json!({"held": true}));
    for (id, method) in [("3", "prompt"), ("4", "steer")] {
        assert_eq!(first.call(id, method, &go)["error"]["code"], -32010, "{method}");
    }
    for (id, method) in [("5", "cancel"), ("6", "kimi_tui/reload")] {
        assert_eq!(first.call(id, method, &json!({}))["error"]["code"], -32010, "{method}");
    }
    second.send(&json!({"id": "7", "method": "prompt", "params": go}));
    first.event("TurnBegin");
    let request = first.asked();
    assert_eq!(second.asked(), request);
    // Whoever looks on cannot answer in the other's place.
    first.approve(&request);
    let why = first.told("kimi_tui/refused")["reason"].to_string();
    assert!(why.contains("/pen"), "{why}");
    assert!(!world.work().join("made").exists());

    // The holder dies in the middle of the turn, which goes on; the other one may act now.
    drop(second);
    let deadline = std::time::Instant::now() + support::LIMIT;
    while first.call("8", "kimi_tui/set_away", &json!(false)).get("error").is_some() {
        assert!(std::time::Instant::now() < deadline, "the pen stays with the dead");
    }
    first.approve(&request);
    let outcome = first.told("kimi_tui/prompt_done");
    assert_eq!(outcome["outcome"], "finished");
    assert!(world.work().join("made").exists());
    let (_third, holds) = Viewer::join(&socket);
    assert!(!holds, "the first has it");
}

#[test]
fn work_that_ends_while_nobody_looks_begins_a_turn() {
    let call = Piece::Call {
        id: "b",
        name: "Bash",
        arguments: json!({
            "command": "while [ ! -e stop ]; do sleep 0.02; done", "description": "the build",
            "run_in_background": true,
        }),
    };
    let (world, server) = world_of(vec![
        Scenario {
            when: "Background task completed",
            answers: vec![vec![Piece::Text("The build is done.")]],
        },
        Scenario { when: "go", answers: vec![vec![call], vec![Piece::Text("It builds.")]] },
    ]);
    let _daemon = Daemon::with(&world, "wake", &["--yolo"]);
    let socket = world.share().join("run/wake.sock");
    let (mut viewer, _) = Viewer::join(&socket);
    viewer.call("1", "prompt", &json!({"user_input": "go"}));
    drop(viewer);
    assert_eq!(server.requests().len(), 2);
    std::fs::write(world.work().join("stop"), "").expect("a file");
    let deadline = std::time::Instant::now() + support::LIMIT;
    while server.requests().len() < 3 {
        assert!(std::time::Instant::now() < deadline, "no turn begins");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // And on a screen it is told why.
    let screen = Terminal::start(&world, &["attach", "wake"], 120, 40);
    screen.wait_for_text("Background work ended while nothing ran");
    screen.wait_for_text("The build is done.");
}

#[test]
fn a_daemon_that_does_not_answer_hangs_nobody() {
    let world = World::new();
    let run = world.share().join("run");
    std::fs::create_dir_all(&run).expect("the folder");
    let _deaf = UnixListener::bind(run.join("deaf.sock")).expect("a socket");
    let (ok, list) = told(&world, &["daemon", "list"]);
    assert!(ok && list.contains("deaf  (does not answer)"), "{list}");
    let (ok, said) = told(&world, &["daemon", "stop"]);
    assert!(!ok && said.contains("deaf does not answer"), "{said}");
    assert!(run.join("deaf.sock").exists(), "it is somebody's");
}

/// Connects as whoever runs it, sends a line and prints what comes back.
const PEER: &str = r#"use Socket; $SIG{PIPE} = "IGNORE"; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
connect($s, sockaddr_un($ARGV[0])) or die "connect: $!";
syswrite($s, "{\"id\":\"1\",\"method\":\"initialize\",\"params\":{\"protocol_version\":\"1.10\"}}\n");
my $got = sysread($s, my $line, 65536); print(($got ? $line : "nothing"), "\n");"#;

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn another_user_is_sent_away() {
    let world = World::new();
    let _daemon = Daemon::start(&world, "mine");
    let run = world.share().join("run");
    let socket = run.join("mine.sock");
    let peer = |as_whom: &[&str]| {
        let words = [as_whom, &["perl", "-e", PEER, socket.to_str().expect("a path")]].concat();
        let output = std::process::Command::new(words[0]).args(&words[1..]).output().ok()?;
        Some([output.stdout, output.stderr].concat())
            .map(|said| String::from_utf8_lossy(&said).into_owned())
    };
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let is_root = std::process::Command::new(nobody[0])
        .args(&nobody[1..])
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success());
    let Some(own) = peer(&[]).filter(|_| is_root) else {
        eprintln!("skipped: needs perl, setpriv and the right to be another user");
        return;
    };
    assert!(own.contains("protocol_version"), "{own}");
    // The folder alone keeps others out.
    let said = peer(&nobody).expect("perl");
    assert!(said.contains("connect: Permission denied"), "{said}");
    // And where somebody opened it up, the daemon looks who it is.
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("opened");
    };
    let share = world.share();
    for folder in [share.parent().expect("a folder"), &share, &run] {
        open(folder, 0o755);
    }
    open(&socket, 0o666);
    assert_eq!(peer(&nobody).as_deref(), Some("nothing\n"));
    assert!(peer(&[]).expect("perl").contains("protocol_version"));
}

#[test]
fn a_program_that_is_no_server_is_told_on_the_screen() {
    let world = World::new();
    let script = "echo 'no licence today' >&2; exit 3";
    let mut screen = Terminal::start(&world, &["attach", "--", "sh", "-c", script], 120, 30);
    screen.wait_for_text("no licence today");
    screen.send(CTRL_D);
    screen.wait_for_end();
    assert!(screen.is_restored());
}

#[test]
fn a_server_that_dies_in_a_turn_or_stalls_can_be_left() {
    let world = World::new();
    let agrees = r#"read -r line; printf '{"jsonrpc":"2.0","id":"hello","result":{}}\n'
        read -r line; printf '{"jsonrpc":"2.0","id":"past","result":{}}\n'; read -r line"#;
    let dies = format!("{agrees}; echo 'out of cheese' >&2; exit 7");
    let mut screen = Terminal::start(&world, &["attach", "--", "sh", "-c", &dies], 120, 30);
    screen.wait_for_text(READY);
    screen.send("go\r");
    screen.wait_for_text("out of cheese");
    screen.wait_for_text("exit status: 7");
    screen.send(CTRL_D);
    screen.wait_for_end();
    assert!(screen.is_restored());

    let stalls = format!("{agrees}; echo $$ > pid; exec sleep 1000");
    let mut screen = Terminal::start(&world, &["attach", "--", "sh", "-c", &stalls], 120, 30);
    screen.wait_for_text(READY);
    screen.send("go\r");
    let pid = world.work().join("pid");
    let deadline = std::time::Instant::now() + support::LIMIT;
    while !std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')) {
        assert!(std::time::Instant::now() < deadline, "it does not run");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    screen.signal(rustix::process::Signal::TERM);
    screen.wait_for_end();
    assert!(screen.is_restored());
    let stat = format!("/proc/{}/stat", std::fs::read_to_string(&pid).expect("pid").trim());
    assert!(std::fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z")));
}

#[test]
fn a_command_of_the_persons_runs_here_in_the_engines_folder_or_not_at_all() {
    let (world, _server) = world_of(Vec::new());
    let folder = world.work().join("of-the-engine");
    std::fs::create_dir(&folder).expect("folder");
    let engine = format!("cd {} && exec {} --wire", folder.display(), program());
    let mut screen = Terminal::start(&world, &["attach", "--", "sh", "-c", &engine], 120, 40);
    screen.wait_for_text(READY);
    screen.send("!");
    screen.wait_for_text("shell: on this machine, not through the engine");
    screen.send("basename \"$PWD\" | tr a-z A-Z\r");
    screen.wait_for_text("OF-THE-ENGINE");
    std::fs::remove_dir(&folder).expect("folder");
    screen.send("echo ran > ../ran\r");
    screen.wait_for_text("Commands for the shell run on this machine");
    assert!(!world.work().join("ran").exists());
    screen.send("\x1b");
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
}
