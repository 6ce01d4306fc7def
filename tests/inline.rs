//! The conversation in the shell's own scrollback: everything once, nothing lost, a clean line after it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fmt::Write as _;

use rustix::process::Signal;
use serde_json::json;
use support::server::{Piece, Scenario, Server};
use support::terminal::{Terminal, shows};
use support::world::{World, program};

const READY: &str = "Ask something";
const ASKS: &str = "y approve";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";
/// A terminal that leaves lines as they are when it is resized.
const KEEPS_LINES: (&str, &str) = ("XTERM_VERSION", "XTerm(390)");

/// Paragraphs with names that can be counted.
fn paragraphs(name: &str, count: usize) -> &'static str {
    let mut text = String::new();
    for n in 0..count {
        write!(text, "{name}-{n:03} {}\n\n", "and some more words ".repeat(n % 6)).expect("text");
    }
    text.leak()
}

fn turn() -> Vec<Scenario> {
    let command = json!({"command": "echo it-ran"});
    vec![Scenario {
        when: "Tell me",
        answers: vec![
            vec![
                Piece::Text(paragraphs("first", 30)),
                Piece::Gate("more"),
                Piece::Text(paragraphs("second", 20)),
                Piece::Gate("call"),
                Piece::Call { id: "call-bash", name: "Bash", arguments: command },
            ],
            vec![Piece::Text("The last-word of it.")],
        ],
    }]
}

fn started(size: (u16, u16), more: &[(&str, &str)], ui: &str) -> (World, Server, Terminal) {
    let world = World::new();
    let server = Server::start(turn());
    world.write_config(&format!("{}\n[ui]\n{ui}\n", server.config()));
    let screen = Terminal::start_with(&world, &["--inline"], more, size, 10_000);
    screen.wait_for_text(READY);
    (world, server, screen)
}

/// How often `text` stands anywhere.
fn count(screen: &Terminal, text: &str) -> usize {
    screen.everything().join("\n").matches(text).count()
}

fn all_once(screen: &Terminal, name: &str, count_of: usize) {
    let all = screen.everything().join("\n");
    for n in 0..count_of {
        let text = format!("{name}-{n:03}");
        assert_eq!(all.matches(&text).count(), 1, "{text}:\n{all}");
    }
}

/// One live region, the newest thing on the screen.
fn one_composer(screen: &Terminal) {
    let all = screen.everything();
    let rules = all.iter().filter(|row| row.starts_with("────")).count();
    assert_eq!(rules, 1, "{all:#?}");
    assert_eq!(count(screen, "▸ "), 1, "{all:#?}");
}

#[test]
fn a_whole_turn_is_in_the_scrollback_once_and_the_shell_follows_it() {
    let (_world, server, mut screen) = started((80, 24), &[], "");
    screen.send("Tell me\r");
    screen.wait_for_text("first-029");
    server.open("more");
    screen.wait_for_text("second-019");
    server.open("call");
    screen.wait_for_text(ASKS);
    screen.send("y");
    screen.wait_for_text("last-word");
    screen.wait_for_text(READY);
    all_once(&screen, "first", 30);
    all_once(&screen, "second", 20);
    for text in ["▌ Tell me", "✓ Bash echo it-ran", "last-word"] {
        assert_eq!(count(&screen, text), 1, "{text}:\n{:#?}", screen.everything());
    }
    let order: Vec<usize> =
        ["▌ Tell me", "first-000", "first-029", "second-019", "✓ Bash", "last-word"]
            .iter()
            .map(|text| {
                screen.everything().iter().position(|row| row.contains(text)).expect("there")
            })
            .collect();
    assert!(order.is_sorted(), "{order:?}");
    one_composer(screen_with_a_prompt(&mut screen));

    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    assert!(screen.is_restored());
    assert_eq!(screen.cursor().1, 0, "the shell begins a line");
    let all = screen.everything();
    let text = all.join("\n");
    assert!(!text.contains("▸ ") && !text.contains("────"), "{all:#?}");
    let word = all.iter().position(|row| row.contains("last-word")).expect("the answer");
    let next = all[word + 1..].iter().find(|row| !row.is_empty()).expect("how to come back");
    assert!(next.contains("kimi-tui -r"), "{all:#?}");
    assert_eq!(count(&screen, "last-word"), 1);
    let bytes = String::from_utf8_lossy(&screen.bytes()).into_owned();
    assert!(
        !bytes.contains("\x1b[?1049h") && !bytes.contains("\x1b[2J") && !bytes.contains("\x1b[3J")
    );
}

/// The empty composer's hint holds other words; one letter makes it plain.
fn screen_with_a_prompt(screen: &mut Terminal) -> &Terminal {
    screen.send("q");
    screen.wait_for("the letter", |screen| shows(screen, "▸ q"));
    screen
}

#[test]
fn resizes_neither_double_nor_lose_what_was_said() {
    for reflows in [false, true] {
        let more: &[(&str, &str)] = if reflows { &[] } else { &[KEEPS_LINES] };
        let (_world, server, mut screen) = started((80, 24), more, "");
        let resize = |screen: &Terminal, columns, rows| {
            if reflows {
                screen.resize_and_reflow(columns, rows);
            } else {
                screen.resize(columns, rows);
            }
        };
        screen.send("Tell me\r");
        screen.wait_for_text("first-029");
        for (columns, rows, key) in [(50, 24, "a"), (100, 30, "b"), (44, 14, "c"), (90, 20, "d")] {
            resize(&screen, columns, rows);
            screen.send(key);
            screen.wait_for("the letter", |screen| {
                shows(screen, "▸ a")
                    && screen.rows(0, columns).any(|row| row.trim_end().ends_with(key))
            });
        }
        server.open("more");
        screen.wait_for_text("second-019");
        resize(&screen, 60, 24);
        server.open("call");
        screen.wait_for_text(ASKS);
        resize(&screen, 80, 30);
        screen.send("y");
        screen.wait_for_text("last-word");
        screen.wait_for_text("enter send");
        all_once(&screen, "first", 30);
        all_once(&screen, "second", 20);
        one_composer(&screen);
    }
}

#[test]
fn what_lies_over_the_conversation_takes_the_other_screen_and_gives_it_back() {
    let (_world, server, mut screen) = started((80, 24), &[], "");
    screen.send("Tell me\r");
    screen.wait_for_text("first-029");
    screen.send("\x1bOP");
    screen.wait_for("the help", vt100::Screen::alternate_screen);
    server.open("more");
    server.open("call");
    screen.send("\x1b");
    screen.wait_for("the shell's screen", |screen| !screen.alternate_screen());
    screen.wait_for_text(ASKS);
    screen.send("\x1b[5~");
    screen.wait_for("the conversation on the full screen", |screen| {
        screen.alternate_screen() && shows(screen, "second-0")
    });
    screen.send("\x1b[6~\x1b[6~\x1b[6~");
    screen.wait_for("the shell's screen", |screen| !screen.alternate_screen());
    screen.wait_for_text(ASKS);
    screen.send("y");
    screen.wait_for_text("last-word");
    screen.wait_for_text(READY);
    all_once(&screen, "first", 30);
    all_once(&screen, "second", 20);
}

#[test]
fn prompts_and_answers_are_marked_for_the_terminal() {
    for (ui, marked) in [("", true), ("marks = \"off\"", false)] {
        let (_world, server, mut screen) = started((80, 24), &[], ui);
        server.open("more");
        server.open("call");
        screen.send("Tell me\r");
        screen.wait_for_text(ASKS);
        screen.send("y");
        screen.wait_for_text("last-word");
        screen.wait_for_text(READY);
        let bytes = String::from_utf8_lossy(&screen.bytes()).into_owned();
        let marks: Vec<&str> = bytes
            .split("\x1b]133;")
            .skip(1)
            .map(|rest| rest.split("\x1b\\").next().expect("an end"))
            .collect();
        let expected: &[&str] = if marked { &["A;redraw=0", "B", "C", "D;0"] } else { &[] };
        assert_eq!(marks, expected);
    }
}

#[test]
fn however_it_ends_the_shell_has_a_clean_line() {
    for how in ["ctrl-c", "TERM", "HUP", "in the help", "in a turn"] {
        let (_world, _server, mut screen) = started((80, 24), &[], "");
        screen.send("draft");
        screen.wait_for_text("▸ draft");
        match how {
            "ctrl-c" => {
                screen.send(CTRL_C);
                screen.wait_for_text("Press Ctrl-C again");
                screen.send(CTRL_C);
            }
            "in the help" => {
                screen.send("\x1bOP");
                screen.wait_for("the help", vt100::Screen::alternate_screen);
                screen.signal(Signal::TERM);
            }
            "in a turn" => {
                screen.send(CTRL_C);
                screen.wait_for_text(READY);
                screen.send("Tell me\r");
                screen.wait_for_text("first-029");
                screen.signal(Signal::TERM);
            }
            signal => screen.signal(if signal == "HUP" { Signal::HUP } else { Signal::TERM }),
        }
        screen.wait_for_end();
        assert!(screen.is_restored(), "{how}:\n{}", screen.text());
        let all = screen.everything().join("\n");
        assert!(!all.contains("▸ ") && !all.contains("────"), "{how}:\n{all}");
        assert_eq!(screen.cursor().1, 0, "{how}:\n{all}");
        if how == "in a turn" {
            all_once(&screen, "first", 30);
        }
    }
}

#[test]
fn it_stops_and_goes_on_below_what_the_shell_said() {
    let world = World::new();
    let mut screen = Terminal::run(&world, ("sh", &["-i"]), &[], (80, 24), 10_000);
    screen.send(&format!("{} --inline\n", program()));
    screen.wait_for_text(READY);
    screen.send("draft");
    screen.wait_for_text("▸ draft");
    screen.send(CTRL_Z);
    screen.wait_until_gone("▸ draft");
    screen.send("echo the shell is $((40 + 2))\n");
    screen.wait_for_text("the shell is 42");
    assert!(screen.is_restored());
    screen.send("fg\n");
    screen.wait_for_text("▸ draft");
    assert_eq!((count(&screen, "▸ draft"), count(&screen, "────\n▸")), (1, 1));
    assert_eq!(count(&screen, "the shell is 42"), 1, "{}", screen.text());
}
