use super::*;
use crate::message::{MediaUrl, ToolReturn};

fn kimi() -> Dialect {
    Dialect {
        is_kimi: true,
        model: "kimi-k2".into(),
        max_context: 1000,
        max_output: None,
        thinking: Thinking::On,
        reasoning_key: Some("reasoning_content".into()),
        sampling: Sampling::default(),
    }
}

fn openai() -> Dialect {
    Dialect { is_kimi: false, thinking: Thinking::Unsaid, ..kimi() }
}

fn request<'a>(messages: &'a [Message], tools: &'a [ToolSpec]) -> ChatRequest<'a> {
    ChatRequest { system: "Be good.", tools, messages, cache_key: Some("s1"), input_tokens: None }
}

fn sent(dialect: &Dialect, messages: &[Message]) -> Vec<Value> {
    let body = dialect.body(&request(messages, &[]));
    body["messages"].as_array().expect("messages")[1..].to_vec()
}

fn picture() -> ContentPart {
    ContentPart::ImageUrl {
        image_url: MediaUrl { url: "data:image/png;base64,AA".into(), id: None },
    }
}

#[test]
fn the_body_of_a_kimi_request() {
    let tools = [ToolSpec {
        name: "LS".into(),
        description: "Lists.".into(),
        parameters: json!({"properties": {"path": {"type": "string"}}}),
    }];
    let body = kimi().body(&request(&[Message::user("hi")], &tools));
    assert_eq!(
        body,
        json!({
            "model": "kimi-k2",
            "messages": [
                {"role": "system", "content": "Be good."},
                {"role": "user", "content": "hi"},
            ],
            "tools": [{"type": "function", "function": {
                "name": "LS",
                "description": "Lists.",
                "parameters": {"properties": {"path": {"type": "string"}}, "type": "object"},
            }}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "thinking": {"type": "enabled"},
            "prompt_cache_key": "s1",
        })
    );
}

#[test]
fn other_servers_get_nothing_of_kimis() {
    let body = openai().body(&request(&[Message::user("hi")], &[]));
    let keys: Vec<&String> = body.as_object().expect("object").keys().collect();
    assert_eq!(keys, ["model", "messages", "stream", "stream_options"]);
    let thinking = Dialect { thinking: Thinking::On, ..openai() };
    assert_eq!(thinking.body(&request(&[], &[]))["reasoning_effort"], "high");
}

#[test]
fn a_step_with_tools_goes_back_as_it_came() {
    let assistant = Message {
        tool_calls: Some(vec![ToolCall::new("c1", "LS", Some(r#"{"path":"."}"#.into()))]),
        ..Message::new(Role::Assistant, vec![ContentPart::think("Look."), ContentPart::text("")])
    };
    let result = Message::tool_result("c1", &ToolReturn::ok("a.rs", "1 entry."));
    let sent = sent(&kimi(), &[assistant, result]);
    assert_eq!(
        sent[0],
        json!({
            "role": "assistant",
            "reasoning_content": "Look.",
            "tool_calls": [{"id": "c1", "type": "function",
                            "function": {"name": "LS", "arguments": "{\"path\":\".\"}"}}],
        }),
        "an empty content is left out"
    );
    assert_eq!(
        sent[1],
        json!({"role": "tool", "tool_call_id": "c1", "content": "<system>1 entry.</system>\na.rs"})
    );
}

#[test]
fn thinking_goes_back_in_the_configured_field_or_not_at_all() {
    let said = Message::new(
        Role::Assistant,
        vec![ContentPart::think("a"), ContentPart::think("b"), ContentPart::text("yes")],
    );
    let with = |key: Option<&str>| {
        let dialect = Dialect { reasoning_key: key.map(str::to_owned), ..openai() };
        sent(&dialect, std::slice::from_ref(&said))
    };
    assert_eq!(with(Some("reasoning"))[0]["reasoning"], "ab");
    for none in [None, Some("")] {
        assert_eq!(with(none), [json!({"role": "assistant", "content": "yes"})]);
    }
    let only = Message::new(Role::Assistant, vec![ContentPart::think("a")]);
    let dialect = Dialect { reasoning_key: None, ..openai() };
    assert_eq!(sent(&dialect, &[only]), [] as [Value; 0], "nothing is left to say");
}

#[test]
fn pictures_are_sent_as_parts() {
    let message = Message::new(Role::User, vec![ContentPart::text("What is this?"), picture()]);
    assert_eq!(
        sent(&openai(), &[message])[0]["content"],
        json!([{"type": "text", "text": "What is this?"},
               {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}])
    );
}

#[test]
fn a_picture_in_a_result_follows_the_results_unless_the_server_is_kimi() {
    let result = Message {
        tool_call_id: Some("c1".into()),
        ..Message::new(Role::Tool, vec![ContentPart::text("here"), picture()])
    };
    let other = Message::tool_result("c2", &ToolReturn::ok("x", ""));
    let messages = [result, other, Message::user("and?")];
    let roles = |sent: &[Value]| -> Vec<String> {
        sent.iter().map(|m| m["role"].as_str().expect("role").to_owned()).collect()
    };
    assert_eq!(roles(&sent(&kimi(), &messages)), ["tool", "tool", "user"]);
    let sent = sent(&openai(), &messages);
    assert_eq!(roles(&sent), ["tool", "tool", "user", "user"]);
    assert_eq!(sent[0]["content"], "here");
    assert_eq!(sent[2]["content"][1]["type"], "image_url");
}

#[test]
fn neighbouring_user_messages_stay_apart() {
    let messages = [Message::user("one"), Message::system_note("CHECKPOINT 1")];
    assert_eq!(sent(&kimi(), &messages).len(), 2);
}

#[test]
fn broken_arguments_do_not_poison_the_conversation() {
    let arguments = |text: Option<&str>| {
        let call = super::call(&ToolCall::new("c", "LS", text.map(str::to_owned)));
        call["function"]["arguments"].as_str().expect("text").to_owned()
    };
    assert_eq!(arguments(None), "{}");
    assert_eq!(arguments(Some(" ")), "{}");
    assert_eq!(arguments(Some("{ \"a\" : 1}")), "{ \"a\" : 1}", "good ones are not touched");
    for broken in ["{\"a\":", "[1]", "7"] {
        let sent: Value = serde_json::from_str(&arguments(Some(broken))).expect("json");
        assert_eq!(sent, json!({"invalid_arguments": broken}));
    }
}

#[test]
fn extras_of_a_call_go_back_and_replace_nothing() {
    let mut call = ToolCall::new("c", "LS", None);
    call.extras = Some(json!({"extra_content": {"s": 1}, "id": "other"}));
    let sent = super::call(&call);
    assert_eq!((&sent["extra_content"], &sent["id"]), (&json!({"s": 1}), &json!("c")));
}

#[test]
fn the_answer_must_fit_in_the_rest_of_the_window() {
    let budget = |limit: Option<i64>, input: Option<u64>| {
        let sampling = Sampling { max_completion_tokens: limit, ..Sampling::default() };
        let dialect = Dialect { sampling, ..kimi() };
        let body = dialect.body(&ChatRequest { input_tokens: input, ..request(&[], &[]) });
        body.get("max_completion_tokens").and_then(Value::as_u64)
    };
    assert_eq!(budget(None, Some(300)), Some(700));
    assert_eq!(budget(None, Some(0)), Some(1000));
    assert_eq!(budget(None, Some(5000)), Some(1), "never zero");
    assert_eq!(budget(Some(100), Some(300)), Some(100));
    assert_eq!(budget(Some(100), Some(950)), Some(50));
    assert_eq!(budget(Some(100), None), Some(100));
    assert_eq!(budget(None, None), None);
    let unknown = Dialect { max_context: 0, ..kimi() };
    let body = unknown.body(&ChatRequest { input_tokens: Some(300), ..request(&[], &[]) });
    assert_eq!(body.get("max_completion_tokens"), None, "a window of unknown size");
    assert_eq!((budget(Some(0), Some(300)), budget(Some(-1), Some(300))), (None, None));
}

#[test]
fn the_knobs_come_from_the_environment_that_is_given() {
    let env = |name: &str| match name {
        "KIMI_MODEL_TEMPERATURE" => Some("0.6".to_owned()),
        "KIMI_MODEL_TOP_P" => Some(String::new()),
        "KIMI_MODEL_MAX_TOKENS" => Some("4096".to_owned()),
        "KIMI_MODEL_THINKING_KEEP" => Some("all".to_owned()),
        _ => None,
    };
    let sampling = Sampling::from_env(&env).expect("numbers");
    let body = Dialect { sampling, ..kimi() }.body(&request(&[], &[]));
    assert_eq!(body["temperature"], 0.6);
    assert_eq!(body.get("top_p"), None);
    assert_eq!(body["max_completion_tokens"], 4096);
    assert_eq!(body["thinking"], json!({"type": "enabled", "keep": "all"}));

    let wrong = Sampling::from_env(&|name| (name == "KIMI_MODEL_TOP_P").then(|| "hot".into()));
    let said = wrong.expect_err("no number").to_string();
    assert!(said.contains("KIMI_MODEL_TOP_P") && said.contains("hot"), "{said}");
}

#[test]
fn thinking_is_said_as_it_is() {
    let thinking = |thinking| Dialect { thinking, ..kimi() }.body(&request(&[], &[]));
    assert_eq!(thinking(Thinking::Off)["thinking"]["type"], "disabled");
    assert_eq!(thinking(Thinking::Unsaid).get("thinking"), None);
}
