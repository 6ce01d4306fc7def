//! What is printed when, and what is live below it.

use super::*;
use crate::message::ToolReturn;
use crate::ui::testing::Harness;

fn harness() -> Harness {
    let mut h = Harness::new(60, 20);
    h.model.settings.inline = true;
    h
}

/// What is printed, as text.
fn print(h: &Harness, printed: &mut Printed) -> Vec<String> {
    let pieces = printed.next(&h.model, &h.theme, (60, 20), h.now);
    let line = |piece: &Piece| match piece {
        Piece::Line(line) | Piece::Prompt(line) => line.to_string(),
        Piece::Answer => "<answer>".to_owned(),
        Piece::Over => "<over>".to_owned(),
    };
    pieces.iter().map(line).filter(|line| !line.trim().is_empty()).collect()
}

fn tail(h: &mut Harness, printed: &Printed) -> String {
    let live = live(&h.model, printed, &h.theme, &mut h.caches, (60, 20), h.now);
    assert!(live.buffer.area.height <= 20);
    let rows = live.buffer.content.chunks(60);
    let text =
        |row: &[ratatui::buffer::Cell]| row.iter().map(ratatui::buffer::Cell::symbol).collect();
    rows.map(text).collect::<Vec<String>>().join("\n")
}

#[test]
fn a_message_goes_out_block_by_block_and_its_end_is_live() {
    let (mut h, mut printed) = (harness(), Printed::default());
    assert!(print(&h, &mut printed).iter().any(|line| line.contains("kimi-tui")), "a welcome");
    h.begin_turn("Go").step(1).text("First block.\n\nSecond bl\nock");
    assert_eq!(print(&h, &mut printed), ["▌ Go", "<answer>", "First block."]);
    let live = tail(&mut h, &printed);
    assert!(live.contains("Second bl ock") && !live.contains("First"), "{live}");
    assert_eq!(print(&h, &mut printed), [""; 0], "once");
    h.text(" ends.").end_turn();
    assert_eq!(print(&h, &mut printed), ["Second bl ock ends.", "<over>"]);
    assert!(!tail(&mut h, &printed).contains("Second"));
}

#[test]
fn a_row_of_reads_is_printed_when_nothing_can_join_it() {
    let (mut h, mut printed) = (harness(), Printed::default());
    h.begin_turn("Go").step(1);
    for id in ["a", "b"] {
        h.call(id, "ReadFile", "{\"path\": \"x\"}");
        h.result(id, ToolReturn::ok("1", "1 line"));
        assert!(!print(&h, &mut printed).iter().any(|line| line.contains("Read")));
        assert!(tail(&mut h, &printed).contains("Read"));
    }
    h.text("Done").end_turn();
    let lines = print(&h, &mut printed);
    assert_eq!(lines.iter().filter(|line| line.contains("Read")).count(), 1, "{lines:?}");
}

#[test]
fn a_session_that_is_long_is_printed_from_its_end() {
    let (mut h, mut printed) = (harness(), Printed::default());
    for n in 0..50 {
        h.begin_turn(&format!("prompt-{n}")).step(1).text("Yes.").end_turn();
    }
    let lines = print(&h, &mut printed);
    assert!(lines[0].contains("earlier parts"), "{lines:?}");
    assert!(lines.len() < 25 && lines.iter().any(|line| line.contains("prompt-49")));
    assert!(!lines.iter().any(|line| line.contains("prompt-0")));
}

#[test]
fn the_whole_screen_is_taken_for_what_needs_it() {
    let mut h = harness();
    h.begin_turn("Go").step(1).text("Yes.").end_turn();
    assert!(!h.model.wants_full_screen());
    for (open, close) in
        [("<f1>", "<esc>"), ("<tab>", "<esc>"), ("<ctrl-t>", "<esc>"), ("<f11>", "<f11>")]
    {
        h.keys(open);
        assert!(h.model.wants_full_screen(), "{open}");
        h.picture();
        h.keys(close);
        h.picture();
        assert!(!h.model.wants_full_screen(), "{close} after {open}");
    }
    h.keys("<pageup>");
    assert!(h.model.wants_full_screen());
    h.picture();
    assert!(!h.model.wants_full_screen(), "there is nothing above");
}
