//! Models: the [`ChatProvider`] trait and everything that speaks to a provider.

mod provider;

pub use provider::{
    ChatProvider, ChatRequest, FinishReason, LlmError, PartStream, StreamPart, ToolSpec,
};
