//! Think: a place for the model to reason between calls.

use schemars::JsonSchema;
use serde::Deserialize;

use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;

pub(crate) struct Think;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// What to think through.
    thought: String,
}

impl TypedTool for Think {
    type Params = Params;
    const NAME: &'static str = "Think";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/think.md");

    async fn run(&self, params: Params, _: &ToolContext) -> Result<ToolReturn, Failure> {
        // The thought stays in the call itself; there is nothing to keep.
        drop(params.thought);
        Ok(ToolReturn::ok("", "Thought logged"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn a_thought_is_logged_without_asking() {
        let bench = Bench::new();
        let result = bench.call(&Think, json!({"thought": "hm"})).await;
        assert_eq!(result, ToolReturn::ok("", "Thought logged"));
        assert!(bench.asked().is_empty());
    }
}
