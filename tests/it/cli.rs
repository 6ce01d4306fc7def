//! The program without a terminal: what it says, where, and how it ends.

use std::io::{Read, Write};
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::server::{Piece, Scenario, Server};
use crate::support::world::World;

fn run(world: &World, args: &[&str]) -> (i32, String, String) {
    told(&world.command(args).stdin(Stdio::null()).output().expect("the program"))
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn served(answers: Vec<Vec<Piece>>) -> (World, Server) {
    let world = World::new();
    let server = Server::start(vec![Scenario { when: "go", answers }]);
    world.write_config(&server.config());
    (world, server)
}

#[test]
fn messages_are_read_and_written_a_line_each() {
    let ls = json!({"path": "."});
    let (world, _server) = served(vec![
        vec![
            Piece::Text("One "),
            Piece::Text("answer."),
            Piece::Call { id: "c", name: "LS", arguments: ls },
        ],
        vec![Piece::Text("Done.")],
    ]);
    let format = ["--print", "--input-format", "stream-json", "--output-format", "stream-json"];
    let talk = |args: &[&str], input: &str| {
        let mut command = world.command(&[&format, args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        child.stdin.take().expect("input").write_all(input.as_bytes()).expect("written");
        told(&child.wait_with_output().expect("its end"))
    };
    let twice =
        "{\"role\": \"user\", \"content\": \"go\"}\n\n{\"role\":\"user\",\"content\":\"go on\"}\n";
    let (code, out, err) = talk(&[], twice);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let roles: Vec<&str> = lines.iter().filter_map(|line| line["role"].as_str()).collect();
    assert_eq!(
        roles,
        ["assistant", "tool", "assistant", "assistant", "tool", "assistant"],
        "{out}"
    );
    assert_eq!(lines[0]["content"], "One answer.");
    assert_eq!(lines[0]["tool_calls"][0]["function"]["arguments"], "{\"path\":\".\"}");
    assert_eq!(lines[1]["tool_call_id"], lines[0]["tool_calls"][0]["id"]);
    assert_eq!(lines[5]["content"], "Done.");

    let one = "{\"role\": \"user\", \"content\": \"go\"}\n";
    let (code, out, _) = talk(&["--final-message-only"], one);
    let last: serde_json::Value = serde_json::from_str(&out).expect("one line");
    assert_eq!((code, &last["content"]), (0, &json!("Done.")));

    let (code, out, err) = talk(&[], "hello\n");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("Line 1 of standard input"), "{err}");
}

#[test]
fn each_wrong_start_is_told_with_what_to_do() {
    let world = World::new();
    world.write_config(
        "default_model = \"k2\"\n[providers.p]\ntype = \"kimi\"\napi_key = \"x\"\n\
         [models.k2]\nprovider = \"p\"\nmodel = \"k2\"\nmax_context_size = 9000\n",
    );
    let cases: [(&[&str], i32, &str); 8] = [
        (&["hello"], 2, "use --print"),
        (&["--print", "-p", "x", "-m", "k3"], 1, "unknown model \"k3\" (known: k2)"),
        (&["--print", "-p", "x", "-a", "nobody"], 1, "nobody"),
        (&["--print", "-p", "x", "--continue"], 1, "There is no session to continue"),
        (&["--print", "-p", "x", "-w", "gone"], 1, "The work folder gone cannot be used"),
        (&["--print", "-p", "x", "--config-file", "no.toml"], 1, "no.toml: there is no such file"),
        (&["--print", "-p", "x", "--config", "theme = 3"], 1, "--config:1: theme must be text"),
        (&["--print"], 1, "Standard input is empty"),
    ];
    for (args, code, words) in cases {
        let (ended, stdout, stderr) = run(&world, args);
        assert_eq!((ended, stdout.as_str()), (code, ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
    assert_eq!(world.sessions(), Vec::<std::path::PathBuf>::new(), "nothing was begun");
}

#[test]
fn a_data_folder_that_cannot_be_made_is_told() {
    let world = World::new();
    let in_the_way = world.work().join("file");
    std::fs::write(&in_the_way, "x").expect("the file");
    let output = world
        .command(&["--print", "-p", "x"])
        .env("KIMI_SHARE_DIR", in_the_way.join("share"))
        .output()
        .expect("the program");
    let (code, _, stderr) = told(&output);
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot be written") && stderr.contains("KIMI_SHARE_DIR"), "{stderr}");
}

#[test]
fn help_and_version_need_nothing() {
    let world = World::new();
    std::fs::remove_dir_all(world.share()).expect("removed");
    for (flag, words) in [("--help", "Examples:"), ("-V", env!("CARGO_PKG_VERSION"))] {
        let (code, stdout, stderr) = run(&world, &[flag]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{flag}");
        assert!(stdout.contains(words), "{flag}: {stdout}");
    }
    assert!(!world.share().exists(), "and leave nothing behind");
}

#[test]
fn print_mode_answers_works_and_can_be_gone_on_with() {
    let write = json!({"path": "made.txt", "content": "made\n"});
    let call = Piece::Call { id: "w", name: "WriteFile", arguments: write };
    let (world, server) = served(vec![
        vec![Piece::Think("hm"), Piece::Text("I will write it."), call],
        vec![Piece::Text("It is written.")],
    ]);
    let (code, stdout, stderr) = run(&world, &["--print", "--verbose", "-p", "go"]);
    assert_eq!((code, stdout.as_str()), (0, "I will write it.\n\nIt is written.\n"), "{stderr}");
    assert!(stderr.contains("· WriteFile made.txt"), "{stderr}");
    assert!(stderr.contains("To resume this session: kimi-tui -r "), "{stderr}");
    assert_eq!(std::fs::read_to_string(world.work().join("made.txt")).expect("made"), "made\n");

    let (code, stdout, stderr) = run(&world, &["--quiet", "-c", "-p", "go on"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "It is written.\n", ""));
    assert_eq!(world.sessions().len(), 1);
    let last = server.requests().pop().expect("a request").to_string();
    assert!(last.contains("I will write it."), "the model remembers: {last}");
}

#[test]
fn the_prompt_comes_from_standard_input_too() {
    let (world, server) = served(vec![vec![Piece::Text("Yes.")]]);
    let mut child = world
        .command(&["--print"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    child.stdin.take().expect("stdin").write_all(b"go\nand more\n").expect("written");
    let (code, stdout, _) = told(&child.wait_with_output().expect("its end"));
    assert_eq!((code, stdout.as_str()), (0, "Yes.\n"));
    assert!(server.requests()[0].to_string().contains("go\\nand more"));
}

#[test]
fn exit_codes_tell_whether_to_try_again() {
    let once = "[loop_control]\nmax_retries_per_step = 1\n";
    for (status, wanted) in
        [("401 Unauthorized", 1), ("429 Too Many Requests", 75), ("503 Busy", 75)]
    {
        let (world, server) = served(vec![vec![Piece::Refuse(status, "{}")]]);
        world.write_config(&format!("{}{once}", server.config()));
        let (code, stdout, stderr) = run(&world, &["--print", "-p", "go"]);
        assert_eq!((code, stdout.as_str()), (wanted, ""), "{status}: {stderr}");
        assert!(stderr.contains(&status[..3]), "{stderr}");
    }
}

#[test]
fn an_interrupt_ends_the_turn_and_keeps_what_was_said() {
    // A step's text is written when the step counts, which its call says.
    let call = Piece::Call { id: "c", name: "Think", arguments: json!({"thought": "hm"}) };
    let (world, _server) =
        served(vec![vec![Piece::Text("So far."), call], vec![Piece::Gate("never")]]);
    let mut child = world
        .command(&["--print", "-p", "go"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let mut stdout = child.stdout.take().expect("its output");
    let mut said = [0; 7];
    stdout.read_exact(&mut said).expect("the first words");
    assert_eq!(&said, b"So far.");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::INT).expect("sent");
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    let context = std::fs::read_to_string(world.sessions()[0].join("context.jsonl"));
    assert!(context.expect("the context").contains("So far."));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    // A step's text is written when the step counts, which its call says.
    let call = |id| Piece::Call { id, name: "Think", arguments: json!({"thought": "hm"}) };
    let (world, server) = served(vec![
        vec![Piece::Text("one\n"), call("c1")],
        vec![Piece::Gate("the reader is gone"), Piece::Text("two\n"), call("c2")],
        vec![Piece::Gate("never")],
    ]);
    let mut child = world
        .command(&["--print", "-p", "go"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut stdout = child.stdout.take().expect("its output");
    stdout.read_exact(&mut [0; 4]).expect("the first line");
    drop(stdout);
    server.open("the reader is gone");
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn logs_go_to_a_file_and_keys_never_do() {
    let (world, server) = served(vec![vec![Piece::Text("Yes.")]]);
    let key = "sk-a-secret-key";
    world.write_config(&server.config().replace(
        "type = \"openai_legacy\"",
        &format!("type = \"openai_legacy\"\napi_key = \"{key}\""),
    ));
    let (code, stdout, stderr) = run(&world, &["--print", "--log-level", "trace", "-p", "go"]);
    assert_eq!((code, stdout.as_str()), (0, "Yes.\n"), "{stderr}");
    let logs: Vec<_> = std::fs::read_dir(world.share().join("logs")).expect("logs").collect();
    assert_eq!(logs.len(), 1);
    let log = logs[0].as_ref().expect("an entry").path();
    let log = std::fs::read_to_string(log).expect("the log");
    assert!(log.lines().count() > 0);
    assert!(!log.contains(key), "{log}");
    assert!(!stderr.contains("TRACE") && !stderr.contains("DEBUG"), "{stderr}");
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_and_no_sudden_end() {
    let world = World::new();
    let limited = "ulimit -f 4; exec \"$0\" --print -p hello";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited]).arg(world.command(&[]).get_program());
    command.current_dir(world.work()).env_clear().envs(world.environment());
    let (code, _, told) = told(&command.output().expect("the program"));
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("context.jsonl: File too large"), "{told}");
}

#[test]
fn the_log_tells_where_an_old_context_went() {
    let (world, _server) = served(vec![vec![Piece::Text("Done.")]]);
    let (code, _, told) = run(&world, &["--print", "-p", "go"]);
    assert_eq!(code, 0, "{told}");
    let (code, _, told) = run(&world, &["--print", "-C", "-p", "/clear"]);
    assert_eq!(code, 0, "{told}");
    let kept = world.sessions()[0].join("context_1.jsonl");
    assert!(kept.is_file());
    let logs = std::fs::read_dir(world.share().join("logs")).expect("logs");
    let log: String = logs
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a log"))
        .collect();
    assert!(log.contains(&format!("Rotated context file: {}", kept.display())), "{log}");
}
