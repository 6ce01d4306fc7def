use super::*;
use crate::llm::Answer;
use crate::llm::receive::Reader as _;
use serde_json::json;

/// What the events with these data come to.
fn read(data: &[String]) -> Result<Answer, LlmError> {
    let mut reader = Reader::new("h", None);
    for data in data {
        reader.event(&SseEvent { name: String::new(), data: data.clone() })?;
    }
    reader.end()?;
    let mut answer = Answer::new();
    std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
    Ok(answer)
}

fn said(delta: &Value) -> String {
    json!({"id": "m", "choices": [{"delta": delta}]}).to_string()
}

fn done() -> String {
    "[DONE]".to_owned()
}

#[test]
fn text_thinking_and_the_end() {
    let answer = read(&[
        json!({"id": "m", "choices": []}).to_string(),
        said(&json!({"role": "assistant", "content": ""})),
        said(&json!({"reasoning_content": "Hm"})),
        said(&json!({"content": "Hello"})),
        json!({"id": "m", "choices": [{"delta": {}, "finish_reason": "length"}]}).to_string(),
        done(),
    ])
    .expect("an answer");
    assert_eq!(answer.content(), [ContentPart::think("Hm"), ContentPart::text("Hello")]);
    assert_eq!((answer.id(), answer.finish()), (Some("m"), Some(&FinishReason::Length)));
    assert_eq!(answer.usage(), None);
}

#[test]
fn thinking_in_two_fields_counts_once_and_parts_are_read() {
    let answer = read(&[
        said(&json!({"reasoning_content": "a", "reasoning": "a", "content": null})),
        said(&json!({"content": [{"type": "text", "text": "b"}, {"type": "x"}]})),
        said(&json!({"refusal": "c"})),
        done(),
    ])
    .expect("an answer");
    assert_eq!(answer.content(), [ContentPart::think("a"), ContentPart::text("bc")]);
    assert_eq!(answer.finish(), Some(&FinishReason::Stop));
}

#[test]
fn usage_wherever_it_comes() {
    let counts = json!({"prompt_tokens": 100, "completion_tokens": 7});
    let usage = |chunks: &[Value]| {
        let mut data: Vec<String> = chunks.iter().map(Value::to_string).collect();
        data.push(done());
        let usage = read(&data).expect("an answer").usage().expect("usage");
        (usage.input_other, usage.input_cache_read, usage.output)
    };
    let with = |key: &str, value: Value| {
        let mut counts = counts.clone();
        counts[key] = value;
        counts
    };
    assert_eq!(usage(&[json!({"choices": [], "usage": counts})]), (100, 0, 7));
    assert_eq!(usage(&[json!({"choices": [{"delta": {}, "usage": counts}]})]), (100, 0, 7));
    assert_eq!(usage(&[json!({"x_groq": {"usage": counts}})]), (100, 0, 7));
    let cached = with("cached_tokens", json!(60));
    assert_eq!(usage(&[json!({"choices": [], "usage": cached})]), (40, 60, 7));
    let cached = with("prompt_tokens_details", json!({"cached_tokens": 60}));
    assert_eq!(usage(&[json!({"choices": [], "usage": cached})]), (40, 60, 7));
    let beside = json!({"choices": [], "usage": counts, "cached_tokens": 60});
    assert_eq!(usage(&[beside]), (40, 60, 7));
    let more = with("cached_tokens", json!(1000));
    assert_eq!(usage(&[json!({"usage": more})]), (0, 100, 7), "no more than there were");
    // Groq and Kimi say it twice; null and nothing come before.
    let early = json!({"choices": [], "usage": null});
    assert_eq!(usage(&[early, json!({"usage": cached}), json!({"usage": counts})]), (40, 60, 7));
}

#[test]
fn an_error_in_the_stream_has_the_status_it_would_have_had() {
    let status = |error: Value| read(&[error.to_string()]).expect_err("an error").status();
    for (error, expected) in [
        (json!({"error": {"message": "Stream failed", "type": "server_error"}}), 500),
        (json!({"error": {"message": "slow down", "code": 429}}), 429),
        (json!({"error": {"message": "slow down", "code": "503"}}), 503),
        (json!({"error": {"message": "x", "type": "rate_limit_reached_error"}}), 429),
        (json!({"error": {"message": "The model is overloaded"}}), 500),
        (json!({"error": {"message": "too long", "type": "invalid_request_error"}}), 400),
        (json!({"error": {"message": "x", "code": "invalid_api_key"}}), 401),
        (json!({"error": "no such model"}), 400),
        (json!({"object": "error", "message": "bad", "code": 404}), 404),
        (json!({"error": {"message": "odd code", "code": 7}}), 400),
    ] {
        assert_eq!(status(error.clone()), Some(expected), "{error}");
    }
}

#[test]
fn an_event_named_error_is_one_whatever_it_holds() {
    let mut reader = Reader::new("h", None);
    for data in ["out of memory", r#"{"message": "out of memory"}"#] {
        let event = SseEvent { name: "error".into(), data: data.into() };
        let error = reader.event(&event).expect_err("an error");
        assert!(error.to_string().contains("out of memory"), "{error}");
    }
}

#[test]
fn garbage_can_be_tried_again_and_is_shown() {
    let error = read(&["{{{{ not json".to_owned()]).expect_err("garbage");
    assert!(error.is_retryable() && error.to_string().contains("{{{{ not json"), "{error}");
    let deep = "[".repeat(100_000);
    assert!(read(&[deep]).expect_err("too deep").is_retryable());
}

#[test]
fn an_end_without_an_end_is_a_cut() {
    let cut = read(&[said(&json!({"content": "Hal"}))]).expect_err("cut");
    assert!(cut.is_retryable() && cut.to_string().contains("cut off"), "{cut}");
    let nothing = read(&[]).expect_err("nothing");
    assert!(nothing.to_string().contains("without an answer"), "{nothing}");
    let finished = json!({"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]});
    assert!(read(&[finished.to_string()]).is_ok(), "[DONE] may be missing");
}

#[test]
fn halves_of_a_character_are_mended_in_each_field_by_itself() {
    let answer = read(&[
        r#"{"choices":[{"delta":{"content":"a\ud83d","reasoning_content":"b\ud83d"}}]}"#.into(),
        r#"{"choices":[{"delta":{"reasoning_content":"c"}}]}"#.into(),
        r#"{"choices":[{"delta":{"content":"\ude00"}}]}"#.into(),
        r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#.into(),
        done(),
    ])
    .expect("an answer");
    let expected =
        [ContentPart::text("a"), ContentPart::think("\u{fffd}c"), ContentPart::text("😀\u{fffd}")];
    assert_eq!(answer.content()[..1], [ContentPart::think("b")]);
    assert_eq!(answer.content()[1..], expected);
}

#[test]
fn a_call_with_a_broken_character_arrives_whole() {
    let delta = |arguments: &str| {
        let function = format!(r#"{{"name":"Bash","arguments":"{arguments}"}}"#);
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{function}}}]}}}}]}}"#
        )
    };
    let answer = read(&[delta(r#"{\"c\":\"\ud83d"#), delta(r#"\ude00\"}"#), done()]).expect("ok");
    assert_eq!(answer.calls()[0].arguments(), r#"{"c":"😀"}"#);
    assert_eq!(answer.finish(), Some(&FinishReason::ToolCalls));
}
