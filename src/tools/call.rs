//! Running a call as a model wrote it: find the tool, read the arguments leniently, and turn every
//! fault into a result the model can learn from.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use serde_json::{Map, Value};

use super::registry::Toolset;
use super::schema;
use super::tool::ToolContext;
use crate::message::{ToolCall, ToolReturn, mended};

/// Characters of an unknown tool's name that are told back, at most.
const LONGEST_NAME: usize = 100;

/// Runs `call`. Never fails: an unknown tool, broken JSON, wrong arguments and a tool that panics
/// are error results. Dropping the future stops the tool.
pub async fn call_tool(tools: &Toolset, call: &ToolCall, context: &ToolContext) -> ToolReturn {
    let name = call.function.name.as_str();
    let Some(tool) = tools.get(name) else {
        // A model gone wrong may write pages here.
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let known: Vec<&str> = tools.names().collect();
        return ToolReturn::error(
            format!("Tool `{name}` not found. The tools are: {}.", known.join(", ")),
            format!("Tool `{name}` not found"),
        );
    };
    let mut arguments = match read_arguments(call.arguments()) {
        Ok(arguments) => arguments,
        Err(problem) => {
            return ToolReturn::error(
                format!("Error parsing JSON arguments: {problem}"),
                "Invalid arguments",
            );
        }
    };
    schema::mend(&tool.parameters(), &mut arguments);
    let run = AssertUnwindSafe(tool.call(Value::Object(arguments), context));
    run.catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(tool = name, "a tool panicked");
        ToolReturn::error(
            format!("Error running tool: {name} failed inside. Try another way."),
            "Tool runtime error",
        )
    })
}

/// Arguments as models write them: absent, with raw line breaks in strings, with half a surrogate
/// pair, or as JSON within a JSON string.
fn read_arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let mut value = read_json(text)?;
    if let Value::String(inner) = &value {
        value = if inner.trim().is_empty() { Value::Null } else { read_json(inner)? };
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Map::new()),
        other => Err(format!("they must be a JSON object of named parameters, not `{}`", {
            let text = other.to_string();
            text.chars().take(40).collect::<String>()
        })),
    }
}

fn read_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .or_else(|error| mended(text).map_or(Err(error), |text| serde_json::from_str(&text)))
        .map_err(|error| {
            if error.is_eof() {
                format!(
                    "{error}. They end in the middle: probably the answer was cut off. \
                 Call again with less in one call."
                )
            } else {
                error.to_string()
            }
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    fn read(text: &str) -> Value {
        Value::Object(read_arguments(text).expect("arguments"))
    }

    #[test]
    fn arguments_are_read_leniently() {
        assert_eq!(read(""), json!({}));
        assert_eq!(read(" null "), json!({}));
        assert_eq!(read("{\"a\": \"x\ny\tz\\n\"}"), json!({"a": "x\ny\tz\n"}));
        assert_eq!(read(r#""{\"a\": 1}""#), json!({"a": 1}));
        assert_eq!(read(r#"{"a": "\ud83d!"}"#), json!({"a": "\u{fffd}!"}));
        assert_eq!(read("{\"a\": \"\n\\ud83d\\ude00\"}"), json!({"a": "\n😀"}));
        assert!(read_arguments("[1]").expect_err("a list").contains("JSON object"));
        assert!(read_arguments("{\"a\": \"b").expect_err("cut").contains("cut off"));
    }

    #[tokio::test]
    async fn faults_are_results() {
        let bench = Bench::new();
        let tools = Toolset::select(&["Think".into(), "Bash".into()], &[]).expect("set");
        let call = |name: &str, arguments: &str| ToolCall::new("1", name, Some(arguments.into()));
        let result = call_tool(&tools, &call("Thnk", "{}"), &bench.context).await;
        assert!(result.is_error);
        assert!(result.message.contains("`Thnk` not found"), "{}", result.message);
        assert!(result.message.contains("Think, Bash"), "{}", result.message);
        let result = call_tool(&tools, &call("Think", "{]"), &bench.context).await;
        assert!(result.message.starts_with("Error parsing JSON arguments"), "{}", result.message);
        let result = call_tool(&tools, &call("Think", "{}"), &bench.context).await;
        assert!(result.message.contains("parameter `thought` is missing"), "{}", result.message);
        let result = call_tool(&tools, &call("Think", r#"{"thought":"x"}"#), &bench.context).await;
        assert_eq!((result.is_error, result.message.as_str()), (false, "Thought logged"));
    }

    #[tokio::test]
    async fn a_panicking_tool_is_an_error_result() {
        struct Broken;
        impl crate::tools::Tool for Broken {
            fn name(&self) -> &'static str {
                "Broken"
            }
            fn description(&self) -> String {
                String::new()
            }
            fn parameters(&self) -> Value {
                json!({"type": "object"})
            }
            fn call<'a>(
                &'a self,
                _: Value,
                _: &'a ToolContext,
            ) -> futures::future::BoxFuture<'a, ToolReturn> {
                async { panic!("on purpose") }.boxed()
            }
        }
        let bench = Bench::new();
        let broken: std::sync::Arc<dyn crate::tools::Tool> = std::sync::Arc::new(Broken);
        let call = ToolCall::new("1", "Broken", None);
        let result = call_tool(&Toolset::of([broken]), &call, &bench.context).await;
        assert_eq!((result.is_error, result.brief()), (true, Some("Tool runtime error")));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>(), json in r#"[{}"\\u0-9a-f:,\n ]{0,40}"#) {
            let _ = read_arguments(&text);
            let _ = read_arguments(&json);
        }
    }
}
