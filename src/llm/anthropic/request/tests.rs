use super::*;
use crate::message::{MediaUrl, ToolCall, ToolReturn};

fn claude() -> Dialect {
    Dialect {
        model: "claude-sonnet-4-5".into(),
        is_claude: true,
        max_context: 200_000,
        max_output: 32_000,
        thinking: Thinking::Budget(16_000),
    }
}

fn body(dialect: &Dialect, messages: &[Message], input_tokens: Option<u64>) -> Value {
    let tools = ["LS", "Bash"].map(|name| ToolSpec {
        name: name.into(),
        description: "d".into(),
        parameters: json!({"properties": {}}),
    });
    let request =
        ChatRequest { system: "Be good.", tools: &tools, messages, cache_key: None, input_tokens };
    dialect.body(&request)
}

fn messages(dialect: &Dialect, history: &[Message]) -> Value {
    json!(dialect.messages(history))
}

fn thought(think: &str, encrypted: Option<&str>) -> ContentPart {
    ContentPart::Think { think: think.into(), encrypted: encrypted.map(str::to_owned) }
}

fn calling(content: Vec<ContentPart>, ids: &[&str]) -> Message {
    let call = |id: &&str| ToolCall::new(*id, "LS", Some("{\"path\": \".\"}".into()));
    Message {
        tool_calls: Some(ids.iter().map(call).collect()),
        ..Message::new(Role::Assistant, content)
    }
}

fn result(id: &str) -> Message {
    Message::tool_result(id, &ToolReturn::ok("out", ""))
}

#[test]
fn a_step_with_tools_and_what_follows_alternate() {
    let history = [
        Message::user("hi"),
        Message::system_note("CHECKPOINT 1"),
        calling(vec![thought("hm", Some("sig")), ContentPart::text("on it")], &["a", "b"]),
        result("a"),
        result("b"),
        Message::system_note("CHECKPOINT 2"),
    ];
    let text = |text: &str| json!({"type": "text", "text": text});
    let call =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "LS", "input": {"path": "."}});
    let result =
        |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [text("out")]});
    assert_eq!(
        messages(&claude(), &history),
        json!([
            {"role": "user", "content": [text("hi"), text("<system>CHECKPOINT 1</system>")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                text("on it"), call("a"), call("b"),
            ]},
            {"role": "user", "content": [
                result("a"), result("b"), text("<system>CHECKPOINT 2</system>")
            ]},
        ])
    );
}

#[test]
fn thoughts_go_back_as_they_came_or_not_at_all() {
    let history = [Message::new(
        Role::Assistant,
        vec![
            thought("", Some("redacted_thinking:data==")),
            thought("", Some("sig of nothing")),
            thought("unsigned", None),
            thought("OpenAI's", Some("gAAAAABo")),
            ContentPart::text(" \n"),
        ],
    )];
    let redacted = json!({"type": "redacted_thinking", "data": "data=="});
    let omitted = json!({"type": "thinking", "thinking": "", "signature": "sig of nothing"});
    assert_eq!(messages(&claude(), &history)[0]["content"], json!([redacted, omitted]));
    let other = Dialect { is_claude: false, ..claude() };
    let content = &messages(&other, &history)[0]["content"];
    assert_eq!(content[2], json!({"type": "thinking", "thinking": "unsigned", "signature": ""}));
}

#[test]
fn ids_and_arguments_of_other_models_are_made_acceptable() {
    let mut broken = calling(vec![], &["functions.LS:0"]);
    broken.tool_calls.as_mut().expect("calls")[0].function.arguments = Some("{\"a".into());
    let history = [broken.clone(), result("functions.LS:0"), broken, result("functions.LS:0")];
    let sent = messages(&claude(), &history);
    assert_eq!(sent[0]["content"][0]["input"], json!({"invalid_arguments": "{\"a"}));
    for (at, id) in [(0, "functions_LS_0"), (2, "functions_LS_0_2")] {
        assert_eq!(sent[at]["content"][0]["id"], id);
        assert_eq!(sent[at + 1]["content"][0]["tool_use_id"], id);
    }
}

#[test]
fn pictures_and_what_cannot_be_sent() {
    let image =
        |url: &str| ContentPart::ImageUrl { image_url: MediaUrl { url: url.into(), id: None } };
    let film = ContentPart::VideoUrl { video_url: MediaUrl { url: "x".into(), id: None } };
    let parts = vec![image("data:image/png;base64,AAAA"), image("https://h/a.png"), film];
    let sent = messages(&claude(), &[Message::new(Role::User, parts)]);
    let content = &sent[0]["content"];
    let base64 = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    assert_eq!(content[0]["source"], base64);
    assert_eq!(content[1]["source"], json!({"type": "url", "url": "https://h/a.png"}));
    assert!(content[2]["text"].as_str().expect("text").contains("a film"));
}

#[test]
fn breakpoints_stand_at_tools_system_and_the_last_questions() {
    let history = [
        Message::user("one"),
        Message::assistant("1"),
        Message::user("two"),
        Message::assistant("2"),
        Message::user("three"),
    ];
    let body = body(&claude(), &history, None);
    let marked: Vec<String> = [
        ("tool", &body["tools"][1]),
        ("system", &body["system"][0]),
        ("two", &body["messages"][2]["content"][0]),
        ("three", &body["messages"][4]["content"][0]),
    ]
    .into_iter()
    .filter(|(_, block)| block[BREAKPOINT] == json!({"type": "ephemeral"}))
    .map(|(name, _)| name.to_owned())
    .collect();
    assert_eq!(marked, ["tool", "system", "two", "three"]);
    assert_eq!(body.to_string().matches(BREAKPOINT).count(), 4, "more than four are refused");
    assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
}

#[test]
fn the_answer_fits_in_the_window_and_thinking_in_the_answer() {
    let body = |input| body(&claude(), &[Message::user("hi")], input);
    assert_eq!(body(None)["max_tokens"], 32_000);
    assert_eq!(body(Some(190_000))["max_tokens"], 10_000);
    assert_eq!(body(Some(190_000))["thinking"]["budget_tokens"], 10_000 - ROOM);
    assert_eq!(body(Some(199_000))["thinking"], Value::Null);
    assert_eq!(body(Some(300_000))["max_tokens"], 1);
}

#[test]
fn names_tell_versions() {
    for (name, expected) in [
        ("claude-opus-4-6", Some((4, 6))),
        ("claude-sonnet-4-20250514", Some((4, 0))),
        ("claude-3-5-sonnet-20241022", Some((3, 5))),
        ("anthropic/claude-opus-4.6", Some((4, 6))),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Some((4, 5))),
        ("kimi-k2", None),
        ("claude", None),
    ] {
        assert_eq!(version(name), expected, "{name}");
    }
    assert_eq!(usual_output("claude-3-haiku-20240307"), 4096);
    assert_eq!(usual_output("claude-3-7-sonnet"), OUTPUT);
}
