//! The question panel: every way to an answer, and none by accident.

use std::collections::BTreeMap;

use super::*;
use crate::ui::keymap::Context;
use crate::wire::{QuestionAnswer, Response};

fn answered(h: &mut Harness) -> Vec<BTreeMap<String, String>> {
    sent(h)
        .into_iter()
        .filter_map(|command| match command {
            Command::Respond(Response::Question(QuestionAnswer { answers, .. })) => Some(answers),
            _ => None,
        })
        .collect()
}

fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(question, answer)| (question.to_owned(), answer.to_owned())).collect()
}

fn one(multi: bool) -> Harness {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").call("q1", "AskUserQuestion", "{}");
    h.question("r1", &[("Which?", "Pick", &["A", "B"], multi)]).wait(2.0);
    h
}

#[test]
fn a_number_answers_and_so_do_the_arrows() {
    let mut h = one(false);
    h.keys("2");
    assert_eq!(answered(&mut h), [given(&[("Which?", "B")])]);
    assert_eq!(h.model.context(h.now), Context::Composer);
    for keys in ["<down><enter>", "j<space>", "<up><up><enter>"] {
        let mut h = one(false);
        h.keys(keys);
        assert_eq!(answered(&mut h), [given(&[("Which?", "B")])], "{keys}");
    }
}

#[test]
fn several_are_chosen_and_sent_with_enter() {
    let mut h = one(true);
    h.keys("21");
    assert_eq!(answered(&mut h), []);
    h.keys("<enter>");
    assert_eq!(answered(&mut h), [given(&[("Which?", "A, B")])]);
    let mut h = one(true);
    h.keys("112<space>1<enter>");
    assert_eq!(answered(&mut h), [given(&[("Which?", "A")])], "a second press takes it back");
    let mut h = one(true);
    h.keys("1<down><down><space>C too<enter><enter>");
    assert_eq!(answered(&mut h), [given(&[("Which?", "A, C too")])]);
}

#[test]
fn an_answer_of_ones_own_is_written() {
    let mut h = one(false);
    h.keys("3").send(Msg::Paste("neither ".into())).keys("1 nor 2<enter>");
    assert_eq!(answered(&mut h), [given(&[("Which?", "neither 1 nor 2")])]);
    let mut h = one(false);
    h.keys("3half<esc>");
    assert_eq!(answered(&mut h), [], "Esc leaves the field, not the question");
    h.keys("<enter>");
    assert!(h.picture().contains("half"), "what was written is there again");
    h.keys("<esc><esc>");
    assert_eq!(answered(&mut h), [given(&[])], "and then dismisses");
}

#[test]
fn tabs_are_answered_in_any_order() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").call("q1", "AskUserQuestion", "{}");
    let questions: [(&str, &str, &[&str], bool); 3] = [
        ("a?", "A", &["1", "2"], false),
        ("b?", "B", &["1", "2"], false),
        ("c?", "", &["x", "y"], true),
    ];
    h.question("r1", &questions).wait(2.0);
    h.keys("<right>2<tab>");
    assert_eq!(answered(&mut h), []);
    h.keys("1<enter>");
    assert_eq!(answered(&mut h), [given(&[("a?", "1"), ("b?", "2"), ("c?", "x")])]);
}

#[test]
fn keys_meant_for_the_composer_answer_nothing() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go").keys("option ");
    h.question("r1", &[("Which?", "Pick", &["A", "B"], false)]);
    h.keys("1 or 2");
    assert_eq!(answered(&mut h), []);
    assert_eq!(h.model.composer.editor.text(), "option 1 or 2");
    h.wait(2.0).keys("1");
    assert_eq!(answered(&mut h), [given(&[("Which?", "A")])]);
    assert_eq!(h.model.composer.editor.text(), "option 1 or 2", "the draft stays");
}

#[test]
fn an_approval_comes_before_a_question_and_both_end_with_the_turn() {
    let mut h = one(false);
    h.call("t1", "Bash", "{}").ask("a1", "t1", "ls").wait(2.0);
    assert_eq!(h.model.context(h.now), Context::Approval);
    h.keys("y");
    h.wait(2.0);
    assert_eq!(h.model.context(h.now), Context::Question);
    h.end_turn();
    assert!(h.model.questions.current().is_none());
    let mut h = one(false);
    h.result("q1", crate::message::ToolReturn::error("cancelled", "Cancelled"));
    assert!(h.model.questions.current().is_none(), "the call is over");
}

#[test]
fn shift_tab_switches_plan_mode() {
    let mut h = Harness::new(80, 24);
    h.keys("<shift-tab>");
    assert_eq!(sent(&mut h), [Command::SetPlanMode(true)]);
    h.event(crate::wire::Event::StatusUpdate(crate::wire::StatusUpdate {
        plan_mode: Some(true),
        ..crate::wire::StatusUpdate::default()
    }));
    assert!(h.picture().contains(" plan "), "a badge says so");
    h.keys("<shift-tab>");
    assert_eq!(sent(&mut h), [Command::SetPlanMode(false)]);
}
