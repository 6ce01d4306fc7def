//! What is inferred about a server of the plain protocol.

use super::*;
use crate::message::{ToolCall, ToolReturn};
use crate::wire::{Empty, Extension, StepBegin, ToolResult, TurnBegin};

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
