//! Arguments nobody means, to every tool there is: an error for the model or a result, never a panic
//! and never a wait.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::registry::complete_set;
use super::testing::Bench;
use super::{ToolContext, Toolset, call_tool};
use crate::message::ToolCall;

/// Values of all kinds, with those that are likely to be taken for something.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>().prop_map(Value::String),
        prop::sample::select(vec![
            "",
            ".",
            "..",
            "/",
            "~",
            "a.txt",
            "no/such",
            "/dev/null",
            "*",
            "**/*",
            "[",
            "(",
            "(?=x)",
            "\\",
            "{a,b",
            "\0",
            "-1",
            "null",
            "true",
            "[]",
            "{}",
            "http://127.0.0.1:9/",
            "file:///etc/passwd",
            "http://[",
            "content",
            "count_matches",
            "append",
            "\u{202e}",
            "x\ny",
            "pending",
        ])
        .prop_map(|text| json!(text)),
    ];
    let leaf = prop_oneof![
        3 => text,
        1 => any::<bool>().prop_map(Value::Bool),
        1 => any::<i64>().prop_map(|n| json!(n)),
        1 => prop::sample::select(vec![0_i64, 1, -1, 2, 1000, -1000, i64::MAX, i64::MIN]).prop_map(|n| json!(n)),
        1 => any::<f64>().prop_map(|n| json!(n)),
        1 => Just(Value::Null),
        1 => Just(json!(u64::MAX)),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let names = prop::sample::select(vec![
            "old",
            "new",
            "replace_all",
            "title",
            "status",
            "question",
            "options",
            "label",
            "description",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((names, inner), 0..5).prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

/// Values for the tool's own parameters, some left out, and one it does not have.
fn arguments(parameters: &Value) -> impl Strategy<Value = Value> + use<> {
    let names: Vec<String> = parameters["properties"]
        .as_object()
        .map(|p| p.keys().cloned().collect())
        .unwrap_or_default();
    let count = names.len() + 1;
    prop::collection::vec(prop::option::weighted(0.8, value()), count).prop_map(move |values| {
        let names = names.iter().cloned().chain(["unheard_of".to_owned()]);
        let given = names.zip(values).filter_map(|(name, value)| Some((name, value?)));
        Value::Object(given.collect::<Map<_, _>>())
    })
}

async fn survive(tools: &Toolset, name: &str, text: String, context: &ToolContext) {
    let call = ToolCall::new("1", name, Some(text.clone()));
    let result = tokio::time::timeout(Duration::from_secs(30), call_tool(tools, &call, context))
        .await
        .unwrap_or_else(|_| panic!("{name} hangs with {text}"));
    assert_ne!(result.brief(), Some("Tool runtime error"), "{name} panics with {text}");
    // Whatever it is goes to a model: as parts of a message, as JSON.
    assert!(!result.to_parts().is_empty());
    serde_json::to_string(&result).expect("a result in JSON");
}

#[test]
fn no_arguments_make_a_tool_panic_or_wait() {
    let tools = complete_set();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("runtime");
    let config =
        ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    for spec in tools.specs() {
        let mut runner = proptest::test_runner::TestRunner::new(config.clone());
        let strategy =
            prop_oneof![4 => arguments(&spec.parameters), 1 => value()].prop_map(|v| v.to_string());
        runner
            .run(&strategy, |text| {
                let mut bench = Bench::new();
                bench.file("a.txt", "one\ntwo\n");
                // A command is no argument to fuzz: it would be run.
                if spec.name == "Bash" {
                    bench.reject("no");
                }
                bench.context.called_as.clone_from(&spec.name);
                runtime.block_on(survive(&tools, &spec.name, text, &bench.context));
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", spec.name));
    }
}

#[test]
fn broken_json_is_told_by_every_tool() {
    let tools = complete_set();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    let bench = Bench::new();
    bench.reject("no");
    for spec in tools.specs() {
        for text in ["{", "[1]", "12", "\"text\"", "{\"a\": }", "\u{0}", "nul"] {
            let call = ToolCall::new("1", &spec.name, Some(text.to_owned()));
            let result = runtime.block_on(call_tool(&tools, &call, &bench.context));
            assert!(result.is_error, "{} takes {text:?}", spec.name);
            assert_eq!(result.brief(), Some("Invalid arguments"), "{} {text:?}", spec.name);
        }
    }
}
