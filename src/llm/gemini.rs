//! Google's Gemini: provider kind `google_genai` (or `gemini`), and `vertexai`.
//!
//! `request` writes the body, `reader` understands the answer; here is the provider of both.

mod reader;
mod request;
mod vertex;

use futures::future::BoxFuture;

#[cfg(test)]
pub(crate) use self::reader::Reader as GeminiReader;
use self::reader::Reader;
use self::request::Dialect;
use super::http::{Auth, Endpoint, Target};
use super::{ChatProvider, ChatRequest, LlmError, PartStream, receive};
use crate::config::ResolvedModel;

/// A model behind `streamGenerateContent`.
pub(crate) struct Gemini {
    endpoint: Endpoint,
    dialect: Dialect,
}

impl Gemini {
    /// The provider of `model`.
    ///
    /// # Errors
    /// When its address or a header cannot be one.
    pub(crate) fn new(model: &ResolvedModel) -> Result<Self, LlmError> {
        let endpoint = Endpoint::new(&Target {
            auth: Auth::Header("x-goog-api-key"),
            query: &[("alt", "sse")],
            ..Target::of(model, path(&model.provider.base_url, &model.model))
        })?;
        Ok(Self { endpoint, dialect: Dialect::of(model) })
    }

    /// The provider of a `model` on Vertex AI.
    ///
    /// # Errors
    /// When it is not known where that is or who asks, with what to set.
    pub(crate) fn on_vertex(
        model: &ResolvedModel,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, LlmError> {
        let place = vertex::place(model, env)?;
        let endpoint = Endpoint::new(&Target {
            base_url: &place.base,
            key: &place.key,
            auth: place.auth,
            query: &[("alt", "sse")],
            ..Target::of(model, place.path)
        })?;
        Ok(Self { endpoint, dialect: Dialect::of(model) })
    }
}

/// What follows the base address: people write it with and without the version.
fn path(base_url: &str, model: &str) -> String {
    let base = base_url.split(['?', '#']).next().unwrap_or_default().trim().trim_end_matches('/');
    let has_version = base.rsplit('/').next().is_some_and(|last| {
        last.starts_with('v') && last[1..].starts_with(|c: char| c.is_ascii_digit())
    });
    let version = if has_version { "" } else { "/v1beta" };
    let model = model.strip_prefix("models/").unwrap_or(model);
    format!("{version}/models/{model}:streamGenerateContent")
}

impl ChatProvider for Gemini {
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
mod tests {
    use super::*;

    #[test]
    fn the_version_may_be_in_the_address() {
        for base in ["https://h", "https://h/v1beta", "https://h/v1beta/"] {
            let with_path = format!("{}{}", base.trim_end_matches('/'), path(base, "models/g-2"));
            assert_eq!(with_path, "https://h/v1beta/models/g-2:streamGenerateContent");
        }
        assert_eq!(path("https://h/v1", "g"), "/models/g:streamGenerateContent");
    }
}
