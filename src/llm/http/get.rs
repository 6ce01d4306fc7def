//! Small answers read as a whole: lists of models.

use futures::StreamExt;
use serde_json::Value;

use super::{Endpoint, body_stream, media_type};
use crate::llm::{LlmError, refusal};

/// Bytes of an answer that is read as a whole, at most. The longest list of models known has 2 MB.
const MOST: usize = 16 << 20;

impl Endpoint {
    /// Fetches JSON.
    ///
    /// # Errors
    /// As [`Endpoint::post`]; [`LlmError::Protocol`] when what comes is not JSON.
    pub(crate) async fn get_json(&self) -> Result<Value, LlmError> {
        let request = self.client()?.get(self.url.clone()).headers(self.headers.clone());
        let response = self.send_as_whoever(request).await?;
        let kind = media_type(response.headers());
        let mut body = Vec::new();
        let mut pieces = body_stream(response, self.host.clone(), self.patience);
        while let Some(piece) = pieces.next().await {
            body.extend(piece?);
            if body.len() > MOST {
                return Err(LlmError::Protocol(format!("{} sent too long an answer", self.host)));
            }
        }
        serde_json::from_slice(&body).map_err(|_| {
            let text = String::from_utf8_lossy(&body);
            LlmError::Protocol(if refusal::is_html(&kind, &text) {
                let host = &self.host;
                format!("{host} answered with a web page: base_url points at a web site, add /v1")
            } else {
                format!("{} answered with something that is not JSON", self.host)
            })
        })
    }
}
