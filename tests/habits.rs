//! What the terminal is told and what it tells, on the real program: keys in every way terminals send
//! them, progress, the window's title, the mouse, the focus, suspending, the last line, the layout.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Instant;

use rustix::process::{Pid, Signal, test_kill_process};
use support::LIMIT;
use support::server::{Piece, Scenario, Server};
use support::terminal::{Terminal, shows};
use support::world::{World, program};

const CTRL_C: &str = "\x03";
const CTRL_L: &str = "\x0c";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";
const READY: &str = "Ask something";
const BUSY: &str = "\x1b]9;4;3\x1b\\";
const CLEAR: &str = "\x1b]9;4;0\x1b\\";

fn started(columns: u16, rows: u16) -> (World, Terminal) {
    let world = World::new();
    let screen = Terminal::start(&world, &[], columns, rows);
    screen.wait_for_text(READY);
    (world, screen)
}

fn bytes(screen: &Terminal) -> String {
    String::from_utf8_lossy(&screen.bytes()).into_owned()
}

#[test]
fn what_the_program_was_started_with_holds_in_the_session() {
    let world = World::new();
    let own = world.share().join("own.toml");
    let hook = "[[hooks]]\nevent = \"Stop\"\ncommand = \"true not-much\"\n";
    std::fs::write(&own, hook).expect("a configuration");
    let args = ["--config-file", own.to_str().expect("a path")];
    let mut screen = Terminal::start(&world, &args, 120, 40);
    screen.wait_for_text(READY);
    screen.send("/doctor\r");
    screen.wait_for("what the doctor says of this file", |screen| {
        shows(screen, "Doctor") && shows(screen, "own.toml")
    });
    screen.send("\x1b");
    screen.wait_for("the page is gone", |screen| !shows(screen, "own.toml"));
    screen.send("/hooks\r");
    screen.wait_for_text("true not-much");
}

/// Clears the draft.
fn clear(screen: &mut Terminal) {
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
}

#[test]
fn shift_enter_alt_enter_and_ctrl_j_are_a_new_line_in_every_protocol() {
    let (_world, mut screen) = started(80, 24);
    let new_lines = [
        ("legacy alt-enter", "\x1b\r"),
        ("legacy ctrl-j", "\n"),
        ("kitty shift-enter", "\x1b[13;2u"),
        ("kitty alt-enter", "\x1b[13;3u"),
        ("kitty ctrl-j", "\x1b[106;5u"),
        ("xterm shift-enter", "\x1b[27;2;13~"),
        ("xterm alt-enter", "\x1b[27;3;13~"),
        ("xterm ctrl-j", "\x1b[27;5;106~"),
    ];
    for (name, key) in new_lines {
        screen.send("first");
        screen.send(key);
        screen.send("second");
        screen.wait_for(name, |screen| {
            let rows: Vec<_> = screen.rows(0, 80).collect();
            rows.windows(2)
                .any(|two| two[0].trim_end() == "▸ first" && two[1].trim_end() == "  second")
        });
        clear(&mut screen);
    }
}

#[test]
fn letters_and_commands_work_under_every_protocol_and_layout() {
    let (_world, mut screen) = started(120, 30);
    for text in ["aZ?é", "привет", "ψυχή", "終端"] {
        screen.send(text);
        screen.wait_for_text(text);
        clear(&mut screen);
    }
    // The same four keys in each protocol: the palette, Esc alone, Alt-M, Alt-M.
    for (name, palette, esc, alt_m) in [
        ("legacy", "\x10", "\x1b", "\x1bm"),
        ("kitty", "\x1b[112;5u", "\x1b[27u", "\x1b[109;3u"),
        ("kitty, Russian", "\x1b[1079::112;5u", "\x1b[27u", "\x1b[1100::109;3u"),
        ("xterm", "\x1b[27;5;112~", "\x1b", "\x1b[27;3;109~"),
    ] {
        eprintln!("{name}");
        screen.send(palette);
        screen.wait_for_text("Actions and commands");
        screen.send(esc);
        screen.wait_until_gone("Actions and commands");
        screen.send(alt_m);
        screen.wait_for_text("The mouse is the terminal's own");
        screen.send(alt_m);
        screen.wait_for_text("The mouse is taken");
    }
    screen.send("end");
    screen.wait_for_text("▸ end");
}

#[test]
fn a_sequence_torn_apart_by_a_slow_line_is_one_key() {
    let (_world, mut screen) = started(80, 24);
    screen.send("one two");
    screen.wait_for_text("one two");
    for byte in ["\x1b[1", ";", "5", "D"] {
        screen.send(byte);
    }
    screen.send("X");
    screen.wait_for_text("one Xtwo");
    screen.send("\x1b[200~pasted \x1b");
    screen.send("[201~");
    screen.wait_for_text("Xpasted");
}

#[test]
fn the_mouse_is_given_to_the_terminal_and_taken_again_and_stays_given_after_a_stop() {
    let world = World::new();
    let mut screen = Terminal::in_shell(&world, &[], (80, 24));
    screen.wait_for_text(READY);
    let mode = |mode| move |screen: &vt100::Screen| screen.mouse_protocol_mode() == mode;
    use vt100::MouseProtocolMode::{ButtonMotion, None};
    screen.wait_for("the mouse to be taken", mode(ButtonMotion));
    screen.send("\x1bm");
    screen.wait_for("the mouse to be given back", mode(None));
    screen.send(CTRL_Z);
    screen.wait_for("the shell", |screen| !screen.alternate_screen());
    screen.send("fg\n");
    screen.wait_for("the screen to come back", |screen| {
        screen.alternate_screen() && shows(screen, "mouse off")
    });
    screen.wait_for("the mouse to stay with the terminal", mode(None));
    screen.send("\x1bm");
    screen.wait_for("the mouse to be taken again", mode(ButtonMotion));
}

#[test]
fn after_a_stop_the_screen_is_drawn_whole_with_its_modes_and_cursor() {
    let world = World::new();
    let mut screen = Terminal::in_shell(&world, &[], (100, 30));
    screen.wait_for_text(READY);
    screen.send("a draft");
    screen.wait_for_text("a draft");
    // Behind the two columns of the prompt and the seven that were typed.
    let is_behind_draft = |screen: &vt100::Screen| screen.cursor_position() == (28, 9);
    screen.wait_for("the cursor behind the draft", is_behind_draft);
    let before = screen.rows(100);
    screen.send(CTRL_Z);
    screen.wait_for("the shell", |screen| !screen.alternate_screen());
    // The keys of kitty's protocol and of xterm's, then the title.
    screen.wait_for_bytes("\x1b[<1u\x1b[?1049l");
    screen.wait_for_bytes("\x1b[>4m\x1b[23;0t\x1b[0m");
    assert!(screen.is_restored());
    let written = screen.bytes().len();
    screen.send("fg\n");
    screen.wait_for("the same screen", |screen| {
        screen.alternate_screen()
            && screen.rows(0, 100).map(|row| row.trim_end().to_owned()).eq(before.iter().cloned())
    });
    screen.wait_for("the cursor behind the draft", is_behind_draft);
    let again = String::from_utf8_lossy(&screen.bytes()[written..]).into_owned();
    for mode in
        ["\x1b[?1049h", "\x1b[?2004h", "\x1b[?1004h", "\x1b[>5u", "\x1b[>4;1m", "\x1b[?1006h"]
    {
        assert!(again.contains(mode), "{mode:?}: {again:?}");
    }
    screen.send("\x1b[13;2u");
    screen.send("more");
    screen.wait_for_text("  more");
}

#[test]
fn the_windows_title_is_the_programs_and_given_back_however_it_ends() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let (_world, mut screen) = started(80, 24);
        screen.wait_for_bytes("\x1b]2;");
        match signal {
            Some(signal) => screen.signal(signal),
            None => screen.send(CTRL_D),
        }
        screen.wait_for_end();
        let told = bytes(&screen);
        let (kept, set, back) = (
            told.find("\x1b[22;0t").expect("kept"),
            told.rfind("\x1b]2;").expect("set"),
            told.rfind("\x1b[23;0t").expect("given back"),
        );
        assert!(kept < set && set < back, "{signal:?}");
    }
}

#[test]
fn a_bell_rings_only_when_nobody_looks() {
    // That the focus is told and taken in; what rings when is tested with the model.
    let (_world, mut screen) = started(80, 24);
    assert!(bytes(&screen).contains("\x1b[?1004h"));
    screen.send("\x1b[O");
    screen.send("\x1b[I");
    screen.send("typed");
    screen.wait_for_text("▸ typed");
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    assert!(bytes(&screen).contains("\x1b[?1004l"));
}

fn talk(when: &'static str) -> Scenario {
    Scenario {
        when,
        answers: vec![vec![Piece::Text("Now. "), Piece::Gate("on"), Piece::Text("Done.")]],
    }
}

#[test]
fn progress_is_told_while_a_turn_runs_taken_away_at_its_end_and_never_without_being_known() {
    for (setting, variables, tells) in [
        ("auto", &[("WT_SESSION", "1")][..], true),
        ("auto", &[("TERM_PROGRAM", "ghostty")], true),
        ("auto", &[], false),
        ("auto", &[("WT_SESSION", "1"), ("TMUX", "/tmp/none,1,0")], false),
        ("off", &[("WT_SESSION", "1")], false),
        ("on", &[], true),
    ] {
        let world = World::new();
        let server = Server::start(vec![talk("Say")]);
        world.write_config(&format!("{}\n[ui]\nprogress = \"{setting}\"\n", server.config()));
        let mut screen = Terminal::start_with(&world, &["Say it"], variables, (80, 24), 0);
        screen.wait_for_text("Now.");
        if tells {
            screen.wait_for_bytes(BUSY);
            assert!(!bytes(&screen).contains(CLEAR));
        }
        server.open("on");
        screen.wait_for_text("Done.");
        screen.wait_for_text(READY);
        if tells {
            screen.wait_for_bytes(CLEAR);
        }
        screen.send(CTRL_D);
        assert_eq!(screen.wait_for_end(), 0);
        let told = bytes(&screen);
        assert_eq!(told.contains("]9;4"), tells, "{setting} {variables:?}");
        assert_eq!(told.matches(CLEAR).count(), usize::from(tells), "{setting} {variables:?}");
    }
}

#[test]
fn progress_is_taken_away_when_the_program_is_ended_or_stopped_in_a_turn() {
    let world = World::new();
    let server = Server::start(vec![talk("Say")]);
    world.write_config(&format!("{}\n[ui]\nprogress = \"on\"\n", server.config()));
    let mut stopped = Terminal::in_shell(&world, &["'Say it'"], (80, 24));
    stopped.wait_for_bytes(BUSY);
    stopped.send(CTRL_Z);
    stopped.wait_for_bytes(CLEAR);
    stopped.wait_for("the shell", |screen| !screen.alternate_screen());
    stopped.send("fg\n");
    stopped.wait_for("the screen to come back", vt100::Screen::alternate_screen);
    let deadline = Instant::now() + LIMIT;
    while bytes(&stopped).matches(BUSY).count() < 2 {
        assert!(Instant::now() < deadline, "it is not told again");
        std::thread::yield_now();
    }
    let mut screen = Terminal::start(&world, &["Say it"], 80, 24);
    screen.wait_for_bytes(BUSY);
    screen.signal(Signal::TERM);
    screen.wait_for_end();
    let told = bytes(&screen);
    assert!(told.rfind(CLEAR) > told.rfind(BUSY), "taken away at the end");
    drop(server);
}

#[test]
fn a_turn_that_failed_is_shown_until_a_key() {
    let no_key = r#"{"error": {"message": "Incorrect API key"}}"#;
    let refused = Piece::Refuse("401 Unauthorized", no_key);
    let world = World::new();
    let server = Server::start(vec![Scenario { when: "Say", answers: vec![vec![refused]] }]);
    world.write_config(&format!("{}\n[ui]\nprogress = \"on\"\n", server.config()));
    let mut screen = Terminal::start(&world, &["Say it"], 80, 24);
    screen.wait_for_bytes("\x1b]9;4;2;100\x1b\\");
    assert!(!bytes(&screen).contains(CLEAR));
    screen.send("x");
    screen.wait_for_bytes(CLEAR);
}

#[test]
fn the_last_line_holds_what_the_persons_command_prints() {
    let world = World::new();
    let command = "sed 's/.*\"activity\":\"\\([a-z]*\\)\".*/state is \\1/'";
    let server = Server::start(vec![talk("Say")]);
    let config = format!(
        "{}\n[ui.status]\ncommand = '''{command}'''\ntime_limit_ms = 10000\n\
         right = [\"folder\", \"command\"]\n",
        server.config()
    );
    world.write_config(&config);
    let mut screen = Terminal::start(&world, &[], 100, 24);
    screen.wait_for_text("work  state is idle");
    screen.send("Say it\r");
    screen.wait_for_text("state is running");
    server.open("on");
    screen.wait_for_text("state is idle");
    // A changed table holds as soon as it is read again.
    world.write_config(&config.replace("state is", "it is"));
    screen.send("/reload\r");
    screen.wait_for_text("it is idle");
    world.write_config(&config.replace("\"command\"]", "\"agent\"]"));
    screen.send("/reload\r");
    screen.wait_for_text("work  default");
}

#[test]
fn a_command_that_hangs_does_not_hold_the_screen_up_and_ends_with_the_program() {
    let world = World::new();
    let pid = world.work().join("pid");
    world.write_config(&format!(
        "[ui.status]\ncommand = \"sleep 600 & echo $! > '{}'; wait\"\ntime_limit_ms = 10000\n",
        pid.display()
    ));
    let mut screen = Terminal::start(&world, &[], 100, 24);
    screen.wait_for_text(READY);
    let deadline = Instant::now() + LIMIT;
    let pid = loop {
        let number = std::fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse().ok());
        if let Some(pid) = number.and_then(Pid::from_raw) {
            break pid;
        }
        assert!(Instant::now() < deadline, "it does not begin");
        std::thread::yield_now();
    };
    screen.send("keys go on");
    screen.wait_for_text("keys go on");
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    let is_over = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
    };
    while !is_over() {
        assert!(Instant::now() < deadline, "it outlives the program");
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_fails_or_is_late_is_said_once() {
    let world = World::new();
    world.write_config("[ui.status]\ncommand = \"exit 7\"\ninterval_s = 1\n");
    let screen = Terminal::start(&world, &[], 100, 24);
    screen.wait_for_text("ui.status.command: it ended with exit status: 7");
    screen.wait_for_text("demo model");
    let world = World::new();
    world.write_config("[ui.status]\ncommand = \"sleep 60\"\ntime_limit_ms = 20\n");
    let screen = Terminal::start(&world, &[], 100, 24);
    screen.wait_for_text("it took longer than 20 ms and was ended");
}

#[test]
fn the_division_of_the_screen_is_there_the_next_time_and_for_its_size_only() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 120, 40);
    screen.wait_for_text("Todos");
    screen.send("\x1b=\x1b=\0");
    screen.send("2");
    screen.wait_for_text("Todos is hidden");
    screen.send("\0");
    screen.send("3");
    screen.wait_for_text("Tools is hidden");
    screen.wait_until_gone("None yet");
    screen.send(CTRL_D);
    assert_eq!(screen.wait_for_end(), 0);
    let kept = std::fs::read_to_string(world.share().join("layout.json")).expect("layout.json");
    assert!(kept.contains("38"), "{kept}");
    for (columns, rows, todos, edge) in
        [(120, 40, false, Some(82)), (200, 60, false, Some(162)), (100, 30, true, Some(70))]
    {
        let screen = Terminal::start(&world, &[], columns, rows);
        screen.wait_for_text("Timeline");
        screen.wait_for_text(READY);
        assert_eq!(screen.text().contains("Todos"), todos, "{}", screen.text());
        let found = screen.rows(columns)[0].chars().position(|c| c == '│');
        assert_eq!(found, edge, "{}", screen.text());
    }
    for (columns, rows) in [(80, 24), (20, 5)] {
        let screen = Terminal::start(&world, &[], columns, rows);
        screen.wait_for_text("▸ Ask");
    }
    std::fs::write(world.share().join("layout.json"), "{ broken").expect("written");
    let screen = Terminal::start(&world, &[], 120, 40);
    screen.wait_for_text("Todos");
}

#[test]
fn it_can_be_suspended_comes_back_and_draws_again() {
    let world = World::new();
    let mut screen = Terminal::run(&world, ("sh", &["-i"]), &[], (80, 24), 0);
    // Through a script: the shell waits for the whole job, not for this program alone.
    screen.send(&format!("sh -c '{}; true'\n", program()));
    screen.wait_for_text(READY);
    screen.send(CTRL_Z);
    screen.wait_for("the terminal to be given back", |screen| !screen.alternate_screen());
    screen.send("echo the shell is $((40 + 2))\n");
    screen.wait_for_text("the shell is 42");
    assert!(screen.is_restored());
    screen.send("fg\n");
    let is_back = |screen: &vt100::Screen| screen.alternate_screen() && shows(screen, READY);
    screen.wait_for("the screen to come back", is_back);
    screen.send(CTRL_L);
    screen.send("typed");
    screen.wait_for_text("typed");
    screen.send(CTRL_C);
    screen.wait_for_text(READY);
    screen.send(CTRL_D);
    screen.wait_for("the shell", |screen| !screen.alternate_screen());
    screen.send("exit\n");
    assert_eq!(screen.wait_for_end(), 0);
}

#[test]
fn without_a_shell_to_come_back_from_it_is_not_suspended() {
    let world = World::new();
    let mut screen = Terminal::start(&world, &[], 80, 24);
    screen.wait_for_text(READY);
    screen.send(CTRL_Z);
    screen.wait_for_text("Not suspended");
    screen.signal(Signal::TSTP);
    screen.send("typed");
    screen.wait_for_text("typed");
}
