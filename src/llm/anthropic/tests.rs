//! The provider against a server on loopback.

use super::super::fixture;
use super::super::loopback::{Loopback, Play, events};
use super::*;
use crate::config::ProviderKind;
use crate::llm::FinishReason;

#[test]
fn the_version_may_be_in_the_address() {
    for (base, expected) in [
        ("https://api.anthropic.com", "/v1/messages"),
        ("https://api.anthropic.com/", "/v1/messages"),
        ("https://api.anthropic.com/v1/", "/messages"),
        ("https://api.moonshot.ai/anthropic", "/v1/messages"),
        ("https://h/v1/messages", "/messages"),
        ("https://h/v1?key=1", "/messages"),
    ] {
        assert_eq!(path(base), expected, "{base}");
    }
}

#[tokio::test]
async fn an_answer_and_the_request_it_answers() {
    let play = events(&[
        r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":9}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let server = Loopback::start(vec![vec![play, Play::Stall]]).await;
    let mut model = fixture::model(ProviderKind::Anthropic, &server.address);
    model.model = "claude-sonnet-4-5".into();
    let provider = Anthropic::new(&model).expect("a provider");
    let answer = fixture::ask(&provider, fixture::hi()).await.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
    assert_eq!(answer.finish(), Some(&FinishReason::Stop));
    assert_eq!(answer.usage().map(|usage| usage.total()), Some(12));
    let request = server.requests().remove(0).to_lowercase();
    assert!(request.starts_with("post /v1/messages http/1.1"), "{request}");
    for line in [
        "x-api-key: sk-secret-key",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: interleaved-thinking",
        "x-team: a",
        "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":16000}",
        "\"stream\":true",
    ] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(!request.contains("authorization:"), "{request}");
}
