//! OpenAI's responses API: provider kind `openai_responses`.
//!
//! `request` writes the body, `reader` understands the answer; here is the provider of both.

mod reader;
mod request;

use futures::future::BoxFuture;

#[cfg(test)]
pub(crate) use self::reader::Reader as ResponsesReader;
use self::reader::Reader;
use self::request::Dialect;
use super::http::{Endpoint, Target};
use super::{ChatProvider, ChatRequest, LlmError, PartStream, receive};
use crate::config::{Capability, ResolvedModel};

/// A model behind the responses API.
pub(crate) struct Responses {
    endpoint: Endpoint,
    dialect: Dialect,
}

impl Responses {
    /// The provider of `model`.
    ///
    /// # Errors
    /// When its address or a header cannot be one.
    pub(crate) fn new(model: &ResolvedModel) -> Result<Self, LlmError> {
        let can = |capability| model.capabilities.contains(&capability);
        let dialect = Dialect {
            model: model.model.clone(),
            max_output: model.max_output_tokens,
            thinks: can(Capability::AlwaysThinking)
                || (model.thinking && can(Capability::Thinking)),
        };
        Ok(Self { endpoint: Endpoint::new(&Target::of(model, "/responses"))?, dialect })
    }
}

impl ChatProvider for Responses {
    fn model_name(&self) -> &str {
        &self.dialect.model
    }

    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        Box::pin(async move {
            let reader = Reader::new(self.endpoint.host());
            receive::ask(&self.endpoint, &self.dialect.body(&request), reader).await
        })
    }
}
