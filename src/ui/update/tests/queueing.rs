//! What waits for the running turn to end, as a list with keys.

use super::*;
use crate::ui::keymap::Context;
use crate::ui::model::composer::Draft;

/// A turn runs, and three prompts wait; the keys are in the list, on the last.
fn queued() -> Harness {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").step(1).keys("one<enter>two<enter>three<enter><alt-q>");
    h.take_effects();
    h
}

fn waiting(h: &Harness) -> Vec<&str> {
    h.model.composer.queue.iter().map(String::as_str).collect()
}

#[test]
fn the_list_stands_over_the_composer_and_has_the_keys_on_demand() {
    let mut h = Harness::new(80, 24);
    h.keys("<alt-q>");
    assert!(h.picture().contains("Nothing is queued"), "{}", h.picture());
    let mut h = queued();
    assert_eq!(h.model.context(h.now), Context::Queue);
    let picture = h.picture();
    for row in [" 1  one", " 2  two", " 3  three", "enter change", "x drop"] {
        assert!(picture.contains(row), "{row}: {picture}");
    }
    h.keys("<esc>");
    assert_eq!(h.model.context(h.now), Context::Composer);
    assert!(h.picture().contains(" 2  two"), "it stays in sight");
    h.keys("<up>");
    assert_eq!(h.model.composer.editor.text(), "three", "the last one comes back as before");
}

#[test]
fn the_order_is_changed_and_what_is_first_goes_first() {
    let mut h = queued();
    h.keys("KK");
    assert_eq!(waiting(&h), ["three", "one", "two"]);
    h.keys("K");
    assert!(h.picture().contains("It cannot go further"), "{}", h.picture());
    h.keys("<down>J");
    assert_eq!(waiting(&h), ["three", "two", "one"]);
    h.end_turn();
    assert_eq!(sent(&mut h), [Command::Prompt("three".into())]);
    assert_eq!(h.model.queue.marked, 1, "the mark stays on its entry");
}

#[test]
fn an_entry_is_changed_where_it_stands_or_left_as_it_was() {
    let mut h = queued();
    h.keys("k<enter>");
    assert!(h.draw().backend().cursor_position().y > 0);
    h.keys(" and<ctrl-j>more<enter>");
    assert_eq!(waiting(&h), ["one", "two and\nmore", "three"]);
    h.keys("e nonsense<esc>");
    assert_eq!(waiting(&h), ["one", "two and\nmore", "three"]);
    assert_eq!(h.model.context(h.now), Context::Queue, "only the change was given up");
    h.send(Msg::Paste("x".into())).keys("e").send(Msg::Paste(" pasted".into())).keys("<enter>");
    assert_eq!(waiting(&h)[1], "two and\nmore pasted");
}

#[test]
fn what_is_being_changed_is_not_sent_under_the_persons_hands() {
    let mut h = queued();
    h.keys("kke!").end_turn();
    assert_eq!(sent(&mut h), [], "the first one is being changed");
    assert_eq!(waiting(&h), ["one", "two", "three"]);
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("one!".into())]);
    assert_eq!(waiting(&h), ["two", "three"]);
}

#[test]
fn an_entry_is_dropped_taken_back_or_sent_now() {
    let mut h = queued();
    h.keys("x");
    assert_eq!(waiting(&h), ["one", "two"]);
    h.keys("<esc><ctrl-y>");
    assert_eq!(h.model.composer.editor.text(), "three", "nothing is lost");
    h.keys("<alt-q>kt");
    assert_eq!(h.model.composer.editor.text(), "one\nthree");
    assert_eq!(h.model.context(h.now), Context::Composer);
    h.keys("<alt-q>s");
    assert_eq!(sent(&mut h), [Command::Steer("two".into())]);
    assert_eq!(h.model.context(h.now), Context::Composer, "the list is empty");
}

#[test]
fn a_command_is_not_put_into_a_running_turn() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").step(1).keys("/compact<enter><alt-q>s");
    assert_eq!(sent(&mut h), []);
    assert_eq!(waiting(&h), ["/compact"]);
    h.keys("<esc>/compact now<ctrl-s>");
    assert_eq!(sent(&mut h), []);
    assert_eq!(h.model.composer.editor.text(), "/compact now", "it is not lost");
    h.keys("<ctrl-u>/etc/hosts is odd<ctrl-s>");
    assert_eq!(sent(&mut h), [Command::Steer("/etc/hosts is odd".into())]);
}

#[test]
fn the_queue_outlives_a_crash_in_its_order() {
    let mut h = queued();
    h.keys("KKe, changed<enter>").wait(1.0);
    let draft = h.take_effects().into_iter().rev().find_map(|effect| match effect {
        Effect::SaveDraft(draft) => Some(draft),
        _ => None,
    });
    let queue = ["three, changed", "one", "two"].map(String::from).to_vec();
    assert_eq!(draft, Some(Draft { queue, ..Draft::default() }));
}

#[test]
fn a_long_queue_shows_what_goes_next_and_how_many_follow() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").step(1);
    for n in 1..=9 {
        h.keys(&format!("number {n}<enter>"));
    }
    let picture = h.picture();
    assert!(picture.contains("number 1") && picture.contains("and 4 more"), "{picture}");
    assert!(!picture.contains("number 6"), "{picture}");
    h.keys("<alt-q>");
    assert!(h.picture().contains("number 9"), "{}", h.picture());
}

#[test]
fn over_another_processs_engine_the_screen_says_where_a_command_runs() {
    let mut h = Harness::new(100, 24);
    h.keys("!");
    assert!(h.picture().contains("shell: runs here"), "{}", h.picture());
    h.model.program.engine_elsewhere = true;
    assert!(h.picture().contains("shell: on this machine, not through the engine"));
    h.keys("make<enter>");
    assert!(h.picture().contains("Runs on this machine, in /home/me/project"), "{}", h.picture());
}

#[test]
fn an_earlier_context_is_searched_as_the_transcript_is() {
    use crate::message::Message;
    use crate::session::generations::Transcript;
    let mut h = Harness::new(80, 12);
    h.keys("/debug messages<enter>");
    let id = h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::ReadGeneration { id, .. } => Some(id),
        _ => None,
    });
    let said =
        |n: usize| Message::user(if n % 20 == 5 { format!("needle {n}") } else { "hay".into() });
    let transcript = Transcript {
        generation: Generation(0),
        system_prompt: None,
        messages: (0..60).map(said).collect(),
        checkpoints: Vec::new(),
        bad_lines: Vec::new(),
    };
    h.send(Msg::Generation { id: id.expect("asked"), result: Ok(transcript.into()) });
    h.picture();
    h.keys("g").picture();
    h.keys("/need<enter>");
    let picture = h.picture();
    assert!(picture.contains("needle 5") && picture.contains("/need"), "{picture}");
    h.keys("n");
    assert!(h.picture().contains("needle 25"), "{}", h.picture());
    h.keys("n").picture();
    h.keys("N");
    assert!(h.picture().contains("needle 25"), "{}", h.picture());
    assert!(h.model.search.typing.is_none());
    h.keys("<esc>");
    assert!(h.model.overlays.is_empty());
}

#[test]
fn the_ledger_tells_what_steps_cost_or_that_nobody_knows() {
    use crate::message::{Price, TokenUsage};
    use crate::wire::StatusUpdate;
    let call = |input: u64, cached: u64| {
        Event::StatusUpdate(StatusUpdate {
            context_tokens: Some(input + cached),
            token_usage: Some(TokenUsage {
                input_other: input,
                input_cache_read: cached,
                output: 1000,
                ..TokenUsage::default()
            }),
            ..StatusUpdate::default()
        })
    };
    let mut h = Harness::new(110, 30);
    h.begin_turn("a").step(1).event(call(10_000, 0)).end_turn().keys("<f9>");
    assert!(h.picture().contains("Cost unknown: no price"), "{}", h.picture());
    h.keys("c");
    assert!(h.picture().contains("no price  turn 1    step 1"), "{}", h.picture());

    let mut h = Harness::new(110, 30);
    let price = Price { input: 10.0, output: 100.0, cache_read: Some(1.0), cache_write: None };
    let info = crate::wire::SessionInfo { price: Some(price), ..(*h.model.status.info).clone() };
    h.model.status.info = std::sync::Arc::new(info);
    h.checkpoint(0, None, 0).begin_turn("a").checkpoint(1, Some(1), 10_000).step(1);
    h.event(call(10_000, 0)).checkpoint(2, Some(2), 20_000).step(2).event(call(10_000, 10_000));
    h.end_turn().keys("<f9>");
    let picture = h.picture();
    // 0.2, then 0.21; the next sends 20k from the cache, 10k of its own, and answers 1000.
    assert!(picture.contains("Cost 0.410; 0.205 a step, the last 0.210"), "{picture}");
    assert!(picture.contains("about 0.220"), "{picture}");
    h.keys("c");
    let picture = h.picture();
    assert!(picture.contains("2 steps, the dearest first"), "{picture}");
    let (dear, cheap) =
        (picture.find("0.210  turn 1    step 2"), picture.find("0.200  turn 1    step 1"));
    assert!(dear.is_some() && dear < cheap, "{picture}");
    h.keys("x");
    assert_eq!(sent(&mut h).len(), 1, "only the ledger was asked for");
}

#[test]
fn the_past_of_a_session_is_priced_as_today_and_said_to_be() {
    use crate::message::{Price, TokenUsage};
    let mut status = crate::ui::model::status::Status::default();
    let usage = TokenUsage { input_other: 1_000_000, ..TokenUsage::default() };
    status.calls.push(crate::ui::model::status::CallCost { usage, ..Default::default() });
    status.price_the_past();
    assert_eq!((status.cost, status.cost_is_estimate), (None, false), "no price");
    let price = Price { input: 2.0, output: 0.0, cache_read: None, cache_write: None };
    let info = crate::wire::SessionInfo { price: Some(price), ..Default::default() };
    status.info = std::sync::Arc::new(info);
    status.price_the_past();
    status.price_the_past();
    assert_eq!((status.cost, status.cost_is_estimate), (Some(2.0), true));
}
