//! A frame can be drawn in a terminal of any size, also one the model has not heard of: between a
//! change of the window and the message that tells it, frames are drawn.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::testing::Harness;
use super::view;

/// What can lie on the screen, by the keys that bring it up.
const SCENES: [&str; 9] = [
    "",
    "draft <alt-enter>two",
    "/",
    "<ctrl-t>",
    "<ctrl-g>",
    "<f1>",
    "<f2>",
    "<ctrl-e>",
    "<esc>k<enter>",
];

fn told(size: (u16, u16)) -> Harness {
    let mut h = Harness::new(size.0, size.1);
    h.begin_turn("a prompt 提示").checkpoint(0, None, 0).step(1);
    h.text("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```\n");
    h.call("a", "Bash", r#"{"command": "echo one && echo two"}"#).usage(500);
    h
}

fn draw(h: &mut Harness, area: (u16, u16)) {
    let mut terminal = Terminal::new(TestBackend::new(area.0, area.1)).expect("terminal");
    let draw = |frame: &mut ratatui::Frame| {
        view(&h.model, &h.theme, &mut h.caches, frame, h.now);
    };
    terminal.draw(draw).expect("frame");
}

#[test]
fn a_terminal_smaller_or_larger_than_the_model_knows_is_drawn() {
    let widths = [1, 2, 3, 9, 29, 31, 45, 100, 199];
    let heights = [1, 2, 3, 4, 9, 24, 59];
    for size in [(200, 60), (100, 30), (20, 5), (1, 1)] {
        for (at, keys) in SCENES.iter().enumerate() {
            let mut h = told(size);
            match at {
                0 => h.ask("r", "a", "echo one && echo two"),
                1 => h.question("q", &[("Which?", "Pick", &["one", "two"], false)]),
                _ => &mut h,
            }
            .keys(keys);
            for area in widths.iter().flat_map(|w| heights.map(|height| (*w, height))) {
                draw(&mut h, area);
            }
        }
    }
}
