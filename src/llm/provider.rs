//! What a model is to the rest of the program: a stream of parts for a request.

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::Value;

use crate::message::{ContentPart, Message, TokenUsage, ToolCall};

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its parameters.
    pub parameters: Value,
}

/// One question to a model. Borrowed: a provider copies what it needs before it streams.
#[derive(Debug, Clone, Copy)]
pub struct ChatRequest<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools it may call, in an order that never changes within a session (caches depend on it).
    pub tools: &'a [ToolSpec],
    /// The conversation.
    pub messages: &'a [Message],
    /// A key under which the provider may cache the beginning: the session's id.
    pub cache_key: Option<&'a str>,
    /// How many tokens the conversation has, where known: the answer must fit in the rest.
    pub input_tokens: Option<u64>,
}

/// A piece of an answer.
///
/// A provider keeps this order whatever its server sends: all [`StreamPart::ToolCallArguments`]
/// follow the [`StreamPart::ToolCall`] they belong to, before any other part that is not usage.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamPart {
    /// A piece of text or thinking.
    Content(ContentPart),
    /// A call begins, with the arguments that are already there.
    ToolCall(ToolCall),
    /// More arguments of the latest call.
    ToolCallArguments(String),
    /// Token counts; a later one replaces an earlier one.
    Usage(TokenUsage),
    /// The provider's id of the answer.
    MessageId(String),
    /// Why it ended.
    Finish(FinishReason),
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// It was finished.
    Stop,
    /// It calls tools.
    ToolCalls,
    /// It reached the limit of output tokens and is cut off.
    Length,
    /// The provider withheld it.
    ContentFilter,
    /// Something else, in the provider's word.
    Other(String),
}

/// The pieces of an answer. Dropping it closes the connection.
pub type PartStream = BoxStream<'static, Result<StreamPart, LlmError>>;

/// A model at a provider.
pub trait ChatProvider: Send + Sync {
    /// The model's name at the provider.
    fn model_name(&self) -> &str;

    /// Begins an answer. Never retries: the engine does (`soul`).
    ///
    /// # Errors
    /// When the request could not be made or was refused; see [`LlmError`].
    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>>;
}

/// What can go wrong with a model call. The kinds decide about retries and advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// No connection, or it broke; protocol errors in the middle of a stream count as this.
    #[error("could not talk to {host}: {detail}")]
    Connection {
        /// Whom.
        host: String,
        /// What happened.
        detail: String,
    },
    /// No answer in time.
    #[error("{host} did not answer within {} s", .after.as_secs())]
    Timeout {
        /// Who.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// The server answered with an error status, or with an error object inside a stream.
    #[error("{host} answered {status}: {message}")]
    Status {
        /// Who.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What it said, shortened for a person.
        message: String,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// The provider is one to log in to, and there is no login that counts.
    #[error("{host} wants a login, and {reason}")]
    LoggedOut {
        /// Who.
        host: String,
        /// Why there is none, as the rest of a sentence.
        reason: String,
    },
    /// An answer with nothing in it, or with thinking only.
    #[error("the model's answer was empty")]
    Empty,
    /// What came cannot be understood, and trying again will not help.
    #[error("{0}")]
    Protocol(String),
}

impl LlmError {
    /// The kind's name as the wire tells it (`StepRetry.error_type`).
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Connection { .. } => "APIConnectionError",
            Self::Timeout { .. } => "APITimeoutError",
            Self::Status { .. } | Self::LoggedOut { .. } => "APIStatusError",
            Self::Empty => "APIEmptyResponseError",
            Self::Protocol(_) => "ChatProviderError",
        }
    }

    /// The HTTP status, where there is one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            // What the server would say.
            Self::LoggedOut { .. } => Some(401),
            _ => None,
        }
    }

    /// May the same request work if it is made again? (SPEC D6.)
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Timeout { .. } | Self::Empty => true,
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529)
            }
            Self::Protocol(_) | Self::LoggedOut { .. } => false,
        }
    }
}
