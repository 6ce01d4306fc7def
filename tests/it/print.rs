//! Print mode beyond one prompt and its answer: work in the background, and what flags change.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::server::{Piece, Scenario, Server, text_of};
use crate::support::terminal::Terminal;
use crate::support::world::World;

fn run(world: &World, args: &[&str]) -> (i32, String, String) {
    let output = world.command(args).stdin(Stdio::null()).output().expect("the program");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn world_of(scenarios: Vec<Scenario>, more: &str) -> (World, Server) {
    let world = World::new();
    let server = Server::start(scenarios);
    world.write_config(&format!("{}{more}", server.config()));
    (world, server)
}

/// A model that starts `command` in the background, and is glad when it has ended.
fn in_background(command: &str) -> Vec<Scenario> {
    let arguments =
        json!({"command": command, "description": "the build", "run_in_background": true});
    let call = Piece::Call { id: "b", name: "Bash", arguments };
    vec![
        Scenario {
            when: "Background task completed",
            answers: vec![vec![Piece::Text("The build is done.")]],
        },
        Scenario { when: "go", answers: vec![vec![call], vec![Piece::Text("It builds.")]] },
    ]
}

#[test]
fn work_in_the_background_is_waited_for_and_the_model_goes_on_with_it() {
    let (world, server) = world_of(in_background("sleep 0.3; echo built"), "");
    let (code, stdout, stderr) = run(&world, &["--print", "--verbose", "-p", "go"]);
    assert_eq!((code, stdout.as_str()), (0, "It builds.\n\nThe build is done.\n"), "{stderr}");
    assert!(stderr.contains("· Waiting for 1 background task, at most 3600 s\n"), "{stderr}");
    assert!(server.requests().pop().expect("one").to_string().contains("built"));

    let (code, stdout, stderr) = run(&world, &["--quiet", "-p", "go"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "The build is done.\n", ""));

    let (code, stdout, _) = run(&world, &["--print", "--output-format", "stream-json", "-p", "go"]);
    let lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let said: Vec<&str> =
        lines.iter().filter_map(|line| line["role"].as_str().or(line["type"].as_str())).collect();
    let wanted = ["assistant", "tool", "assistant", "task.completed", "assistant"];
    assert_eq!((code, said.as_slice()), (0, wanted.as_slice()), "{stdout}");
}

#[test]
fn it_is_waited_for_no_longer_than_configured() {
    for (ceiling, words) in [(1, "not waited for any longer"), (0, "")] {
        let more = format!("[background]\nprint_wait_ceiling_s = {ceiling}\n");
        let (world, _server) = world_of(in_background("echo $$ > pid; sleep 1000"), &more);
        let begun = Instant::now();
        let (code, stdout, stderr) = run(&world, &["--print", "--verbose", "-p", "go"]);
        assert_eq!((code, stdout.as_str()), (0, "It builds.\n"), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert!(is_gone(&world), "nothing is left behind");
    }
}

/// Is the command that wrote its number into `pid` gone? One that never began is, too, and one that
/// was ended before it could write.
fn is_gone(world: &World) -> bool {
    let pid = std::fs::read_to_string(world.work().join("pid")).unwrap_or_default();
    let Ok(pid) = pid.trim().parse::<u32>() else { return true };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |stat| stat.contains(") Z"))
}

#[test]
fn an_interrupt_while_it_waits_ends_it_and_the_work() {
    let (world, _server) = world_of(in_background("echo $$ > pid; sleep 1000"), "");
    for (signal, wanted) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut command = world.command(&["--print", "--verbose", "-p", "go"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let mut notes = BufReader::new(child.stderr.take().expect("its words")).lines();
        let waits = notes.any(|line| line.expect("a line").contains("Waiting for 1 background"));
        assert!(waits, "it waits");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a number");
        kill_process(pid, signal).expect("sent");
        assert_eq!(child.wait().expect("its end").code(), Some(wanted));
        assert!(is_gone(&world));
    }
}

#[test]
fn a_message_on_standard_input_need_not_be_the_last_to_be_waited_for() {
    use std::io::Write as _;
    let (world, server) = world_of(in_background("sleep 0.2; echo built"), "");
    let format = ["--print", "--input-format", "stream-json"];
    let mut command = world.command(&format);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program");
    let mut stdin = child.stdin.take().expect("input");
    stdin.write_all(b"{\"role\":\"user\",\"content\":\"go\"}\n").expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), &*said), (Some(0), "It builds.\nThe build is done.\n"));
    assert_eq!(server.requests().len(), 3);
}

fn plain(answers: Vec<Vec<Piece>>) -> Vec<Scenario> {
    vec![Scenario { when: "go", answers }]
}

fn system(request: &Value) -> String {
    text_of(&request["messages"][0])
}

#[test]
fn a_further_folder_is_told_to_the_model_and_stays_with_the_session() {
    let (world, server) = world_of(plain(vec![vec![Piece::Text("ok")]]), "");
    let more = world.home().join("further");
    std::fs::create_dir(&more).expect("a folder");
    std::fs::write(more.join("inside.txt"), "").expect("a file");
    let further = more.to_str().expect("a path");
    let (code, _, stderr) = run(&world, &["--print", "-p", "go", "--add-dir", further]);
    assert_eq!(code, 0, "{stderr}");
    let prompt = system(&server.requests()[0]);
    assert!(prompt.contains(further) && prompt.contains("inside.txt"), "{prompt}");
    let (_, _, stderr) = run(&world, &["--print", "-p", "go"]);
    assert!(!system(&server.requests()[1]).contains(further), "{stderr}");
}

#[test]
fn in_plan_mode_nothing_is_changed() {
    let write = |path: &str| Piece::Call {
        id: "w",
        name: "WriteFile",
        arguments: json!({"path": path, "content": "x"}),
    };
    let answers = vec![vec![write("made.txt")], vec![Piece::Text("ok")]];
    let (world, server) = world_of(plain(answers), "");
    let (code, stdout, stderr) = run(&world, &["--print", "--verbose", "--plan", "-p", "go"]);
    assert_eq!((code, stdout.as_str()), (0, "ok\n"), "{stderr}");
    assert!(!world.work().join("made.txt").exists());
    assert!(stderr.contains("WriteFile failed"), "{stderr}");
    assert!(server.requests()[0].to_string().contains("Plan mode is on."));
    let (code, _, _) = run(&world, &["--print", "-p", "go"]);
    assert!(code == 0 && world.work().join("made.txt").exists());
}

#[test]
fn away_is_told_to_the_model_by_the_flag_alone() {
    let (world, server) = world_of(plain(vec![vec![Piece::Text("ok")]]), "");
    let told = |args: &[&str]| {
        let (code, _, stderr) = run(&world, args);
        assert_eq!(code, 0, "{stderr}");
        let request = server.requests().pop().expect("a request");
        let messages = request["messages"].as_array().expect("messages")[1..].to_vec();
        messages.iter().any(|message| text_of(message).contains("away from the keyboard"))
    };
    assert!(told(&["--print", "--afk", "-p", "go"]));
    assert!(!told(&["--print", "-p", "go"]));
}

#[test]
fn a_call_is_tried_as_often_as_the_flag_says() {
    for tries in ["1", "2"] {
        let refuse = vec![Piece::Refuse("503 Busy", "{}")];
        let (world, server) = world_of(plain(vec![refuse]), "");
        let args = ["--print", "--max-retries-per-step", tries, "-p", "go"];
        let (code, _, stderr) = run(&world, &args);
        assert_eq!((code, server.requests().len().to_string().as_str()), (75, tries), "{stderr}");
    }
}

#[test]
fn mcp_servers_are_those_of_the_files_the_flags_name() {
    let world = World::new();
    let file = world.work().join("servers.json");
    let file = file.to_str().expect("a path");
    let mine = ["--mcp-config-file", file];
    let call = |args: &[&str]| run(&world, &[&mine, args].concat());
    assert_eq!(call(&["mcp", "add", "here", "--", "true"]).0, 0);
    let (code, listed, stderr) = call(&["mcp", "list"]);
    assert_eq!((code, listed.as_str()), (0, "here  true\n"), "{stderr}");
    assert!(!world.share().join("mcp.json").exists(), "the other file is left alone");
    let inline = ["--mcp-config", r#"{"mcpServers":{"there":{"command":"false"}}}"#, "mcp", "list"];
    assert_eq!(run(&world, &inline).1, "there  false\n");
    let (code, _, stderr) = call(&["mcp", "remove", "gone"]);
    assert!(code == 1 && stderr.contains("servers.json (known: here)"), "{stderr}");
    // A configuration that cannot be read is told, not passed over.
    let wrong = ["--config", "theme = 3", "mcp", "test", "here"];
    let (code, _, stderr) = run(&world, &[&mine[..], &wrong].concat());
    assert!(code == 1 && stderr.contains("--config:1: theme must be text"), "{stderr}");
    assert_eq!(call(&["mcp", "remove", "here"]).0, 0);
}

/// An MCP server with one tool, which says its text again.
const ECHO: &str = r#"
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      say '{"tools":[{"name":"repeat","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}' ;;
    *'"method":"tools/call"'*)
      say '{"content":[{"type":"text","text":"again and again"}]}' ;;
  esac
done
"#;

#[test]
fn a_subagent_has_the_mcp_servers_of_its_caller_where_its_file_says_so() {
    let task = |id: &'static str, kind: &str| Piece::Call {
        id,
        name: "Task",
        arguments: json!({
            "description": "look", "prompt": format!("Work as {kind}."), "subagent_type": kind,
        }),
    };
    let repeat = || Piece::Call { id: "r", name: "repeat", arguments: json!({"text": "x"}) };
    let report = "It is done. ".repeat(20);
    let report: &'static str = Box::leak(report.into_boxed_str());
    let (world, server) = world_of(
        vec![
            Scenario { when: "Work as", answers: vec![vec![repeat()], vec![Piece::Text(report)]] },
            Scenario {
                when: "go",
                answers: vec![
                    vec![task("t1", "coder")],
                    vec![task("t2", "explore")],
                    vec![Piece::Text("ok")],
                ],
            },
        ],
        "",
    );
    let script = world.share().join("server.sh");
    std::fs::write(&script, ECHO).expect("script");
    let servers = json!({"mcpServers": {"t": {"command": "sh", "args": [script]}}});
    std::fs::write(world.share().join("mcp.json"), servers.to_string()).expect("mcp.json");
    let (code, _, stderr) = run(&world, &["--print", "--verbose", "-p", "go"]);
    assert_eq!(code, 0, "{stderr}");
    let requests = server.requests();
    let tools_of = |words: &str| {
        let is = |request: &&Value| {
            let messages = request["messages"].as_array().expect("messages");
            messages.iter().any(|one| one["role"] == "user" && text_of(one).contains(words))
        };
        let request = requests.iter().rfind(is).expect(words);
        (request["tools"].to_string(), request["messages"].to_string())
    };
    let (tools, said) = tools_of("Work as coder");
    assert!(tools.contains("\"repeat\""), "{tools}");
    assert!(said.contains("again and again"), "{said}");
    let (tools, said) = tools_of("Work as explore");
    assert!(!tools.contains("\"repeat\"") && !said.contains("again and again"), "{said}");
    assert!(tools_of("go").0.contains("\"repeat\""));
}

#[test]
fn on_a_terminal_it_is_told_what_goes_on() {
    let (world, _server) = world_of(in_background("sleep 0.3; echo built"), "");
    let mut screen = Terminal::start(&world, &["--print", "-p", "go"], 100, 30);
    screen.wait_for_text("· Bash sleep 0.3; echo built");
    screen.wait_for_text("· Waiting for 1 background task, at most 3600 s");
    screen.wait_for_text("The build is done.");
    assert_eq!(screen.wait_for_end(), 0);
}
