//! Forms posted, and small answers to them whatever their status: what OAuth speaks.

use futures::StreamExt;
use serde_json::Value;

use super::{Endpoint, body_stream, fault};
use crate::llm::LlmError;

/// Bytes of an answer that are read.
const MOST: usize = 1 << 20;

impl Endpoint {
    /// Posts `pairs` as a form; the status and the JSON of the answer, null when it has none.
    ///
    /// # Errors
    /// When there is no answer.
    pub(crate) async fn post_form(&self, pairs: &[(&str, &str)]) -> Result<(u16, Value), LlmError> {
        let mut form = self.url.clone();
        form.query_pairs_mut().clear().extend_pairs(pairs);
        let body = form.query().unwrap_or_default().to_owned();
        let request =
            self.client()?.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let response = tokio::time::timeout(self.patience.first, request.send())
            .await
            .map_err(|_| self.timeout(self.patience.first))?
            .map_err(|error| fault(&self.host, &error, self.patience))?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut pieces = body_stream(response, self.host.clone(), self.patience);
        while let Some(piece) = pieces.next().await {
            body.extend(piece?);
            if body.len() > MOST {
                break;
            }
        }
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }
}
