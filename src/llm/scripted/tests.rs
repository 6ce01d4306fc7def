use serde_json::json;

use super::*;
use crate::llm::Answer;
use crate::message::{ContentPart, MediaUrl, Message, TokenUsage};

fn request(messages: &[Message]) -> ChatRequest<'_> {
    ChatRequest { system: "", tools: &[], messages, cache_key: None, input_tokens: None }
}

async fn received(provider: &dyn ChatProvider, messages: &[Message]) -> Result<Answer, LlmError> {
    let mut parts = provider.stream(request(messages)).await?;
    let mut answer = Answer::new();
    while let Some(part) = parts.next().await {
        answer.push(part?);
    }
    Ok(answer)
}

async fn echo(script: &str) -> Result<Answer, LlmError> {
    received(&Echo, &[Message::user(script)]).await
}

async fn refused(script: &str) -> String {
    echo(script).await.expect_err("a wrong script").to_string()
}

#[tokio::test]
async fn every_kind_of_line() {
    let script = r##"
        # a comment
        ```
        echo
        id: "msg-1"
        usage: {"input_other": 10, "output": 2}
        think: hm
        text: Hello,
        text:  world:
        TEXT: " quoted "
        image_url: https://e.example/a.png
        video_url: {"url": "v", "id": "i"}
        tool_call: {"id": "c1", "name": "Bash", "arguments": "{\"command\""}
        tool_call_part: {"arguments_part": ": \"ls"}
        tool_call_part: "\"}"
        tool_call_part: null
        tool_call: id=c2 name=LS
        tool_call: {"id": "c3", "function": {"name": "Grep", "arguments": "{}"}, "extras": {"a": 1}}
        tool_call_part: {"arguments_part": {"b": [1]}}
        ```"##;
    let answer = echo(script).await.expect("a good script");
    assert_eq!(answer.id(), Some("msg-1"));
    let usage = TokenUsage { input_other: 10, output: 2, ..TokenUsage::default() };
    assert_eq!(answer.usage(), Some(usage));
    let url = |url: &str, id: Option<&str>| MediaUrl { url: url.into(), id: id.map(str::to_owned) };
    assert_eq!(
        answer.content(),
        [
            ContentPart::think("hm"),
            ContentPart::text("Hello, world: quoted "),
            ContentPart::ImageUrl { image_url: url("https://e.example/a.png", None) },
            ContentPart::VideoUrl { video_url: url("v", Some("i")) },
        ]
    );
    let calls = answer.calls();
    assert_eq!(calls[0].arguments(), r#"{"command": "ls"}"#);
    assert_eq!((calls[1].id.as_str(), calls[1].function.arguments.as_ref()), ("c2", None));
    assert_eq!(calls[2].arguments(), r#"{}{"b":[1]}"#);
    assert_eq!(calls[2].extras, Some(json!({"a": 1})));
}

#[tokio::test]
async fn one_part_a_line_is_streamed() {
    let script = [Message::user("text: a\ntext: b")];
    let parts: Vec<_> = Echo.stream(request(&script)).await.expect("a stream").collect().await;
    assert_eq!(parts.len(), 2);
}

#[tokio::test]
async fn usage_as_tokens_with_commas() {
    let answer = echo("usage: input_other=3, output='4',input_cache_read=5\ntext: x").await;
    let usage = answer.expect("good").usage().expect("usage");
    assert_eq!((usage.input_other, usage.output, usage.input_cache_read), (3, 4, 5));
}

#[tokio::test]
async fn errors_read_as_the_python_programs() {
    for (script, expected) in [
        ("bad line without colon", "Invalid echo DSL at line 1: 'bad line without colon'"),
        ("text: a\n  it's no line ", "Invalid echo DSL at line 2: \"  it's no line \""),
        ("Noise: x", "Unknown echo DSL kind 'noise' at line 1: 'Noise: x'"),
        ("# nothing", "EchoChatProvider DSL produced no streamable parts."),
        ("usage: [1]\ntext: a", "usage payload must be an object, got [1]"),
        ("usage: output", "Invalid token 'output' in usage payload."),
        ("usage: ", "usage payload cannot be empty."),
        ("usage: output=x", "Usage field 'output' must be an integer, got 'x'"),
        ("image_url: 7", "image_url expects url string or object, got 7"),
        ("image_url: {\"id\": \"a\"}", "image_url requires a url field, got {'id': 'a'}"),
        ("audio_url: {\"url\": \"a\", \"id\": 1}", "audio_url id must be a string when provided."),
        ("tool_call: id=c", "tool_call requires string id and name at line 1: 'tool_call: id=c'"),
        (
            "tool_call: {\"id\":\"c\",\"name\":\"n\",\"arguments\":{}}",
            "tool_call.arguments must be a string at line 1, got dict",
        ),
        ("error:", "Empty error payload at line 1: 'error:'"),
        (
            "error: soon",
            "Invalid error spec at line 1: expected status code or 'connection'/'timeout', \
             got 'soon'",
        ),
    ] {
        assert_eq!(refused(script).await, expected);
    }
}

#[tokio::test]
async fn faults_can_be_ordered() {
    let status = echo("text: a\nerror: 429 slow down").await.expect_err("a fault");
    assert_eq!((status.status(), status.is_retryable()), (Some(429), true));
    assert!(status.to_string().contains("slow down"));
    assert!(refused("error: 503").await.contains("Simulated 503 error"));
    let connection = echo("error: connection reset by peer").await.expect_err("a fault");
    assert_eq!(connection.kind(), "APIConnectionError");
    assert!(connection.to_string().contains("reset by peer"));
    assert_eq!(echo("error: Timeout").await.expect_err("a fault").kind(), "APITimeoutError");
}

#[tokio::test]
async fn echo_wants_a_user_message_and_looks_past_checkpoint_rows() {
    let said = |messages: Vec<Message>| async move {
        received(&Echo, &messages).await.map(|a| a.message().text()).map_err(|e| e.to_string())
    };
    let script = Message::user("text: hi");
    let note = Message::system_note("CHECKPOINT 1");
    assert_eq!(said(vec![script.clone(), note]).await, Ok("hi".to_owned()));
    let answer = Message::assistant("x");
    assert!(said(vec![script, answer]).await.expect_err("no").contains("to be user."));
    assert!(said(vec![]).await.expect_err("no").contains("at least one message"));
}

#[tokio::test]
async fn each_call_takes_the_next_script_and_the_end_is_told() {
    let scripts = ["text: one", "error: 500", "text: two", "# empty"];
    let provider = ScriptedEcho::new(scripts.map(str::to_owned));
    let text = |answer: Result<Answer, LlmError>| match answer {
        Ok(answer) => answer.message().text(),
        Err(error) => error.to_string(),
    };
    assert_eq!(text(received(&provider, &[]).await), "one");
    assert!(text(received(&provider, &[]).await).contains("500"));
    assert_eq!(text(received(&provider, &[]).await), "two", "a failed call has used its script");
    assert_eq!(
        text(received(&provider, &[]).await),
        "ScriptedEchoChatProvider DSL produced no streamable parts."
    );
    assert_eq!(
        text(received(&provider, &[]).await),
        "ScriptedEchoChatProvider exhausted at turn 5."
    );
}

#[test]
fn a_file_holds_json_or_plain_scripts() {
    assert_eq!(split_scripts("[\"text: a\", \"text: b\"]"), ["text: a", "text: b"]);
    assert_eq!(
        split_scripts("text: a\ntext: b\n---\n\n ---\r\ntext: c\n"),
        ["text: a\ntext: b", "text: c"]
    );
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("scripts");
    let said = |result: Result<ScriptedEcho, LlmError>| match result {
        Ok(_) => panic!("no script"),
        Err(error) => error.to_string(),
    };
    assert!(said(ScriptedEcho::open(&path)).contains("KIMI_SCRIPTED_ECHO_SCRIPTS"));
    std::fs::write(&path, "[]").expect("write");
    assert!(said(ScriptedEcho::open(&path)).contains("holds no script"));
}

proptest::proptest! {
    #[test]
    fn no_script_makes_it_stumble(script in "((text|usage|tool_call|error|image_url)?:? ?[\\[\\]{}\"'=,a1é ]{0,8}\n?)*") {
        let _ = dsl::parse(&script);
    }
}

#[test]
fn a_trace_is_wanted_as_upstream_reads_it() {
    for (value, wanted) in [("1", true), (" True ", true), ("on", true), ("0", false), ("", false)]
    {
        assert_eq!(is_yes(value), wanted, "{value:?}");
    }
}
