//! Streams that real servers sent, and what official clients made of them.
//!
//! They are not part of the project: `KIMI_TUI_STREAMS` names the folder that has them with their
//! `expected.json`; without it this test says so and does nothing.

use std::path::Path;

use serde_json::{Value, json};

use super::super::reader::Reader;
use crate::llm::sse::SseDecoder;
use crate::llm::{Answer, FinishReason, LlmError};
use crate::message::{ContentPart, text_of};

#[test]
fn recorded_streams_are_understood_however_they_are_cut() {
    let Some(folder) = std::env::var_os("KIMI_TUI_STREAMS") else {
        eprintln!("SKIPPED: KIMI_TUI_STREAMS names no folder of recorded streams");
        return;
    };
    let folder = Path::new(&folder);
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_str(&expected).expect("json");
    let mut seen = 0;
    for (name, expected) in expected.as_object().expect("an object") {
        if name.starts_with("anthropic") {
            continue;
        }
        let bytes = std::fs::read(folder.join(name)).expect("a stream");
        for size in [1, 7, 64, bytes.len()] {
            assert_eq!(&summary(&bytes, size), expected, "{name} in pieces of {size}");
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen} streams");
}

/// The answer in the words of `expected.json`.
fn summary(bytes: &[u8], size: usize) -> Value {
    let mut decoder = SseDecoder::new();
    let mut reader = Reader::new("h", None);
    let mut fault = None;
    for chunk in bytes.chunks(size) {
        let events = decoder.push(chunk).expect("small");
        fault = fault.or(events.iter().try_for_each(|event| reader.event(event)).err());
        if fault.is_some() {
            break;
        }
    }
    if fault.is_none() {
        reader.end().expect("a whole stream");
    }
    let mut answer = Answer::new();
    std::mem::take(&mut reader.parts).into_iter().for_each(|part| answer.push(part));
    let thinking: String = answer
        .content()
        .iter()
        .filter_map(|part| match part {
            ContentPart::Think { think, .. } => Some(think.as_str()),
            _ => None,
        })
        .collect();
    let tools: Vec<Value> = answer
        .calls()
        .iter()
        .map(|call| json!({"id": call.id, "name": call.function.name, "args": call.arguments()}))
        .collect();
    json!({
        "text": text_of(answer.content(), ""),
        "reasoning": thinking,
        "tools": tools,
        "finish": answer.finish().map(|reason| match reason {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            other => panic!("{other:?}"),
        }),
        "usage": answer.usage().map(|usage| {
            json!({"prompt": usage.input(), "completion": usage.output})
        }),
        "error": fault.map(|fault| match fault {
            LlmError::Status { message, status: 500, .. } => format!("APIError: {message}"),
            other => panic!("{other:?}"),
        }),
    })
}
