//! The provider against a server on loopback.

use std::time::Duration;

use super::super::http::Patience;
use super::super::loopback::{Loopback, Play, events, http};
use super::*;
use crate::config::ProviderConfig;
use crate::llm::{Answer, FinishReason, StreamPart};
use futures::StreamExt;

const HELLO: &str = r#"{"id":"m1","choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"id":"m1","choices":[{"delta":{},"finish_reason":"stop"}]}"#;

fn model(base_url: &str) -> ResolvedModel {
    ResolvedModel {
        key: "k2".into(),
        model: "kimi-k2".into(),
        display_name: "K2".into(),
        max_context_size: 1000,
        capabilities: vec![],
        thinking: false,
        provider: ProviderConfig {
            kind: ProviderKind::Kimi,
            base_url: format!("{base_url}/v1"),
            api_key: "sk-secret-key".into(),
            env: Default::default(),
            custom_headers: [("X-Team".to_owned(), "a".to_owned())].into(),
            reasoning_key: None,
            oauth: None,
        },
        max_output_tokens: None,
        price: None,
        network: Default::default(),
    }
}

fn hi() -> ChatRequest<'static> {
    ChatRequest {
        system: "Be good.",
        tools: &[],
        messages: &[],
        cache_key: None,
        input_tokens: None,
    }
}

const PATIENT: Patience = Patience {
    connect: Duration::from_secs(20),
    first: Duration::from_secs(20),
    idle: Duration::from_secs(20),
    close: Duration::from_millis(20),
};

fn provider(server: &Loopback, patience: Patience) -> OpenAi {
    let provider = OpenAi::new(&model(&server.address), Sampling::default()).expect("a provider");
    provider.with_patience(patience)
}

/// Asks the server; the answer, or what went wrong, at once or in the stream.
async fn ask(server: &Loopback, patience: Patience) -> Result<Answer, LlmError> {
    let mut parts = provider(server, patience).stream(hi()).await?;
    let mut answer = Answer::new();
    while let Some(part) = parts.next().await {
        answer.push(part?);
    }
    Ok(answer)
}

async fn answered(plays: Vec<Play>) -> Result<Answer, LlmError> {
    ask(&Loopback::start(vec![plays]).await, PATIENT).await
}

async fn refused(play: Play) -> LlmError {
    answered(vec![play]).await.expect_err("no answer")
}

#[tokio::test]
async fn an_answer_and_the_request_it_answers() {
    let server = Loopback::start(vec![vec![events(&[HELLO, STOP, "[DONE]"])]]).await;
    let answer = ask(&server, PATIENT).await.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
    assert_eq!((answer.id(), answer.finish()), (Some("m1"), Some(&FinishReason::Stop)));
    let request = server.requests().remove(0);
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    let head = head.to_lowercase();
    for header in [
        "authorization: bearer sk-secret-key",
        "x-team: a",
        "user-agent: kimi-tui/",
        "x-msh-platform: kimi_tui",
        "x-msh-version: ",
    ] {
        assert!(head.contains(header), "{header} in {head}");
    }
    let body: serde_json::Value = serde_json::from_str(body).expect("json");
    assert_eq!((&body["model"], &body["stream"]), (&"kimi-k2".into(), &true.into()));
}

#[tokio::test]
async fn an_answer_in_small_writes_with_comments_and_no_last_line() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let body = format!(": OPENROUTER PROCESSING\r\n\r\ndata: {HELLO}\r\n\r\ndata: {STOP}\r\n");
    let mut plays = vec![Play::Send(head.into())];
    plays.extend(body.as_bytes().chunks(7).map(|piece| Play::Send(piece.to_vec())));
    assert_eq!(answered(plays).await.expect("an answer").message().text(), "Hello");
}

#[tokio::test]
async fn a_finished_answer_needs_no_closed_connection() {
    for end in [STOP, "[DONE]"] {
        // With `PATIENT.idle` in the way this would be a timeout.
        let answer = answered(vec![events(&[HELLO, end]), Play::Stall]).await;
        assert_eq!(answer.expect("an answer").message().text(), "Hello");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_stream_is_an_answer() {
    let body = r#"{"id":"m","choices":[{"message":{"content":"Hello","tool_calls":[{"id":"c",
        "function":{"name":"LS","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let answer = answered(vec![http("200 OK", "Content-Type: application/json\r\n", body)]).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.message().text(), "Hello");
    assert_eq!(answer.calls()[0].function.name, "LS");
    assert_eq!(answer.usage().map(|usage| usage.total()), Some(5));
}

#[tokio::test]
async fn a_refusal_is_told_with_its_reason_and_without_the_key() {
    let body = r#"{"error":{"message":"Invalid key sk-secret-key","type":"auth"}}"#;
    let error = refused(http("401 Unauthorized", "", body)).await;
    assert_eq!((error.status(), error.is_retryable()), (Some(401), false));
    let said = error.to_string();
    assert!(said.ends_with("401: Invalid key [api key]"), "{said}");
    assert!(said.contains("127.0.0.1"), "{said}");
}

#[tokio::test]
async fn a_busy_server_says_how_long_to_wait() {
    let error = refused(http("429 Too Many", "Retry-After: 7\r\n", r#"{"error":"busy"}"#)).await;
    let LlmError::Status { status: 429, retry_after, .. } = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn a_server_error_as_a_page_is_told_in_its_words() {
    let page = "<html><head><title>Bad gateway</title></head><body>x</body></html>";
    let error = refused(http("502 Bad", "Content-Type: text/html\r\n", page)).await;
    assert!(error.is_retryable());
    assert_eq!(error.to_string().split_once("answered ").map(|s| s.1), Some("502: Bad gateway"));
}

#[tokio::test]
async fn a_page_instead_of_an_answer_points_at_base_url() {
    let page = "<!doctype html><title>Welcome</title>";
    for headers in ["Content-Type: text/html\r\n", ""] {
        let error = refused(http("200 OK", headers, page)).await;
        assert!(!error.is_retryable());
        let said = error.to_string();
        assert!(said.contains("base_url") && said.contains("Welcome"), "{said}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let to = "Location: https://elsewhere.example/\r\n";
    let said = refused(http("301 Moved", to, "")).await.to_string();
    assert!(said.contains("https://elsewhere.example/") && said.contains("base_url"), "{said}");
}

#[tokio::test]
async fn nothing_and_half_an_answer_are_connection_errors() {
    let cut = http("200 OK", "Content-Length: 5000\r\n", &format!("data: {HELLO}\n\ndata: {{"));
    let closed = events(&[HELLO]);
    let empty = http("200 OK", "Content-Length: 0\r\n", "");
    let nothing = Play::Send(Vec::new());
    for (play, word) in
        [(cut, "cut off"), (closed, "cut off"), (empty, "without an answer"), (nothing, "")]
    {
        let error = refused(play).await;
        assert!(matches!(error, LlmError::Connection { .. }), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_before_and_in_the_answer() {
    let hasty =
        Patience { first: Duration::from_millis(50), idle: Duration::from_millis(50), ..PATIENT };
    for plays in [vec![Play::Stall], vec![events(&[HELLO]), Play::Stall]] {
        let server = Loopback::start(vec![plays]).await;
        let error = ask(&server, hasty).await.expect_err("silence");
        assert!(matches!(error, LlmError::Timeout { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn nobody_there_is_a_connection_error() {
    let free = {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", port.local_addr().expect("address"))
    };
    let provider = OpenAi::new(&model(&free), Sampling::default()).expect("a provider");
    let Err(error) = provider.stream(hi()).await else { panic!("nobody answers") };
    assert!(matches!(&error, LlmError::Connection { .. }), "{error:?}");
    assert!(error.to_string().to_lowercase().contains("refused"), "{error}");
}

#[tokio::test]
async fn what_came_before_a_fault_is_handed_out_first() {
    let error = r#"{"error":{"message":"Stream failed","type":"server_error"}}"#;
    let server = Loopback::start(vec![vec![events(&[HELLO, error])]]).await;
    let provider = provider(&server, PATIENT);
    let parts: Vec<_> = provider.stream(hi()).await.expect("a stream").collect().await;
    assert_eq!(parts[1], Ok(StreamPart::Content(crate::message::ContentPart::text("Hello"))));
    let last = parts.last().expect("parts").clone().expect_err("the fault");
    assert_eq!(last.status(), Some(500));
    assert_eq!(parts.len(), 3);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mut server = Loopback::start(vec![vec![events(&[HELLO]), Play::Stall]]).await;
    let provider = provider(&server, PATIENT);
    let mut parts = provider.stream(hi()).await.expect("a stream");
    assert!(parts.next().await.expect("a part").is_ok());
    drop(parts);
    tokio::time::timeout(Duration::from_secs(20), server.client_closed()).await.expect("closed");
}
