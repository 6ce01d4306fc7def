//! Keys on whole screens: chords, help, zoom, pages, what a crash leaves; screens to press keys on.

use super::*;
use crate::ui::keymap::Keymap;

/// A conversation that ended, drawn once.
pub(super) fn conversation() -> Harness {
    let mut h = Harness::new(120, 30);
    for turn in 0..3 {
        h.checkpoint(turn * 2, None, turn * 100).begin_turn(&format!("prompt {turn}"));
        h.checkpoint(turn * 2 + 1, Some(1), turn * 100 + 50).step(1);
        let call = format!("c{turn}");
        h.call(&call, "Bash", r#"{"command":"make"}"#);
        h.result(&call, ToolReturn::ok("needle\n".repeat(60), ""));
        h.text("Look:\n\n```\nneedle\n```\n").end_turn();
    }
    h.send(Msg::History(vec!["older".into(), "old".into()]));
    h.picture();
    h
}

pub(super) fn running() -> Harness {
    let mut h = conversation();
    h.begin_turn("more").step(1);
    h
}

pub(super) fn asked() -> Harness {
    let mut h = running();
    h.call("t1", "WriteFile", r#"{"path":"x","content":"y"}"#);
    h.call("t2", "Bash", "{}");
    h.ask("a1", "t1", "git commit -m 'x'").ask("a2", "t2", "git commit -m 'y'").wait(2.0);
    h
}

pub(super) fn questions(multi: bool) -> Harness {
    let mut h = running();
    let labels: &[&str] = &["a", "b", "c", "d", "e", "f"];
    h.question("q", &[("One?", "One", labels, multi), ("Two?", "Two", labels, multi)]).wait(2.0);
    h
}

pub(super) fn after(mut h: Harness, keys: &str) -> Harness {
    h.keys(keys).picture();
    h
}

#[test]
fn the_leader_shows_what_may_follow_and_waits_two_seconds() {
    let mut h = Harness::new(120, 30);
    h.keys("<ctrl-space>");
    assert!(h.picture().contains("t  Timeline and back"), "{}", h.picture());
    h.keys("n");
    assert!(h.take_effects().iter().any(|e| matches!(e, Effect::Open { .. })));
    let mut h = Harness::new(120, 30);
    h.keys("<ctrl-space>q");
    assert!(h.picture().contains("ctrl-space q does nothing"), "{}", h.picture());
    assert!(h.model.composer.editor.is_empty());
    h.keys("<ctrl-space>");
    let due = h.model.next_change(h.now).expect("it is waited for");
    h.now = due.max(h.now + 2.0);
    h.send(Msg::Tick).keys("n");
    assert_eq!(h.model.composer.editor.text(), "n");
}

#[test]
fn the_first_key_of_a_chord_means_what_it_means_alone_when_nothing_follows() {
    let mut h = Harness::new(120, 30);
    let text = "[composer]\nexternal-editor = \"ctrl-x ctrl-e\"\n";
    h.model.keymap = Keymap::with_user_keys("k", text).0;
    h.keys("<ctrl-x><ctrl-e>");
    assert_eq!(h.take_effects(), [Effect::EditExternally(String::new())]);
    h.keys("<ctrl-x>");
    assert!(!h.model.composer.is_shell);
    h.wait(2.5);
    assert!(h.model.composer.is_shell);
}

#[test]
fn help_is_searched_by_typing_and_a_key_without_meaning_says_so() {
    let mut h = Harness::new(100, 30);
    h.keys("<f1>kill-less");
    for _ in 0.."kill-less".len() {
        h.keys("<backspace>");
    }
    h.keys("suspend");
    let picture = h.picture();
    assert!(picture.contains("Suspend; fg") && !picture.contains("New line"), "{picture}");
    h.keys("<esc><f12>");
    assert!(h.picture().contains("f12 does nothing here"), "{}", h.picture());
}

#[test]
fn the_pane_with_the_keys_takes_the_whole_screen() {
    let mut h = conversation();
    assert!(h.picture().contains("Context"), "the panes are there");
    h.keys("<tab><f11>");
    let picture = h.picture();
    assert!(!picture.contains("131k tokens") && !picture.contains("Ask something"), "{picture}");
    h.keys("<f11>");
    assert!(h.picture().contains("Ask something"));
    h.keys("<esc><ctrl-t><f11>");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Timeline)));
}

#[test]
fn a_question_beside_the_conversation_is_answered_in_a_panel() {
    use crate::wire::{BtwEnd, SideAnswer};
    let mut h = running();
    h.keys("/btw why is it slow?<enter>");
    let Some(Command::SideQuestion { id, question }) = sent(&mut h).pop() else {
        panic!("not asked")
    };
    assert_eq!(question, "why is it slow?");
    let piece =
        SideAnswer { id: id.clone(), text_delta: "Because".into(), ..SideAnswer::default() };
    h.event(Event::Extension(Extension::SideAnswer(piece)));
    assert!(h.picture().contains("Because"), "{}", h.picture());
    let cells = h.model.transcript.cells().len();
    let end = BtwEnd { id: id.clone(), response: Some("Because of **it**.".into()), error: None };
    h.event(Event::BtwEnd(end));
    assert!(h.picture().contains("Because of it."), "Markdown: {}", h.picture());
    assert_eq!(h.model.transcript.cells().len(), cells, "it is no part of the conversation");
    h.keys("<esc>");
    assert_eq!(sent(&mut h), []);
    h.keys("/btw and now?<enter>").take_effects();
    h.keys("<esc>");
    assert!(matches!(sent(&mut h).pop(), Some(Command::CancelSideQuestion { .. })));
}

#[test]
fn pages_say_what_they_are_asked_for() {
    for (command, words) in [
        ("/usage", "In this session"),
        ("/mcp", "No MCP servers"),
        ("/hooks", "No hooks"),
        ("/debug", "0a1b2c3d-0000"),
        ("/changelog", "Unreleased"),
        ("/version", concat!("kimi-tui ", env!("CARGO_PKG_VERSION"))),
    ] {
        let mut h = Harness::new(100, 30);
        h.keys(command).keys("<enter>");
        assert!(h.picture().contains(words), "{command}: {}", h.picture());
    }
    let mut h = Harness::new(100, 30);
    h.keys("/away<enter>");
    assert_eq!(sent(&mut h), [Command::SetAway(true)]);
    h.keys("/away<enter>");
    assert_eq!(sent(&mut h), [Command::SetAway(false)]);
}

#[test]
fn after_a_crash_what_was_asked_is_told_and_the_place_is_there_again() {
    let mut h = conversation();
    h.keys("<pageup><pageup>").picture();
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "make");
    h.wait(2.0);
    let saved = |h: &mut Harness| {
        h.take_effects().into_iter().rev().find_map(|effect| match effect {
            Effect::SaveDraft(draft) => Some(draft),
            _ => None,
        })
    };
    let draft = saved(&mut h).expect("saved");
    assert_eq!(draft.asked, ["Run command `make`"]);
    assert!(draft.place.is_some());
    let mut later = conversation();
    later.send(Msg::Draft(draft));
    assert!(matches!(
        later.model.transcript.position,
        crate::ui::model::transcript::Position::At { .. }
    ));
    let told = later.model.transcript.cells().last().map(|cell| cell.kind.clone());
    assert!(
        matches!(&told, Some(CellKind::Notice { text, .. }) if text.contains("waited for your answer")),
        "{told:?}"
    );
    // Leaving in peace keeps neither.
    h.keys("n<esc>").end_turn().keys("<ctrl-c><ctrl-c>");
    assert!(saved(&mut h).is_none_or(|draft| draft.asked.is_empty() && draft.place.is_none()));
}
