//! Subagents, in the foreground and in the background.

use std::fs;
use std::path::{Path, PathBuf};

use super::fakes::Fake;
use super::*;
use crate::agent::{Agent, AgentSource, Subagent};
use crate::config::{BackgroundConfig, HookEvent};
use crate::message::Role;
use crate::wire::{SourceKind, TaskState};

/// A message that needs no second asking.
fn report(text: &str) -> Vec<Piece> {
    vec![super::text(&format!("{text} {}", "x".repeat(200)))]
}

fn subagent(name: &str) -> Subagent {
    Subagent {
        name: name.into(),
        description: "helps".into(),
        source: AgentSource::File(PathBuf::from(name)),
    }
}

/// A staff of `helper`, who can write files and, if `nests`, has a helper of its own.
fn staff(nests: bool, change: impl FnOnce(&mut BackgroundConfig)) -> Staff {
    let mut limits = BackgroundConfig::default();
    change(&mut limits);
    Staff {
        types: vec![subagent("helper")],
        load: Arc::new(move |_| {
            let tools = ["WriteFile", "Task", "AskUserQuestion", "TaskList"];
            Ok(Agent {
                name: "helper".into(),
                description: None,
                system_prompt: "You help.".into(),
                tools: tools.map(str::to_owned).to_vec(),
                exclude_tools: vec![],
                model: None,
                mcp: None,
                mcp_of_caller: false,
                mcp_exclude: vec![],
                subagents: if nests { vec![subagent("helper")] } else { vec![] },
                warnings: vec![],
            })
        }),
        limits,
        ..Staff::default()
    }
}

fn stage(staff: Staff) -> Stage {
    let known = Toolset::select(&["Task".into(), "TaskStop".into()], &[]).expect("tools");
    let known = known.with_subagents(&staff.described());
    let fakes = [Arc::new(Fake::Sleep) as Arc<dyn Tool>];
    let tools = fakes.into_iter().chain(["Task", "TaskStop"].iter().filter_map(|n| known.get(n)));
    Stage { tools: Toolset::of(tools), staff, ..Stage::default() }
}

fn task(id: &str, extra: &Value) -> Piece {
    let mut arguments = json!({"description": "look around", "prompt": "Look around."});
    if let (Some(all), Some(extra)) = (arguments.as_object_mut(), extra.as_object()) {
        all.extend(extra.clone());
    }
    call(id, "Task", &arguments)
}

fn write(id: &str, path: &Path) -> Piece {
    call(id, "WriteFile", &json!({"path": path, "content": "made"}))
}

/// What the result of call `id` says, from the lines of a turn.
fn result<'a>(lines: &'a [String], id: &str) -> &'a str {
    let head = format!("ToolResult {id} ");
    lines.iter().find_map(|line| line.strip_prefix(&head)).expect("a result")
}

fn agent_id(result: &str) -> String {
    let line = result.lines().find_map(|line| line.strip_prefix("agent_id: "));
    line.expect("an id").to_owned()
}

fn status(folder: &Path, id: &str) -> Value {
    let file = fs::read(folder.join("subagents").join(id).join("meta.json")).expect("meta");
    serde_json::from_slice::<Value>(&file).expect("json")["status"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_subagent_works_in_its_own_context_and_its_events_are_nested() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({}))],
        vec![super::text("It is\nfine.")],
        report("It is all fine."),
        vec![super::text("done")],
    ]);
    let lines = world.prompt("go").await;
    let nested = only(&lines, &["helper: text", "helper: StepBegin"]);
    assert_eq!(nested[..3], ["helper: StepBegin 1", "helper: text It is\n", "helper: text fine."]);
    assert_eq!(nested.len(), 5, "{nested:?}");
    assert_eq!(outcome(&lines), "Done Finished");
    let said = result(&lines, "t1").to_owned();
    assert!(
        said.contains("actual_subagent_type: helper\nstatus: completed\n\n[summary]\nIt is all")
    );

    // It was told its work only, and asked for more because its first answer was short.
    assert_eq!(world.script.messages(1).len(), 1);
    assert_eq!(world.script.messages(1)[0].text(), "Look around.");
    assert_eq!(world.script.asked.lock().unwrap()[1].0, "You help.");
    let more = world.script.messages(2);
    assert_eq!(more.iter().filter(|one| one.role == Role::User).count(), 2);

    let id = agent_id(&said);
    let folder = world.folder.path().join("subagents").join(&id);
    assert_eq!(status(world.folder.path(), &id), json!("idle"));
    for file in ["context.jsonl", "wire.jsonl", "prompt.txt", "output"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let story = fs::read_to_string(folder.join("output")).expect("story");
    assert!(story.contains("[summary] completed\nIt is all fine."), "{story}");
    let (_folder, context) = world.end().await;
    assert_eq!(context.history().len(), 4, "the session's context has the result only");
}

#[tokio::test(start_paused = true)]
async fn subagents_of_one_step_work_side_by_side_up_to_the_limit() {
    for (most, together) in [(8, true), (1, false)] {
        let slow = |text| {
            let mut pieces = vec![Piece::Pause(Duration::from_secs(5))];
            pieces.extend(report(text));
            pieces
        };
        let mut world = stage(staff(false, |limits| limits.max_running_subagents = most)).start([
            vec![task("t1", &json!({})), task("t2", &json!({"prompt": "Look there."}))],
            slow("one"),
            slow("two"),
            report("done"),
        ]);
        let lines = world.prompt("go").await;
        let order: Vec<&str> = only(&lines, &["helper: StepBegin", "ToolResult"])
            .into_iter()
            .map(|line| if line.starts_with("helper") { "begin" } else { "end" })
            .collect();
        let expected = if together {
            ["begin", "begin", "end", "end"]
        } else {
            ["begin", "end", "begin", "end"]
        };
        assert_eq!(order, expected, "at most {most}");
        drop(world);
    }
}

#[tokio::test(start_paused = true)]
async fn a_subagents_request_says_who_asks_and_a_no_ends_nothing() {
    let target = PathBuf::from("made.txt");
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({}))],
        vec![write("w1", &target)],
        vec![write("w2", &target)],
        report("I could write in the end."),
        report("done"),
    ]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    assert_eq!(request.subagent_type.as_deref(), Some("helper"));
    assert_eq!(request.source_description.as_deref(), Some("look around"));
    assert_eq!(request.source_kind, SourceKind::ForegroundTurn);
    assert!(request.agent_id.is_some());
    world.answer(&request, ApprovalChoice::Reject, "");
    let second = world.request().await;
    assert_eq!(second.tool_call_id, "w2");
    world.answer(&second, ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert_eq!(outcome(&lines), "Done Finished");
    assert!(result(&lines, "t1").contains("I could write"));
    assert!(world.folder.path().join(&target).is_file());
    let told = world.script.messages(2).last().expect("result").text();
    assert!(told.contains("in another way"), "{told}");
    assert_eq!(world.script.times_asked(), 5, "the session's turn went on");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_the_subagent_and_takes_its_request_back() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({}))],
        vec![write("w1", Path::new("made.txt"))],
        report("resumed"),
        report("done"),
    ]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert_eq!(outcome(&lines), "Done Cancelled");
    assert_eq!(result(&lines, "t1"), "Cancelled");
    assert!(lines.iter().any(|line| line.starts_with("Answer Reject \"Withdrawn")), "{lines:?}");
    let id = request.agent_id.clone().expect("an id");
    assert_eq!(status(world.folder.path(), &id), json!("killed"));
    world.answer(&request, ApprovalChoice::Approve, "");
    let (folder, _) = world.end().await;
    assert!(!folder.path().join("made.txt").exists());
}

#[tokio::test(start_paused = true)]
async fn an_earlier_subagent_goes_on_with_what_it_knows() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({}))],
        report("first"),
        report("one"),
    ]);
    let lines = world.prompt("go").await;
    let id = agent_id(result(&lines, "t1"));
    let script = Arc::clone(&world.script);
    script.answers.lock().unwrap().extend([
        vec![task("t2", &json!({"resume": id, "prompt": "And now?"}))],
        report("second"),
        vec![task("t3", &json!({"resume": "a00000000"})), task("t4", &json!({"resume": "../x"}))],
        report("two"),
    ]);
    let lines = world.prompt("again").await;
    let said = result(&lines, "t2");
    assert_eq!(agent_id(said), id);
    assert!(said.contains("resumed: true") && said.contains("second"));
    let rows: Vec<String> = script.messages(4).iter().map(row).collect();
    assert_eq!(rows[0], "user: Look around.");
    assert!(rows[1].starts_with("assistant: first") && rows[2] == "user: And now?", "{rows:?}");
    assert_eq!((result(&lines, "t3"), result(&lines, "t4")), ("Not started", "Not started"));
}

#[tokio::test(start_paused = true)]
async fn a_subagent_that_takes_too_long_or_fails_is_an_error_that_can_be_resumed() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({"timeout": 30}))],
        vec![Piece::Hang],
        vec![task("t2", &json!({})), task("t3", &json!({"subagent_type": "nobody"}))],
        vec![Piece::Refuse(super::status(400))],
        report("done"),
    ]);
    let lines = world.prompt("go").await;
    assert_eq!(result(&lines, "t1"), "It was stopped after 30 seconds, its limit.");
    assert!(result(&lines, "t2").contains("400"), "{}", result(&lines, "t2"));
    assert_eq!(result(&lines, "t3"), "No subagent nobody");
    assert_eq!(outcome(&lines), "Done Finished");
    let told = world.script.messages(2).last().expect("result").text();
    assert!(told.contains("agent_id: a") && told.contains("resume"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn only_an_agent_whose_file_says_so_has_subagents_of_its_own() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({}))],
        vec![task("n1", &json!({}))],
        report("alone"),
        report("done"),
    ]);
    let lines = world.prompt("go").await;
    assert!(lines.contains(&"helper: ToolResult n1 Tool `Task` not found".to_owned()), "{lines:?}");
    drop(world);

    let mut world = stage(staff(true, |_| {})).start([
        vec![task("t1", &json!({}))],
        vec![task("n1", &json!({}))],
        vec![write("w1", Path::new("deep.txt"))],
        report("deep"),
        report("not so deep"),
        report("done"),
    ]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    assert_eq!(request.subagent_type.as_deref(), Some("helper/helper"));
    world.answer(&request, ApprovalChoice::Approve, "");
    let lines = world.rest().await;
    assert!(
        lines.iter().any(|line| line.starts_with("helper: helper: ToolResult w1")),
        "{lines:?}"
    );
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_subagent_in_the_background_outlives_the_turn_and_tells_its_end() {
    let mut world = stage(staff(false, |_| {})).start([
        vec![task("t1", &json!({"run_in_background": true}))],
        // It begins before the session's agent takes its next step.
        vec![write("w1", Path::new("made.txt"))],
        report("I go on."),
        report("Found it."),
        report("I heard."),
    ]);
    world.send(Command::Prompt("go".into()));
    let mut request = None;
    let mut is_done = false;
    let mut result = String::new();
    while request.is_none() || !is_done {
        match world.next().await {
            DoorMessage::Request(Request::ApprovalRequest(asked)) => request = Some(asked),
            DoorMessage::PromptDone(_) => is_done = true,
            DoorMessage::Event(Event::ToolResult(told)) => {
                result = told.return_value.output.text();
            }
            _ => {}
        }
    }
    assert!(result.contains("status: running") && result.contains("agent_id: a"), "{result}");
    // It asks while no turn runs.
    let request = request.expect("a request");
    assert_eq!(request.source_kind, SourceKind::BackgroundAgent);
    assert!(request.source_id.as_deref().is_some_and(|id| id.starts_with("agent-")));
    world.answer(&request, ApprovalChoice::Approve, "");
    let note = |message: &DoorMessage| line(message).starts_with("Notification");
    let lines = world.lines_until(note).await;
    assert!(lines.contains(&"Task agent look around completed".to_owned()), "{lines:?}");
    assert_eq!(outcome(&lines), "Notification Background task completed: look around");
    world.prompt("and?").await;
    let told = world.script.messages(world.script.times_asked() - 1);
    let note = told.iter().map(Message::text).find(|text| text.starts_with("<notification"));
    assert!(note.expect("a note").contains("Found it."));
}

#[tokio::test(start_paused = true)]
async fn a_person_stops_a_task_and_the_end_of_the_session_stops_the_rest() {
    let background = json!({"run_in_background": true});
    let mut world = stage(staff(false, |_| {})).start([
        vec![
            task("t1", &background),
            task("t2", &json!({"run_in_background": true, "prompt": "b"})),
        ],
        // The second begins while the session's agent takes its next step.
        vec![Piece::Hang],
        report("I go on."),
        vec![Piece::Hang],
    ]);
    let mut ids = Vec::new();
    world.send(Command::Prompt("go".into()));
    loop {
        match world.next().await {
            DoorMessage::Event(Event::Extension(Extension::TaskChanged(task))) => ids.push(task.id),
            DoorMessage::PromptDone(_) => break,
            _ => {}
        }
    }
    assert_eq!(ids.len(), 2);
    world.send(Command::StopTask { task_id: ids[0].clone() });
    let stopped = |message: &DoorMessage| line(message).starts_with("Notification");
    let lines = world.lines_until(stopped).await;
    assert!(lines.contains(&"Task agent look around killed".to_owned()), "{lines:?}");
    world.send(Command::StopTask { task_id: "agent-nobody".into() });
    world.lines_until(|message| matches!(message, DoorMessage::Refused(_))).await;
    let hub = world.task;
    world.commands.send(Command::Shutdown).expect("alive");
    let soul = tokio::time::timeout(PATIENCE, hub).await.expect("it ends").expect("soul");
    let states: Vec<TaskState> =
        soul.services.tasks().list().into_iter().map(|task| task.state).collect();
    assert_eq!(states, [TaskState::Killed, TaskState::Killed]);
}

#[tokio::test]
async fn hooks_hear_of_subagents_and_may_be_against_one() {
    let hook = |event, command: &str| HookConfig {
        event,
        matcher: "helper".into(),
        command: command.into(),
        timeout: 30,
    };
    let mut stage = stage(staff(false, |_| {}));
    stage.hooks = vec![
        hook(HookEvent::SubagentStart, "cat > start.json"),
        hook(HookEvent::SubagentStop, "cat > stop.json"),
    ];
    let mut world = stage.start([vec![task("t1", &json!({}))], report("found"), report("done")]);
    world.prompt("go").await;
    let (folder, _) = world.end().await;
    let input = |name: &str| {
        let text = fs::read_to_string(folder.path().join(name)).expect(name);
        serde_json::from_str::<Value>(&text).expect("json")
    };
    assert_eq!(input("start.json")["agent_name"], "helper");
    assert_eq!(input("start.json")["prompt"], "Look around.");
    assert!(input("stop.json")["response"].as_str().is_some_and(|text| text.starts_with("found")));

    let mut stage = self::stage(staff(false, |_| {}));
    stage.hooks = vec![hook(HookEvent::SubagentStart, "echo not now >&2; exit 2")];
    let mut world = stage.start([vec![task("t1", &json!({}))], report("done")]);
    let lines = world.prompt("go").await;
    assert_eq!(result(&lines, "t1"), "Hook blocked");
    assert_eq!(world.script.times_asked(), 2);
}
