use super::*;
use crate::llm::Answer;
use crate::llm::receive::Reader as _;

/// What the events with these data come to.
fn read(events: &[Value]) -> Result<Answer, LlmError> {
    let mut reader = Reader::new("h");
    for event in events {
        // Spaces behind the JSON, as Anthropic pads.
        let data = format!("{event}    ");
        reader.event(&SseEvent { name: String::new(), data })?;
    }
    reader.end()?;
    let mut answer = Answer::new();
    std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
    Ok(answer)
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 10,
        "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1}}})
}

fn open(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn stop(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason},
        "usage": {"input_tokens": 0, "output_tokens": 20}})
}

fn over() -> Value {
    json!({"type": "message_stop"})
}

#[test]
fn thinking_text_and_calls_with_everything_that_comes_between() {
    let arguments = |piece: &str| json!({"type": "input_json_delta", "partial_json": piece});
    let answer = read(&[
        start(),
        json!({"type": "ping"}),
        json!({"type": "message_start", "message": {"id": "m2"}}),
        open(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm"})),
        delta(0, &json!({"type": "signature_delta", "signature": "si"})),
        delta(0, &json!({"type": "signature_delta", "signature": "g"})),
        close(0),
        open(1, &json!({"type": "redacted_thinking", "data": "xyz"})),
        close(1),
        open(2, &json!({"type": "text", "text": ""})),
        delta(2, &json!({"type": "text_delta", "text": "On it"})),
        close(2),
        open(3, &json!({"type": "tool_use", "id": "t1", "name": "Now", "input": {}})),
        delta(3, &arguments("")),
        close(3),
        open(4, &json!({"type": "tool_use", "id": "t2", "name": "LS", "input": {}})),
        delta(4, &arguments("{\"path\":")),
        delta(4, &arguments("\".\"}")),
        close(4),
        json!({"type": "something_new"}),
        stop("tool_use"),
        over(),
    ])
    .expect("an answer");
    assert_eq!((answer.id(), answer.finish()), (Some("m1"), Some(&FinishReason::ToolCalls)));
    let think = |think: &str, encrypted: &str| ContentPart::Think {
        think: think.into(),
        encrypted: Some(encrypted.into()),
    };
    assert_eq!(
        answer.content(),
        [think("Hm", "sig"), think("", "redacted_thinking:xyz"), ContentPart::text("On it")]
    );
    let calls: Vec<_> =
        answer.calls().iter().map(|c| (c.id.as_str(), c.arguments().to_owned())).collect();
    assert_eq!(calls, [("t1", "{}".to_owned()), ("t2", "{\"path\":\".\"}".to_owned())]);
    let usage =
        TokenUsage { input_other: 10, output: 20, input_cache_read: 5, input_cache_creation: 3 };
    assert_eq!(answer.usage(), Some(usage));
}

#[test]
fn reasons_to_stop() {
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
    ] {
        // Without `message_stop`, which some gateways forget.
        assert_eq!(read(&[start(), stop(reason)]).expect("ok").finish(), Some(&expected));
    }
}

#[test]
fn errors_have_the_status_they_would_have_had() {
    for (kind, status) in [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("authentication_error", 401),
        ("permission_error", 403),
        ("not_found_error", 404),
        ("request_too_large", 413),
        ("invalid_request_error", 400),
        ("timeout_error", 504),
    ] {
        let error = json!({"type": "error", "error": {"type": kind, "message": "no"}});
        let error = read(&[start(), error]).expect_err("the error");
        assert_eq!(error.status(), Some(status), "{kind}");
        assert!(error.to_string().ends_with(": no"), "{error}");
    }
}

#[test]
fn half_an_answer_is_cut_off_and_a_whole_one_need_not_stream() {
    let cut = read(&[start(), open(0, &json!({"type": "text", "text": "a"}))]);
    assert!(cut.expect_err("cut").to_string().contains("cut off"));
    let mut reader = Reader::new("h");
    let whole = json!({"type": "message", "id": "m", "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "content": [{"type": "text", "text": "Hi"},
                    {"type": "tool_use", "id": "t", "name": "LS", "input": {"path": "."}}]});
    reader.whole(&whole, false).expect("an answer");
    reader.end().expect("an end");
    let mut answer = Answer::new();
    std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
    assert_eq!(answer.message().text(), "Hi");
    assert_eq!(answer.calls()[0].arguments(), "{\"path\":\".\"}");
}
