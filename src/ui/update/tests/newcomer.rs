//! What somebody sees who has read nothing: where help is, what goes away again, how to leave.

use super::*;

#[test]
fn a_question_mark_opens_help_wherever_no_text_is_written() {
    for (keys, first) in [
        ("", "Composer"),
        ("<tab>", "Transcript"),
        ("<tab>{o", "Pager"),
        ("<ctrl-t>", "Timeline"),
        ("<ctrl-t>v", "An earlier context"),
        ("<alt-t>", "Tool calls"),
        ("<f9>", "What fills the context"),
        ("<f7>", "Background tasks"),
        ("<f8>", "Dialog"),
    ] {
        let mut h = everykey::after(everykey::conversation(), keys);
        let below = h.model.overlays.clone();
        h.keys("?");
        assert!(matches!(h.model.overlays.last(), Some(Overlay::Help { .. })), "{keys}");
        let picture = h.picture();
        let heading = picture.lines().nth(1).unwrap_or_default();
        assert!(heading.contains(first), "{first} comes first: {picture}");
        h.keys("<esc>");
        assert_eq!(h.model.overlays, below, "one step back");
    }
    let mut h = everykey::asked();
    h.keys("?");
    assert!(h.picture().contains("Approve once"), "{}", h.picture());
    h.keys("<esc>");
    assert_eq!((h.model.approvals.len(), sent(&mut h)), (2, vec![]), "nothing was answered");
    for keys in ["text", "<tab>/text", "<ctrl-p>text", "<ctrl-g>text", "<ctrl-t>rtext"] {
        let mut h = everykey::after(everykey::conversation(), keys);
        h.keys("?");
        assert!(!matches!(h.model.overlays.last(), Some(Overlay::Help { .. })), "{keys}");
        assert!(h.picture().contains("text?"), "{keys}: {}", h.picture());
    }
}

#[test]
fn help_cuts_nothing_off() {
    for width in [40, 80] {
        let mut h = Harness::new(width, 200);
        h.keys("?");
        let picture = h.picture();
        let mut page = picture.lines().filter(|line| line.starts_with("\"│"));
        assert!(page.clone().count() > 100 && page.all(|line| !line.contains('…')), "{picture}");
        let words = picture.replace(['"', '│'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("empty composer, to the transcript"), "{picture}");
    }
    let mut h = Harness::new(80, 24);
    h.keys("?no such words");
    assert!(h.picture().contains("Nothing here is called that"));
}

#[test]
fn what_was_said_goes_with_the_next_key_once_it_is_read() {
    let mut h = Harness::new(120, 30);
    h.keys("<f12>");
    h.now += 0.5;
    h.keys("a");
    assert!(h.picture().contains("f12 does nothing here"), "it cannot have been read");
    h.now += 0.6;
    h.keys("b");
    assert!(!h.picture().contains("f12 does nothing here"), "{}", h.picture());
}

#[test]
fn only_two_interrupts_in_a_row_leave() {
    let mut h = Harness::new(80, 24);
    h.keys("<ctrl-c><ctrl-t><esc><ctrl-c>");
    assert!(!h.take_effects().contains(&Effect::Quit));
    h.keys("<ctrl-c>");
    assert!(h.take_effects().contains(&Effect::Quit));
}

#[test]
fn the_first_screen_says_how_to_go_on_and_how_to_leave() {
    let mut h = Harness::new(80, 24);
    std::sync::Arc::make_mut(&mut h.model.status.info).is_demo = true;
    let picture = h.picture();
    for words in ["/login", "D-Mail. Try:", "f1", "ctrl-d", "leave;"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
}

#[test]
fn a_rule_says_how_it_is_changed_and_what_it_would_have_matched() {
    let mut h = everykey::conversation();
    h.model.screen.width = 80;
    h.begin_turn("more").step(1).call("t1", "Bash", r#"{"command":"git log --oneline"}"#);
    h.ask("a1", "t1", "git log --oneline").wait(2.0);
    let picture = h.picture();
    let rule = "Approve `git log --oneline …` for this session";
    assert!(picture.contains(rule), "{picture}");
    let about = "would have matched 0 of the last 3; left narrower, right wider, s where";
    assert!(picture.contains(about), "{picture}");
}

#[test]
fn the_palette_offers_nothing_that_only_closes_it() {
    let mut h = Harness::new(80, 24);
    h.keys("<ctrl-p>");
    assert!(!h.picture().contains("One step back"), "{}", h.picture());
}

#[test]
fn a_session_that_cannot_be_opened_says_what_to_do_next() {
    let mut h = Harness::unopened(80, 24);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.send(Msg::Opened { id, result: Err("provider \"p\" has no api_key.".into()) });
    let picture = h.picture();
    for words in ["no api_key", "f5 tries again", "/login"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    h.keys("/login<enter>");
    let effects = h.take_effects();
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Setup { .. })), "{effects:?}");
    h.keys("<esc>hello<enter>");
    assert_eq!(h.model.composer.editor.text(), "hello", "nothing is lost");
    let id = h.model.next_effect();
    h.model.asked = Some((id, crate::ui::model::setup::Why::Connect("k".into())));
    let told = crate::ui::model::setup::Told::Written(Ok("config.toml".into()));
    h.send(Msg::Setup { id, told: Box::new(told) });
    assert!(
        matches!(h.take_effects().last(), Some(Effect::Open { .. })),
        "and a session is opened"
    );
}

#[test]
fn the_smallest_screen_still_shows_what_is_asked_for() {
    let mut h = Harness::new(20, 5);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "touch x").wait(2.0);
    let picture = h.picture();
    assert!(picture.contains("$ touch x") && picture.contains("y approve"), "{picture}");
}

#[test]
fn e_changes_what_there_is_to_change() {
    let mut h = everykey::running();
    approving::writing(&mut h, "a1", "t1", "WriteFile", r#"{"path":"x","content":"words"}"#);
    h.wait(2.0).take_effects();
    h.keys("e");
    assert!(h.take_effects().contains(&Effect::EditExternally("words".into())));
}
