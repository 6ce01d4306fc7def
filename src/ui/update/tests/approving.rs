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

pub(super) fn writing(h: &mut Harness, id: &str, call: &str, tool: &str, arguments: &str) {
    h.call(call, tool, arguments);
    h.ask(id, call, "x");
    let mut request = h.model.approvals.remove(id, h.now).expect("asked");
    request.action = "edit file".into();
    request.display = vec![crate::message::DisplayBlock::Brief { text: "a change".into() }];
    h.send(Msg::Door(DoorMessage::Request(crate::wire::Request::ApprovalRequest(request))));
}

#[test]
fn all_of_one_kind_are_answered_together_and_others_wait() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").step(1);
    writing(&mut h, "a1", "t1", "WriteFile", r#"{"content":"x"}"#);
    h.call("t2", "Bash", "{}").ask("b1", "t2", "ls");
    writing(&mut h, "a2", "t3", "WriteFile", r#"{"content":"y"}"#);
    h.wait(1.0);
    assert!(h.picture().contains("Approve all 2 pending \"edit file\""), "{}", h.picture());
    h.keys("A");
    let ids: Vec<_> = sent(&mut h)
        .into_iter()
        .map(|command| match command {
            Command::Respond(Response::Approval(ApprovalResponse {
                request_id, response, ..
            })) => {
                assert_eq!(response, ApprovalChoice::Approve);
                request_id
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, ["a1", "a2"]);
    assert_eq!(h.model.approvals.current().map(|request| request.id.as_str()), Some("b1"));
    h.wait(1.0).keys("N");
    assert_eq!(sent(&mut h), [], "one alone is answered as one");
}

#[test]
fn dangerous_commands_are_not_approved_in_a_heap() {
    let mut h = asking("ls");
    h.ask("a2", "t1", "rm -rf ~").ask("a3", "t1", "pwd").wait(1.0).keys("A");
    assert_eq!(sent(&mut h).len(), 2);
    assert_eq!(h.model.approvals.current().map(|request| request.id.as_str()), Some("a2"));
    h.wait(1.0).keys("A");
    assert_eq!(sent(&mut h), []);
}

#[test]
fn a_rule_says_what_it_would_have_covered_and_holds_where_it_is_wanted() {
    let mut h = Harness::new(120, 30);
    h.begin_turn("q").step(1);
    for (id, command) in [("c1", "git commit -m a"), ("c2", "git status"), ("c3", "ls")] {
        h.call(id, "Bash", &format!(r#"{{"command":"{command}"}}"#));
        h.result(id, ToolReturn::ok("", ""));
    }
    h.call("t1", "Bash", "{}").ask("a1", "t1", "git commit -m b").wait(1.0);
    assert!(h.picture().contains("would have matched 1 of the last 3"), "{}", h.picture());
    h.keys("<right><right>");
    assert!(h.picture().contains("would have matched 2 of the last 3"), "{}", h.picture());
    h.keys("s");
    assert!(h.picture().contains("in this project"), "{}", h.picture());
    h.keys("sp");
    let Some(Command::AddRule { scope, rule, .. }) = sent(&mut h).pop() else { panic!("no rule") };
    assert_eq!((scope, rule), (Scope::User, Rule::command("git", Decision::Allow)));
}

#[test]
fn the_content_of_a_file_is_changed_in_the_editor_before_it_is_written() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").step(1);
    writing(&mut h, "a1", "t1", "WriteFile", r#"{"path":"x","content":"one"}"#);
    h.wait(1.0).keys("E");
    assert_eq!(h.take_effects().pop(), Some(Effect::EditExternally("one".into())));
    h.send(Msg::Edited(Ok("one\n".into())));
    assert_eq!(sent(&mut h), [], "nothing was changed, so it is asked on");
    h.keys("E").take_effects();
    h.send(Msg::Edited(Ok("two\n".into())));
    let Some(Command::ApproveEdited { request_id, arguments }) = sent(&mut h).pop() else {
        panic!("not approved")
    };
    assert_eq!((request_id.as_str(), arguments["content"].as_str()), ("a1", Some("two\n")));
    assert_eq!(h.model.composer.editor.text(), "", "it was not the draft");
}

#[test]
fn the_new_text_of_an_edit_is_changed_and_the_rest_of_it_stays() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").step(1);
    let call = r#"{"path":"x","edit":{"old":"a","new":"b","replace_all":true}}"#;
    writing(&mut h, "a1", "t1", "EditFile", call);
    h.wait(1.0).keys("E");
    assert_eq!(h.take_effects().pop(), Some(Effect::EditExternally("b".into())));
    h.send(Msg::Edited(Ok("c\n".into())));
    let Some(Command::ApproveEdited { arguments, .. }) = sent(&mut h).pop() else {
        panic!("not approved")
    };
    assert_eq!(arguments["edit"], serde_json::json!({"old": "a", "new": "c", "replace_all": true}));
}

#[test]
fn what_is_long_is_read_on_the_whole_screen() {
    let mut h = Harness::new(80, 24);
    let command = (0..60).map(|n| format!("echo line-{n}")).collect::<Vec<_>>().join("\n");
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", &command).wait(1.0);
    assert!(h.picture().contains("more lines you have not seen"));
    h.keys("v");
    assert!(h.picture().contains("line-9"), "{}", h.picture());
    h.keys("<ctrl-end>");
    assert!(h.picture().contains("line-59"), "{}", h.picture());
    h.keys("<pageup><pageup><pageup><pageup><pageup><pageup><pageup>");
    assert!(h.picture().contains("echo line-0"), "{}", h.picture());
    h.keys("y");
    assert_eq!(sent(&mut h).len(), 1, "it is answered from there too");
}

#[test]
fn keys_within_the_quiet_time_go_on_into_the_draft() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "ls");
    // Typing on keeps it quiet, but not for longer than the limit.
    for _ in 0..4 {
        h.now += 0.3;
        h.keys("y");
    }
    assert_eq!(sent(&mut h), []);
    assert_eq!(h.model.composer.editor.text(), "yyyy");
    h.now += 0.35;
    h.keys("y");
    assert_eq!(sent(&mut h).len(), 1, "1.5 seconds are enough");
    assert_eq!(h.model.composer.editor.text(), "yyyy", "the draft stays");
}

#[test]
fn the_key_for_changing_a_command_is_named_where_there_is_one() {
    let mut h = Harness::new(80, 30);
    h.begin_turn("q").step(1);
    writing(&mut h, "a1", "t1", "WriteFile", r#"{"path":"x","content":"one"}"#);
    h.wait(1.0);
    assert!(!h.picture().contains(" e edit"), "{}", h.picture());
    assert!(h.picture().contains("y approve"), "{}", h.picture());
    let mut h = Harness::new(80, 30);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "make").wait(1.0);
    assert!(h.picture().contains(" e edit"), "{}", h.picture());
}

#[test]
fn a_refused_call_says_so_once() {
    let mut h = Harness::new(100, 30);
    let said = ToolReturn::error("The user refused it.", "Rejected by user");
    h.begin_turn("q").step(1).call("t1", "Bash", r#"{"command": "make"}"#).result("t1", said);
    let picture = h.picture();
    assert_eq!(picture.to_lowercase().matches("rejected").count(), 1, "{picture}");
    assert!(picture.contains("make rejected"), "{picture}");
}
