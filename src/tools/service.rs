//! The web services upstream's makers offer: one JSON question, one answer.

use futures::StreamExt;
use serde_json::Value;

use crate::config::{NetworkConfig, ServiceConfig};
use crate::llm::LlmError;
use crate::llm::http::{Auth, Endpoint, Target};

/// Bytes of an answer that are taken.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long a service may take, in seconds.
pub(super) const LIMIT_S: u64 = 30;

/// A service.
pub(crate) struct Service {
    config: ServiceConfig,
    network: NetworkConfig,
}

impl Service {
    pub fn new(config: &ServiceConfig, network: &NetworkConfig) -> Self {
        Self { config: config.clone(), network: network.clone() }
    }

    /// Asks `question`; gives the answer's text.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub async fn post(&self, question: &Value, accept: &str) -> Result<String, String> {
        let limit = std::time::Duration::from_secs(LIMIT_S + 5);
        tokio::time::timeout(limit, self.ask(question, accept))
            .await
            .unwrap_or_else(|_| Err(format!("The service did not answer within {LIMIT_S} s.")))
    }

    async fn ask(&self, question: &Value, accept: &str) -> Result<String, String> {
        let told = |error: LlmError| format!("The service failed: {error}.");
        let endpoint = Endpoint::new(&Target {
            base_url: &self.config.base_url,
            key: &self.config.api_key,
            custom_headers: &self.config.custom_headers,
            network: &self.network,
            path: String::new(),
            query: &[],
            auth: Auth::Bearer,
            headers: &[("accept", accept)],
            login: self.config.login(),
        })
        .map_err(told)?;
        let mut answer = endpoint.post(question.to_string().into_bytes()).await.map_err(told)?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.body.next().await {
            body.extend(chunk.map_err(told)?);
            if body.len() > MAX_BYTES {
                return Err("The service's answer is too long.".to_owned());
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}
