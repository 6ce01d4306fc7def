//! A server's tool as one of ours: asks before it runs, and tells the server's faults to the model.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::client::{CallError, Found};
use super::output;
use super::pool::Slot;
use crate::message::{DisplayBlock, ToolReturn};
use crate::tools::{Approval, ApprovalAsk, Tool, ToolContext};

/// Characters of a description that go to the model.
const MAX_DESCRIPTION: usize = 8000;

/// A tool of a server.
pub(super) struct McpTool {
    /// Its name for the model.
    name: String,
    /// What the server says of it.
    found: Found,
    server: Arc<Slot>,
}

impl McpTool {
    pub(super) fn new(name: String, found: Found, server: Arc<Slot>) -> Self {
        Self { name, found, server }
    }

    /// Is it `name` of the server `server`?
    pub(super) fn is(&self, server: &Arc<Slot>, name: &str) -> bool {
        Arc::ptr_eq(&self.server, server) && self.found.name == name
    }

    /// What its server calls it.
    pub(super) fn own_name(&self) -> &str {
        &self.found.name
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> ToolReturn {
        let tool = &self.found.name;
        let ask = ApprovalAsk {
            action: format!("mcp:{tool}"),
            description: format!("Call MCP tool `{tool}` of {}.", self.server.name()),
            display: vec![DisplayBlock::Shell {
                language: "json".to_owned(),
                command: serde_json::to_string_pretty(&arguments).unwrap_or_default(),
            }],
        };
        if let Approval::Rejected { feedback } = context.services.approve(context, ask).await {
            return Approval::rejection(&feedback);
        }
        let Value::Object(arguments) = arguments else {
            return ToolReturn::error("The arguments must be a JSON object.", "Invalid arguments");
        };
        match self.server.call(tool, arguments).await {
            Ok(result) => output::convert(tool, result),
            Err(error) => {
                let server = self.server.name();
                let advice = match error {
                    CallError::Closed => {
                        " The server ended while it worked; it is started again when it is called."
                    }
                    CallError::Timeout(_) => " It may still be working. Ask for less at once.",
                    CallError::Refused(_) => "",
                };
                ToolReturn::error(
                    format!("The MCP server {server} failed to run {tool}: {error}.{advice}"),
                    format!("{server}: {error}"),
                )
            }
        }
    }
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        let text = &self.found.description;
        let said = if text.is_empty() { "It has no description." } else { text };
        let said: String = said.chars().take(MAX_DESCRIPTION).collect();
        format!("A tool of the MCP server `{}`.\n\n{said}", self.server.name())
    }

    fn parameters(&self) -> Value {
        let mut schema = self.found.parameters.clone();
        if let Some(schema) = schema.as_object_mut() {
            // Some servers leave these out, and some providers want them.
            schema.entry("type").or_insert_with(|| "object".into());
            schema.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
        }
        schema
    }

    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn> {
        self.run(arguments, context).boxed()
    }
}
