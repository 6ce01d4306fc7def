//! Greet: the example of `docs/adding-a-tool.md`, compiled and tried but in no agent's hands.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;

pub(crate) struct Greet;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Whom to greet.
    name: String,
    /// How often.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 3))]
    times: u64,
}

fn once() -> u64 {
    1
}

impl TypedTool for Greet {
    type Params = Params;
    const NAME: &'static str = "Greet";
    const DESCRIPTION: &'static str = "Greets somebody. Use it when nobody else does.";

    async fn run(&self, params: Params, _: &ToolContext) -> Result<ToolReturn, Failure> {
        if params.name.trim().is_empty() {
            return Err(Failure::new("`name` is empty: there is nobody to greet.", "Nobody"));
        }
        let line = format!("Hello, {}!\n", params.name);
        Ok(ToolReturn::ok(line.repeat(params.times as usize), "Greeted."))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn somebody_is_greeted_and_nobody_is_not() {
        let bench = Bench::new();
        let result = bench.call(&Greet, json!({"name": "Mei", "times": 2})).await;
        assert_eq!(result.output.text(), "Hello, Mei!\nHello, Mei!\n");
        assert!(bench.call(&Greet, json!({"name": ""})).await.is_error);
        let often = bench.call(&Greet, json!({"name": "Mei", "times": 4})).await;
        assert!(often.message.contains("parameter `times` must be at most 3"), "{}", often.message);
    }

    #[test]
    fn the_page_shows_this_very_file() {
        let page = include_str!("../../docs/adding-a-tool.md");
        let (code, _) = include_str!("greet.rs").split_once("#[cfg(test)]").expect("code");
        assert!(page.contains(code.trim()), "docs/adding-a-tool.md shows another example");
    }
}
