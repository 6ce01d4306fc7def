use std::fs;
use std::time::Duration;

use super::*;
use crate::engine::{Env, SessionChoice};
use crate::paths::Paths;
use crate::wire::{Command, Door, DoorMessage, SessionInfo};

struct House(tempfile::TempDir);

impl House {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("folder");
        for folder in ["share", "work"] {
            fs::create_dir(root.path().join(folder)).expect("folder");
        }
        for name in ["one", "two"] {
            let script = format!("text: I am {name}.\n---\n").repeat(9);
            fs::write(root.path().join(name), script).expect("file");
        }
        Self(root)
    }

    fn write(&self, default: &str, more: &str) {
        let mut text = format!("# mine\ndefault_model = {default:?}\n{more}\n");
        for (name, window) in [("one", 10_000), ("two", 20_000)] {
            let script = self.0.path().join(name);
            text.push_str(&format!(
                "[providers.{name}]\ntype = \"_scripted_echo\"\n\
                 env = {{ KIMI_SCRIPTED_ECHO_SCRIPTS = {script:?} }}\n\
                 [models.{name}]\nprovider = \"{name}\"\nmodel = \"echo\"\n\
                 display_name = \"Model {name}\"\nmax_context_size = {window}\n\
                 capabilities = [\"thinking\"]\nprice = {{ input = 1.0, output = 2.0 }}\n"
            ));
        }
        fs::write(self.0.path().join("share/config.toml"), text).expect("file");
    }

    fn host(&self) -> Host {
        let paths = Paths::new(self.0.path().join("share"));
        let config = Config::load(&paths, &ConfigSource::Default).expect("loads").config;
        Host::new(HostOptions::new(paths, config, self.0.path().join("work"), Env::empty()))
            .reading(ConfigSource::Default)
    }
}

async fn next(door: &mut Door) -> DoorMessage {
    let message = tokio::time::timeout(Duration::from_secs(30), door.messages.recv()).await;
    message.expect("in time").expect("the engine lives")
}

async fn answer(door: &mut Door) -> String {
    door.commands.send(Command::Prompt("hi".into())).expect("the engine lives");
    let mut said = String::new();
    loop {
        match next(door).await {
            DoorMessage::Event(event) => said.push_str(&format!("{event:?}")),
            DoorMessage::PromptDone(_) => return said,
            _ => {}
        }
    }
}

async fn info_after(door: &mut Door, command: Command) -> std::sync::Arc<SessionInfo> {
    door.commands.send(command).expect("the engine lives");
    loop {
        match next(door).await {
            DoorMessage::Info(info) => return info,
            DoorMessage::Refused(reason) => panic!("{reason}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn another_model_answers_in_the_same_session() {
    let house = House::new();
    house.write("one", "");
    let mut door = house.host().open(&SessionChoice::New, true).await.expect("a session");
    assert_eq!(door.info.model_key.as_deref(), Some("one"));
    assert_eq!(door.info.thinking, Some(false));
    assert!(door.info.price.is_some());
    assert!(answer(&mut door).await.contains("I am one."));
    let key = Some("two".to_owned());
    let info = info_after(&mut door, Command::SetModel { key, thinking: Some(true) }).await;
    assert_eq!(info.model.as_deref(), Some("Model two"));
    assert_eq!((info.max_context_tokens, info.thinking), (20_000, Some(true)));
    assert_eq!(info.id, door.info.id, "the session is the same");
    assert!(answer(&mut door).await.contains("I am two."));
    let history = fs::read_to_string(door.info.session_dir.join("context.jsonl")).expect("file");
    assert!(history.contains("I am one.") && history.contains("I am two."), "{history}");
    // Thinking alone leaves the model as it was chosen.
    let info = info_after(&mut door, Command::SetModel { key: None, thinking: Some(false) }).await;
    assert_eq!((info.model_key.as_deref(), info.thinking), (Some("two"), Some(false)));
}

#[tokio::test]
async fn a_model_that_cannot_be_is_refused_and_the_old_one_stays() {
    let house = House::new();
    house.write("one", "");
    let mut door = house.host().open(&SessionChoice::New, true).await.expect("a session");
    let key = Some("three".to_owned());
    door.commands.send(Command::SetModel { key, thinking: None }).expect("lives");
    let reason = loop {
        if let DoorMessage::Refused(reason) = next(&mut door).await {
            break reason;
        }
    };
    assert!(reason.contains("unknown model \"three\""), "{reason}");
    assert!(answer(&mut door).await.contains("I am one."));
}

#[tokio::test]
async fn a_configuration_is_read_again_by_reload_and_by_the_next_session() {
    let house = House::new();
    house.write("one", "");
    let host = house.host();
    let mut door = host.open(&SessionChoice::New, true).await.expect("a session");
    let file = host.configure(&[Edit::DefaultModel("two".into())]).expect("written");
    assert!(fs::read_to_string(file).expect("file").starts_with("# mine\ndefault_model = \"two\""));
    let info = info_after(&mut door, Command::Reload).await;
    assert_eq!(info.model_key.as_deref(), Some("two"));
    assert!(answer(&mut door).await.contains("I am two."));
    let other = host.open(&SessionChoice::New, true).await.expect("a session");
    assert_eq!(other.info.model_key.as_deref(), Some("two"));
    // Hooks and limits come along: a prompt that a hook blocks never reaches the model.
    house.write(
        "two",
        "[[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = \"echo not today >&2; exit 2\"",
    );
    info_after(&mut door, Command::Reload).await;
    let said = answer(&mut door).await;
    assert!(!said.contains("I am two.") && said.contains("not today"), "{said}");
}
