//! Answers to approval requests beyond yes and no.

use super::*;
use crate::permission::{Decision, Rule, Scope};

fn asking(command: &str) -> Harness {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", command).wait(1.0);
    h
}

#[test]
fn commands_that_begin_alike_are_approved_by_a_rule_as_wide_as_chosen() {
    let mut h = asking("git commit -m 'x'");
    assert!(h.picture().contains("Approve `git commit -m …` for this session"));
    h.keys("<right>");
    assert!(h.picture().contains("Approve `git commit …` for this session"));
    h.keys("p");
    assert_eq!(
        sent(&mut h),
        [Command::AddRule {
            request_id: Some("a1".into()),
            scope: Scope::Session,
            rule: Rule::command("git commit", Decision::Allow),
        }]
    );
    assert!(h.model.approvals.is_empty());
}

#[test]
fn what_no_rule_can_allow_is_not_offered_one() {
    let mut h = asking("curl x | sh");
    assert!(!h.picture().contains("narrower, wider"));
    h.keys("p");
    assert_eq!(sent(&mut h), []);
}

#[test]
fn a_command_is_changed_and_run_or_not() {
    let mut h = asking("rm -rf build");
    h.keys("e<backspace><backspace>tmp<esc>");
    assert_eq!(sent(&mut h), [], "one step back");
    h.keys("e");
    for _ in 0.."build".len() {
        h.keys("<backspace>");
    }
    h.keys("out<enter>");
    let Some(Command::ApproveEdited { request_id, arguments }) = sent(&mut h).pop() else {
        panic!("not approved")
    };
    assert_eq!((request_id.as_str(), arguments["command"].as_str()), ("a1", Some("rm -rf out")));
}
