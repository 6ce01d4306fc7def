//! Sessions opened, used, left and opened again, through the door only.

mod dialects;
mod faults;
mod first_request;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::config::{Config, ModelConfig, ProviderConfig, ProviderKind};
use crate::context::CONTEXT_FILE;
use crate::message::{Message, Role, ToolCall};
use crate::wire::{Command, DoorMessage, Event, Extension, PromptOutcome, RevertCause};

const PATIENCE: Duration = Duration::from_secs(60);

/// A share folder and a work folder, and a model that says what a script tells it to.
struct House {
    root: tempfile::TempDir,
    config: Config,
}

impl House {
    /// Nothing configured: the demo model.
    fn demo() -> Self {
        let root = tempfile::tempdir().expect("folder");
        fs::create_dir(root.path().join("work")).expect("work");
        Self { root, config: Config::default() }
    }

    /// A model that gives `answers`, in the grammar of `_scripted_echo`.
    fn scripted(answers: &[&str]) -> Self {
        let mut house = Self::demo();
        let scripts = house.root.path().join("scripts.json");
        fs::write(&scripts, serde_json::to_string(answers).expect("json")).expect("scripts");
        let env = BTreeMap::from([(
            "KIMI_SCRIPTED_ECHO_SCRIPTS".to_owned(),
            scripts.display().to_string(),
        )]);
        house.config.default_model = "script".into();
        house.config.providers.insert(
            "echo".into(),
            ProviderConfig {
                kind: ProviderKind::ScriptedEcho,
                base_url: String::new(),
                api_key: String::new(),
                env,
                custom_headers: BTreeMap::new(),
                reasoning_key: None,
                oauth: None,
            },
        );
        house.config.models.insert(
            "script".into(),
            ModelConfig {
                provider: "echo".into(),
                model: "scripted_echo".into(),
                max_context_size: 100_000,
                capabilities: None,
                display_name: Some("Script".into()),
                max_output_tokens: None,
                price: None,
            },
        );
        house
    }

    fn options(&self) -> HostOptions {
        HostOptions::new(
            Paths::new(self.root.path().join("share")),
            self.config.clone(),
            self.root.path().join("work"),
            Env::empty(),
        )
    }

    fn host(&self) -> Host {
        Host::new(self.options())
    }

    async fn open(&self, choice: &SessionChoice) -> Door {
        self.host().open(choice, true).await.expect("a session")
    }

    async fn refusal(&self, choice: &SessionChoice) -> String {
        format!("{:#}", self.host().open(choice, true).await.expect_err("no session"))
    }
}

async fn next(door: &mut Door) -> Option<DoorMessage> {
    tokio::time::timeout(PATIENCE, door.messages.recv()).await.expect("in time")
}

async fn prompt(door: &mut Door, text: &str) -> (Vec<Event>, PromptOutcome) {
    door.commands.send(Command::Prompt(text.into())).expect("the engine lives");
    let mut events = Vec::new();
    loop {
        match next(door).await.expect("the engine lives") {
            DoorMessage::Event(event) => events.push(event),
            DoorMessage::PromptDone(outcome) => return (events, outcome),
            _ => {}
        }
    }
}

/// Leaves and waits until everything is written.
async fn leave(mut door: Door) {
    door.commands.send(Command::Shutdown).expect("the engine lives");
    while next(&mut door).await.is_some() {}
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .map(|entries| {
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

#[tokio::test]
async fn a_session_is_left_and_goes_on() {
    let house = House::scripted(&["text: one", "text: two"]);
    let mut door = house.open(&SessionChoice::New).await;
    assert_eq!(door.info.model.as_deref(), Some("Script"));
    assert!(!door.info.is_resumed && !door.info.is_demo && door.info.can_revert);
    assert_eq!(door.info.warnings, Vec::<String>::new());
    assert_eq!(prompt(&mut door, "first prompt").await.1, PromptOutcome::Finished);
    let (id, dir) = (door.info.id.clone(), door.info.session_dir.clone());
    leave(door).await;
    assert!(files(&dir).contains(&"wire.jsonl".to_owned()), "{:?}", files(&dir));

    let mut door = house.open(&SessionChoice::Continue).await;
    assert_eq!((&door.info.id, door.info.title.as_str()), (&id, "first prompt"));
    assert!(door.info.is_resumed);
    let steps: Vec<_> = door.info.checkpoints.iter().map(|checkpoint| checkpoint.step).collect();
    assert_eq!(steps, [None, Some(1)]);
    // The script begins again with each provider.
    assert_eq!(prompt(&mut door, "second").await.1, PromptOutcome::Finished);
    leave(door).await;
    let context = fs::read_to_string(dir.join(CONTEXT_FILE)).expect("context");
    assert_eq!(context.matches("_system_prompt").count(), 1);
    assert_eq!(context.matches(r#""role":"user""#).count(), 2);
}

#[tokio::test]
async fn a_session_nothing_was_said_in_leaves_nothing() {
    let house = House::scripted(&["text: never said"]);
    let door = house.open(&SessionChoice::New).await;
    let dir = door.info.session_dir.clone();
    assert!(dir.exists());
    leave(door).await;
    assert!(!dir.exists());
    let refusal = house.refusal(&SessionChoice::Continue).await;
    assert!(refusal.contains("no session to continue"), "{refusal}");
}

#[tokio::test]
async fn a_session_that_is_open_is_refused() {
    let house = House::scripted(&["text: one"]);
    let mut door = house.open(&SessionChoice::New).await;
    prompt(&mut door, "hello").await;
    let id = door.info.id.clone().expect("id");
    let refusal = house.refusal(&SessionChoice::Id(id.clone())).await;
    assert!(refusal.contains(&id.0), "{refusal}");
    leave(door).await;
    leave(house.open(&SessionChoice::Id(id)).await).await;
}

#[tokio::test]
async fn an_unknown_id_is_begun_and_told() {
    let house = House::scripted(&["text: one"]);
    let mut door = house.open(&SessionChoice::Id(SessionId("demo".into()))).await;
    assert!(door.info.warnings[0].contains("\"demo\""), "{:?}", door.info.warnings);
    prompt(&mut door, "hello").await;
    leave(door).await;
    let door = house.open(&SessionChoice::Id(SessionId("demo".into()))).await;
    assert!(door.info.warnings.is_empty() && door.info.is_resumed);
    leave(door).await;
}

#[tokio::test]
async fn wrong_flags_leave_no_trace() {
    let house = House::demo();
    let wrong: [fn(&mut HostOptions); 3] = [
        |options| options.work_dir = options.work_dir.join("gone"),
        |options| options.agent = AgentChoice::Named("nobody".into()),
        |options| options.model = Some("moonshoot".into()),
    ];
    for (change, word) in wrong.into_iter().zip(["gone", "nobody", "moonshoot"]) {
        let mut options = house.options();
        change(&mut options);
        let error = Host::new(options).open(&SessionChoice::New, true).await.expect_err("wrong");
        assert!(format!("{error:#}").contains(word), "{error:#}");
    }
    assert!(!house.root.path().join("share").exists());
}

#[tokio::test]
async fn a_session_that_crashed_in_a_tool_opens_with_a_sound_context() {
    let house = House::scripted(&["text: fine"]);
    let mut door = house.open(&SessionChoice::New).await;
    prompt(&mut door, "hello").await;
    let (id, dir) = (door.info.id.clone().expect("id"), door.info.session_dir.clone());
    leave(door).await;
    let calling = Message {
        tool_calls: Some(vec![ToolCall::new("t1", "Bash", None), ToolCall::new("t2", "LS", None)]),
        ..Message::new(Role::Assistant, vec![])
    };
    let mut context = fs::read_to_string(dir.join(CONTEXT_FILE)).expect("context");
    context.push_str(&serde_json::to_string(&calling).expect("json"));
    context.push_str("\n{\"role\":\"tool\",\"conte");
    fs::write(dir.join(CONTEXT_FILE), context).expect("context");

    let mut door = house.open(&SessionChoice::Id(id)).await;
    assert_eq!(door.info.warnings.len(), 2, "{:?}", door.info.warnings);
    assert_eq!(prompt(&mut door, "go on").await.1, PromptOutcome::Finished);
    leave(door).await;
    let context = fs::read_to_string(dir.join(CONTEXT_FILE)).expect("context");
    assert_eq!(context.matches("The result of this call was lost").count(), 2);
}

#[tokio::test]
async fn with_nothing_configured_the_demo_model_comes_with_dmail() {
    let house = House::demo();
    let door = house.open(&SessionChoice::New).await;
    assert!(door.info.is_demo);
    assert_eq!(door.info.agent, "okabe");
    assert!(door.info.slash_commands.iter().any(|command| command.name == "compact"));
    assert!(door.info.compaction_at > 0.0 && door.info.compaction_at < 1.0);
    leave(door).await;
}

#[tokio::test]
async fn a_front_end_that_did_not_ask_hears_no_extensions() {
    let house = House::scripted(&["text: one"]);
    let mut door = house.host().open(&SessionChoice::New, false).await.expect("a session");
    let (events, _) = prompt(&mut door, "hello").await;
    assert!(events.iter().all(Event::is_standard));
    assert!(events.contains(&Event::turn_end()));
    leave(door).await;
}

#[tokio::test]
async fn the_demo_model_sends_a_dmail() {
    let house = House::demo();
    fs::write(house.root.path().join("work/notes.txt"), "a line\n".repeat(50)).expect("file");
    let mut door = house.open(&SessionChoice::New).await;
    let (events, outcome) = prompt(&mut door, "show me a D-Mail").await;
    assert_eq!(outcome, PromptOutcome::Finished);
    let reverted = events.iter().filter(|event| {
        matches!(event, Event::Extension(Extension::ContextReverted(reverted))
            if reverted.cause == RevertCause::AgentDMail && reverted.mail.is_some())
    });
    assert_eq!(reverted.count(), 1, "{events:#?}");
    leave(door).await;
}

#[cfg(unix)]
#[tokio::test]
async fn cancel_kills_the_command_and_what_it_started() {
    let call = r#"tool_call: {"id": "t1", "name": "Bash", "arguments": "{\"command\": \"echo $$ > pid; sleep 300 & wait\", \"timeout\": 300}"}"#;
    let house = House::scripted(&[call]);
    let options = HostOptions { yolo: true, ..house.options() };
    let mut door = Host::new(options).open(&SessionChoice::New, true).await.expect("a session");
    door.commands.send(Command::Prompt("go".into())).expect("the engine lives");
    let pid_file = house.root.path().join("work/pid");
    let pid = wait_for(|| fs::read_to_string(&pid_file).ok()?.trim().parse::<i32>().ok()).await;
    let group = rustix::process::Pid::from_raw(pid).expect("pid");
    assert!(rustix::process::test_kill_process(group).is_ok());
    let began = std::time::Instant::now();
    door.commands.send(Command::Cancel).expect("the engine lives");
    loop {
        if let DoorMessage::PromptDone(outcome) = next(&mut door).await.expect("the engine lives") {
            assert_eq!(outcome, PromptOutcome::Cancelled);
            break;
        }
    }
    // Wide of the 100 ms it may take, for machines that are busy.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    wait_for(|| rustix::process::test_kill_process(group).is_err().then_some(())).await;
    wait_for(|| rustix::process::test_kill_process_group(group).is_err().then_some(())).await;
    leave(door).await;
}

/// Waits until `look` finds something.
async fn wait_for<T>(look: impl Fn() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, found).await.expect("in time")
}
