//! What is sent in a request begins as the one before did: caches make long sessions cheap.

use serde_json::{Value, json};

use super::*;
use crate::message::{ContentPart, MediaUrl, Message, Role, ToolCall, ToolReturn};

/// A long session: thinking, calls, results with pictures, checkpoints, ids that repeat.
fn session() -> Vec<Message> {
    let mut all = Vec::new();
    for turn in 0..4 {
        all.push(Message::user(format!("question {turn}")));
        all.push(Message::system_note(&format!("CHECKPOINT {turn}")));
        for step in 0..2 {
            let signature = (turn % 2 == 0).then(|| format!("sig{turn}{step}"));
            let think = ContentPart::Think { think: format!("hm {turn}"), encrypted: signature };
            let call = |n: u64| ToolCall::new(format!("functions.LS:{n}"), "LS", Some("{}".into()));
            all.push(Message {
                tool_calls: Some(vec![call(0), call(1)]),
                ..Message::new(Role::Assistant, vec![think, ContentPart::text("on it ")])
            });
            all.push(Message::tool_result("functions.LS:0", &ToolReturn::ok("终端", "ok")));
            let mut picture = Message::tool_result("functions.LS:1", &ToolReturn::ok("", "ok"));
            let image_url = MediaUrl { url: "data:image/png;base64,AAAA".into(), id: None };
            picture.content.push(ContentPart::ImageUrl { image_url });
            all.push(picture);
        }
        all.push(Message::assistant(format!("answer {turn}")));
    }
    all
}

/// Where a step's request may end: behind a user message, or behind all results.
fn ends(session: &[Message]) -> Vec<usize> {
    let waits = |at: &usize| {
        let asked = matches!(session[at - 1].role, Role::User | Role::Tool);
        asked && session.get(*at).is_none_or(|next| next.role == Role::Assistant)
    };
    (1..=session.len()).filter(waits).collect()
}

fn tools() -> Vec<ToolSpec> {
    ["Zed", "LS", "Bash"]
        .map(|name| ToolSpec {
            name: name.into(),
            description: format!("What {name} does"),
            parameters: json!({"type": "object", "properties": {"b": {}, "a": {"type": "string"}}}),
        })
        .to_vec()
}

/// The body as sent, without the marks that say up to where to cache: they move by design.
fn without_marks(mut body: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.shift_remove("cache_control");
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut body);
    body
}

/// Everything up to the end of the last message's last block; the brackets that close the lists
/// are no content.
fn prefix(body: &Value) -> String {
    let keys = ["messages", "input", "contents"];
    let key = keys.into_iter().find(|key| body.get(key).is_some()).expect("messages");
    let text = body.to_string();
    let history = format!("\"{key}\":{}", body[key]);
    let end = text.find(&history).expect("the history") + history.len();
    text[..end].trim_end_matches(['}', ']']).to_owned()
}

#[tokio::test]
async fn every_request_begins_as_the_one_before() {
    let (session, tools) = (session(), tools());
    for kind in KINDS {
        let ends = ends(&session);
        assert_eq!(ends.len(), 12);
        let server = Loopback::start(vec![vec![events(&hello(kind))]; ends.len()]).await;
        let provider = provider(&fixture::model(kind, &server.address));
        for (count, end) in ends.iter().enumerate() {
            let request = ChatRequest {
                system: "Be good.",
                tools: &tools,
                messages: &session[..*end],
                cache_key: Some("s1"),
                // Grows as a session does: limits that follow from it stand behind the history.
                input_tokens: Some(100 * count as u64),
            };
            fixture::ask(&*provider, request).await.expect("an answer");
        }
        let bodies: Vec<Value> = server
            .requests()
            .iter()
            .map(|request| request.split_once("\r\n\r\n").expect("a body").1)
            .map(|body| without_marks(serde_json::from_str(body).expect("json")))
            .collect();
        for pair in bodies.windows(2) {
            let (before, now) = (prefix(&pair[0]), pair[1].to_string());
            assert!(now.starts_with(&before), "{kind:?}\n{before}\n{now}");
            assert!(prefix(&pair[1]).len() > before.len());
        }
    }
}
