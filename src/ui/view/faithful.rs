//! What is kept never shows: a picture drawn with caches is the picture drawn without, whatever
//! happened before. And nothing is wider than its pane.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use unicode_segmentation::UnicodeSegmentation;

use super::{Caches, cells, view};
use crate::message::{DiffBlock, DisplayBlock, ToolReturn};
use crate::ui::model::cell::{CellKind, Level};
use crate::ui::msg::{Mouse, Msg};
use crate::ui::render::diff::DRAWN;
use crate::ui::render::highlight::HighlightCache;
use crate::ui::render::width::{grapheme_width, line_width};
use crate::ui::testing::Harness;
use crate::ui::theme::Theme;
use crate::wire::{DoorMessage, Event, Request};

fn uncached(h: &Harness) -> Buffer {
    let (width, height) = (h.model.screen.width, h.model.screen.height);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("terminal");
    let mut caches = Caches::inline();
    let draw = |frame: &mut ratatui::Frame<'_>| {
        view(&h.model, &h.theme, &mut caches, frame, h.now);
    };
    terminal.draw(draw).expect("frame");
    terminal.backend().buffer().clone()
}

const PIECES: &[&str] = &[
    "word ",
    "**bold** ",
    "\n\n",
    "```rust\nlet x = 1;\n",
    "```\n",
    "- item\n",
    "| a | b |\n|---|---|\n",
    "| 日本 | 👩\u{200d}💻 |\n",
    "> quote\n",
    "# head\n",
    "a\tb ",
    "[link](/u) ",
    "e\u{301}",
];

const KEYS: &[&str] = &[
    "<pageup>",
    "<pagedown>",
    "<ctrl-home>",
    "<ctrl-end>",
    "<ctrl-o>",
    "<shift-tab>",
    "<esc>",
    "k",
    "j",
    "<space>",
    "<ctrl-t>",
    "x",
    "<backspace>",
    "<ctrl-f>",
    "<esc><tab>o",
    "<esc><tab>s",
    "<esc>vb",
    "<esc><tab>/word<enter>",
    "n",
    "G",
];

/// A change of many lines, of which two are told apart by `seed`.
fn change(seed: usize) -> DisplayBlock {
    let old: String = (0..24).map(|n| format!("line {n} 日本 of {seed}\n")).collect();
    DisplayBlock::Diff(DiffBlock {
        path: "src/lib.rs".into(),
        new_text: old.replace("7", "seven").replace("line 13", "\tline 👩\u{200d}💻"),
        old_text: old,
        old_start: 1,
        new_start: 1,
        is_summary: false,
    })
}

/// A change is asked for.
fn ask_for_change(h: &mut Harness, id: &str, call: &str, seed: usize) {
    h.ask(id, call, "x");
    if let Some(mut request) = h.model.approvals.remove(id, h.now) {
        request.display = vec![change(seed)];
        h.send(Msg::Door(DoorMessage::Request(Request::ApprovalRequest(request))));
    }
}

/// Something happens; `a` and `b` say what exactly.
fn happen(h: &mut Harness, what: u8, a: usize, b: usize) {
    let count = h.model.transcript.cells().len();
    match what {
        0 | 1 => {
            h.text(PIECES[a % PIECES.len()]);
        }
        2 => {
            let name = ["ReadFile", "Grep", "Bash", "WriteFile"][a % 4];
            h.call(&format!("c{}", b % 9), name, r#"{"path": "src/lib.rs", "command": "ls -la"}"#);
        }
        3 => {
            let text = "line of output\n".repeat(a % 40);
            let result = if b.is_multiple_of(5) {
                ToolReturn::error(text, "failed")
            } else {
                ToolReturn::ok(text, "done")
            };
            let result = if b.is_multiple_of(3) { result.with_display(change(a)) } else { result };
            h.result(&format!("c{}", b % 9), result);
        }
        4 => {
            h.begin_turn("Please do it\nwith two lines").step(1);
        }
        5 => {
            h.end_turn();
        }
        6 => {
            let (width, height) = (20 + (a % 200) as u16, 6 + (b % 50) as u16);
            h.send(Msg::Resize { width, height });
        }
        7 => {
            h.keys(KEYS[a % KEYS.len()]);
        }
        8 => {
            h.send(Msg::Wheel((a % 13) as i32 - 6));
        }
        9 if count > 0 => h.model.transcript.edit(a % count, |cell| {
            cell.open = [None, Some(true), Some(false)][b % 3];
        }),
        10 => h.theme = [Theme::dark(), Theme::light()][a % 2].clone(),
        11 => h.model.transcript.pack(0..count),
        12 => {
            h.wait((a % 100) as f64 / 10.0);
        }
        13 => {
            h.step(b as u64 % 5);
        }
        14 => ask_for_change(h, &format!("a{a}"), &format!("c{}", b % 9), a),
        15 => {
            let what = [Mouse::Press, Mouse::Drag, Mouse::Press][b % 3];
            h.send(Msg::Mouse { what, x: (a % 60) as u16, y: (b % 24) as u16 });
        }
        _ => {
            h.event(Event::ContentPart(crate::message::ContentPart::think("Let me see. ")));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn cached_is_uncached(
        happens in prop::collection::vec((0_u8..17, 0_usize..1000, 0_usize..1000), 1..60)
    ) {
        let mut h = Harness::new(90, 24);
        h.begin_turn("Begin").step(1).text("An *answer*.\n\n");
        for (what, a, b) in happens {
            happen(&mut h, what, a, b);
            let fresh = uncached(&h);
            let kept = h.draw().backend().buffer().clone();
            prop_assert_eq!(kept, fresh, "after {} {} {}", what, a, b);
        }
    }

    #[test]
    fn no_cell_is_wider_than_its_pane(text in any_text(), width in 4_u16..130) {
        fits(&text, width)?;
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-z]{1,30}",
        prop::sample::select(vec![
            "日本語",
            "👩\u{200d}👩\u{200d}👧\u{200d}👦",
            "e\u{301}\u{302}\u{303}",
            "\t",
            " ",
            "\n",
            "🇯🇵",
            "\u{200b}",
            "\u{202e}",
            "\u{1b}[31m",
            "ｱ",
            "한국어",
            "\u{fe0f}",
            "☺\u{fe0f}",
            "नमस्ते",
            "\r\n",
            "—",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Every kind of cell with this text in it.
fn fits(text: &str, width: u16) -> Result<(), TestCaseError> {
    let mut h = Harness::new(width, 24);
    h.begin_turn(text).step(1);
    h.event(Event::ContentPart(crate::message::ContentPart::think(text)));
    h.text(text).call("a", "Bash", &serde_json::json!({ "command": text }).to_string());
    h.result("a", ToolReturn::ok(text, text));
    h.call("b", text, text).result("b", ToolReturn::error(text, text).with_output(text));
    h.call("c", "WriteFile", &serde_json::json!({ "path": text }).to_string());
    let diff = DiffBlock {
        path: text.into(),
        old_text: text.into(),
        new_text: format!("{text}x{text}"),
        old_start: 1,
        new_start: 1,
        is_summary: false,
    };
    h.result("c", ToolReturn::ok("", "").with_display(DisplayBlock::Diff(diff)));
    h.end_turn();
    let notice = CellKind::Notice { level: Level::Error, text: text.into() };
    h.model.transcript.push(notice, true, 0.0);
    h.model.transcript.push(CellKind::Plan { text: text.into() }, true, 0.0);
    for open in [Some(true), Some(false)] {
        for index in 0..h.model.transcript.cells().len() {
            h.model.transcript.edit(index, |cell| cell.open = open);
            let cell = &h.model.transcript.cells()[index];
            let hl = HighlightCache::new();
            for line in cells::lines(&h.model, cell, &h.theme, &hl, width, h.now) {
                // A grapheme cannot be narrower than it is.
                let said = line.to_string();
                let widest = said.graphemes(true).map(grapheme_width).max().unwrap_or(0);
                let room = usize::from(width).max(if widest > 2 { widest + 2 } else { 0 });
                prop_assert!(
                    line_width(&line) <= room,
                    "{} > {width}: {said:?} in {:?}",
                    line_width(&line),
                    cell.kind
                );
            }
        }
    }
    h.draw();
    Ok(())
}

#[test]
fn of_a_long_change_only_what_is_seen_is_drawn() {
    let drawn = |h: &mut Harness| {
        DRAWN.set(0);
        h.draw();
        DRAWN.get()
    };
    let old: String = (0..10_000).map(|n| format!("    let value_{n} = call({n});\n")).collect();
    let diff = DisplayBlock::Diff(DiffBlock {
        path: "src/lib.rs".into(),
        new_text: old.replace("5)", "five)"),
        old_text: old,
        old_start: 1,
        new_start: 1,
        is_summary: false,
    });
    let mut h = Harness::new(200, 50);
    h.begin_turn("go").step(1).call("c", "WriteFile", r#"{"path": "src/lib.rs"}"#);
    h.ask("a", "c", "x");
    let mut request = h.model.approvals.remove("a", h.now).expect("asked");
    request.display = vec![diff.clone()];
    h.send(Msg::Door(DoorMessage::Request(Request::ApprovalRequest(request)))).wait(2.0);
    assert!((1..=20).contains(&drawn(&mut h)), "{}", DRAWN.get());
    h.keys("v");
    assert!((40..=100).contains(&drawn(&mut h)), "both columns: {}", DRAWN.get());
    let picture = h.picture();
    let is_beside = |line: &str| line.contains("- ") && line.contains("│") && line.contains("+ ");
    assert!(picture.lines().any(is_beside), "{picture}");
    h.keys("<ctrl-end>");
    assert!(drawn(&mut h) <= 100, "{}", DRAWN.get());
    h.keys("b");
    assert!((30..=50).contains(&drawn(&mut h)), "one column: {}", DRAWN.get());
    assert!(!h.picture().lines().any(is_beside));
    h.keys("by").result("c", ToolReturn::ok("", "").with_display(diff)).end_turn();
    assert!(drawn(&mut h) <= 40, "the folded card: {}", DRAWN.get());
    h.keys("<tab>o");
    assert!((30..=100).contains(&drawn(&mut h)), "the whole screen: {}", DRAWN.get());
    for keys in ["d", "G", "g", "s"] {
        h.keys(keys);
        assert!(drawn(&mut h) <= 100, "{keys}: {}", DRAWN.get());
    }
    h.keys("q<enter>");
    assert!(drawn(&mut h) <= 1000, "unfolded, up to its limit: {}", DRAWN.get());
    assert_eq!(drawn(&mut h), 0, "and kept");
}

#[test]
fn a_line_of_a_megabyte_fits() {
    for piece in ["x", "word ", "日本", "👩\u{200d}💻", "\t", "e\u{301}"] {
        let text = piece.repeat((1 << 20) / piece.len());
        let mut h = Harness::new(80, 24);
        h.begin_turn("go").step(1).text(&text);
        h.call("a", "Bash", r#"{"command": "cat"}"#).result("a", ToolReturn::ok(text, "done"));
        h.end_turn();
        for index in 0..h.model.transcript.cells().len() {
            let cell = &h.model.transcript.cells()[index];
            let hl = HighlightCache::new();
            for line in cells::lines(&h.model, cell, &h.theme, &hl, 80, h.now) {
                assert!(line_width(&line) <= 80);
            }
        }
        h.draw();
    }
}
