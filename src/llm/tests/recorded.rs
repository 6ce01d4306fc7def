//! Streams that real servers sent, and what official clients made of them, through a server on
//! loopback that cuts them at every odd place.
//!
//! They are not part of the project: `KIMI_TUI_STREAMS` names the folder that has them with their
//! `expected.json`; without it this test says so and does nothing.

use std::path::Path;

use futures::StreamExt;
use serde_json::{Value, json};

use super::*;
use crate::message::{ContentPart, text_of};

#[tokio::test]
async fn recorded_streams_are_understood_however_they_are_cut() {
    let Some(folder) = std::env::var_os("KIMI_TUI_STREAMS") else {
        eprintln!("SKIPPED: KIMI_TUI_STREAMS names no folder of recorded streams");
        return;
    };
    let folder = Path::new(&folder);
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: Value = serde_json::from_str(&expected).expect("json");
    let mut seen = 0;
    for (name, expected) in expected.as_object().expect("an object") {
        let kind = match name {
            name if name.starts_with("anthropic") => ProviderKind::Anthropic,
            name if name.starts_with("moonshot") => ProviderKind::Kimi,
            _ => ProviderKind::OpenaiLegacy,
        };
        let bytes = std::fs::read(folder.join(name)).expect("a stream");
        for size in [1, 7, 64, bytes.len()] {
            assert_eq!(&summary(kind, &bytes, size).await, expected, "{name}, pieces of {size}");
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen} streams");
}

/// The answer in the words of `expected.json`.
async fn summary(kind: ProviderKind, bytes: &[u8], size: usize) -> Value {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let mut plays = vec![Play::Send(head.into())];
    plays.extend(bytes.chunks(size).map(|piece| Play::Send(piece.to_vec())));
    let server = Loopback::start(vec![plays]).await;
    let provider = provider(&fixture::model(kind, &server.address));
    let mut parts = provider.stream(fixture::hi()).await.expect("a stream");
    let mut answer = Answer::new();
    let mut fault = None;
    while let Some(part) = parts.next().await {
        match part {
            Ok(part) => answer.push(part),
            Err(error) => fault = Some(error),
        }
    }
    let mut signature = None;
    let mut thinking = String::new();
    for part in answer.content() {
        if let ContentPart::Think { think, encrypted } = part {
            thinking.push_str(think);
            signature = signature.or(encrypted.clone());
        }
    }
    let tools: Vec<Value> = answer
        .calls()
        .iter()
        .map(|call| json!({"id": call.id, "name": call.function.name, "args": call.arguments()}))
        .collect();
    let finish = answer.finish().map(|reason| match (reason, kind) {
        (FinishReason::Stop, _) => "stop",
        (FinishReason::ToolCalls, ProviderKind::Anthropic) => "tool_use",
        (FinishReason::ToolCalls, _) => "tool_calls",
        (other, _) => panic!("{other:?}"),
    });
    let usage =
        answer.usage().map(|usage| json!({"prompt": usage.input(), "completion": usage.output}));
    let mut out = json!({
        "text": text_of(answer.content(), ""),
        "reasoning": thinking,
        "tools": tools,
        "finish": finish,
        "usage": usage,
        "error": fault.map(|fault| match fault {
            LlmError::Status { message, status: 500, .. } => format!("APIError: {message}"),
            other => panic!("{other:?}"),
        }),
    });
    if let Some(signature) = signature {
        out["signature"] = json!(signature);
    }
    out
}
