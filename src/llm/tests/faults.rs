//! Everything that goes wrong between us and a server, for every dialect: the kind of the error,
//! whether trying again makes sense, and that its words help.

use std::time::Duration;

use super::super::loopback::http;
use super::*;

/// Asks with little patience for silence.
async fn fails(kind: ProviderKind, plays: Vec<Play>) -> LlmError {
    let server = Loopback::start(vec![plays]).await;
    let mut model = fixture::model(kind, &server.address);
    let hasty = Duration::from_millis(100);
    model.network.first_byte_timeout = hasty;
    model.network.idle_timeout = hasty;
    fixture::ask(&*provider(&model), fixture::hi()).await.expect_err("a fault")
}

fn status(code: u16, headers: &str, body: &str) -> Vec<Play> {
    vec![http(&format!("{code} Some Reason"), headers, body)]
}

#[tokio::test]
async fn every_status_is_told_and_retried_as_it_should_be() {
    for kind in KINDS {
        for (code, retryable) in [
            (400, false),
            (401, false),
            (402, false),
            (403, false),
            (404, false),
            (408, true),
            (413, false),
            (422, false),
            (429, true),
            (500, true),
            (501, false),
            (502, true),
            (503, true),
            (504, true),
            (529, true),
        ] {
            let body = r#"{"error":{"message":"because of sk-secret-key","type":"some_error"}}"#;
            let error = answered(kind, status(code, "", body)).await.expect_err("a refusal");
            assert_eq!(error.status(), Some(code), "{kind:?}");
            assert_eq!(error.is_retryable(), retryable, "{kind:?} {code}");
            let said = error.to_string();
            assert!(said.contains("because of [api key]"), "{said}");
            assert!(!format!("{error:?}").contains("sk-secret-key"), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_busy_server_names_its_wait_or_not() {
    let body = r#"{"error":{"message":"slow down"}}"#;
    for kind in KINDS {
        for (header, wait) in [
            ("Retry-After: 7\r\n", Some(Duration::from_secs(7))),
            ("retry-after-ms: 250\r\n", Some(Duration::from_millis(250))),
            ("", None),
        ] {
            let error = answered(kind, status(429, header, body)).await.expect_err("busy");
            let LlmError::Status { retry_after, .. } = error else { panic!("{error:?}") };
            assert_eq!(retry_after, wait, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_and_pages_instead_of_answers() {
    for kind in KINDS {
        let missing = r#"{"error":{"message":"model: some-model not found"}}"#;
        let error = answered(kind, status(404, "", missing)).await.expect_err("no model");
        assert!(error.to_string().contains("some-model not found"), "{error}");
        let error = answered(kind, status(404, "", "404 page not found")).await.expect_err("path");
        assert!(error.to_string().contains("base_url"), "{error}");
        let page = "<html><head><title>Bad gateway</title></head></html>";
        let error = answered(kind, status(502, "Content-Type: text/html\r\n", page)).await;
        assert!(error.expect_err("page").to_string().ends_with("502: Bad gateway"));
        let error = answered(kind, vec![http("200 OK", "Content-Type: text/html\r\n", page)]).await;
        let error = error.expect_err("page");
        assert!(!error.is_retryable() && error.to_string().contains("base_url"), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_anywhere_may_be_tried_again() {
    let free = {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", port.local_addr().expect("address"))
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    for kind in KINDS {
        let first = hello(kind)[0];
        let half = format!("data: {first}\n\ndata: {{\"ha");
        let cases = [
            ("before the head", vec![Play::Reset]),
            ("in the head", vec![Play::Send(head.into()), Play::Reset]),
            ("after the head", vec![Play::Send(chunked.clone().into()), Play::Reset]),
            ("in a chunk", vec![Play::Send(format!("{chunked}fff\r\n{half}").into()), Play::Reset]),
            ("closed in a chunk", vec![Play::Send(format!("{chunked}fff\r\n{half}").into())]),
            ("closed after a piece", vec![events(&[first])]),
            ("closed at once", vec![events(&[])]),
        ];
        for (place, plays) in cases {
            let error = answered(kind, plays).await.expect_err(place);
            assert!(matches!(error, LlmError::Connection { .. }), "{kind:?} {place}: {error:?}");
            assert!(error.is_retryable() && error.to_string().contains("127.0.0.1"), "{error}");
        }
        let nobody = provider(&fixture::model(kind, &free));
        let error = fixture::ask(&*nobody, fixture::hi()).await.expect_err("refused");
        assert!(error.to_string().to_lowercase().contains("refused"), "{kind:?}: {error}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_wherever_it_begins() {
    for kind in KINDS {
        let begun = events(&hello(kind)[..1]);
        for plays in [vec![Play::Stall], vec![events(&[]), Play::Stall], vec![begun, Play::Stall]] {
            let error = fails(kind, plays).await;
            assert!(matches!(error, LlmError::Timeout { .. }), "{kind:?}: {error:?}");
            assert!(error.is_retryable());
        }
    }
}

#[tokio::test]
async fn an_error_in_a_stream_keeps_the_key_to_itself() {
    for kind in KINDS {
        let error = r#"{"type":"error","error":{"message":"bad key sk-secret-key","code":401}}"#;
        let error = answered(kind, vec![events(&[hello(kind)[0], error])]).await;
        let error = error.expect_err("an error");
        assert_eq!(error.status(), Some(401), "{kind:?}");
        assert!(error.to_string().ends_with("bad key [api key]"), "{error}");
    }
}

#[tokio::test]
async fn garbage_is_told_in_few_words() {
    let garbage = "data: {not json at all\n\nevent: ?\ndata\n\n\0\u{fffd}: {\"a\":\n\n";
    for kind in KINDS {
        let play = http("200 OK", "Content-Type: text/event-stream\r\n", garbage);
        let error = answered(kind, vec![play]).await.expect_err("garbage");
        assert!(error.to_string().contains("not JSON"), "{kind:?}: {error}");
    }
}
