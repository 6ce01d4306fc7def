use super::*;
use proptest::prelude::*;
use serde_json::json;

/// The calls as (id, name, arguments), and the order of the parts is checked.
fn joined(chunks: &[Value]) -> Vec<(String, String, String)> {
    let mut joiner = Joiner::default();
    let mut out = VecDeque::new();
    for chunk in chunks {
        match chunk {
            Value::String(text) => joiner.content(ContentPart::text(text.as_str()), &mut out),
            list => joiner.deltas(list.as_array().expect("deltas"), false, &mut out),
        }
    }
    joiner.finish(&mut out);
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let mut open = false;
    for part in out {
        match part {
            StreamPart::ToolCall(call) => {
                open = true;
                let arguments = call.arguments().to_owned();
                calls.push((call.id, call.function.name, arguments));
            }
            StreamPart::ToolCallArguments(more) => {
                assert!(open, "arguments follow their call");
                calls.last_mut().expect("a call").2.push_str(&more);
            }
            _ => open = false,
        }
    }
    calls
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}

#[test]
fn by_id_alone() {
    let got = joined(&[
        json!([{"id": "a", "function": {"name": "x", "arguments": "{\"k\":"}}]),
        json!([{"id": "b", "function": {"name": "y", "arguments": "{"}}]),
        json!([{"id": "a", "function": {"arguments": "1}"}}, {"id": "b", "function": {"arguments": "}"}}]),
    ]);
    assert_eq!(got, [call("a", "x", "{\"k\":1}"), call("b", "y", "{}")]);
}

#[test]
fn by_arrival_alone() {
    let got = joined(&[
        json!([{"function": {"name": "x", "arguments": "{"}}]),
        json!([{"function": {"arguments": "\"k\":1}"}}]),
        json!([{"function": {"name": "y"}}]),
        json!([{"function": {"arguments": "{}"}}]),
    ]);
    assert_eq!(got, [call("call-0", "x", "{\"k\":1}"), call("call-1", "y", "{}")]);
}

#[test]
fn every_call_with_index_zero() {
    let got = joined(&[
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"k\":1}"}}]),
        json!([{"index": 0, "id": "b", "function": {"name": "x", "arguments": "{\"k\":2}"}}]),
    ]);
    assert_eq!(got, [call("a", "x", "{\"k\":1}"), call("b", "x", "{\"k\":2}")]);
}

#[test]
fn a_new_id_in_every_delta_of_an_index() {
    let got = joined(&[
        json!([{"index": 0, "id": "r1", "function": {"name": "x", "arguments": "{"}}]),
        json!([{"index": 0, "id": "r2", "function": {"name": "", "arguments": "}"}}]),
    ]);
    assert_eq!(got, [call("r1", "x", "{}")]);
}

#[test]
fn ids_that_repeat_or_are_missing_are_made_up() {
    let got = joined(&[json!([
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
        {"index": 1, "id": "a", "function": {"name": "y", "arguments": "{}"}},
        {"index": 2, "id": "", "function": {"name": "z", "arguments": {"deep": [1]}}},
    ])]);
    let expected = [call("a", "x", "{}"), call("call-1", "y", "{}")];
    assert_eq!(got[..2], expected);
    assert_eq!(got[2], call("call-2", "z", "{\"deep\":[1]}"));
}

#[test]
fn text_between_the_arguments_waits() {
    let got = joined(&[
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{"}}]),
        json!("hm"),
        json!([{"index": 0, "function": {"arguments": "}"}}]),
    ]);
    assert_eq!(got, [call("a", "x", "{}")]);
}

#[test]
fn a_call_streams_as_it_comes_and_the_next_as_soon_as_it_is_whole() {
    let mut joiner = Joiner::default();
    let mut out = VecDeque::new();
    let mut feed = |value: Value| {
        joiner.deltas(value.as_array().expect("deltas"), false, &mut out);
        out.drain(..).count()
    };
    assert_eq!(feed(json!([{"index": 0, "id": "a", "function": {"name": "x"}}])), 1);
    assert_eq!(feed(json!([{"index": 0, "function": {"arguments": "{\"s\":\"}"}}])), 1);
    assert_eq!(feed(json!([{"index": 1, "id": "b", "function": {"name": "y"}}])), 0);
    assert_eq!(feed(json!([{"index": 0, "function": {"arguments": "\"}"}}])), 2);
    assert_eq!(feed(json!([{"index": 1, "function": {"arguments": "{"}}])), 1);
}

#[test]
fn arguments_said_twice_are_taken_once() {
    let got = joined(&[
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"k\":1}"}}]),
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"k\":1}"}}]),
    ]);
    assert_eq!(got, [call("a", "x", "{\"k\":1}")]);
}

#[test]
fn what_else_a_server_sends_is_kept() {
    let mut joiner = Joiner::default();
    let mut out = VecDeque::new();
    let delta = json!({"index": 0, "id": "a", "type": "function", "extra_content": {"s": 1},
                       "function": {"name": "x", "arguments": "{}"}});
    joiner.deltas(&[delta], false, &mut out);
    let Some(StreamPart::ToolCall(call)) = out.pop_front() else { panic!("a call") };
    assert_eq!(call.extras, Some(json!({"extra_content": {"s": 1}})));
}

proptest! {
    #[test]
    fn deltas_in_any_order_between_calls(
        arguments in prop::collection::vec("[a-z{}\\\\\"终]{0,8}", 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 60),
    ) {
        let arguments: Vec<String> =
            arguments.iter().map(|text| json!({"v": text}).to_string()).collect();
        let mut rest: Vec<Vec<char>> =
            arguments.iter().map(|text| text.chars().rev().collect()).collect();
        let mut chunks = vec![Value::Array((0..rest.len()).map(|i| {
            json!({"index": i, "id": format!("c{i}"), "function": {"name": "t"}})
        }).collect())];
        let mut order = order.iter().cycle();
        while rest.iter().any(|rest| !rest.is_empty()) {
            let open: Vec<usize> = (0..rest.len()).filter(|i| !rest[*i].is_empty()).collect();
            let i = open[order.next().expect("endless").index(open.len())];
            let c = rest[i].pop().expect("not empty");
            chunks.push(json!([{"index": i, "function": {"arguments": c.to_string()}}]));
        }
        let expected: Vec<_> = arguments.iter().enumerate()
            .map(|(i, text)| call(&format!("c{i}"), "t", text)).collect();
        prop_assert_eq!(joined(&chunks), expected);
    }
}
