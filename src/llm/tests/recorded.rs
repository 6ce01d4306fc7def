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
        assert_goes_back(kind, &bytes, expected).await;
        seen += 1;
    }
    assert!(seen >= 6, "{seen} streams");
}

/// What was said is in the next request as it was said: ids, arguments, thinking, signature.
async fn assert_goes_back(kind: ProviderKind, bytes: &[u8], expected: &Value) {
    if !expected["error"].is_null() {
        return;
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let play = vec![Play::Send([head.as_bytes(), bytes].concat())];
    let server = Loopback::start(vec![play.clone(), play]).await;
    let mut model = fixture::model(kind, &server.address);
    // Signed thoughts go to Claude and to nobody else.
    model.model = if kind == ProviderKind::Anthropic { "claude-sonnet-4" } else { "m" }.into();
    let provider = provider(&model);
    let said = fixture::ask(&*provider, fixture::hi()).await.expect("an answer").into_message();
    let results: Vec<_> = said.calls().iter().map(|call| call.id.clone()).collect();
    let mut history = vec![crate::message::Message::user("hi"), said];
    history.extend(results.iter().map(|id| {
        crate::message::Message::tool_result(id, &crate::message::ToolReturn::ok("out", ""))
    }));
    let request = ChatRequest { messages: &history, ..fixture::hi() };
    fixture::ask(&*provider, request).await.expect("an answer");
    let sent = server.requests().remove(1);
    let body: Value =
        serde_json::from_str(sent.split_once("\r\n\r\n").expect("a body").1).expect("json");
    let sent = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
    let tools = expected["tools"].as_array().expect("tools");
    let at = if kind == ProviderKind::Anthropic { 1 } else { 2 };
    if kind == ProviderKind::Anthropic {
        let blocks = sent(&format!("/messages/{at}/content"));
        let of = |kind: &str| -> Vec<Value> {
            let blocks = blocks.as_array().expect("blocks").iter();
            blocks.filter(|block| block["type"] == kind).cloned().collect()
        };
        for (call, tool) in of("tool_use").iter().zip(tools) {
            let args: Value =
                serde_json::from_str(tool["args"].as_str().expect("args")).expect("json");
            assert_eq!(
                (&call["id"], &call["name"], &call["input"]),
                (&tool["id"], &tool["name"], &args)
            );
        }
        assert_eq!(of("tool_use").len(), tools.len());
        for thought in of("thinking") {
            assert_eq!(thought["thinking"], expected["reasoning"]);
            assert_eq!(thought["signature"], expected["signature"]);
        }
        assert_eq!(of("thinking").len(), usize::from(expected["signature"].is_string()));
        return;
    }
    for (index, tool) in tools.iter().enumerate() {
        let call = sent(&format!("/messages/{at}/tool_calls/{index}"));
        assert_eq!(call["id"], tool["id"]);
        assert_eq!(call["function"]["name"], tool["name"]);
        assert_eq!(call["function"]["arguments"], tool["args"]);
        assert_eq!(sent(&format!("/messages/{}/tool_call_id", at + 1 + index)), tool["id"]);
    }
    if expected["reasoning"] != "" {
        assert_eq!(sent(&format!("/messages/{at}/reasoning_content")), expected["reasoning"]);
    }
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
