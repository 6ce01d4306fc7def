use std::fs;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::message::{DisplayBlock, ToolReturn};
use crate::tools::bash::Bash;
use crate::tools::process::spawn_waiting;
use crate::tools::tasks::{TaskList, TaskOutput, TaskStop};
use crate::tools::testing::Bench;
use crate::wire::{DoorMessage, Event};

const PATIENCE: Duration = Duration::from_secs(30);

/// A session with background tasks, and who hears of them.
struct House {
    bench: Bench,
    tasks: BackgroundTasks,
    notifier: Notifier,
    heard: UnboundedReceiver<DoorMessage>,
}

fn house(change: impl FnOnce(&mut BackgroundConfig)) -> House {
    let bench = Bench::new();
    let hub = Hub::new(None);
    let heard = hub.subscribe(true);
    let notifier = Notifier::new(hub.clone());
    let mut config = BackgroundConfig::default();
    change(&mut config);
    let tasks = BackgroundTasks::new(hub, notifier.clone(), &bench.root, "session", config);
    bench.background(&tasks);
    House { bench, tasks, notifier, heard }
}

impl House {
    /// Runs `command` in the background; its task's id.
    async fn begin(&self, command: &str) -> String {
        let result = self.bash(json!({"command": command, "description": "a task"})).await;
        assert!(!result.is_error, "{result:?}");
        let text = result.output.text();
        let id = text.lines().next().and_then(|line| line.strip_prefix("task_id: "));
        id.expect("an id").to_owned()
    }

    async fn bash(&self, mut arguments: Value) -> ToolReturn {
        arguments["run_in_background"] = true.into();
        self.bench.call(&Bash, arguments).await
    }

    async fn over(&self, id: &str) -> TaskChanged {
        assert!(self.tasks.wait(id, PATIENCE).await, "it ends");
        self.tasks.get(id).expect("a task")
    }

    /// The tasks as a later run of the program has them.
    fn again(&self) -> (BackgroundTasks, Notifier, UnboundedReceiver<DoorMessage>) {
        let hub = Hub::new(None);
        let heard = hub.subscribe(true);
        let notifier = Notifier::new(hub.clone());
        let config = self.tasks.config().clone();
        let tasks =
            BackgroundTasks::new(hub, notifier.clone(), &self.bench.root, "session", config);
        (tasks, notifier, heard)
    }

    /// The states told of tasks, and the titles of notes.
    fn told(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Ok(message) = self.heard.try_recv() {
            match message {
                DoorMessage::Event(Event::Extension(Extension::TaskChanged(task))) => {
                    told.push(task.state.name().to_owned());
                }
                DoorMessage::Event(Event::Notification(note)) => told.push(note.title),
                _ => {}
            }
        }
        told
    }
}

/// A number of seconds nobody else sleeps for.
fn unique_seconds() -> String {
    format!("{}.{}", 4000 + std::process::id() % 1000, fastrand::u64(100_000_000..))
}

/// Processes that have `word` among their arguments.
fn alive(word: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    processes
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()).then_some(id)
        })
        .collect()
}

async fn wait_until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_command_in_the_background_is_told_at_its_end_with_its_output() {
    let mut house = house(|_| {});
    let id = house.begin("echo one; echo two >&2; exit 3").await;
    let asked = house.bench.asked();
    assert_eq!(asked[0].action, "run background command");
    let task = house.over(&id).await;
    assert_eq!((task.state, task.exit), (TaskState::Failed, Some(3)));
    wait_until("the note", || house.notifier.waiting() == 1).await;
    assert_eq!(house.told(), ["running", "failed", "Background task failed: a task"]);
    let note = house.notifier.take(9).remove(0).message().text();
    assert!(note.contains("Exit code: 3") && note.contains("one\ntwo"), "{note}");
    let shown = house.bench.call(&TaskOutput, json!({"task_id": id})).await;
    let text = shown.output.text();
    assert!(text.contains("status: failed\n") && text.ends_with("[output]\none\ntwo\n"), "{text}");
    let runtime = house.bench.root.join("tasks").join(&id).join("runtime.json");
    let runtime: Value = serde_json::from_slice(&fs::read(runtime).expect("file")).expect("json");
    assert_eq!((&runtime["status"], &runtime["exit_code"]), (&json!("failed"), &json!(3)));
}

#[tokio::test]
async fn a_task_is_listed_and_stopped_with_all_it_started() {
    let mut house = house(|_| {});
    let seconds = unique_seconds();
    let id = house.begin(&format!("sleep {seconds} & echo up; sleep {seconds}")).await;
    wait_until("both sleep", || alive(&seconds).len() == 2).await;
    let list = house.bench.call(&TaskList, json!({})).await;
    assert!(list.output.text().starts_with("active_background_tasks: 1\n"));
    assert!(matches!(&list.display[0],
        DisplayBlock::BackgroundTask { task_id, status, .. } if *task_id == id && status == "running"));
    let waited =
        house.bench.call(&TaskOutput, json!({"task_id": id, "block": true, "timeout": 0})).await;
    assert!(waited.message.contains("still runs"), "{waited:?}");

    let plan = house.bench.root.join("plan.md");
    house.bench.plan(Some(&plan));
    let kept = house.bench.call(&TaskStop, json!({"task_id": id})).await;
    assert!(kept.is_error && kept.message.contains("Plan mode"));
    house.bench.plan(None);
    house.bench.reject("");
    assert!(house.bench.call(&TaskStop, json!({"task_id": id})).await.is_error);
    assert_eq!(alive(&seconds).len(), 2);
    house.tasks.stop(&id, "The user stopped it.", false);
    assert_eq!(house.over(&id).await.state, TaskState::Killed);
    assert!(alive(&seconds).is_empty());
    wait_until("the note", || house.notifier.waiting() == 1).await;
    assert_eq!(house.told(), ["running", "killed", "Background task stopped: a task"]);
    let again = house.bench.call(&TaskStop, json!({"task_id": id})).await;
    assert!(again.message.contains("over already"), "{again:?}");
    let unknown = house.bench.call(&TaskOutput, json!({"task_id": "bash-x"})).await;
    assert!(unknown.message.contains(&id), "{unknown:?}");
}

#[tokio::test]
async fn a_task_the_model_stops_needs_no_note() {
    let house = house(|_| {});
    let seconds = unique_seconds();
    let id = house.begin(&format!("sleep {seconds}")).await;
    let stopped =
        house.bench.call(&TaskStop, json!({"task_id": id, "reason": "no more need"})).await;
    assert_eq!(stopped.message, "The task was stopped.");
    assert!(stopped.output.text().contains("reason: no more need"));
    assert!(alive(&seconds).is_empty() && house.notifier.waiting() == 0);
    assert_eq!(house.bench.asked()[1].action, "stop background task");
}

#[tokio::test]
async fn only_so_many_run_and_a_task_has_a_time_limit() {
    let house = house(|config| config.max_running_tasks = 1);
    let seconds = unique_seconds();
    let arguments =
        json!({"command": format!("sleep {seconds}"), "description": "d", "timeout": 1});
    assert!(!house.bash(arguments.clone()).await.is_error);
    let refused = house.bash(arguments).await;
    assert!(refused.message.contains("1 is the most"), "{refused:?}");
    let id = house.tasks.list()[0].id.clone();
    let task = house.over(&id).await;
    assert_eq!(task.state, TaskState::Failed);
    assert!(task.reason.contains("after 1 seconds"), "{}", task.reason);
    assert!(alive(&seconds).is_empty());
    let nameless = house.bash(json!({"command": "true"})).await;
    assert!(nameless.message.contains("description"), "{nameless:?}");
    assert_eq!(house.tasks.list().len(), 1);
}

#[tokio::test]
async fn the_end_of_the_program_ends_every_task_even_a_stubborn_one() {
    let house = house(|config| config.kill_grace = Duration::from_millis(100));
    let seconds = unique_seconds();
    let id = house.begin(&format!("trap '' TERM; sleep {seconds} & wait; sleep {seconds}")).await;
    wait_until("it sleeps", || !alive(&seconds).is_empty()).await;
    house.tasks.end_all().await;
    assert!(alive(&seconds).is_empty());
    let task = house.tasks.get(&id).expect("task");
    assert_eq!((task.state, task.reason.as_str()), (TaskState::Killed, SESSION_ENDED));
    assert_eq!(house.notifier.waiting(), 0);
}

#[tokio::test]
async fn a_command_may_outlive_the_program_when_it_is_configured_so() {
    let house = house(|config| config.keep_alive_on_exit = true);
    let seconds = unique_seconds();
    let id = house.begin(&format!("echo up; sleep {seconds}; echo never")).await;
    let path = house.bench.root.join("tasks").join(&id).join("output.log");
    wait_until("it is up", || fs::read_to_string(&path).is_ok_and(|text| text == "up\n")).await;
    wait_until("it sleeps", || !alive(&seconds).is_empty()).await;
    house.tasks.end_all().await;
    assert!(!alive(&seconds).is_empty(), "it goes on");

    // The next run of the program finds it, shows what it printed, and can stop it.
    let (tasks, notifier, mut heard) = house.again();
    let running = tasks.take_up_earlier();
    assert_eq!((running[0].id.as_str(), running[0].title.as_str()), (id.as_str(), "a task"));
    assert_eq!(tasks.output(&id).expect("output").0, "up\n");
    assert_eq!(states(&mut heard), ["running"]);
    assert!(tasks.stop(&id, "Enough.", false));
    assert!(tasks.wait(&id, PATIENCE).await);
    wait_until("all of it is gone", || alive(&seconds).is_empty()).await;
    let task = tasks.get(&id).expect("a task");
    assert_eq!((task.state, task.reason.as_str()), (TaskState::Killed, "Enough."));
    assert!(notifier.waiting() == 1 && !notifier.wakes());
}

/// The states told of tasks.
fn states(heard: &mut UnboundedReceiver<DoorMessage>) -> Vec<&'static str> {
    let mut told = Vec::new();
    while let Ok(message) = heard.try_recv() {
        if let DoorMessage::Event(Event::Extension(Extension::TaskChanged(task))) = message {
            told.push(task.state.name());
        }
    }
    told
}

#[tokio::test]
async fn a_command_is_written_down_before_it_begins() {
    for outlives in [false, true] {
        let house = house(|config| config.keep_alive_on_exit = outlives);
        let records = house.bench.root.join("tasks");
        let id = house.begin(&format!("cat '{}'/*/runtime.json; echo $$", records.display())).await;
        house.over(&id).await;
        let printed = house.tasks.output(&id).expect("output").0;
        let (record, pid) = printed.trim_end().rsplit_once('}').expect("a record and a number");
        let record: Value = serde_json::from_str(&format!("{record}}}")).expect("a record");
        assert_eq!(record["child_pid"].to_string(), pid.trim(), "{printed}");
        assert_ne!(record["child_birth"], "");
    }
}

#[tokio::test]
async fn a_command_that_nobody_lets_begin_never_runs() {
    let bench = Bench::new();
    let mut running = spawn_waiting("touch ran", &bench.root).expect("a shell");
    drop(running.gate.take());
    assert_eq!(running.child.wait().await.expect("its end").code(), Some(125));
    assert!(!bench.root.join("ran").exists());
    let mut running = spawn_waiting("touch ran; read -r line || exit 3", &bench.root).expect("it");
    running.begin().await;
    assert_eq!(running.child.wait().await.expect("its end").code(), Some(3), "no input is left");
    assert!(bench.root.join("ran").exists());
}

#[tokio::test]
async fn a_command_that_a_killed_program_left_behind_is_followed_to_its_end() {
    let house = house(|config| config.keep_alive_on_exit = true);
    let id = house.begin("while [ ! -e stop ]; do sleep 0.02; done").await;
    house.tasks.end_all().await;
    let (tasks, notifier, mut heard) = house.again();
    assert_eq!(tasks.take_up_earlier().len(), 1);
    fs::write(house.bench.path("stop"), "").expect("file");
    assert!(tasks.wait(&id, PATIENCE).await);
    assert_eq!(tasks.get(&id).expect("a task").state, TaskState::Lost);
    assert_eq!(states(&mut heard), ["running", "lost"]);
    wait_until("the note", || notifier.wakes()).await;
}

#[tokio::test]
async fn tasks_of_earlier_runs_are_listed_and_those_cut_off_are_lost() {
    let house = house(|_| {});
    let done = house.begin("echo finished").await;
    house.over(&done).await;
    let cut = house.begin("sleep 0.01; echo $$ > shell").await;
    house.over(&cut).await;
    // As if the program had been killed while it ran.
    let file = house.bench.root.join("tasks").join(&cut).join("runtime.json");
    let mut runtime: Value = serde_json::from_slice(&fs::read(&file).expect("file")).expect("json");
    let shell = fs::read_to_string(house.bench.path("shell")).expect("its number");
    assert_eq!(runtime["child_pid"].to_string(), shell.trim());
    runtime["status"] = json!("running");
    runtime["finished_at"] = Value::Null;
    // Its number may have been given to somebody else, who must be left alone.
    runtime["child_pid"] = json!(std::process::id());
    fs::write(&file, runtime.to_string()).expect("written");
    fs::create_dir_all(house.bench.root.join("tasks/bash-broken")).expect("folder");
    fs::write(house.bench.root.join("tasks/bash-broken/runtime.json"), "{").expect("written");

    let (tasks, notifier, mut heard) = house.again();
    assert_eq!(tasks.take_up_earlier(), []);
    let list: Vec<_> = tasks.list().into_iter().map(|task| (task.id, task.state)).collect();
    assert_eq!(list, [(done.clone(), TaskState::Completed), (cut, TaskState::Lost)]);
    assert_eq!(states(&mut heard), ["completed", "lost"]);
    assert!(notifier.waiting() == 1 && !notifier.wakes(), "told, but nothing begins for it");
    let note = notifier.take(1).remove(0).message().text();
    assert!(note.contains("Background task lost: a task"), "{note}");
    assert!(!tasks.stop(&done, "", false));
    // It is told once.
    let (tasks, notifier, _) = house.again();
    tasks.take_up_earlier();
    assert_eq!((tasks.list().len(), notifier.waiting()), (2, 0));
}

#[tokio::test]
async fn a_flood_stays_within_its_budget() {
    let house = house(|config| config.max_output_bytes = 65_536);
    let id = house.begin("yes 0123456789 | head -c 500000; echo; echo the end").await;
    assert_eq!(house.over(&id).await.state, TaskState::Completed);
    let path = house.bench.root.join("tasks").join(&id).join("output.log");
    let text = fs::read_to_string(path).expect("output");
    assert!(text.len() <= 65_536 + READ && text.ends_with("the end\n"));
    let shown = house.bench.call(&TaskOutput, json!({"task_id": id})).await.output.text();
    assert!(shown.len() < 31_000 && shown.contains("only the end"), "{}", shown.len());
}

/// What is read of a pipe at once.
const READ: usize = 16 * 1024;

#[tokio::test]
async fn without_a_session_for_them_nothing_is_run() {
    let bench = Bench::new();
    let arguments = json!({"command": "touch made", "description": "d", "background": true});
    let result = bench.call(&Bash, arguments).await;
    assert_eq!(result.brief(), Some("No background commands"));
    assert!(bench.asked().is_empty() && !bench.path("made").exists());
    assert!(bench.call(&TaskList, json!({})).await.is_error);
}
