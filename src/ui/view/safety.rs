//! What models, tools, files and sessions say never acts on the terminal, wherever it is shown.

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::message::{DiffBlock, DisplayBlock, TodoItem, TodoStatus, ToolReturn};
use crate::ui::testing::Harness;
use crate::ui::view::view;
use crate::wire::{Event, Notification};

const WIDTH: u16 = 100;
const HEIGHT: u16 = 40;

/// Strings that would do something to a terminal: each way to begin a sequence with each thing to do.
fn corpus() -> Vec<String> {
    let csi = [
        "2J", "3J", "H", "99;99H", "?1049h", "?1049l", "?25l", "?1000h", "?1003h", "?2004l", "?1h",
        "?7l", "4h", "20h", "6n", "c", ">c", "=c", "0x", "5i", "4i", "!p", "?69h", "1;5r", "10S",
        "10T", "8m", "5;31;7m", "21t", "14t", "8;1;1t", "3;1;1t", "?2026h", ">4;2m", "<u", "=1u",
        "100@", "5M", "5L", "10P", "1000000b", "?5h", "s", "u", "38;5m", "$p", "?1$p", "31", "",
    ];
    let osc = [
        "0;owned",
        "2;owned",
        "1;icon",
        "4;1;rgb:ff/00/00",
        "10;?",
        "11;?",
        "52;c;b3duZWQ=",
        "52;c;?",
        "8;;http://evil",
        "7;file:///etc",
        "9;note",
        "777;notify;a;b",
        "1337;File=:AAAA",
        "104",
        "112",
        "133;A",
        "50;font",
        "66;s=2;big",
    ];
    let mut all = Vec::new();
    for body in csi {
        all.push(format!("\x1b[{body}"));
        all.push(format!("\u{9b}{body}"));
    }
    for body in osc {
        all.push(format!("\x1b]{body}\x07"));
        all.push(format!("\x1b]{body}\x1b\\"));
        all.push(format!("\u{9d}{body}\u{9c}"));
    }
    for body in ["+q544e", "$q\"p", "0;1|17/61", "tmux;\x1b\x1b[2J", "q#0~"] {
        all.push(format!("\x1bP{body}\x1b\\"));
        all.push(format!("\u{90}{body}\u{9c}"));
    }
    for body in [
        "_Gf=100;AAAA\x1b\\",
        "^pm\x1b\\",
        "Xsos\x1b\\",
        "c",
        "7",
        "8",
        "=",
        ">",
        "M",
        "D",
        "E",
        "H",
        "N",
        "O",
        "#8",
        "(0",
        ")0",
        "%G",
        " F",
        "l",
        "Z",
        "k title\x1b\\",
        "\x1b[2J",
        "\u{18}[2J",
        "[\x1b[2J",
    ] {
        all.push(format!("\x1b{body}"));
    }
    all.extend(
        [
            "\x07",
            "\x08\x08\x08",
            "\x0e",
            "\x0f",
            "\x05",
            "\x7f",
            "\0",
            "\x0b",
            "\x0c",
            "a\rb",
            "\u{85}",
            "\u{84}",
            "\u{8d}",
            "\u{202e}evil\u{202c}",
            "\u{2066}x\u{2069}",
            "\u{200b}\u{feff}",
            "\u{2028}x\u{2029}",
            "\u{e0041}\u{e0042}",
            "&#27;[2J",
            "&#x9b;2J",
            "&#7;",
            "x\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        ]
        .map(String::from),
    );
    all
}

/// A screen on which `evil` stands everywhere somebody else's text can stand.
fn screen(evil: &str) -> Harness {
    let mut h = Harness::new(WIDTH, HEIGHT);
    let info = crate::wire::SessionInfo {
        title: evil.into(),
        model: Some(evil.into()),
        agent: evil.into(),
        work_dir: format!("/home/{evil}").into(),
        ..crate::ui::testing::info()
    };
    h.model.status.info = std::sync::Arc::new(info);
    h.begin_turn(&format!("prompt {evil}")).checkpoint(0, None, 0).step(1);
    h.event(Event::ContentPart(crate::message::ContentPart::think(format!("think {evil}"))));
    h.text(&format!(
        "# t {evil}\n\ntext {evil} `code {evil}` [link {evil}](http://x/{evil})\n\n| a {evil} | b |\n|---|---|\n\
         | {evil} | c |\n\n```{evil}\nfn x() {{}} // {evil}\n```\n\n- i {evil}\n\n<b>{evil}</b>\n"
    ));
    h.call("a", &format!("Bash{evil}"), &serde_json::json!({"command": evil}).to_string());
    h.result("a", ToolReturn::ok(evil, evil));
    h.call("b", "Bash", &serde_json::json!({"command": format!("run {evil}")}).to_string());
    h.result("b", ToolReturn::error(evil, evil).with_output(format!("out {evil}\n{evil}")));
    h.call("c", "EditFile", &serde_json::json!({"path": evil}).to_string());
    let diff = DiffBlock {
        path: evil.into(),
        old_text: format!("old {evil}"),
        new_text: format!("new {evil}"),
        old_start: 1,
        new_start: 1,
        is_summary: false,
    };
    h.result("c", ToolReturn::ok("", "").with_display(DisplayBlock::Diff(diff)));
    h.call("d", "Todo", "{}");
    let items = vec![TodoItem { title: evil.into(), status: TodoStatus::Pending }];
    h.result("d", ToolReturn::ok("", "").with_display(DisplayBlock::Todo { items }));
    h.call("e", "ReadFile", &serde_json::json!({"path": evil}).to_string());
    h.call("f", "Grep", &serde_json::json!({"pattern": evil}).to_string());
    h.event(Event::Notification(Notification {
        title: evil.into(),
        body: evil.into(),
        severity: "warning".into(),
        ..notification()
    }));
    h.send(crate::ui::msg::Msg::Said(format!("said {evil}")));
    h
}

fn notification() -> Notification {
    serde_json::from_value(serde_json::json!({
        "id": "n", "category": "system", "type": "x", "source_kind": "s", "source_id": "i", "title": "t",
        "body": "b", "severity": "info", "created_at": 1.0, "payload": {}
    }))
    .expect("a notification")
}

/// What is written to the terminal for the screen as it is.
fn bytes(h: &mut Harness) -> Vec<u8> {
    let mut out = Vec::new();
    let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, WIDTH, HEIGHT)) };
    let mut terminal =
        Terminal::with_options(CrosstermBackend::new(&mut out), options).expect("terminal");
    terminal
        .draw(|frame| {
            view(&h.model, &h.theme, &mut h.caches, frame, h.now);
        })
        .expect("frame");
    drop(terminal);
    out
}

/// Every control in `bytes` must be one our own drawing uses: colours and cursor moves.
fn foreign(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| {
        c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    }) {
        rest = &rest[at..];
        let body = rest.strip_prefix("\x1b[");
        let end = body.and_then(|body| body.find(|c: char| ('@'..='~').contains(&c)));
        let (Some(body), Some(end)) = (body, end) else {
            return Some(rest.chars().take(8).collect());
        };
        let is_ours = match body.as_bytes()[end] {
            b'm' | b'H' => {
                body[..end].bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':')
            }
            b'h' | b'l' => &body[..end] == "?25",
            _ => false,
        };
        if !is_ours {
            return Some(format!("CSI {}", &body[..=end]));
        }
        rest = &body[end + 1..];
    }
    None
}

#[test]
fn nothing_that_is_said_acts_on_the_terminal() {
    let corpus = corpus();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    for evil in corpus {
        let mut h = screen(&evil);
        for keys in
            ["", "<ctrl-e>", "<tab>o", "<esc>k<enter>", "<esc><f1>", "<esc><ctrl-t>", "<esc><esc>/"]
        {
            h.keys(keys).picture();
            let bytes = bytes(&mut h);
            assert_eq!(foreign(&bytes), None, "{evil:?} after {keys}");
            let mut parser = vt100::Parser::new(
                std::num::NonZero::new(HEIGHT).expect("rows"),
                std::num::NonZero::new(WIDTH).expect("columns"),
                0,
            );
            parser.process(&bytes);
            let terminal = parser.screen();
            assert!(!terminal.alternate_screen() && !terminal.application_cursor(), "{evil:?}");
            assert!(!terminal.bracketed_paste() && !terminal.application_keypad(), "{evil:?}");
            assert_eq!(terminal.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "{evil:?}");
        }
    }
}

#[test]
fn the_check_finds_what_would_act() {
    for evil in ["\x1b[2J", "\x1b]0;x\x07", "\x07", "\u{9b}2J", "a\u{202e}b", "\x1b[?1049h"] {
        assert!(foreign(format!("ok\x1b[1;1H{evil}").as_bytes()).is_some(), "{evil:?}");
    }
    assert_eq!(foreign(b"\x1b[38;5;1mred\x1b[0m\x1b[?25l"), None);
}

#[test]
fn a_background_reaches_the_terminal_everywhere() {
    let mut h = screen("x");
    h.theme = crate::ui::theme::Theme::load("ember", std::path::Path::new("x")).expect("theme");
    let bytes = bytes(&mut h);
    let mut parser = vt100::Parser::new(
        std::num::NonZero::new(HEIGHT).expect("rows"),
        std::num::NonZero::new(WIDTH).expect("columns"),
        0,
    );
    parser.process(&bytes);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let ground = parser.screen().cell(y, x).expect("cell").bgcolor();
            assert_ne!(ground, vt100::Color::Default, "{x},{y}");
        }
    }
}
