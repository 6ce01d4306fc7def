//! A person's workflow on the real program: keys in, screen read through a terminal emulator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::Read;
use std::time::Instant;

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};
use support::LIMIT;
use support::server::{Piece, Scenario, Server, text_of};
use support::terminal::{Terminal, shows};
use support::world::World;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_O: &str = "\x0f";
const CTRL_T: &str = "\x14";
const ENTER: &str = "\r";
const UP: &str = "\x1b[A";

/// What the empty composer says.
const READY: &str = "Ask something";
/// The hint that is shown as soon as the approval panel listens.
const ASKS: &str = "y approve";
/// Columns of the conversation on a screen of 120.
const CHAT: u16 = 88;

fn with_server(scenarios: Vec<Scenario>) -> (World, Server) {
    let world = World::new();
    let server = Server::start(scenarios);
    world.write_config(&server.config());
    (world, server)
}

fn bash(command: &str) -> Piece {
    Piece::Call { id: "call-bash", name: "Bash", arguments: json!({"command": command}) }
}

/// The texts of a request's messages, without the system prompt.
fn conversation(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().expect("messages");
    messages.iter().filter(|m| m["role"] != "system").map(text_of).collect()
}

/// The rows of the conversation down to the composer, with durations blanked out.
fn transcript(screen: &Terminal) -> Vec<String> {
    let duration = regex::Regex::new(r" [0-9.]+m?s$").expect("a pattern");
    let rows = screen.rows(CHAT);
    let is_edge = |row: &String| row.starts_with("────") && row.ends_with("────");
    let end = rows.iter().rposition(is_edge).expect("the composer's edge");
    rows[..end].iter().map(|row| duration.replace(row, "").into_owned()).collect()
}

fn tidy() -> Scenario {
    // The command goes on when the test has seen its first line: what is shown by then is live.
    let command = "echo line-one; while [ ! -e go-on ]; do sleep 0.05; done; echo line-two";
    let todos = json!([
        {"title": "Look around", "status": "done"},
        {"title": "Sort the notes", "status": "in_progress"},
    ]);
    let todo = Piece::Call { id: "call-todo", name: "Todo", arguments: json!({"todos": todos}) };
    Scenario {
        when: "Tidy the notes",
        answers: vec![
            vec![
                Piece::Text("First I "),
                Piece::Gate("the rest"),
                Piece::Text("look around."),
                bash(command),
            ],
            vec![Piece::Text("Now a list."), todo],
            vec![Piece::Text("The notes are **tidy**.")],
        ],
    }
}

#[test]
fn from_a_prompt_over_approval_and_revert_to_the_same_conversation_another_day() {
    let left =
        Scenario { when: "What is left", answers: vec![vec![Piece::Text("Nothing is left.")]] };
    let (world, server) = with_server(vec![tidy(), left]);
    let mut screen = Terminal::start(&world, &[], 120, 40);
    screen.wait_for_text(READY);
    screen.send("Tidy the notes\r");
    screen.wait_for_text("First I");
    server.open("the rest");
    screen.wait_for_text("First I look around.");

    screen.wait_for_text("Bash asks: run command");
    screen.wait_for_text(ASKS);
    screen.send("y");
    screen.wait_for_text("  line-one");
    assert!(!screen.text().contains("  line-two"), "it waits for us:\n{}", screen.text());
    std::fs::write(world.work().join("go-on"), "").expect("the file");
    screen.wait_for_text("  line-two");

    screen.wait_for_text("✓ Look around");
    screen.wait_for_text("● Sort the notes");
    screen.wait_for_text("The notes are tidy.");
    screen.wait_for_text(READY);

    // The latest checkpoint is before the last answer; the one above it is before the list.
    screen.send(CTRL_T);
    screen.wait_for_text("r revert");
    screen.send(UP);
    screen.send("r");
    screen.wait_for_text("Go back to checkpoint 2?");
    screen.wait_for_text("the model forgets");
    screen.send(ENTER);
    screen.wait_for_text("Back to checkpoint 2");
    screen.wait_until_gone("Go back to checkpoint 2?");

    let before = transcript(&screen);
    // From the timeline to the composer, which leaves when it is empty.
    screen.send(CTRL_T);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    assert!(screen.is_restored());
    let id = world.sessions()[0].file_name().expect("an id").to_string_lossy().into_owned();
    assert!(screen.text().contains(&format!("kimi-tui -r {id}")), "{}", screen.text());

    let mut screen = Terminal::start(&world, &["--continue"], 120, 40);
    screen.wait_for_text("Back to checkpoint 2");
    screen.wait_for_text(READY);
    assert_eq!(transcript(&screen), before);
    screen.wait_for_text("● Sort the notes");
    screen.send("What is left?\r");
    screen.wait_for_text("Nothing is left.");
    let last = server.requests().pop().expect("a request");
    let told = conversation(&last);
    assert_eq!(told[0], "Tidy the notes");
    assert_eq!(told[1], "First I look around.");
    assert!(told[2].contains("line-one\nline-two"), "{told:?}");
    assert_eq!(told[3..], ["What is left?"], "the model forgot what came after checkpoint 2");
}

#[test]
fn a_rejection_tells_the_model_what_to_do_instead() {
    let scenario = Scenario {
        when: "Remove it",
        answers: vec![vec![bash("touch removed")], vec![Piece::Text("I moved it instead.")]],
    };
    let (world, server) = with_server(vec![scenario]);
    let mut screen = Terminal::start(&world, &["Remove it"], 80, 24);
    screen.wait_for_text(ASKS);
    screen.send("f");
    screen.wait_for_text("What should it do instead?");
    screen.send("Move it to the attic\r");
    screen.wait_for_text("I moved it instead.");
    let told = conversation(&server.requests().pop().expect("a request"));
    assert!(told.last().expect("a message").contains("Move it to the attic"), "{told:?}");
    assert!(!world.work().join("removed").exists());
}

#[test]
fn a_turn_that_is_stopped_takes_its_processes_with_it() {
    let scenario = Scenario {
        when: "Wait",
        answers: vec![vec![bash("sleep 1000 & echo $! > pid; echo started; wait")]],
    };
    let (world, _server) = with_server(vec![scenario]);
    let mut screen = Terminal::start(&world, &["--yolo", "Wait"], 80, 24);
    screen.wait_for_text("  started");
    let pid = std::fs::read_to_string(world.work().join("pid")).expect("the process id");
    let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process id");
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    let deadline = Instant::now() + LIMIT;
    while test_kill_process(pid).is_ok() {
        assert!(Instant::now() < deadline, "the process goes on");
        std::thread::yield_now();
    }
}

#[test]
fn signals_end_it_in_order_and_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let world = World::new();
        let mut screen = Terminal::start(&world, &[], 80, 24);
        screen.wait_for_text(READY);
        screen.signal(signal);
        // Whoever sent it learns that it was obeyed; the screen is not left with "all is well".
        assert_eq!(
            screen.wait_for_end(),
            if signal == Signal::INT { 130 } else { 143 },
            "{signal:?}"
        );
        assert!(screen.is_restored(), "{signal:?}:\n{}", screen.text());
    }
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_it_too() {
    use portable_pty::{PtySize, native_pty_system};
    use rustix::fs::{Mode, OFlags, open};
    let world = World::new();
    let pty = native_pty_system().openpty(PtySize::default()).expect("a pseudo terminal");
    let name = pty.master.tty_name().expect("its name");
    let side =
        || open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("the program's side");
    // It is not this program's own terminal: nothing tells it by a signal.
    let mut child =
        world.command(&[]).stdin(side()).stdout(side()).stderr(side()).spawn().expect("started");
    drop(pty.slave);
    let mut reader = pty.master.try_clone_reader().expect("a reader");
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains("Ask") {
        let count = reader.read(&mut buffer).expect("a screen");
        seen.extend_from_slice(&buffer[..count]);
    }
    drop((reader, pty.master));
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().expect("a state").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("killed");
            panic!("it goes on without a terminal");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn the_end_of_the_conversation_stays_when_the_screen_is_left() {
    for (on_exit, stays) in [("tail", true), ("all", true), ("none", false)] {
        let talk = Scenario { when: "Say", answers: vec![vec![Piece::Text("It **is** said.")]] };
        let (world, server) = with_server(vec![talk]);
        world.write_config(&format!("{}\n[ui]\non_exit = \"{on_exit}\"\n", server.config()));
        let mut screen = Terminal::start(&world, &["Say it"], 80, 24);
        screen.wait_for_text("It is said.");
        screen.wait_for_text(READY);
        screen.send(CTRL_D);
        assert_eq!(screen.wait_for_end(), 0);
        assert!(screen.is_restored());
        let left = screen.text();
        assert_eq!(left.contains("Say it") && left.contains("It is said."), stays, "{left}");
        assert!(!left.contains(READY), "{left}");
    }
}

#[test]
fn the_theme_follows_the_background_the_terminal_tells() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 80, 24);
    screen.wait_for_text(READY);
    let dark = std::cell::RefCell::new(Vec::new());
    screen.wait_for("colours", |screen| {
        *dark.borrow_mut() = colors(screen);
        !dark.borrow().is_empty()
    });
    // The answer comes late, between the keys of a person.
    screen.send("dra");
    screen.send("\x1b]11;rgb:fafa/fafa/f0f0\x1b\\");
    screen.send("ft");
    screen.wait_for_text("draft");
    let is_other = |screen: &vt100::Screen| {
        let light = colors(screen);
        !light.is_empty() && light.iter().all(|color| !dark.borrow().contains(color))
    };
    screen.wait_for("a theme for light terminals", is_other);
    assert!(!screen.text().contains("rgb"), "{}", screen.text());
    let asked = String::from_utf8_lossy(&screen.bytes()).find("\x1b]11;?").expect("asked");
    let drawn = String::from_utf8_lossy(&screen.bytes()).find("\x1b[?2026l").expect("drawn");
    assert!(drawn < asked, "the first frame waits for nothing");
}

/// The colours of the texts of the screen that are not the terminal's own.
fn colors(screen: &vt100::Screen) -> Vec<(u8, u8, u8)> {
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let colors = cells.filter_map(|(row, column)| match screen.cell(row, column)?.fgcolor() {
        vt100::Color::Rgb(r, g, b) => Some((r, g, b)),
        _ => None,
    });
    colors.collect()
}

#[test]
fn a_screen_reader_hears_everything_once_on_the_main_screen() {
    let talk = Scenario {
        when: "Say",
        answers: vec![vec![Piece::Text("It **is** said."), bash("echo heard")]],
    };
    let (world, _server) = with_server(vec![talk]);
    let mut screen = Terminal::start(&world, &["--screen-reader"], 80, 40);
    screen.wait_for_text("Ready for your prompt.");
    screen.send("Say it");
    screen.wait_for_text("> Say it");
    screen.send("\r");
    screen.wait_for_text("It is said.");
    screen.wait_for_text("Bash asks: run command");
    screen.wait_for_text("Selected: y Approve once");
    screen.send("y");
    screen.wait_for_text("Bash echo heard: done.");
    screen.send(CTRL_C);
    screen.wait_for_text("heard");
    let said = String::from_utf8_lossy(&screen.bytes()).into_owned();
    assert!(!said.contains("\x1b[?1049h") && !said.contains("\x1b[2J"), "the main screen, kept");
    assert!(!said.contains('─') && !said.contains('│'));
}

#[test]
fn the_chosen_theme_is_there_the_next_time() {
    let (world, server) = with_server(Vec::new());
    world.write_config(&format!("# mine\n{}", server.config()));
    let mut screen = Terminal::start(&world, &[], 160, 24);
    screen.wait_for_text(READY);
    screen.send("/theme\r");
    screen.wait_for_text("Themes");
    screen.send("paper\r");
    screen.wait_for_text("kept in");
    let config = std::fs::read_to_string(world.share().join("config.toml")).expect("config.toml");
    assert!(config.starts_with("# mine\n") && config.contains("theme = \"paper\""), "{config}");
}

#[test]
fn who_ends_it_while_an_editor_is_open_is_obeyed_and_the_draft_kept() {
    let talk = Scenario { when: "Say", answers: vec![vec![Piece::Text("It is said.")]] };
    let (world, server) = with_server(vec![talk]);
    let editor = "sh -c 'echo in the editor; read line; echo $line >$0'";
    world.write_config(&format!("default_editor = \"{editor}\"\n{}", server.config()));
    let mut screen = Terminal::start(&world, &["Say it"], 80, 24);
    screen.wait_for_text("It is said.");
    screen.wait_for_text(READY);
    screen.send(CTRL_O);
    screen.wait_for_text("in the editor");
    screen.signal(Signal::TERM);
    screen.send("a long thought\n");
    screen.wait_for_end();
    assert!(screen.is_restored(), "{}", screen.text());
    let screen = Terminal::start(&world, &["-C"], 80, 24);
    screen.wait_for_text("a long thought");
}

#[test]
fn a_long_paste_without_brackets_is_read_to_its_end() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 80, 24);
    screen.wait_for_text(READY);
    // Less than a terminal buffers, more than is read at once.
    screen.send(&format!("{}the end", "word ".repeat(600)));
    screen.wait_for_text("the end");
}

#[test]
fn what_a_model_says_cannot_reach_the_terminal() {
    let text = "Before\u{1b}]52;c;aGFjaw==\u{7}\u{1b}[2Jafter 终端 👩‍💻";
    let scenario = Scenario { when: "Attack", answers: vec![vec![Piece::Text(text)]] };
    let (world, _server) = with_server(vec![scenario]);
    let mut screen = Terminal::start(&world, &["Attack"], 80, 24);
    screen.wait_for_text("终端");
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    let bytes = screen.bytes();
    for sequence in ["\u{1b}]52", "\u{1b}[2Jafter", "\u{7}\u{1b}[2J"] {
        let is_there = bytes.windows(sequence.len()).any(|bytes| bytes == sequence.as_bytes());
        assert!(!is_there, "{sequence:?}");
    }
}

#[test]
fn a_failing_provider_is_told_and_the_session_goes_on() {
    let refused =
        |when, status, body| Scenario { when, answers: vec![vec![Piece::Refuse(status, body)]] };
    let no_key = r#"{"error": {"message": "Incorrect API key"}}"#;
    let (world, _server) = with_server(vec![
        refused("one", "401 Unauthorized", no_key),
        refused("two", "404 Not Found", "<html><body>Not here</body></html>"),
        Scenario { when: "three", answers: vec![vec![Piece::Text("Still here.")]] },
    ]);
    let mut screen = Terminal::start(&world, &[], 100, 30);
    screen.wait_for_text(READY);
    screen.send("one\r");
    screen.wait_for_text("401");
    screen.wait_for_text(READY);
    screen.send("two\r");
    screen.wait_for_text("404");
    screen.wait_for_text(READY);
    screen.send("three\r");
    screen.wait_for_text("Still here.");
}

#[test]
fn the_smallest_terminal_takes_keys_and_a_larger_one_shows_more() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 20, 5);
    screen.wait_for("a composer", |screen| shows(screen, "▸"));
    screen.send("abc");
    screen.wait_for_text("abc");
    screen.resize(120, 40);
    screen.wait_for_text("Timeline");
    screen.wait_for_text("abc");
    screen.resize(1, 1);
    screen.resize(80, 24);
    screen.wait_for_text("abc");
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
}

/// How often the whole screen was cleared.
fn clears(screen: &Terminal) -> usize {
    screen.bytes().windows(4).filter(|bytes| bytes == b"\x1b[2J" || bytes == b"\x1b[3J").count()
}

#[test]
fn the_screen_is_not_cleared_is_silent_when_idle_and_keeps_wide_cells_through_resizes() {
    let text = "\u{7ec8}\u{7aef} shows 日本語 and 👩\u{200d}💻 in a row\n\n| 한국어 | b |\n|---|---|\n| 日本 | 🎉 |\n\nThe end.";
    let scenario = Scenario { when: "Wide", answers: vec![vec![Piece::Text(text)]] };
    let (world, _server) = with_server(vec![scenario]);
    let mut screen = Terminal::start(&world, &["Wide"], 100, 30);
    screen.wait_for_text(READY);
    let at_start = clears(&screen);
    screen.wait_for_text("The end.");
    screen.send("日本ab");
    // The cursor stands behind what was typed, wide characters counted as two.
    screen.wait_for("the cursor at the caret", |screen| {
        let (row, column) = screen.cursor_position();
        let line = screen.rows(0, 100).nth(usize::from(row)).unwrap_or_default();
        let before = line.find("日本ab").map(|at| line[..at].chars().count() + 6);
        !screen.hide_cursor() && before == Some(usize::from(column))
    });
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send("\x1b[5~");
    screen.send("\x1b[6~");
    assert_eq!(clears(&screen), at_start, "nothing but the start clears the screen");

    let deadline = Instant::now() + LIMIT;
    let quiet = std::time::Duration::from_secs(5);
    let (mut written, mut since) = (screen.bytes().len(), Instant::now());
    while since.elapsed() < quiet {
        assert!(Instant::now() < deadline, "the idle screen goes on writing");
        std::thread::sleep(std::time::Duration::from_millis(50));
        if screen.bytes().len() != written {
            (written, since) = (screen.bytes().len(), Instant::now());
        }
    }

    let before = screen.rows(100);
    for n in 0..12 {
        screen.resize(100 - n * 7, 30 - n * 2);
        screen.resize(101 + n, 31 + n);
        screen.resize(2 + n, 2);
    }
    screen.resize(100, 30);
    screen.wait_for("the same screen after a storm of sizes", |screen| {
        let rows = screen.rows(0, 100).map(|row| row.trim_end().to_owned());
        rows.eq(before.iter().cloned())
    });
}

#[test]
fn a_broken_configuration_is_told_on_the_plain_terminal() {
    let world = World::new();
    world.write_config("default_model = 3\n");
    let mut screen = Terminal::start(&world, &[], 200, 24);
    assert_eq!(screen.wait_for_end(), 1);
    assert!(
        screen.text().contains("config.toml:1: default_model must be text"),
        "{}",
        screen.text()
    );
    assert!(screen.is_restored());
}
