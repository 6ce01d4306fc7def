//! Text is selected with the mouse on the screen as it is drawn, and copied as it was written.

use super::*;
use crate::ui::msg::Mouse;

fn screen(source: &str, width: u16) -> Harness {
    let mut h = Harness::new(width, 30);
    h.begin_turn("go").step(1).text(source).end_turn();
    h.draw();
    h
}

/// Where `text` stands on the screen, counted in columns.
fn place(h: &mut Harness, text: &str) -> (u16, u16) {
    let terminal = h.draw();
    let buffer = terminal.backend().buffer();
    let area = buffer.area;
    for y in 0..area.height {
        for x in 0..area.width {
            let mut rest = text;
            let mut at = x;
            while let Some(cell) = (at < area.width && !rest.is_empty()).then(|| &buffer[(at, y)]) {
                let Some(after) = rest.strip_prefix(cell.symbol()) else { break };
                rest = after;
                at += crate::ui::render::width::width(cell.symbol()).max(1) as u16;
            }
            if rest.is_empty() {
                return (x, y);
            }
        }
    }
    panic!("no {text:?} in\n{}", terminal.backend());
}

fn mouse(h: &mut Harness, what: Mouse, (x, y): (u16, u16)) {
    h.send(Msg::Mouse { what, x, y });
    h.draw();
}

fn copied(h: &mut Harness) -> Option<String> {
    h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Copy { text, .. } => Some(text),
        _ => None,
    })
}

/// From the beginning of one text to the end of another.
fn drag(h: &mut Harness, from: &str, to: &str) -> Option<String> {
    let start = place(h, from);
    let (x, y) = place(h, to);
    let end = (x + crate::ui::render::width::width(to) as u16 - 1, y);
    h.now += 1.0;
    mouse(h, Mouse::Press, start);
    mouse(h, Mouse::Drag, end);
    mouse(h, Mouse::Release, end);
    copied(h)
}

fn press(h: &mut Harness, text: &str, times: usize) -> Option<String> {
    let at = place(h, text);
    let mut last = None;
    for _ in 0..times {
        mouse(h, Mouse::Press, at);
        mouse(h, Mouse::Release, at);
        last = copied(h);
        h.now += 0.1;
    }
    h.now += 1.0;
    last
}

const TEXT: &str = "Some **strong** words that are long enough to be wrapped in a window that is as narrow as this \
    one is here.\n\n- first item\n- 第二项目，中文也要换行，因为这一行写得太长了所以放不下，真的放不下。\n\n\
    ```rust\nfn main() {\n    let path = \"src/ui/main.rs\";\n}\n```\n";

#[test]
fn what_is_dragged_over_is_copied_as_it_was_written() {
    let mut h = screen(TEXT, 44);
    assert_eq!(
        drag(&mut h, "words", "wrapped").as_deref(),
        Some("words that are long enough to be wrapped")
    );
    assert_eq!(drag(&mut h, "strong", "words").as_deref(), Some("strong** words"));
    assert_eq!(
        drag(&mut h, "中文", "放不下，真").as_deref(),
        Some("中文也要换行，因为这一行写得太长了所以放不下，真")
    );
    let code = "fn main() {\n    let path = \"src/ui/main.rs\";\n}";
    assert_eq!(drag(&mut h, "fn main", "}").as_deref(), Some(code));
    // Upwards is the same.
    let (from, to) = (place(&mut h, "words"), place(&mut h, "Some"));
    mouse(&mut h, Mouse::Press, from);
    mouse(&mut h, Mouse::Drag, to);
    mouse(&mut h, Mouse::Release, to);
    assert_eq!(copied(&mut h).as_deref(), Some("Some **strong** w"));
    // A press alone selects nothing.
    h.now += 1.0;
    assert_eq!(press(&mut h, "words", 1), None);
}

#[test]
fn either_half_of_a_wide_character_is_all_of_it() {
    let mut h = screen("这里有一些字。", 44);
    let (x, y) = place(&mut h, "有");
    mouse(&mut h, Mouse::Press, (x + 1, y));
    mouse(&mut h, Mouse::Drag, (x + 2, y));
    let marked = {
        let terminal = h.draw();
        let buffer = terminal.backend().buffer();
        let is_marked = |x: &u16| buffer[(*x, y)].bg == h.theme.selection.bg.expect("a ground");
        (0..44).filter(is_marked).collect::<Vec<u16>>()
    };
    // The second halves are no cells of their own.
    assert_eq!(marked, [x, x + 2]);
    mouse(&mut h, Mouse::Release, (x + 2, y));
    assert_eq!(copied(&mut h).as_deref(), Some("有一"));
}

#[test]
fn two_presses_select_a_word_and_three_a_line() {
    let mut h = screen(TEXT, 44);
    assert_eq!(press(&mut h, "rong", 2).as_deref(), Some("strong"));
    assert_eq!(press(&mut h, "ui/main", 2).as_deref(), Some("src/ui/main.rs"));
    assert_eq!(press(&mut h, "here", 2).as_deref(), Some("here"), "without the dot");
    assert_eq!(press(&mut h, "文也要", 2).as_deref(), Some("中文也要换行"));
    let line = TEXT.lines().next().expect("one");
    assert_eq!(press(&mut h, "enough", 3).as_deref(), Some(line), "over its wraps");
    assert_eq!(press(&mut h, "let", 3).as_deref(), Some("let path = \"src/ui/main.rs\";"));
    let item = TEXT.lines().find(|line| line.contains("第二")).expect("one");
    assert_eq!(press(&mut h, "写得", 3).as_deref(), item.strip_prefix("- "));
    // The fourth begins anew, and slow presses do not belong together.
    assert_eq!(press(&mut h, "enough", 4), None);
    for _ in 0..2 {
        h.now += 1.0;
        assert_eq!(press(&mut h, "enough", 1), None);
    }
}

#[test]
fn a_drag_after_two_presses_goes_by_words() {
    let mut h = screen(TEXT, 44);
    let (at, to) = (place(&mut h, "rong"), place(&mut h, "hat are"));
    for what in [Mouse::Press, Mouse::Release, Mouse::Press] {
        mouse(&mut h, what, at);
    }
    h.take_effects();
    mouse(&mut h, Mouse::Drag, to);
    mouse(&mut h, Mouse::Release, to);
    assert_eq!(copied(&mut h).as_deref(), Some("strong** words that"));
}
