//! Plan mode: on and off in every way, what is forbidden, what is told and what is kept.

use super::questions::{answer, question};
use super::*;

fn stage(change: impl FnOnce(&mut SessionState)) -> Stage {
    let tools = tools(&["WriteFile", "EnterPlanMode", "ExitPlanMode"]);
    Stage { tools, state: state(change), ..Stage::default() }
}

fn write(id: &str, path: &str) -> Piece {
    call(id, "WriteFile", &json!({"path": path, "content": "1. look"}))
}

/// The plan's file, from the words of `/plan on`.
async fn enter(world: &mut World) -> String {
    let lines = world.prompt("/plan on").await;
    let said = only(&lines, &["text Plan mode is on"]);
    let path = said[0].rsplit_once(", ").expect("a path").1;
    path.trim_end_matches('.').to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_front_end_switches_it_and_the_model_is_told_once() {
    let mut world =
        stage(|_| {}).start([vec![text("one")], vec![text("two")], vec![text("three")]]);
    world.send(Command::SetPlanMode(true));
    let lines = world.lines_until(|message| line(message).starts_with("Plan mode")).await;
    assert_eq!(outcome(&lines), "Plan mode Some(true)");
    world.prompt("a").await;
    world.prompt("b").await;
    world.send(Command::SetPlanMode(false));
    world.prompt("c").await;
    let history = world.history().await;
    let reminders: Vec<&String> =
        history.iter().filter(|row| row.starts_with("user: <system-reminder>")).collect();
    assert_eq!(reminders.len(), 2, "{history:#?}");
    assert!(reminders[0].contains("Plan mode is on. ") && reminders[0].contains("/plans/"));
    assert!(reminders[1].contains("Plan mode is off"));
    assert_eq!(history[0], "user: a", "it stands behind the prompt");
}

#[tokio::test(start_paused = true)]
async fn only_the_plan_is_written_and_an_approved_plan_frees_the_rest() {
    let mut world = stage(|_| {}).start([]);
    let plan = enter(&mut world).await;
    let more = [
        vec![write("t1", "code.rs")],
        vec![write("t2", &plan)],
        vec![call("t3", "ExitPlanMode", &json!({}))],
        vec![write("t4", "code.rs")],
        vec![text("done")],
    ];
    world.script.answers.lock().unwrap().extend(more);
    world.send(Command::Prompt("change it".into()));
    let mut told = Vec::new();
    let review = loop {
        match world.next().await {
            DoorMessage::Request(Request::QuestionRequest(request)) => break request,
            message => told.push(line(&message)),
        }
    };
    let told = only(&told, &["ToolResult t1", "Approve", "PlanDisplay"]);
    assert_eq!(told, ["ToolResult t1 Plan mode: not the plan file", "PlanDisplay"]);
    answer(&world, &review, "Approve");
    let approval = world.request().await;
    assert_eq!(approval.action, "edit file", "the plan is off: writing is asked about again");
    world.answer(&approval, ApprovalChoice::Approve, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    assert_eq!(std::fs::read_to_string(&plan).expect("plan"), "1. look");
    let (folder, _) = world.end().await;
    assert!(folder.path().join("code.rs").is_file());
    let state = SessionState::load(folder.path());
    assert!(!state.plan_mode && plan.contains(&state.plan_slug.expect("slug")));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_plan_ends_the_turn_and_a_revision_goes_on() {
    let mut world = stage(|_| {}).start([]);
    let plan = enter(&mut world).await;
    let exit = |id: &str| vec![call(id, "ExitPlanMode", &json!({}))];
    let more = [vec![write("t1", &plan)], exit("t2"), exit("t3")];
    world.script.answers.lock().unwrap().extend(more);
    world.send(Command::Prompt("plan it".into()));
    let first = question(&mut world).await;
    answer(&world, &first, "shorter, please");
    let second = question(&mut world).await;
    answer(&world, &second, "Reject");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    assert_eq!(world.script.times_asked(), 3, "nothing is asked of the model after a no");
    let (folder, _) = world.end().await;
    assert!(SessionState::load(folder.path()).plan_mode);
}

#[tokio::test(start_paused = true)]
async fn the_model_may_propose_it_and_a_session_that_had_it_has_it_again() {
    let begin = vec![call("t1", "EnterPlanMode", &json!({}))];
    let mut world = stage(|_| {}).start([begin, vec![text("planning")]]);
    world.send(Command::Prompt("big change".into()));
    let asked = question(&mut world).await;
    assert_eq!(asked.questions[0].question, "Enter plan mode?");
    answer(&world, &asked, "Yes");
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["Plan mode"]), ["Plan mode Some(true)"]);
    let mut resumed = stage(|state| state.plan_mode = true).start([vec![text("x")]]);
    let DoorMessage::Event(Event::StatusUpdate(status)) = resumed.next().await else {
        panic!("the status comes first");
    };
    assert_eq!(status.plan_mode, Some(true));
    resumed.prompt("go").await;
    assert!(resumed.history().await[1].contains("Plan mode is on. "));
}

#[tokio::test(start_paused = true)]
async fn the_command_shows_and_clears_the_plan() {
    let mut world = stage(|_| {}).start([]);
    assert!(world.prompt("/plan view").await.iter().any(|line| line.contains("no plan yet")));
    let plan = enter(&mut world).await;
    std::fs::write(&plan, "1. look").expect("plan");
    assert!(world.prompt("/plan view").await.contains(&"PlanDisplay".to_owned()));
    world.prompt("/plan clear").await;
    assert!(!std::path::Path::new(&plan).exists());
    assert!(world.prompt("/plan").await.contains(&"text Plan mode is off.".to_owned()));
    assert!(world.prompt("/plan maybe").await.iter().any(|line| line.contains("Use /plan")));
}

#[tokio::test(start_paused = true)]
async fn a_folder_is_added_to_the_workspace_and_told_to_the_model() {
    let outside = tempfile::tempdir().expect("folder");
    let mut world = stage(|_| {}).start([]);
    let dir = outside.path().canonicalize().expect("path").display().to_string();
    for (command, wanted) in [
        ("/add-dir".to_owned(), "No folder was added".to_owned()),
        (format!("/add-dir {dir}"), format!("{dir} is in the workspace now")),
        (format!("/add-dir {dir}"), "already".to_owned()),
        ("/add-dir".to_owned(), dir.clone()),
        ("/add-dir nowhere".to_owned(), "cannot be used".to_owned()),
    ] {
        let lines = world.prompt(&command).await;
        assert!(lines.iter().any(|line| line.contains(&wanted)), "{command}: {lines:?}");
    }
    let (folder, context) = world.end().await;
    assert_eq!(SessionState::load(folder.path()).additional_dirs, std::slice::from_ref(&dir));
    assert!(row(&context.history()[0]).contains(&dir));
}
