//! Permission rules and edited calls, in whole turns.

use super::*;
use crate::permission::{Decision, Rule, Scope};

fn run(id: &str, say: &str) -> Piece {
    call(id, "Run", &json!({"say": say}))
}

/// A rule about the test's tool that runs commands.
fn rule(command: &str, decision: Decision) -> Rule {
    Rule { tool: "Run".into(), ..Rule::command(command, decision) }
}

fn stage(rules: &[(Scope, Rule)]) -> Stage {
    let rules = rules.iter().map(|(scope, rule)| ScopedRule { scope: *scope, rule: rule.clone() });
    Stage { rules: rules.collect(), ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn an_allowed_command_is_not_asked_about_and_another_is() {
    let rules = [(Scope::User, rule("git status", Decision::Allow))];
    let mut world = stage(&rules)
        .start([vec![run("a", "git status -s"), run("b", "git status && rm x")], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    assert_eq!(request.tool_call_id, "b");
    world.answer(&request, ApprovalChoice::Approve, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_command_is_not_run_even_with_yolo_and_the_model_is_told_why() {
    let rules = [(Scope::Project, rule("git push", Decision::Deny))];
    let mut world = Stage { state: state(|state| state.yolo = true), ..stage(&rules) }
        .start([vec![run("a", "ls; git -C . push")], vec![text("ok")]]);
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Approve?"]).is_empty(), "{lines:?}");
    let told = row(&world.script.messages(1)[2]);
    assert!(told.contains("A permission rule of this project forbids this"), "{told}");
    assert!(told.contains("commands that begin with `git push`"), "{told}");
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn an_ask_rule_wins_over_what_was_approved_for_the_session() {
    let rules = [(Scope::User, rule("rm", Decision::Ask))];
    let state = state(|state| state.auto_approve_actions.push("run command".into()));
    let mut world = Stage { state, ..stage(&rules) }
        .start([vec![run("a", "ls"), run("b", "rm x")], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    assert_eq!(request.tool_call_id, "b");
    world.answer(&request, ApprovalChoice::Approve, "");
    world.rest().await;
}

#[tokio::test(start_paused = true)]
async fn tools_that_never_ask_are_held_to_the_rules_too() {
    let rules = [
        (Scope::User, Rule::path("ReadFile", "**/.env", Decision::Deny)),
        (Scope::User, Rule::path("*", "notes/**", Decision::Ask)),
    ];
    let read = |id: &str, path: &str| call(id, "ReadFile", &json!({"path": path}));
    let mut world = Stage { tools: tools(&["ReadFile"]), ..stage(&rules) }.start([
        vec![read("a", "x/../.env"), read("b", "link")],
        vec![read("c", "notes/a")],
        vec![text("ok")],
    ]);
    let folder = world.folder.path();
    std::fs::write(folder.join(".env"), "secret").expect("file");
    std::os::unix::fs::symlink(folder.join(".env"), folder.join("link")).expect("link");
    std::fs::create_dir(folder.join("notes")).expect("folder");
    std::fs::write(folder.join("notes/a"), "a note").expect("file");
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    assert_eq!((request.action.as_str(), request.tool_call_id.as_str()), ("use ReadFile", "c"));
    world.answer(&request, ApprovalChoice::Approve, "");
    world.rest().await;
    let history = world.history().await.join("\n");
    assert!(!history.contains("secret"), "{history}");
    assert_eq!(history.matches("A permission rule of the user forbids this").count(), 2);
    assert!(history.contains("a note"), "{history}");
}

#[tokio::test(start_paused = true)]
async fn a_request_answered_by_a_rule_settles_the_others_it_decides() {
    let mut world = Stage::default().start([
        vec![run("a", "cargo test"), run("b", "cargo test --lib"), run("c", "cargo publish")],
        vec![run("d", "cargo test --doc")],
        vec![text("ok")],
    ]);
    world.send(Command::Prompt("go".into()));
    let mut requests = Vec::new();
    for _ in 0..3 {
        requests.push(world.request().await);
    }
    requests.sort_by(|a, b| a.tool_call_id.cmp(&b.tool_call_id));
    world.send(Command::AddRule {
        request_id: Some(requests[0].id.clone()),
        scope: Scope::Session,
        rule: rule("cargo test", Decision::Allow),
    });
    world.lines_until(|m| line(m).starts_with("ToolResult b")).await;
    world.answer(&requests[2], ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert!(only(&lines, &["Approve?"]).is_empty(), "{lines:?}");
    let (folder, _) = world.end().await;
    let state = SessionState::load(folder.path());
    assert_eq!(state.permission_rules, [rule("cargo test", Decision::Allow)]);
    assert!(state.auto_approve_actions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_the_person_or_the_project_is_kept_in_its_file() {
    let mut world = Stage::default().start([vec![run("a", "rm x")]]);
    world.send(Command::AddRule {
        request_id: None,
        scope: Scope::Project,
        rule: rule("ls", Decision::Allow),
    });
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.send(Command::AddRule {
        request_id: Some(request.id.clone()),
        scope: Scope::User,
        rule: rule("rm", Decision::Deny),
    });
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["Answer", "Done"]), ["Answer Reject \"\"", "Done Finished"]);
    let (folder, _) = world.end().await;
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).expect(path);
    assert!(read("share/config.toml").contains("[[permission.rules]]\ntool = \"Run\""));
    assert!(read(".kimi/permissions.toml").contains("command = \"ls\"\ndecision = \"allow\""));
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_cannot_be_used_answers_nothing() {
    let mut world = Stage::default().start([vec![run("a", "ls")], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.send(Command::AddRule {
        request_id: Some(request.id.clone()),
        scope: Scope::Session,
        rule: rule("ls && rm", Decision::Allow),
    });
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines[0].contains("cannot be used"), "{lines:?}");
    world.answer(&request, ApprovalChoice::Approve, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn an_edited_call_runs_as_edited_and_the_model_is_told() {
    let mut world = Stage::default().start([
        vec![call("a", "Run", &json!({"say": "rm -rf /", "action": "run command"}))],
        vec![run("a", "again")],
        vec![text("ok")],
    ]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    let arguments = json!({"say": "rm -rf ./build"}).as_object().expect("object").clone();
    world.send(Command::ApproveEdited { request_id: request.id, arguments });
    // The id is used again: what was granted was granted to the other call.
    let request = world.request().await;
    assert_eq!(request.description, "Run `again`");
    world.answer(&request, ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert_eq!(outcome(&lines), "Done Finished");
    let told = row(&world.script.messages(1)[2]);
    assert!(told.contains("Not your version was carried out but this one:\nsay: rm -rf ./build"));
    assert!(told.ends_with("rm -rf ./build"), "{told}");
    let asked = world.script.messages(1);
    assert!(asked[1].calls()[0].arguments().contains("rm -rf /"), "the model's own call stays");
    let (folder, _) = world.end().await;
    let timeline = std::fs::read_to_string(folder.path().join("timeline.jsonl")).expect("timeline");
    assert!(timeline.contains("CallEdited"));
}

#[tokio::test(start_paused = true)]
async fn an_edited_file_is_written_as_edited() {
    let write = json!({"path": "a.txt", "content": "theirs"});
    let mut world = Stage { tools: tools(&["WriteFile"]), ..Stage::default() }
        .start([vec![call("a", "WriteFile", &write)], vec![text("ok")]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    let arguments = json!({"content": "mine"}).as_object().expect("object").clone();
    world.send(Command::ApproveEdited { request_id: request.id, arguments });
    world.rest().await;
    let text = std::fs::read_to_string(world.folder.path().join("a.txt")).expect("file");
    assert_eq!(text, "mine");
    assert!(row(&world.script.messages(1)[2]).contains("content: mine"));
}

/// A request outlives the turn of nobody: it is taken back, and says why.
#[tokio::test(start_paused = true)]
async fn a_request_waits_for_days_and_is_withdrawn_with_the_turn() {
    let mut world = Stage::default().start([vec![run("a", "ls")]]);
    world.send(Command::Prompt("go".into()));
    world.request().await;
    tokio::time::sleep(Duration::from_secs(3 * 24 * 3600)).await;
    assert!(world.messages.try_recv().is_err(), "nothing happened meanwhile");
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert!(only(&lines, &["Answer"])[0].contains("Withdrawn"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_removed_rule_holds_no_longer_and_is_gone_from_its_file() {
    let kept = rule("git status", Decision::Allow);
    let mut world = Stage::default().start([vec![run("a", "git status")], vec![text("ok")]]);
    for scope in [Scope::Session, Scope::User, Scope::Project] {
        world.send(Command::AddRule { request_id: None, scope, rule: kept.clone() });
    }
    let lines = world.prompt("/rules").await;
    let listed: Vec<&str> = lines[1].lines().filter(|line| line.contains("allow  Run:")).collect();
    assert_eq!(listed.len(), 3, "{lines:?}");
    assert!(listed[2].trim_start().starts_with("3  session"), "{listed:?}");
    // Once by number, twice by command.
    let lines = world.prompt("/rules remove 3").await;
    assert!(lines[1].contains("The rule is gone"), "{lines:?}");
    assert!(SessionState::load(world.folder.path()).permission_rules.is_empty());
    for scope in [Scope::User, Scope::Project] {
        world.send(Command::RemoveRule { scope, rule: kept.clone() });
    }
    world.send(Command::RemoveRule { scope: Scope::User, rule: kept });
    let lines = world.lines_until(|m| matches!(m, DoorMessage::Refused(_))).await;
    assert!(lines[0].contains("There is no such rule"), "{lines:?}");
    for file in ["share/config.toml", ".kimi/permissions.toml"] {
        let text = std::fs::read_to_string(world.folder.path().join(file)).expect(file);
        assert!(!text.contains("git status"), "{file}: {text}");
    }
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Approve, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_not_there_cannot_be_removed() {
    let mut world = stage(&[(Scope::User, rule("ls", Decision::Ask))]).start([]);
    for (wrong, word) in [
        ("/rules remove 2", "no rule 2"),
        ("/rules remove 0", "no rule 0"),
        ("/rules remove x", "Use /rules"),
        ("/rules drop 1", "Use /rules"),
    ] {
        let lines = world.prompt(wrong).await;
        assert!(lines[1].contains(word), "{wrong}: {lines:?}");
    }
    let mut empty = Stage::default().start([]);
    assert!(empty.prompt("/rules").await[1].contains("no permission rules"));
}
