use super::*;
use crate::llm::Answer;
use crate::llm::receive::Reader as _;

/// What the events with these data come to.
fn read(events: &[Value]) -> Result<Answer, LlmError> {
    let mut reader = Reader::new("h");
    for event in events {
        reader.event(&SseEvent { name: String::new(), data: event.to_string() })?;
    }
    reader.end()?;
    let mut answer = Answer::new();
    std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
    Ok(answer)
}

fn event(kind: &str, index: u64, fields: &Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}"), "output_index": index});
    for (key, value) in fields.as_object().expect("fields") {
        event[key] = value.clone();
    }
    event
}

fn items() -> Vec<Value> {
    vec![
        json!({"type": "reasoning", "encrypted_content": "gAAAAx", "summary": [
            {"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}]}),
        json!({"type": "message", "content": [{"type": "output_text", "text": "Hi you"}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "LS", "arguments": "{\"a\":1}"}),
        json!({"type": "function_call", "call_id": "c2", "name": "Now", "arguments": ""}),
    ]
}

fn completed(output: &[Value]) -> Value {
    json!({"type": "response.completed", "response": {"id": "r1", "object": "response",
        "output": output, "usage": {"input_tokens": 10, "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4}}}})
}

fn check(answer: &Answer) {
    let thought =
        ContentPart::Think { think: "One\n\nTwo".into(), encrypted: Some("gAAAAx".into()) };
    assert_eq!(answer.content(), [thought, ContentPart::text("Hi you")]);
    let calls: Vec<_> =
        answer.calls().iter().map(|c| (c.id.as_str(), c.arguments().to_owned())).collect();
    assert_eq!(calls, [("c1", "{\"a\":1}".to_owned()), ("c2", "{}".to_owned())]);
    assert_eq!((answer.id(), answer.finish()), (Some("r1"), Some(&FinishReason::ToolCalls)));
    let usage = answer.usage().expect("usage");
    assert_eq!((usage.input_other, usage.input_cache_read, usage.output), (6, 4, 5));
}

#[test]
fn an_answer_piece_by_piece_and_as_a_whole_are_the_same() {
    let items = items();
    let delta = |text: &str| json!({"delta": text});
    let done =
        |index: usize| event("output_item.done", index as u64, &json!({"item": items[index]}));
    let open = |index: usize| {
        let mut item = items[index].clone();
        item["arguments"] = json!("");
        event("output_item.added", index as u64, &json!({"item": item}))
    };
    let streamed = [
        json!({"type": "response.created", "response": {"id": "r1"}}),
        event("reasoning_summary_part.added", 0, &json!({})),
        event("reasoning_summary_text.delta", 0, &delta("One")),
        event("reasoning_summary_part.added", 0, &json!({})),
        event("reasoning_summary_text.delta", 0, &delta("Two")),
        done(0),
        event("output_text.delta", 1, &delta("Hi ")),
        event("output_text.delta", 1, &delta("you")),
        done(1),
        open(2),
        event("function_call_arguments.delta", 2, &delta("{\"a\"")),
        event("function_call_arguments.delta", 2, &delta(":1}")),
        done(2),
        open(3),
        done(3),
        completed(&items),
    ];
    check(&read(&streamed).expect("streamed"));
    check(&read(&[completed(&items)]).expect("only the end"));
    let mut reader = Reader::new("h");
    reader.whole(&completed(&items)["response"], false).expect("whole");
    reader.end().expect("an end");
    let mut answer = Answer::new();
    std::iter::from_fn(|| reader.pop()).for_each(|part| answer.push(part));
    check(&answer);
}

#[test]
fn limits_and_failures() {
    for (reason, expected) in [
        ("max_output_tokens", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
    ] {
        let event = json!({"type": "response.incomplete",
            "response": {"id": "r", "incomplete_details": {"reason": reason}}});
        assert_eq!(read(&[event]).expect("ok").finish(), Some(&expected));
    }
    let failed = json!({"type": "response.failed", "response": {"id": "r",
        "error": {"code": "rate_limit_exceeded", "message": "Rate limit reached"}}});
    assert_eq!(read(&[failed]).expect_err("failed").status(), Some(429));
    let error = json!({"type": "error", "code": "server_error", "message": "oops"});
    assert_eq!(read(&[error]).expect_err("error").status(), Some(500));
    let cut = read(&[json!({"type": "response.created", "response": {"id": "r"}})]);
    assert!(cut.expect_err("cut").to_string().contains("cut off"));
}
