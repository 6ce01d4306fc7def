//! Anthropic's messages API, and what speaks it: provider kind `anthropic`.
//!
//! `request` writes the body, `reader` understands the answer; here is the provider of both.

mod reader;
mod request;

use futures::future::BoxFuture;

#[cfg(test)]
pub(crate) use self::reader::Reader as AnthropicReader;
use self::reader::Reader;
use self::request::{Dialect, Thinking};
use super::http::{Auth, Endpoint, Target};
use super::{ChatProvider, ChatRequest, LlmError, PartStream, receive};
use crate::config::ResolvedModel;

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";
/// Lets Claude 4 think between tool calls; newer ones do so unasked.
const INTERLEAVED: (&str, &str) = ("anthropic-beta", "interleaved-thinking-2025-05-14");

/// A model behind the messages API.
pub(crate) struct Anthropic {
    endpoint: Endpoint,
    dialect: Dialect,
}

impl Anthropic {
    /// The provider of `model`.
    ///
    /// # Errors
    /// When its address or a header cannot be one.
    pub(crate) fn new(model: &ResolvedModel) -> Result<Self, LlmError> {
        let dialect = Dialect::of(model);
        let mut headers = vec![("anthropic-version", VERSION)];
        if matches!(dialect.thinking, Thinking::Budget(_)) && dialect.is_claude {
            headers.push(INTERLEAVED);
        }
        let endpoint = Endpoint::new(&Target {
            auth: Auth::Header("x-api-key"),
            headers: &headers,
            ..Target::of(model, path(&model.provider.base_url))
        })?;
        Ok(Self { endpoint, dialect })
    }
}

/// What follows the base address: people write it with and without the version.
fn path(base_url: &str) -> &'static str {
    let base = base_url.split(['?', '#']).next().unwrap_or_default().trim().trim_end_matches('/');
    if base.ends_with("/v1") || base.ends_with("/v1/messages") {
        "/messages"
    } else {
        "/v1/messages"
    }
}

impl ChatProvider for Anthropic {
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

#[cfg(test)]
mod tests;
