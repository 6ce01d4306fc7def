//! Print mode against a scripted engine: a task that answers the door's other side.

use std::io::{self, Write};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::*;
use crate::message::ToolOutput;
use crate::wire::channel::CommandSender;
use crate::wire::{ApprovalRequest, SourceKind};
use crate::wire::{Hub, SessionInfo, StatusUpdate, StepBegin, StepRetry, ToolCallPart, ToolResult};

const ALL: Wants = Wants { final_only: false, progress: true };

struct Ran {
    end: End,
    answer: String,
    notes: String,
    commands: Vec<Command>,
}

fn text(text: &str) -> DoorMessage {
    DoorMessage::Event(Event::ContentPart(ContentPart::text(text)))
}

fn step(n: u64) -> DoorMessage {
    DoorMessage::Event(Event::StepBegin(StepBegin { n }))
}

fn finished() -> DoorMessage {
    DoorMessage::PromptDone(PromptOutcome::Finished)
}

fn call(id: &str, name: &str, arguments: &str) -> DoorMessage {
    DoorMessage::Event(Event::ToolCall(ToolCall::new(id, name, Some(arguments.to_owned()))))
}

fn go() -> Vec<Command> {
    vec![Command::Prompt("go".into())]
}

async fn run_with(
    script: Vec<DoorMessage>,
    wants: Wants,
    is_terminal: bool,
    answer: &mut dyn Write,
) -> (End, String, Vec<Command>) {
    let hub = Hub::new(None);
    let (commands, mut received) = CommandSender::channel();
    let info = Arc::new(SessionInfo::default());
    let mut door = Door { info, commands, messages: hub.subscribe(false) };
    for message in script {
        hub.tell(message);
    }
    let (_keep, mut interrupts) = mpsc::unbounded_channel();
    let mut notes = Vec::new();
    let outputs =
        Outputs { answer, answer_is_terminal: is_terminal, as_messages: false, notes: &mut notes };
    let end = run(&mut door, go(), wants, outputs, &mut interrupts).await;
    let mut commands = Vec::new();
    while let Ok(command) = received.try_recv() {
        commands.push(command);
    }
    (end, String::from_utf8(notes).expect("text"), commands)
}

async fn ran(script: Vec<DoorMessage>, wants: Wants, is_terminal: bool) -> Ran {
    let mut answer = Vec::new();
    let (end, notes, commands) = run_with(script, wants, is_terminal, &mut answer).await;
    Ran { end, answer: String::from_utf8(answer).expect("text"), notes, commands }
}

fn two_steps() -> Vec<DoorMessage> {
    vec![
        step(1),
        text("Look"),
        text("ing."),
        call("a", "Bash", "{\"comm"),
        DoorMessage::Event(Event::ToolCallPart(ToolCallPart {
            arguments_part: Some("and\": \"ls -la\"}".to_owned()),
        })),
        DoorMessage::Event(Event::ToolResult(ToolResult {
            tool_call_id: "a".to_owned(),
            return_value: ToolReturn {
                output: ToolOutput::Text("x".to_owned()),
                ..ToolReturn::error("Command failed with exit code: 2.", "exit code 2")
            },
        })),
        step(2),
        text("All "),
        text("done."),
        finished(),
    ]
}

#[tokio::test]
async fn the_answer_streams_and_progress_goes_beside_it() {
    let ran = ran(two_steps(), ALL, false).await;
    assert_eq!(ran.end, End::Done);
    assert_eq!(ran.answer, "Looking.\n\nAll done.\n");
    assert_eq!(ran.notes, "· Bash ls -la\n· Bash failed: exit code 2\n");
    assert_eq!(ran.commands, [Command::Prompt("go".into())]);
}

#[tokio::test]
async fn only_the_last_answer_where_that_is_wanted() {
    let ran = ran(two_steps(), Wants { final_only: true, progress: false }, false).await;
    assert_eq!((ran.answer.as_str(), ran.notes.as_str()), ("All done.\n", ""));
}

fn retry() -> DoorMessage {
    DoorMessage::Event(Event::StepRetry(StepRetry {
        n: 1,
        next_attempt: 2,
        max_attempts: 3,
        wait_s: 1.2,
        error_type: "APIConnectionError".to_owned(),
        status_code: None,
    }))
}

#[tokio::test]
async fn what_a_retry_withdraws_is_not_in_a_pipe() {
    let script = || {
        let half = [step(1), text("ha"), text("lf"), retry(), text("whole")];
        let next = [step(2), text("ha"), retry(), text("end"), finished()];
        half.into_iter().chain(next).collect()
    };
    let piped = ran(script(), ALL, false).await;
    assert_eq!(piped.answer, "whole\n\nend\n");
    assert_eq!(piped.notes, "APIConnectionError: trying again in 1 s, attempt 2 of 3.\n".repeat(2));
    let shown = ran(script(), ALL, true).await;
    assert_eq!(shown.answer, "half\n\nwhole\n\nha\n\nend\n");
    assert_eq!(shown.notes.matches("is void").count(), 2, "{}", shown.notes);
}

#[tokio::test]
async fn a_pipe_has_what_a_step_said_before_its_calls_are_done() {
    let usage = DoorMessage::Event(Event::StatusUpdate(StatusUpdate {
        message_id: Some("m".to_owned()),
        ..StatusUpdate::default()
    }));
    // The reader is gone, which only whoever writes notices.
    let script = vec![
        step(1),
        text("Looking."),
        call("a", "Bash", "{}"),
        usage,
        DoorMessage::PromptDone(PromptOutcome::Cancelled),
    ];
    let (_, _, commands) = run_with(script, ALL, false, &mut Closed).await;
    assert_eq!(commands.get(1), Some(&Command::Cancel));
    let failed = PromptOutcome::Failed { message: "no".to_owned() };
    let script = vec![step(1), text("half"), DoorMessage::PromptDone(failed)];
    assert_eq!(ran(script, ALL, false).await.answer, "half\n", "nothing takes its place");
}

#[tokio::test]
async fn a_failed_attempt_is_not_part_of_the_last_answer() {
    let script = vec![step(1), text("half"), retry(), text("whole"), finished()];
    let ran = ran(script, Wants { final_only: true, progress: false }, false).await;
    assert_eq!(ran.answer, "whole\n");
    assert_eq!(ran.notes, "APIConnectionError: trying again in 1 s, attempt 2 of 3.\n");
}

#[tokio::test]
async fn escape_sequences_act_on_no_terminal_and_stay_in_files() {
    let script = || vec![step(1), text("a\u{1b}]52;c;eA==\u{7}b\tc"), finished()];
    assert_eq!(ran(script(), ALL, true).await.answer, "a␛]52;c;eA==␇b  c\n");
    assert_eq!(ran(script(), ALL, false).await.answer, "a\u{1b}]52;c;eA==\u{7}b\tc\n");
}

#[tokio::test]
async fn a_note_does_not_break_a_line_of_the_answer_on_a_terminal() {
    let script = vec![step(1), text("One"), call("a", "LS", "{}"), text("Two"), finished()];
    assert_eq!(ran(script, ALL, true).await.answer, "One\n\nTwo\n");
}

#[tokio::test]
async fn requests_are_answered_because_nobody_is_there() {
    let request = DoorMessage::Request(Request::ApprovalRequest(ApprovalRequest {
        id: "r1".to_owned(),
        tool_call_id: "a".to_owned(),
        sender: "Bash".to_owned(),
        action: "run command".to_owned(),
        description: "Run".to_owned(),
        source_kind: SourceKind::ForegroundTurn,
        source_id: None,
        agent_id: None,
        subagent_type: None,
        source_description: None,
        display: Vec::new(),
    }));
    let ran = ran(vec![request, finished()], ALL, false).await;
    let approved = Command::Respond(Response::Approval(ApprovalResponse {
        request_id: "r1".to_owned(),
        response: ApprovalChoice::Approve,
        feedback: String::new(),
    }));
    assert_eq!(ran.commands[1], approved);
}

/// A reader that has seen enough.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_broken_pipe_cancels_the_turn_and_is_no_failure() {
    let more = [step(1), text("more"), step(2), DoorMessage::PromptDone(PromptOutcome::Cancelled)];
    let (end, _, commands) = run_with(more.into(), ALL, false, &mut Closed).await;
    assert_eq!(end, End::Done);
    assert_eq!(commands[1], Command::Cancel);
}

#[tokio::test]
async fn the_first_interrupt_cancels_and_the_second_leaves() {
    let hub = Hub::new(None);
    let (commands, mut received) = CommandSender::channel();
    let mut door = Door { info: Arc::default(), commands, messages: hub.subscribe(false) };
    let (interrupt, mut interrupts) = mpsc::unbounded_channel();
    let (mut answer, mut notes) = (Vec::new(), Vec::new());
    let outputs = Outputs {
        answer: &mut answer,
        answer_is_terminal: false,
        as_messages: false,
        notes: &mut notes,
    };
    let engine = async {
        received.recv().await.expect("the prompt");
        interrupt.send(Interrupt::Keyboard).expect("sent");
        assert_eq!(received.recv().await, Some(Command::Cancel));
        hub.tell(text("so far"));
        hub.tell(DoorMessage::PromptDone(PromptOutcome::Cancelled));
    };
    let (end, ()) = tokio::join!(run(&mut door, go(), ALL, outputs, &mut interrupts), engine);
    assert_eq!(end, End::Interrupted(Interrupt::Keyboard));
    assert_eq!(answer, b"so far\n");

    let (mut answer, mut notes) = (Vec::new(), Vec::new());
    let outputs = Outputs {
        answer: &mut answer,
        answer_is_terminal: false,
        as_messages: false,
        notes: &mut notes,
    };
    interrupt.send(Interrupt::Keyboard).expect("sent");
    interrupt.send(Interrupt::Terminate).expect("sent");
    let end = run(&mut door, go(), ALL, outputs, &mut interrupts).await;
    assert_eq!(end, End::Interrupted(Interrupt::Terminate), "nobody answered the cancel");
}

#[tokio::test]
async fn an_engine_that_is_gone_is_a_failure() {
    let hub = Hub::new(None);
    let (commands, received) = CommandSender::channel();
    let mut door = Door { info: Arc::default(), commands, messages: hub.subscribe(false) };
    drop((hub, received));
    let (_keep, mut interrupts) = mpsc::unbounded_channel();
    let (mut answer, mut notes) = (Vec::new(), Vec::new());
    let outputs = Outputs {
        answer: &mut answer,
        answer_is_terminal: false,
        as_messages: false,
        notes: &mut notes,
    };
    let end = run(&mut door, go(), ALL, outputs, &mut interrupts).await;
    assert_eq!(end.code(), 1);
}

#[tokio::test]
async fn a_warning_is_told_whether_progress_is_wanted_or_not() {
    let note = |severity: &str, title: &str| {
        let note = serde_json::json!({
            "id": "n", "category": "system", "type": "x", "source_kind": "s", "source_id": "i",
            "title": title, "body": "Ask it to go on.", "severity": severity, "created_at": 1.0,
            "payload": {}
        });
        let note = serde_json::from_value(note).expect("a notification");
        DoorMessage::Event(Event::Notification(note))
    };
    let script = vec![
        text("half an"),
        note("info", "All well"),
        note("warning", "It is cut off"),
        finished(),
    ];
    let wants = Wants { final_only: false, progress: false };
    let mut answer = Vec::new();
    let (_, notes, _) = run_with(script, wants, false, &mut answer).await;
    assert_eq!(notes, "It is cut off. Ask it to go on.\n");
}
