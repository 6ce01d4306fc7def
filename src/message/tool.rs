//! Tool calls and their results.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContentPart, DisplayBlock, text_of};

/// The function a call names, with its arguments as the model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The tool's name.
    pub name: String,
    /// JSON text; may be absent while it streams, and may be broken.
    #[serde(default)]
    pub arguments: Option<String>,
}

/// One call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Always `function`.
    #[serde(rename = "type", default = "function_kind")]
    pub kind: String,
    /// The provider's id of the call; unique in one message only.
    pub id: String,
    /// What is called.
    pub function: FunctionCall,
    /// Whatever else the provider sent, to be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extras: Option<Value>,
}

fn function_kind() -> String {
    "function".to_owned()
}

impl ToolCall {
    /// A call of `name`.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Option<String>) -> Self {
        Self {
            kind: function_kind(),
            id: id.into(),
            function: FunctionCall { name: name.into(), arguments },
            extras: None,
        }
    }

    /// The arguments, or an empty text when none came.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.function.arguments.as_deref().unwrap_or_default()
    }
}

/// What a tool gives the model: text, or parts when there is more than text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ToolOutput {
    /// Text only.
    Text(String),
    /// Text, pictures and more.
    Parts(Vec<ContentPart>),
}

impl Default for ToolOutput {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl ToolOutput {
    /// The text of it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => text_of(parts, "\n"),
        }
    }
}

/// The result of a tool call: for the model (`output`, `message`) and for the screen (`display`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolReturn {
    /// Did it fail?
    pub is_error: bool,
    /// What came out.
    #[serde(default)]
    pub output: ToolOutput,
    /// One sentence to the model about how it went.
    #[serde(default)]
    pub message: String,
    /// Blocks for the screen.
    #[serde(default)]
    pub display: Vec<DisplayBlock>,
    /// Whatever else a tool adds.
    #[serde(default)]
    pub extras: Option<Value>,
}

impl ToolReturn {
    /// A success with output and a message to the model.
    #[must_use]
    pub fn ok(output: impl Into<String>, message: impl Into<String>) -> Self {
        Self { output: ToolOutput::Text(output.into()), message: message.into(), ..Self::default() }
    }

    /// A failure. `brief` is what the screen shows of it in one line.
    #[must_use]
    pub fn error(message: impl Into<String>, brief: impl Into<String>) -> Self {
        Self {
            is_error: true,
            message: message.into(),
            display: vec![DisplayBlock::brief(brief)],
            ..Self::default()
        }
    }

    /// The same with this text as output.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Self {
        self.output = ToolOutput::Text(output.into());
        self
    }

    /// The same with one more block for the screen.
    #[must_use]
    pub fn with_display(mut self, block: DisplayBlock) -> Self {
        self.display.push(block);
        self
    }

    /// The text of the first `brief` block.
    #[must_use]
    pub fn brief(&self) -> Option<&str> {
        self.display.iter().find_map(|block| match block {
            DisplayBlock::Brief { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The parts of the tool message the model gets (`kimi-cli` `soul/message.py:35-62`).
    #[must_use]
    pub fn to_parts(&self) -> Vec<ContentPart> {
        let note = |text: &str| ContentPart::text(format!("<system>{text}</system>"));
        let output = match &self.output {
            ToolOutput::Text(text) if text.is_empty() => Vec::new(),
            ToolOutput::Text(text) => vec![ContentPart::text(text.clone())],
            ToolOutput::Parts(parts) => parts.clone(),
        };
        let mut parts = Vec::new();
        if self.is_error {
            parts.push(note(&format!("ERROR: {}", self.message)));
        } else if !self.message.is_empty() {
            parts.push(note(&self.message));
        }
        if parts.is_empty() && !output.is_empty() && output.iter().all(|p| p.as_text().is_none()) {
            parts.push(note("Tool returned non-text content."));
        }
        parts.extend(output);
        if parts.is_empty() {
            parts.push(note("Tool output is empty."));
        }
        parts
    }
}
