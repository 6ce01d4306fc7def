//! What is inferred about a server of the plain protocol.

use super::*;
use crate::message::{ToolCall, ToolReturn};
use crate::permission::{Decision, Rule, Scope};
use crate::wire::{Command, Empty, Extension, StepBegin, ToolResult, TurnBegin};

fn turn(text: &str) -> Event {
    Event::TurnBegin(TurnBegin { user_input: text.into() })
}

fn step(n: u64) -> Event {
    Event::StepBegin(StepBegin { n })
}

fn inferred(events: Vec<Event>) -> Vec<String> {
    let mut inference = Inference::new(false);
    events
        .into_iter()
        .flat_map(|event| inference.see(event))
        .filter_map(|event| match event {
            Event::Extension(Extension::CheckpointCreated(made)) => {
                Some(format!("{}.{} step {:?}", made.at.generation.0, made.at.id.0, made.step))
            }
            Event::Extension(Extension::ContextReverted(back)) => {
                Some(format!("back to {}", back.to.id.0))
            }
            Event::Extension(Extension::ContextCompacted(_)) => Some("compacted".into()),
            Event::Extension(Extension::ContextCleared(_)) => Some("cleared".into()),
            _ => None,
        })
        .collect()
}

#[test]
fn checkpoints_are_counted_as_the_engine_counts_them() {
    let mail = ToolCall::new("t", "SendDMail", Some(r#"{"message":"m","checkpoint_id":1}"#.into()));
    let result = ToolResult { tool_call_id: "t".into(), return_value: ToolReturn::ok("", "") };
    let told = inferred(vec![
        turn("/yolo"),
        Event::turn_end(),
        turn("q1"),
        step(1),
        Event::ToolCall(mail),
        Event::ToolResult(result),
        step(2),
        Event::turn_end(),
        turn("q2"),
        step(1),
        Event::CompactionBegin(Empty {}),
        Event::CompactionEnd(Empty {}),
        step(2),
        Event::turn_end(),
        turn("/clear"),
        Event::turn_end(),
        turn("q3"),
        step(1),
    ]);
    assert_eq!(
        told,
        [
            "0.0 step None",
            "0.1 step Some(1)",
            "back to 1",
            "1.1 step None",
            "1.2 step Some(2)",
            "1.3 step None",
            "1.4 step Some(1)",
            "compacted",
            "2.1 step Some(2)",
            "cleared",
            "3.0 step None",
            "3.1 step Some(1)",
        ]
    );
}

#[tokio::test]
async fn a_server_that_speaks_something_else_is_told() {
    let work_dir = std::env::temp_dir();
    let told = |command: &'static [&'static str]| {
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        let work_dir = work_dir.clone();
        async move { format!("{:#}", start(&command, &work_dir).await.expect_err("no server")) }
    };
    assert!(told(&["no-such-program-anywhere"]).await.contains("cannot be started"));
    assert!(told(&["true"]).await.contains("does not speak the wire"));
    assert!(told(&["echo", "hello"]).await.contains("does not speak the wire"));
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// Answers the greeting and tells an empty past.
const AGREES: &str = r#"
read -r line; printf '{"jsonrpc":"2.0","id":"hello","result":{}}\n'
read -r line; printf '{"jsonrpc":"2.0","id":"past","result":{}}\n'
"#;

#[tokio::test]
async fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let command = sh("echo 'no licence' >&2; exit 3");
    let error = start(&command, &std::env::temp_dir()).await.expect_err("no server");
    let told = format!("{error:#}");
    assert!(told.contains("It ended without an answer. It said: no licence"), "{told}");
}

#[tokio::test]
async fn a_server_that_stalls_is_given_up_and_ended_with_what_it_started() {
    let folder = tempfile::tempdir().expect("folder");
    for before in ["", r#"read -r l; printf '{"jsonrpc":"2.0","id":"hello","result":{}}\n';"#] {
        let _ = std::fs::remove_file(folder.path().join("pid"));
        let command = sh(&format!("{before} sleep 1000 & echo $! > pid; wait"));
        let patience = Duration::from_secs(1);
        let error = start_within(&command, folder.path(), patience).await.expect_err("no server");
        let told = format!("{error:#}");
        assert!(told.contains("did not answer within 1 seconds"), "{told}");
        let pid = std::fs::read_to_string(folder.path().join("pid")).expect("its number");
        let stat = format!("/proc/{}/stat", pid.trim());
        let is_gone = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"));
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while !is_gone() {
            assert!(std::time::Instant::now() < deadline, "it still runs");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_turn_is_told_and_the_door_ends() {
    let command = sh(&format!("{AGREES} read -r line; echo 'out of cheese' >&2; exit 7"));
    let mut door = start(&command, &std::env::temp_dir()).await.expect("a server").door;
    door.commands.send(Command::Prompt("go".into())).expect("sent");
    let mut told = Vec::new();
    while let Some(message) = door.messages.recv().await {
        told.push(message);
    }
    let [DoorMessage::Refused(reason)] = told.as_slice() else { panic!("{told:?}") };
    assert!(reason.contains("exit status: 7") && reason.contains("out of cheese"), "{reason}");
}

#[tokio::test]
async fn garbage_between_the_lines_is_passed_over() {
    let notes = r#"printf 'hello there\n{"id":7}\n[]\n'
        printf '{"method":"event","params":{"type":"TurnEnd","payload":{}}}\n'"#;
    let command = sh(&format!("{AGREES} {notes}; cat > /dev/null"));
    let mut door = start(&command, &std::env::temp_dir()).await.expect("a server").door;
    let message = door.messages.recv().await;
    assert_eq!(message, Some(DoorMessage::Event(Event::turn_end())));
    door.commands.send(Command::ReadNotes).expect("sent");
    door.commands.send(Command::Reload).expect("sent");
    let Some(DoorMessage::Refused(reason)) = door.messages.recv().await else { panic!("no word") };
    assert!(reason.contains("plain protocol"), "{reason}");
    door.commands.send(Command::Shutdown).expect("sent");
    assert_eq!(door.messages.recv().await, None);
}

#[tokio::test]
async fn what_a_plain_server_cannot_be_told_leaves_nothing_waiting() {
    let ask = r#"ask() { printf '{"method":"request","id":"'$1'","params":{"type":"ApprovalRequest","payload":{"id":"'$1'","tool_call_id":"t","sender":"Shell","action":"run command","description":"d","source_kind":"foreground_turn","source_id":"s","display":[]}}}\n'; }"#;
    let command = sh(&format!(
        "{AGREES} {ask}\nask a; read -r line; echo \"$line\" > answer; ask b; cat > rest"
    ));
    let folder = tempfile::tempdir().expect("folder");
    let mut door = start(&command, folder.path()).await.expect("a server").door;
    let id = |message: Option<DoorMessage>| match message {
        Some(DoorMessage::Request(request)) => request.id().expect("an id").to_owned(),
        other => panic!("no request: {other:?}"),
    };
    let words = |message: Option<DoorMessage>| match message {
        Some(DoorMessage::Refused(reason)) => reason,
        other => panic!("no word: {other:?}"),
    };
    // A rule cannot be kept, but what it says about this call is answered.
    assert_eq!(id(door.messages.recv().await), "a");
    let rule = Rule::command("ls", Decision::Allow);
    let request_id = Some("a".to_owned());
    let add = Command::AddRule { request_id, scope: Scope::Session, rule };
    door.commands.send(add).expect("sent");
    assert!(words(door.messages.recv().await).contains("only this call was approved"));
    assert_eq!(id(door.messages.recv().await), "b");
    let answer = std::fs::read_to_string(folder.path().join("answer")).expect("an answer");
    assert!(answer.contains("\"approve\"") && answer.contains("\"a\""), "{answer}");
    // Other arguments cannot be told: the person is asked again.
    let edited = Command::ApproveEdited { request_id: "b".into(), arguments: Default::default() };
    door.commands.send(edited).expect("sent");
    assert!(words(door.messages.recv().await).contains("approve this one as it is"));
    assert_eq!(id(door.messages.recv().await), "b");
    // A question beside the conversation ends.
    let aside = Command::SideQuestion { id: "q".into(), question: "why?".into() };
    door.commands.send(aside).expect("sent");
    let Some(DoorMessage::Event(Event::BtwEnd(end))) = door.messages.recv().await else {
        panic!("no end")
    };
    assert!(end.id == "q" && end.error.is_some());
}
