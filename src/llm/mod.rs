//! Models: the [`ChatProvider`] trait and everything that speaks to a provider.

mod answer;
mod anthropic;
mod build;
mod calls;
mod demo;
#[cfg(test)]
mod fixture;
mod gemini;
pub(crate) mod http;
#[cfg(test)]
pub(crate) mod loopback;
mod masks;
pub mod oauth;
mod openai;
pub mod probe;
mod provider;
mod receive;
mod refusal;
mod responses;
mod retry;
mod scripted;
mod sse;
mod surrogate;
#[cfg(test)]
mod tests;
mod turns;

pub use answer::Answer;
pub use build::{build, build_with_env};
pub use demo::{DEMO_CONTEXT, DEMO_MODEL_NAME, demo, demo_at};
pub(crate) use http::web_client;
pub use openai::Sampling;
pub use provider::{
    ChatProvider, ChatRequest, FinishReason, LlmError, PartStream, StreamPart, ToolSpec,
};
pub use retry::retry_delay;
