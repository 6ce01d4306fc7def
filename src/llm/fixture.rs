//! What tests of all providers use: a model at an address, a request, an answer read to its end.

use std::time::Duration;

use futures::StreamExt;

use super::{Answer, ChatProvider, ChatRequest, LlmError};
use crate::config::{Capability, NetworkConfig, ProviderConfig, ProviderKind, ResolvedModel};

/// The key of [`model`].
pub(crate) const KEY: &str = "sk-secret-key";

/// A model of `kind` at `base_url`, with patience for a loaded machine.
pub(crate) fn model(kind: ProviderKind, base_url: &str) -> ResolvedModel {
    let patient = Duration::from_secs(30);
    ResolvedModel {
        key: "m".into(),
        model: "some-model".into(),
        display_name: "M".into(),
        max_context_size: 200_000,
        capabilities: vec![Capability::Thinking],
        thinking: true,
        provider: ProviderConfig {
            kind,
            base_url: base_url.to_owned(),
            api_key: KEY.into(),
            env: Default::default(),
            custom_headers: [("X-Team".to_owned(), "a".to_owned())].into(),
            reasoning_key: None,
            oauth: None,
        },
        max_output_tokens: None,
        price: None,
        network: NetworkConfig {
            connect_timeout: patient,
            first_byte_timeout: patient,
            idle_timeout: patient,
            ..NetworkConfig::default()
        },
    }
}

/// The smallest request.
pub(crate) fn hi() -> ChatRequest<'static> {
    ChatRequest {
        system: "Be good.",
        tools: &[],
        messages: &[],
        cache_key: Some("session-1"),
        input_tokens: None,
    }
}

/// The whole answer to `request`, or what went wrong, at once or in the stream.
pub(crate) async fn ask(
    provider: &dyn ChatProvider,
    request: ChatRequest<'_>,
) -> Result<Answer, LlmError> {
    let mut parts = provider.stream(request).await?;
    let mut answer = Answer::new();
    while let Some(part) = parts.next().await {
        answer.push(part?);
    }
    Ok(answer)
}
