//! What somebody stumbled over who had only the screen to go by.

use super::*;
use crate::ui::keymap::Context;
use crate::wire::record::Recorded;
use crate::wire::{PromptOutcome, TurnCut, TurnFailed};

/// The last row of the picture.
fn last_row(h: &mut Harness) -> String {
    h.picture().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn what_is_asked_about_a_session_says_its_own_keys() {
    for (key, words) in [("<ctrl-r>", "enter rename"), ("<ctrl-e>", "enter export")] {
        let mut h = sessions::listed(80);
        h.keys(key);
        let row = last_row(&mut h);
        assert!(row.contains(words) && row.contains("esc leave it"), "{row}");
        assert!(!row.contains("folders") && !row.contains("open"), "{row}");
        h.keys("<esc>");
        assert!(last_row(&mut h).contains("enter open"), "the list's own again");
    }
}

#[test]
fn a_queued_prompt_that_is_changed_says_how_the_change_ends() {
    let mut h = everykey::running();
    h.keys("one<enter>two<enter><alt-q>e");
    let row = last_row(&mut h);
    assert!(row.contains("enter keep it so") && !row.contains("drop"), "{row}");
}

#[test]
fn help_scrolls_no_further_than_it_goes() {
    let mut h = Harness::new(80, 24);
    h.keys("<f1>");
    for _ in 0..60 {
        h.keys("<pagedown>").picture();
    }
    let end = h.picture();
    h.keys("<up>");
    assert_ne!(h.picture(), end, "the first key back is seen");
    h.keys("<down>");
    assert_eq!(h.picture(), end);
}

#[test]
fn the_leader_shows_all_that_may_follow_where_there_is_room() {
    for (width, height) in [(80, 24), (120, 40), (200, 60)] {
        let mut h = Harness::new(width, height);
        h.keys("<ctrl-space>");
        let picture = h.picture();
        let chord: Vec<_> = vec!["ctrl-space".parse().expect("a key")];
        let followers = h.model.keymap.followers(Context::Composer, &chord);
        assert!(followers.len() > 10, "{followers:?}");
        for (key, word) in followers {
            assert!(picture.contains(&format!("{key}  {word}")), "{key} {word}: {picture}");
        }
        h.keys("<esc>");
        assert!(!h.picture().contains("and then"), "{}", h.picture());
    }
    let mut h = Harness::new(80, 10);
    h.keys("<ctrl-space>");
    assert!(last_row(&mut h).contains("Keys and commands"), "no room: the first of them");
}

#[test]
fn a_search_that_finds_nothing_says_so() {
    let mut h = everykey::after(everykey::conversation(), "<tab>{o");
    h.keys("/no such thing<enter>").picture();
    assert!(h.picture().contains("/no such thing  nothing matches"), "{}", h.picture());
    h.keys("/needle<enter>").picture();
    assert!(!h.picture().contains("nothing matches"), "{}", h.picture());
}

#[test]
fn a_search_in_the_pager_goes_on_at_the_other_end() {
    let mut h = everykey::conversation();
    let mut text = String::from("first\n");
    text.push_str(&"line\n".repeat(200));
    text.push_str("last\n");
    h.begin_turn("more").step(1).call("c9", "Bash", "{}").result("c9", ToolReturn::ok(&text, ""));
    h.picture();
    h.keys("<tab>o").picture();
    h.keys("/last<enter>").picture();
    assert!(h.picture().contains("  last"), "{}", h.picture());
    h.keys("/first<enter>").picture();
    assert!(h.picture().contains("  first"), "{}", h.picture());
    assert!(!h.picture().contains("nothing matches"), "{}", h.picture());
    h.keys("N").picture();
    assert!(h.picture().contains("  first"), "it is the only one: {}", h.picture());
}

#[test]
fn the_smallest_screen_shows_a_dangerous_command_and_that_it_is_dangerous() {
    let mut h = Harness::new(20, 5);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "rm -rf /").wait(2.0);
    let picture = h.picture();
    assert!(picture.contains("! $ rm -rf /") && picture.contains("y approve"), "{picture}");
    assert!(picture.contains("more, ctrl-e"), "the words are a key away: {picture}");
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "rm -rf /").wait(2.0);
    assert!(h.picture().contains("! Danger: "), "{}", h.picture());
}

/// Times `words` are said of a turn that ended with this event and outcome: live, in a second turn of an
/// engine that only has the outcome, and when the session is opened again.
fn times_said(words: &str, event: &Event, outcome: &PromptOutcome) -> [usize; 3] {
    let count = |h: &mut Harness| h.picture().matches(words).count();
    let done = || Msg::Door(DoorMessage::PromptDone(outcome.clone()));
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").event(event.clone()).event(Event::turn_end()).send(done());
    let live = count(&mut h);
    h.begin_turn("again").event(Event::turn_end()).send(done());
    let both = count(&mut h);
    let begin = Event::TurnBegin(crate::wire::TurnBegin { user_input: "go".into() });
    let story = [begin, event.clone(), Event::turn_end()];
    let recorded = story.into_iter().map(|message| Recorded { timestamp: 1.0, message });
    let mut h = Harness::unopened(80, 24);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.open(id, recorded.collect());
    [live, both - live, count(&mut h)]
}

#[test]
fn why_a_turn_ended_early_is_told_once_and_comes_back_with_the_session() {
    let cut = |steps| Event::Extension(Extension::TurnCut(TurnCut { steps }));
    let message = "example.com answered 500: try again.".to_owned();
    let failed = Event::Extension(Extension::TurnFailed(TurnFailed { message: message.clone() }));
    let refused = PromptOutcome::ProviderFailed { message: message.clone(), retryable: true };
    let limit = PromptOutcome::MaxStepsReached { steps: 7 };
    for (words, event, outcome) in [
        (message.as_str(), failed, refused),
        ("Stopped.", cut(None), PromptOutcome::Cancelled),
        ("Stopped after 7 steps", cut(Some(7)), limit),
    ] {
        assert_eq!(times_said(words, &event, &outcome), [1, 1, 1], "{words}");
    }
}

#[test]
fn the_doctor_is_called_for_what_this_run_goes_by_and_shown_as_a_page() {
    let mut h = Harness::unopened(80, 24);
    h.model.program.doctor = vec!["--model".into(), "m".into(), "doctor".into()];
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.open(id, Vec::new());
    h.keys("/doctor<enter>");
    assert!(h.take_effects().contains(&Effect::Examine(h.model.program.doctor.clone())));
    h.send(Msg::Examined("ok    Models: m answers\nfail  Data: no room".into()));
    let picture = h.picture();
    assert!(picture.contains("Doctor") && picture.contains("fail  Data: no room"), "{picture}");
}

#[test]
fn the_costs_of_steps_are_named_by_a_key_on_a_narrow_screen() {
    let mut h = everykey::after(everykey::conversation(), "<f9>");
    h.model.screen.width = 80;
    let row = last_row(&mut h);
    assert!(row.contains("c cost") && row.contains("esc back"), "{row}");
}
