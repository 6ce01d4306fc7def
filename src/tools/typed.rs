//! A tool whose parameters are a Rust type: the schema and the parsing come from it.

use std::future::Future;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use super::tool::{Tool, ToolContext};
use crate::message::ToolReturn;

/// What a built-in tool implements; it is a [`Tool`] then.
pub(crate) trait TypedTool: Send + Sync {
    /// The parameters. Field docs are the descriptions the model reads.
    type Params: DeserializeOwned + JsonSchema + Send;

    /// See [`Tool::name`].
    const NAME: &'static str;
    /// See [`Tool::aliases`].
    const ALIASES: &'static [&'static str] = &[];
    /// See [`Tool::description`].
    const DESCRIPTION: &'static str;

    /// See [`Tool::call`]. A failure becomes the result.
    fn run(
        &self,
        params: Self::Params,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolReturn, Failure>> + Send;
}

/// An error result on its way out of a tool.
#[derive(Debug)]
pub(crate) struct Failure(Box<ToolReturn>);

impl Failure {
    /// See [`ToolReturn::error`].
    pub fn new(message: impl Into<String>, brief: impl Into<String>) -> Self {
        ToolReturn::error(message, brief).into()
    }
}

impl From<ToolReturn> for Failure {
    fn from(result: ToolReturn) -> Self {
        Self(Box::new(result))
    }
}

impl From<Failure> for ToolReturn {
    fn from(failure: Failure) -> Self {
        *failure.0
    }
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        T::ALIASES
    }

    fn description(&self) -> String {
        T::DESCRIPTION.trim().to_owned()
    }

    fn parameters(&self) -> Value {
        schema::of::<T::Params>()
    }

    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn> {
        async move {
            match schema::parse::<T::Params>(arguments) {
                Ok(params) => self.run(params, context).await.unwrap_or_else(ToolReturn::from),
                Err(problem) => invalid_arguments(T::NAME, &problem),
            }
        }
        .boxed()
    }
}

/// The result of a call whose arguments do not fit.
pub(crate) fn invalid_arguments(tool: &str, problem: &str) -> ToolReturn {
    ToolReturn::error(
        format!(
            "Error validating JSON arguments: {problem}. \
             Nothing was done; call {tool} again with corrected arguments."
        ),
        "Invalid arguments",
    )
}
