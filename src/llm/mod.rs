//! Models: the [`ChatProvider`] trait and everything that speaks to a provider.

mod answer;
mod build;
mod demo;
mod http;
#[cfg(test)]
mod loopback;
mod openai;
mod provider;
mod refusal;
mod retry;
mod scripted;
mod sse;
mod surrogate;

pub use answer::Answer;
pub use build::{build, build_with_env};
pub use demo::{DEMO_CONTEXT, DEMO_MODEL_NAME, demo, demo_at};
pub use openai::Sampling;
pub use provider::{
    ChatProvider, ChatRequest, FinishReason, LlmError, PartStream, StreamPart, ToolSpec,
};
pub use retry::retry_delay;
