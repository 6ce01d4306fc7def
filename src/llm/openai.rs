//! Chat completions: provider kinds `kimi` and `openai_legacy`.
//!
//! `request` writes the body, `reader` understands the answer; here is the provider of both.

mod reader;
mod request;
mod schema;
mod think;

use futures::future::BoxFuture;

#[cfg(test)]
pub(crate) use self::reader::Reader as OpenAiReader;
use self::reader::Reader;
pub use self::request::Sampling;
use self::request::{Dialect, Thinking};
use super::http::{Endpoint, Target};
use super::{ChatProvider, ChatRequest, LlmError, PartStream, receive};
use crate::config::{Capability, ProviderKind, ResolvedModel};

/// Which program asks, in Kimi's own headers and under this program's name (`kimi-cli`
/// `auth/oauth.py`). What it says of the machine beyond that is nobody's business.
const IDENTITY: [(&str, &str); 2] =
    [("X-Msh-Platform", "kimi_tui"), ("X-Msh-Version", env!("CARGO_PKG_VERSION"))];

/// A model behind chat completions.
pub(crate) struct OpenAi {
    endpoint: Endpoint,
    dialect: Dialect,
}

impl OpenAi {
    /// The provider of a model of kind `kimi` or `openai_legacy`.
    ///
    /// # Errors
    /// When its address or a header cannot be one.
    pub(crate) fn new(model: &ResolvedModel, sampling: Sampling) -> Result<Self, LlmError> {
        let provider = &model.provider;
        let is_kimi = provider.kind == ProviderKind::Kimi;
        let headers = if is_kimi { IDENTITY.as_slice() } else { &[] };
        let endpoint =
            Endpoint::new(&Target { headers, ..Target::of(model, "/chat/completions") })?;
        let can = |capability| model.capabilities.contains(&capability);
        let thinking = match model.thinking {
            _ if can(Capability::AlwaysThinking) => Thinking::On,
            true if can(Capability::Thinking) => Thinking::On,
            true => Thinking::Unsaid,
            false => Thinking::Off,
        };
        // OpenAI itself refuses fields it does not know in a message, and sends no thinking.
        let usual = (!endpoint.host().ends_with("api.openai.com")).then_some("reasoning_content");
        let reasoning_key = match &provider.reasoning_key {
            Some(key) if !is_kimi => Some(key.clone()).filter(|key| !key.is_empty()),
            _ => usual.map(str::to_owned),
        };
        let dialect = Dialect {
            is_kimi,
            model: model.model.clone(),
            max_context: model.max_context_size,
            max_output: model.max_output_tokens,
            thinking,
            reasoning_key,
            sampling,
        };
        Ok(Self { endpoint, dialect })
    }

    #[cfg(test)]
    fn with_patience(self, patience: super::http::Patience) -> Self {
        Self { endpoint: self.endpoint.with_patience(patience), ..self }
    }
}

impl ChatProvider for OpenAi {
    fn model_name(&self) -> &str {
        &self.dialect.model
    }

    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        Box::pin(async move {
            let reader = Reader::new(self.endpoint.host(), self.dialect.reasoning_key.as_deref());
            receive::ask(&self.endpoint, &self.dialect.body(&request), reader).await
        })
    }
}

#[cfg(test)]
mod tests;
