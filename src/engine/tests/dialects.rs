//! A model's whole step in each dialect: what its server streams, cut at odd places, with thinking
//! and calls of tools, and what goes back to it in the next request.

use serde_json::{Value, json};

use super::*;
use crate::llm::loopback::{Loopback, Play};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A dialect: what its server says in three answers (two with calls), and where in a request the
/// conversation is.
struct Dialect {
    kind: ProviderKind,
    first: Vec<Value>,
    second: Vec<Value>,
    last: Vec<Value>,
    history: &'static str,
    /// What of the step's answer and results goes back, in this order, behind the prompt.
    back: Value,
}

/// The arguments of the two calls of the first answer; `a.txt` says "alpha 终端".
const READ: &str = r#"{"path":"a.txt"}"#;
const GLOB: &str = r#"{"pattern":"*.md"}"#;

fn completions(kind: ProviderKind) -> Dialect {
    let chunk = |delta: Value| json!({"id": "m1", "choices": [{"index": 0, "delta": delta}]});
    let call = |index: u64, id: &str, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        chunk(json!({"tool_calls": [
            {"index": index, "id": id, "type": "function", "function": function}]}))
    };
    let more = |index: u64, arguments: &str| {
        chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
    };
    let end =
        |reason: &str| json!({"id": "m1", "choices": [{"delta": {}, "finish_reason": reason}]});
    let (read, glob) = (READ.split_at(5), GLOB.split_at(9));
    Dialect {
        kind,
        first: vec![
            chunk(json!({"role": "assistant", "content": "", "reasoning_content": "Let me "})),
            chunk(json!({"reasoning_content": "看看。"})),
            chunk(json!({"content": "On it."})),
            // Two calls whose arguments come by turns.
            call(0, "functions.ReadFile:0", "ReadFile", read.0),
            call(1, "functions.Glob:1", "Glob", ""),
            more(1, glob.0),
            more(0, read.1),
            more(1, glob.1),
            end("tool_calls"),
            json!({"id": "m1", "choices": [], "usage":
                {"prompt_tokens": 90, "completion_tokens": 30, "cached_tokens": 40}}),
        ],
        second: vec![call(0, "functions.Glob:0", "Glob", GLOB), end("tool_calls")],
        last: vec![chunk(json!({"content": "Done."})), end("stop")],
        history: "/messages",
        back: json!([
            {"role": "assistant", "content": "On it.", "reasoning_content": "Let me 看看。",
             "tool_calls": [
                {"id": "functions.ReadFile:0", "type": "function",
                 "function": {"name": "ReadFile", "arguments": READ}},
                {"id": "functions.Glob:1", "type": "function",
                 "function": {"name": "Glob", "arguments": GLOB}}]},
            {"role": "tool", "tool_call_id": "functions.ReadFile:0", "content": "alpha 终端"},
            {"role": "tool", "tool_call_id": "functions.Glob:1", "content": "b.md"},
        ]),
    }
}

fn messages() -> Dialect {
    let start = json!({"type": "message_start", "message": {"id": "m1", "usage":
        {"input_tokens": 50, "cache_read_input_tokens": 40, "output_tokens": 1}}});
    let open = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let input = |index: u64, piece: &str| {
        delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
    };
    let close = |index: u64| json!({"type": "content_block_stop", "index": index});
    let tool = |index: u64, id: &str, name: &str| {
        open(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
    };
    let end = |reason: &str| {
        [
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 30}}),
            json!({"type": "message_stop"}),
        ]
    };
    let (read, glob) = (READ.split_at(5), GLOB.split_at(9));
    let mut first = vec![
        start.clone(),
        json!({"type": "ping"}),
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "看看。"})),
        delta(0, json!({"type": "signature_delta", "signature": "EtYD+/"})),
        delta(0, json!({"type": "signature_delta", "signature": "CkY="})),
        close(0),
        open(1, json!({"type": "redacted_thinking", "data": "secret=="})),
        close(1),
        open(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "On it."})),
        close(2),
        tool(3, "toolu_1", "ReadFile"),
        tool(4, "toolu_2", "Glob"),
        input(4, glob.0),
        input(3, read.0),
        input(3, read.1),
        input(4, glob.1),
        close(3),
        close(4),
    ];
    first.extend(end("tool_use"));
    let mut second = vec![start.clone(), tool(0, "toolu_3", "Glob"), input(0, GLOB), close(0)];
    second.extend(end("tool_use"));
    let mut last = vec![start, open(0, json!({"type": "text", "text": "Done."})), close(0)];
    last.extend(end("end_turn"));
    let arguments = |text: &str| serde_json::from_str::<Value>(text).expect("json");
    Dialect {
        kind: ProviderKind::Anthropic,
        first,
        second,
        last,
        history: "/messages",
        back: json!([
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Let me 看看。", "signature": "EtYD+/CkY="},
                {"type": "redacted_thinking", "data": "secret=="},
                {"type": "text", "text": "On it."},
                {"type": "tool_use", "id": "toolu_1", "name": "ReadFile", "input": arguments(READ)},
                {"type": "tool_use", "id": "toolu_2", "name": "Glob", "input": arguments(GLOB)}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha 终端"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "b.md"}]},
        ]),
    }
}

fn responses() -> Dialect {
    let event = |kind: &str, index: u64, key: &str, value: Value| {
        let mut event = json!({"type": format!("response.{kind}"), "output_index": index});
        event[key] = value;
        event
    };
    let call = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": arguments});
    let thought = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAcipher",
        "summary": [{"type": "summary_text", "text": "Let me 看看。"}]});
    let (read, glob) = (READ.split_at(5), GLOB.split_at(9));
    let arguments = |index: u64, piece: &str| {
        event("function_call_arguments.delta", index, "delta", json!(piece))
    };
    let created = json!({"type": "response.created", "response": {"id": "m1"}});
    let completed = json!({"type": "response.completed", "response": {"id": "m1", "output": [],
        "usage": {"input_tokens": 90, "output_tokens": 30,
                  "input_tokens_details": {"cached_tokens": 40}}}});
    let added = |index: u64, item: Value| event("output_item.added", index, "item", item);
    let done = |index: u64, item: Value| event("output_item.done", index, "item", item);
    Dialect {
        kind: ProviderKind::OpenaiResponses,
        first: vec![
            created.clone(),
            added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
            event("reasoning_summary_text.delta", 0, "delta", json!("Let me ")),
            event("reasoning_summary_text.delta", 0, "delta", json!("看看。")),
            done(0, thought),
            event("output_text.delta", 1, "delta", json!("On it.")),
            added(2, call("call_1", "ReadFile", "")),
            added(3, call("call_2", "Glob", "")),
            arguments(3, glob.0),
            arguments(2, read.0),
            arguments(2, read.1),
            arguments(3, glob.1),
            done(2, call("call_1", "ReadFile", READ)),
            done(3, call("call_2", "Glob", GLOB)),
            completed.clone(),
        ],
        second: vec![created.clone(), done(0, call("call_3", "Glob", GLOB)), completed.clone()],
        last: vec![created, event("output_text.delta", 0, "delta", json!("Done.")), completed],
        history: "/input",
        back: json!([
            {"type": "reasoning", "encrypted_content": "gAAAAcipher",
             "summary": [{"type": "summary_text", "text": "Let me 看看。"}]},
            {"type": "message", "role": "assistant",
             "content": [{"type": "output_text", "text": "On it."}]},
            {"type": "function_call", "call_id": "call_1", "name": "ReadFile", "arguments": READ},
            {"type": "function_call", "call_id": "call_2", "name": "Glob", "arguments": GLOB},
            {"type": "function_call_output", "call_id": "call_1", "output": "alpha 终端"},
            {"type": "function_call_output", "call_id": "call_2", "output": "b.md"},
        ]),
    }
}

fn gemini() -> Dialect {
    let chunk = |parts: Value| json!({"responseId": "m1", "candidates": [{"content": {"role": "model", "parts": parts}}]});
    let end = json!({"responseId": "m1", "candidates": [{"finishReason": "STOP"}], "usageMetadata":
        {"promptTokenCount": 90, "cachedContentTokenCount": 40, "candidatesTokenCount": 20,
         "thoughtsTokenCount": 10}});
    let arguments = |text: &str| serde_json::from_str::<Value>(text).expect("json");
    let call =
        |name: &str, args: &str| json!({"functionCall": {"name": name, "args": arguments(args)}});
    let mut signed = call("ReadFile", READ);
    signed["thoughtSignature"] = json!("CsYB+/sig==");
    let result = |name: &str, output: &str| json!({"functionResponse": {"name": name, "response": {"output": output}}});
    Dialect {
        kind: ProviderKind::GoogleGenai,
        first: vec![
            chunk(json!([{"text": "Let me ", "thought": true}])),
            chunk(json!([{"text": "看看。", "thought": true}, {"text": "On "}])),
            chunk(json!([{"text": "it."}, signed.clone()])),
            chunk(json!([call("Glob", GLOB)])),
            end.clone(),
        ],
        second: vec![chunk(json!([call("Glob", GLOB)])), end.clone()],
        last: vec![chunk(json!([{"text": "Done."}])), end],
        history: "/contents",
        back: json!([
            {"role": "model", "parts": [{"text": "On it."}, signed, call("Glob", GLOB)]},
            {"role": "user", "parts": [result("ReadFile", "alpha 终端"), result("Glob", "b.md")]},
        ]),
    }
}

fn dialects() -> Vec<Dialect> {
    vec![
        completions(ProviderKind::Kimi),
        completions(ProviderKind::OpenaiLegacy),
        responses(),
        messages(),
        gemini(),
    ]
}

/// An answer in pieces of `size` bytes, through the middle of characters too.
fn plays(events: &[Value], size: usize) -> Vec<Play> {
    let body: String = events
        .iter()
        .map(|event| {
            format!(
                "event: {}\r\ndata: {event}\r\n\r\n",
                event["type"].as_str().unwrap_or("message")
            )
        })
        .collect();
    let mut plays = vec![Play::Send(HEAD.into())];
    plays.extend(body.as_bytes().chunks(size).map(|piece| Play::Send(piece.to_vec())));
    plays
}

fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").expect("a body").1
}

/// `value` without what only marks where a cache may end, and without what surrounds a tool's words.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "cache_control")
            .map(|(key, value)| (key.clone(), bare(value)))
            .collect(),
        Value::Array(list) => list.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// Does `sent` hold all of `expected`? Texts of tools hold more than what a test expects of them.
fn holds(sent: &Value, expected: &Value) -> bool {
    match (sent, expected) {
        (Value::Object(sent), Value::Object(expected)) => {
            sent.len() == expected.len()
                && expected
                    .iter()
                    .all(|(key, value)| sent.get(key).is_some_and(|sent| holds(sent, value)))
        }
        (Value::Array(sent), Value::Array(expected)) => {
            sent.len() == expected.len() && sent.iter().zip(expected).all(|(s, e)| holds(s, e))
        }
        (sent, Value::String(words)) if words == "alpha 终端" || words == "b.md" => {
            sent.to_string().contains(words.as_str())
        }
        (sent, expected) => sent == expected,
    }
}

/// A turn of three steps, its answers cut into pieces of `size`; the bodies of its requests.
async fn turn(dialect: &Dialect, size: usize) -> Vec<String> {
    let answers = [&dialect.first, &dialect.second, &dialect.last, &dialect.last];
    let server = Loopback::start(answers.map(|events| plays(events, size)).to_vec()).await;
    let house = House::at(dialect.kind, &server.address);
    let work = house.root.path().join("work");
    fs::write(work.join("a.txt"), "alpha 终端\n").expect("file");
    fs::write(work.join("b.md"), "# b\n").expect("file");
    let mut door = house.open(&SessionChoice::New).await;
    let (events, outcome) = prompt(&mut door, "look around").await;
    assert_eq!(outcome, PromptOutcome::Finished, "{:?} in pieces of {size}", dialect.kind);
    let used = events.iter().rev().find_map(|event| match event {
        Event::StatusUpdate(status) => status.token_usage,
        _ => None,
    });
    if dialect.kind != ProviderKind::Kimi && dialect.kind != ProviderKind::OpenaiLegacy {
        let used = used.expect("usage");
        assert_eq!((used.input(), used.input_cache_read, used.output), (90, 40, 30));
    }
    prompt(&mut door, "and again").await;
    leave(door).await;
    server.requests().iter().map(|request| body(request).to_owned()).collect()
}

#[tokio::test]
async fn what_a_model_said_goes_back_to_it_as_it_said_it() {
    for dialect in dialects() {
        let kind = dialect.kind;
        let mut whole: Option<Vec<Value>> = None;
        for size in [1, 7, 100_000] {
            let requests = turn(&dialect, size).await;
            assert_eq!(requests.len(), 4, "{kind:?}");
            let sent: Vec<Value> =
                requests.iter().map(|body| serde_json::from_str(body).expect("json")).collect();
            let history = |at: usize| {
                let list = sent[at].pointer(dialect.history).and_then(Value::as_array);
                // The system prompt names the folder and the time.
                let list = list.expect("a conversation").iter();
                bare(&list.filter(|message| message["role"] != "system").cloned().collect())
            };
            let (asked, answered) = (history(0), history(1));
            let asked = asked.as_array().expect("list");
            let answered = answered.as_array().expect("list");
            assert_eq!(&answered[..asked.len()], &asked[..], "{kind:?}: the beginning stays");
            let back = Value::Array(answered[asked.len()..].to_vec());
            assert!(
                holds(&back, &dialect.back),
                "{kind:?} in pieces of {size}:\n{back:#}\nexpected:\n{:#}",
                dialect.back
            );
            // However the answer was cut, the next requests are the same.
            let shape: Vec<Value> = (0..4).map(history).collect();
            match &whole {
                Some(whole) => assert_eq!(&shape, whole, "{kind:?} in pieces of {size}"),
                None => whole = Some(shape),
            }
        }
    }
}

/// The bytes that all of `bodies` must begin with alike: up to the end of the conversation of each.
fn beginning<'a>(body: &'a str, list: &str) -> &'a str {
    let key = format!("\"{}\":[", list.trim_start_matches('/'));
    let from = body.find(&key).expect("a conversation") + key.len();
    let mut depth = 1_usize;
    let (mut in_text, mut escaped) = (false, false);
    for (at, byte) in body.bytes().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &body[..at];
        }
    }
    body
}

#[tokio::test]
async fn each_request_begins_with_the_bytes_of_the_one_before() {
    let mark = ",\"cache_control\":{\"type\":\"ephemeral\"}";
    for dialect in dialects() {
        let requests = turn(&dialect, 64).await;
        let bodies: Vec<String> = requests.iter().map(|body| body.replace(mark, "")).collect();
        for pair in bodies.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let begins = beginning(before, dialect.history);
            assert!(begins.len() > 1000, "{:?}: tools and prompt are in it", dialect.kind);
            // A message of several blocks may grow by more of them: its last brackets are no text.
            let begins = begins.trim_end_matches(['}', ']']);
            let same = begins.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
            assert!(
                same == begins.len(),
                "{:?}, at {same}:\n{}\n{}",
                dialect.kind,
                String::from_utf8_lossy(&begins.as_bytes()[same.saturating_sub(80)..]),
                String::from_utf8_lossy(&after.as_bytes()[same.saturating_sub(80)..])
            );
        }
    }
}
