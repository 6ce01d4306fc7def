//! The division of the screen, the mouse, the last line, what the terminal shows of a turn.

use super::*;
use crate::config::{StatusConfig, StatusItem};
use crate::ui::model::Focus;
use crate::ui::model::layout::{Layouts, Pane};
use crate::ui::view::{Progress, progress};

fn kept(h: &mut Harness) -> Option<Layouts> {
    let effects = h.take_effects().into_iter().rev();
    effects.into_iter().find_map(|effect| match effect {
        Effect::KeepLayouts(layouts) => Some(layouts),
        _ => None,
    })
}

#[test]
fn the_panes_are_made_wider_and_narrower_within_limits_and_that_is_kept() {
    let mut h = Harness::new(120, 40);
    assert_eq!(h.model.screen.sidebar_columns(), Some(30));
    h.keys("<alt-=>");
    assert_eq!(h.model.screen.sidebar_columns(), Some(34));
    assert_eq!(kept(&mut h).expect("kept").wide.columns, Some(34));
    for _ in 0..40 {
        h.keys("<alt-=>");
    }
    assert_eq!(h.model.screen.sidebar_columns(), Some(70), "the conversation keeps its columns");
    assert!(h.picture().contains("No wider"));
    for _ in 0..40 {
        h.keys("<alt-minus>");
    }
    assert_eq!(h.model.screen.sidebar_columns(), Some(24));
    h.picture();
    // Another class of screen has its own.
    h.send(Msg::Resize { width: 110, height: 40 });
    assert_eq!(h.model.screen.sidebar_columns(), Some(30));
    h.keys("<alt-=>");
    let layouts = kept(&mut h).expect("kept");
    assert_eq!((layouts.medium.columns, layouts.wide.columns), (Some(34), Some(24)));
    h.keys("<ctrl-space>0");
    let layouts = kept(&mut h).expect("kept");
    assert_eq!((layouts.medium.columns, layouts.wide.columns), (None, Some(24)));
}

#[test]
fn each_pane_is_hidden_and_shown_and_the_keys_leave_a_hidden_one() {
    let mut h = Harness::new(120, 40);
    let headings = [("1", "Context"), ("2", "Todos"), ("3", "Tools"), ("4", "Timeline")];
    for (key, heading) in headings {
        assert!(h.picture().contains(heading), "{heading}");
        h.keys(&format!("<ctrl-space>{key}"));
        let toast = h.model.status.toast.take().expect("it is said");
        assert!(toast.text.contains(heading), "{toast:?}");
        assert!(!h.picture().contains(heading), "{}", h.picture());
        h.keys(&format!("<ctrl-space>{key}"));
    }
    h.keys("<ctrl-t>");
    assert_eq!(h.model.focus, Focus::Timeline);
    h.keys("<ctrl-space>4");
    assert_eq!(h.model.focus, Focus::Composer);
    assert!(kept(&mut h).expect("kept").wide.hidden.has(Pane::Timeline));
    // What is not beside the conversation comes over it.
    h.keys("<ctrl-t>");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Timeline)));
    h.keys("<esc><ctrl-space>1<ctrl-space>2<ctrl-space>3");
    assert_eq!(h.model.screen.sidebar_columns(), None, "no pane, no columns");
    h.keys("<f2>");
    assert!(!h.model.screen.has_sidebar());
    h.keys("<f2>");
    assert!(h.picture().contains("Todos"), "what is shown again is something");
}

#[test]
fn where_there_is_no_room_the_keys_of_the_layout_say_so() {
    for keys in ["<alt-=>", "<alt-minus>", "<ctrl-space>2"] {
        let mut h = Harness::new(80, 24);
        h.keys(keys);
        let toast = h.model.status.toast.clone().expect("it is said");
        assert!(toast.text.contains("wider window"), "{keys}: {toast:?}");
        h.picture();
    }
    for (width, height) in [(80, 24), (100, 30), (120, 40), (200, 60), (20, 5)] {
        let mut h = Harness::new(width, height);
        h.model.screen.layouts.wide.columns = Some(u16::MAX);
        h.model.screen.layouts.medium.columns = Some(0);
        h.model.screen.layouts.small.columns = Some(60);
        let picture = h.picture();
        assert!(picture.contains('▸'), "{width}x{height}: {picture}");
        h.keys("<f11>").picture();
        h.keys("<f11><ctrl-space>0").picture();
    }
}

#[test]
fn the_tools_pane_has_the_whole_screen_and_gives_it_back() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("q").step(1).call("t1", "Bash", r#"{"command":"make"}"#);
    h.keys("<alt-t>");
    assert_eq!(h.model.focus, Focus::Calls);
    h.keys("<f11>");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Calls)));
    h.keys("<f11>");
    assert!(h.model.overlays.is_empty());
}

#[test]
fn another_session_has_the_same_layout_and_mouse() {
    let mut h = Harness::new(120, 40);
    h.keys("<alt-=><alt-m>");
    h.take_effects();
    h.keys("<f5>");
    let Some(Effect::Open { id, .. }) =
        h.take_effects().into_iter().find(|e| matches!(e, Effect::Open { .. }))
    else {
        panic!("no session is opened")
    };
    h.open(id, Vec::new());
    assert_eq!(h.model.screen.sidebar_columns(), Some(34));
    assert!(h.model.is_mouse_left && !h.model.settings.mouse);
}

#[test]
fn the_mouse_is_left_to_the_terminal_and_taken_again() {
    let mut h = Harness::new(80, 24);
    h.keys("<alt-m>");
    assert!(h.take_effects().contains(&Effect::TakeMouse(false)));
    assert!(h.picture().contains("The mouse is the terminal's own"), "{}", h.picture());
    h.wait(10.0);
    assert!(h.picture().contains("mouse off"), "{}", h.picture());
    h.keys("<ctrl-p>mouse for<enter>");
    assert!(h.take_effects().contains(&Effect::TakeMouse(true)));
    assert!(!h.picture().contains("mouse off"));
}

#[test]
fn vims_keys_have_a_key() {
    let mut h = Harness::new(80, 24);
    h.keys("<alt-v>");
    assert!(h.model.composer.vim.is_some());
    h.keys("<alt-v>");
    assert!(h.model.composer.vim.is_none());
}

fn with_command(config: StatusConfig) -> Harness {
    let mut h = Harness::unopened(100, 30);
    h.model.settings.status = config;
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.open(id, Vec::new());
    h
}

fn runs(h: &mut Harness) -> Vec<(crate::ui::effect::EffectId, serde_json::Value)> {
    let runs = h.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::RunStatus { id, command, time_limit_ms: 250, input } if command == "mine" => {
            Some((id, serde_json::from_str(&input).expect("JSON")))
        }
        _ => None,
    });
    runs.collect()
}

fn mine() -> StatusConfig {
    StatusConfig {
        right: StatusConfig::RIGHT_WITH_COMMAND.to_vec(),
        command: "mine".into(),
        time_limit_ms: 250,
        ..StatusConfig::default()
    }
}

#[test]
fn the_persons_command_is_told_the_state_when_it_changes_and_one_run_at_a_time() {
    let mut h = with_command(mine());
    let [(id, state)] = runs(&mut h).try_into().expect("one run");
    assert_eq!(state["activity"], "idle");
    assert_eq!(state["model"]["name"], "kimi-k2");
    assert_eq!(state["context"]["window"], 131_072);
    h.begin_turn("q").step(1).usage(4000);
    assert_eq!(runs(&mut h).len(), 0, "one is still running");
    h.send(Msg::StatusLine { id, result: Ok("\u{1b}[31mred\u{1b}]52;c;x\u{7}\u{1b}[2J".into()) });
    let picture = h.picture();
    assert!(picture.contains("red") && !picture.contains("52;c"), "{picture}");
    let red = h.draw();
    let buffer = red.backend().buffer();
    let cell = buffer.content().iter().rev().find(|cell| cell.symbol() == "d").expect("drawn");
    assert_ne!(Some(cell.fg), h.theme.muted.fg, "its colour is kept");
    // The next run waits a little, and what came meanwhile is one run.
    let due = h.model.next_change(h.now).expect("it is waited for");
    h.now = due.max(h.now + 0.3);
    h.send(Msg::Tick);
    let [(id, state)] = runs(&mut h).try_into().expect("one run");
    assert_eq!(state["activity"], "running");
    assert_eq!(state["context"]["tokens"], 4000);
    h.send(Msg::StatusLine { id, result: Ok("x".into()) });
    // Typing changes nothing it is told of.
    h.wait(1.0).keys("hello").wait(1.0);
    assert_eq!(runs(&mut h).len(), 0);
    h.end_turn();
    assert_eq!(runs(&mut h).len(), 1);
}

#[test]
fn a_command_that_fails_is_said_once_and_the_usual_items_stand_for_it() {
    let mut h = with_command(StatusConfig { interval_s: 5, ..mine() });
    let [(id, _)] = runs(&mut h).try_into().expect("one run");
    assert!(!h.picture().contains("kimi-k2"));
    h.send(Msg::StatusLine { id, result: Err("it ended with exit status: 1".into()) });
    assert!(h.model.status.toast.take().expect("said").text.contains("exit status: 1"));
    assert!(h.picture().contains("kimi-k2"), "{}", h.picture());
    h.wait(4.0);
    assert_eq!(runs(&mut h).len(), 0);
    let due = h.model.next_change(h.now).expect("the interval");
    assert!(due <= h.now + 1.0);
    h.wait(1.0);
    let [(id, _)] = runs(&mut h).try_into().expect("a run after the interval");
    h.send(Msg::StatusLine { id, result: Err("again".into()) });
    assert_eq!(h.model.status.toast, None, "it is not said again");
}

#[test]
fn nothing_runs_for_a_screen_reader_or_without_a_command() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").end_turn();
    assert!(!h.take_effects().iter().any(|e| matches!(e, Effect::RunStatus { .. })));
    let mut h = Harness::unopened(100, 30);
    h.model.settings.status = mine();
    h.model.settings.screen_reader = true;
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.open(id, Vec::new());
    assert_eq!(runs(&mut h).len(), 0);
}

#[test]
fn the_branch_is_read_when_it_is_shown_and_after_each_turn() {
    let reads = |h: &mut Harness| {
        let effects = h.take_effects();
        effects.iter().filter(|effect| matches!(effect, Effect::ReadBranch(_))).count()
    };
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").end_turn();
    assert_eq!(reads(&mut h), 0);
    let right = vec![StatusItem::Branch, StatusItem::Folder];
    let mut h = with_command(StatusConfig { right, ..StatusConfig::default() });
    assert_eq!(reads(&mut h), 1);
    h.send(Msg::Branch(Some("feature\u{1b}[2J".into())));
    assert!(h.picture().contains("feature␛[2J  project"), "{}", h.picture());
    h.begin_turn("q").text("a").text("b");
    assert_eq!(reads(&mut h), 0);
    h.end_turn();
    assert_eq!(reads(&mut h), 1);
}

#[test]
fn the_terminal_shows_that_a_turn_runs_waits_or_failed_until_somebody_looks() {
    let mut h = Harness::new(80, 24);
    assert_eq!(progress(&h.model), Progress::None);
    h.begin_turn("q").step(1);
    assert_eq!(progress(&h.model), Progress::Busy);
    h.call("t1", "Bash", "{}").ask("a1", "t1", "ls");
    assert_eq!(progress(&h.model), Progress::Waiting);
    h.wait(2.0).keys("y");
    assert_eq!(progress(&h.model), Progress::Busy);
    let failed = PromptOutcome::Failed { message: "the disk is full".into() };
    h.send(Msg::Door(DoorMessage::PromptDone(failed.clone())));
    assert_eq!(progress(&h.model), Progress::Failed);
    h.keys("x");
    assert_eq!(progress(&h.model), Progress::None);
    h.begin_turn("q").send(Msg::Door(DoorMessage::PromptDone(failed)));
    h.send(Msg::Focus(false));
    assert_eq!(progress(&h.model), Progress::Failed);
    h.send(Msg::Focus(true));
    assert_eq!(progress(&h.model), Progress::None);
    h.begin_turn("q").end_turn();
    assert_eq!(progress(&h.model), Progress::None);
}
