//! What the last line keeps when there is little room.

use crate::config::{StatusConfig, StatusItem};
use crate::ui::testing::Harness;

/// The last row of the screen.
fn last(h: &mut Harness) -> String {
    let picture = h.picture();
    let row = picture.lines().rfind(|row| row.starts_with('"')).expect("a row");
    row.trim_matches('"').to_owned()
}

/// The same without what stands beside it.
fn line(h: &mut Harness) -> String {
    last(h).split('│').next().unwrap_or_default().to_owned()
}

#[test]
fn the_way_to_help_and_to_all_else_is_named_in_each_state_at_80_columns() {
    let idle = Harness::new(80, 24);
    let mut running = Harness::new(80, 24);
    running.begin_turn("q").step(3).usage(6100);
    let mut asked = Harness::new(80, 24);
    asked.begin_turn("q").step(1).call("t1", "Bash", "{}").usage(6100);
    asked.ask("a1", "t1", "ls").wait(2.0);
    let mut timeline = Harness::new(80, 24);
    timeline.checkpoint(0, None, 0).begin_turn("q").end_turn().keys("<ctrl-t>");
    let mut sessions = Harness::new(80, 24);
    sessions.keys("<f3>");
    let mut reading = Harness::new(80, 24);
    reading.begin_turn("q").text("a").end_turn().keys("<tab>");
    for (mut h, wanted) in [
        (idle, &["enter send", "f1 help", "ctrl-p actions"][..]),
        (running, &["step 3", "esc stop", "f1 help", "ctrl-p actions", "kimi-k2", "context 5%"]),
        (asked, &["y approve", "n reject", "f1 help", "5%"]),
        (timeline, &["esc back", "f1 help", "enter show"]),
        (sessions, &["esc back", "f1 help", "enter open"]),
        (reading, &["esc back", "f1 help"]),
    ] {
        let line = line(&mut h);
        for hint in wanted {
            assert!(line.contains(hint), "{hint}: {line}");
        }
    }
}

#[test]
fn at_any_width_hints_are_whole_and_the_most_important_things_go_last() {
    for width in 10..=160 {
        let mut h = Harness::new(width, 12);
        h.model.status.cost = Some(1.25);
        h.begin_turn("q").step(3).usage(6100);
        let line = line(&mut h);
        assert!(line.contains("0ms") || line.contains("0s"), "{width}: {line}");
        let order = ["esc stop", "f1 help", "5%", "kimi-k2", "context 5%", "1.25", "(6.1k/131k)"];
        let there: Vec<bool> = order.iter().map(|word| line.contains(word)).collect();
        let shown = there.iter().filter(|is_there| **is_there).count();
        // Short words may fit where longer ones did not; none is cut.
        assert!(width < 135 || shown == order.len(), "{width}: {line}");
        assert!(!line.contains("hel ") && !line.contains("esc sto "), "{width}: {line}");
        assert!(width < 15 || there[0], "{width}: {line}");
        assert!(width < 24 || there[1], "{width}: {line}");
    }
}

#[test]
fn the_persons_items_stand_in_their_order_and_drop_by_importance() {
    use StatusItem::{Agent, Context, Folder, Model, Modes, Queue, Session};
    let mut h = Harness::new(80, 24);
    h.model.settings.status = StatusConfig {
        left: vec![Session, Folder, Modes],
        right: vec![Agent, Queue, Context, Model],
        ..StatusConfig::default()
    };
    h.begin_turn("q").usage(6100);
    h.model.status.plan_mode = true;
    h.model.composer.queue.push_back("later".into());
    let whole = line(&mut h);
    assert!(whole.starts_with(" Fix the failing test  project  plan "), "{whole}");
    assert!(whole.contains("default  1 queued  context 5%"), "{whole}");
    assert!(whole.ends_with("kimi-k2 "), "{whole}");
    h.model.screen.width = 40;
    let half = line(&mut h);
    assert!(half.contains("plan") && half.contains("5%") && half.contains("1 queued"), "{half}");
    assert!(!half.contains("Fix the failing") && !half.contains("default"), "{half}");
    h.model.screen.width = 20;
    let narrow = line(&mut h);
    assert!(narrow.contains("plan") && narrow.contains("5%"), "{narrow}");
}

#[test]
fn a_long_line_of_the_persons_command_is_cut_to_the_room_there_is() {
    let mut h = Harness::new(80, 24);
    h.model.settings.status =
        StatusConfig { right: vec![StatusItem::Command], ..StatusConfig::default() };
    h.model.status_command.line = Some("界".repeat(400));
    let line = line(&mut h);
    assert!(line.contains("界界界界") && line.contains("f1 help"), "{line}");
    h.model.status_command.line = Some(String::new());
    assert!(self::line(&mut h).contains("f1 help"));
}

#[test]
fn what_is_said_has_the_room_it_needs() {
    let mut h = Harness::new(80, 24);
    h.usage(6100).keys("<alt-v>");
    assert!(line(&mut h).contains("Vim's keys in the composer: Esc for normal mode"));
    let words = "word ".repeat(14);
    h.send(crate::ui::msg::Msg::Said(words.trim().into()));
    assert!(line(&mut h).contains(words.trim()), "{}", line(&mut h));
}
