use crate::message::{ContentPart, ToolCall, ToolReturn};
use crate::ui::effect::Effect;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::tasks::Nested;
use crate::ui::testing::Harness;
use crate::wire::{
    Command, Event, Extension, SubagentEvent, TaskChanged, TaskKind, TaskOutputChunk, TaskState,
    ToolResult,
};

fn nested(call: &str, event: Event) -> Event {
    Event::SubagentEvent(SubagentEvent {
        parent_tool_call_id: Some(call.into()),
        agent_id: Some("a12345678".into()),
        subagent_type: Some("explore".into()),
        event: Box::new(event),
    })
}

fn tool(id: &str, name: &str, arguments: &str) -> Event {
    Event::ToolCall(ToolCall::new(id, name, Some(arguments.into())))
}

fn over(id: &str, result: ToolReturn) -> Event {
    Event::ToolResult(ToolResult { tool_call_id: id.into(), return_value: result })
}

fn task(id: &str, kind: TaskKind, title: &str, state: TaskState) -> Event {
    let is_over = state != TaskState::Running;
    Event::Extension(Extension::TaskChanged(TaskChanged {
        id: id.into(),
        kind,
        title: title.into(),
        state,
        started: 1000.0,
        ended: is_over.then_some(1012.0),
        exit: is_over.then_some(2),
        reason: if is_over { "It ended with exit code 2.".into() } else { String::new() },
    }))
}

fn printed(id: &str, text: &str) -> Event {
    let (task_id, text) = (id.into(), text.into());
    Event::Extension(Extension::TaskOutput(TaskOutputChunk { task_id, text }))
}

/// A turn with a subagent at work and one that is done.
fn delegating(width: u16, height: u16) -> Harness {
    let mut h = Harness::new(width, height);
    h.begin_turn("Find out how sessions are stored").step(1);
    h.call("t1", "Task", r#"{"description": "look at the store", "prompt": "p"}"#);
    h.call("t2", "Task", r#"{"description": "look at the tests", "prompt": "p"}"#);
    h.usage(4200);
    h.event(nested("t1", Event::ContentPart(ContentPart::text("I begin with the folder.\n"))));
    for n in 0..9 {
        let id = format!("n{n}");
        h.event(nested("t1", tool(&id, "ReadFile", &format!(r#"{{"path": "src/file{n}.rs"}}"#))));
        let result = if n == 7 {
            ToolReturn::error("There is no such file.", "No such file")
        } else {
            ToolReturn::ok("", "read")
        };
        h.event(nested("t1", over(&id, result)));
    }
    h.event(nested("t1", tool("n9", "Grep", r#"{"pattern": "fn open"}"#)));
    h.event(nested("t2", tool("m1", "Glob", r#"{"pattern": "tests/*.rs"}"#)));
    h.event(nested("t2", over("m1", ToolReturn::ok("", "found"))));
    let summary = "agent_id: a12345678\nstatus: completed\n\n[summary]\nThe tests are in tests/, \
                   one file an area.\nNothing else was found.";
    h.result("t2", ToolReturn::ok(summary, ""));
    h.wait(2.0);
    h
}

fn with_tasks(width: u16, height: u16) -> Harness {
    let mut h = delegating(width, height);
    h.event(task("bash-aaaaaaaa", TaskKind::Bash, "build", TaskState::Running));
    h.event(task("bash-bbbbbbbb", TaskKind::Bash, "dev server", TaskState::Running));
    h.event(task("agent-cccccccc", TaskKind::Agent, "review the change", TaskState::Running));
    h.event(task("bash-aaaaaaaa", TaskKind::Bash, "build", TaskState::Failed));
    for n in 0..40 {
        h.event(printed("bash-bbbbbbbb", &format!("GET /page/{n} \x1b[32m200\x1b[0m\n")));
    }
    h.wait(63.0);
    h
}

#[test]
fn pictures_of_subagents() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut h = delegating(width, height);
        insta::assert_snapshot!(format!("subagents_{width}x{height}"), h.picture());
        h.keys("<ctrl-e>");
        insta::assert_snapshot!(format!("subagents_open_{width}x{height}"), h.picture());
    }
}

#[test]
fn pictures_of_the_task_browser() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut h = with_tasks(width, height);
        h.keys("/tasks<enter><down>");
        insta::assert_snapshot!(format!("tasks_{width}x{height}"), h.picture());
    }
    let mut h = Harness::new(80, 24);
    h.keys("<f7>");
    insta::assert_snapshot!("tasks_none_80x24", h.picture());
}

#[test]
fn a_running_subagent_shows_its_end_and_one_that_is_done_its_report() {
    let mut h = delegating(80, 40);
    let picture = h.picture();
    assert!(picture.contains("Grep fn open") && picture.contains("5 before"), "{picture}");
    assert!(!picture.contains("file0.rs") && !picture.contains("tests/*.rs"), "{picture}");
    assert!(picture.contains("one file an area") && !picture.contains("agent_id"), "{picture}");
    assert!(picture.contains("10 tool calls, 1 failed"), "{picture}");
    h.keys("<ctrl-e>");
    let picture = h.picture();
    assert!(picture.contains("file0.rs") && picture.contains("tests/*.rs"), "{picture}");
}

#[test]
fn the_marked_task_is_stopped_by_its_key_and_the_mark_stays_on_it() {
    let mut h = with_tasks(80, 24);
    assert!(h.picture().contains("2 tasks"), "the status line counts them");
    h.keys("<f7>j");
    h.event(task("bash-dddddddd", TaskKind::Bash, "another", TaskState::Running));
    h.take_effects();
    h.keys("x");
    let stop = Command::StopTask { task_id: "bash-bbbbbbbb".into() };
    assert_eq!(h.take_effects(), [Effect::Send(stop)]);
    h.keys("jx");
    assert_eq!(h.take_effects(), [], "what is over is not stopped");
    h.keys("q");
    assert!(!h.model.overlays.iter().any(|overlay| matches!(overlay, Overlay::Tasks(_))));
}

#[test]
fn a_long_subagent_stays_bounded_and_one_within_another_is_indented() {
    let mut rows = Nested::default();
    for n in 0..1000 {
        let Event::SubagentEvent(event) = nested("t", tool(&n.to_string(), "LS", "{}")) else {
            continue;
        };
        rows.take(&event);
    }
    assert_eq!((rows.rows.len(), rows.dropped, rows.calls), (Nested::ROWS, 700, 1000));
    let Event::SubagentEvent(event) = nested("t", nested("m", tool("deep", "LS", "{}"))) else {
        panic!("an event");
    };
    rows.take(&event);
    assert_eq!(rows.rows.back().map(|row| row.depth), Some(1));
}
