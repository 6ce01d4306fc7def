//! Chat completions: provider kinds `kimi` and `openai_legacy`.
//!
//! `request` writes the body, `reader` understands the answer, `calls` puts tool calls together;
//! here is the provider that drives them over [`Endpoint`].

mod calls;
mod reader;
mod request;

use std::time::Duration;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};

use self::reader::Reader;
pub use self::request::Sampling;
use self::request::{Dialect, Thinking};
use super::http::{ByteStream, Endpoint};
use super::sse::{MAX_EVENT_BYTES, SseDecoder};
use super::{ChatProvider, ChatRequest, LlmError, PartStream, StreamPart, refusal, surrogate};
use crate::config::{Capability, ProviderKind, ResolvedModel};

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
        let headers = provider.custom_headers.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let endpoint =
            Endpoint::new(&provider.base_url, "/chat/completions", &provider.api_key, headers)?;
        let can = |capability| model.capabilities.contains(&capability);
        let thinking = match model.thinking {
            _ if can(Capability::AlwaysThinking) => Thinking::On,
            true if can(Capability::Thinking) => Thinking::On,
            true => Thinking::Unsaid,
            false => Thinking::Off,
        };
        let is_kimi = provider.kind == ProviderKind::Kimi;
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
            let body = serde_json::to_vec(&self.dialect.body(&request))
                .map_err(|error| LlmError::Protocol(format!("could not write JSON: {error}")))?;
            let answer = self.endpoint.post(body).await?;
            let host = self.endpoint.host();
            if answer.media_type.contains("html") {
                return Err(web_page(host, answer.body).await);
            }
            let reader = Reader::new(host, self.dialect.reasoning_key.as_deref());
            let close = self.endpoint.patience().close;
            let receiver = Receiver::new(answer.body, reader, close);
            Ok(stream::unfold(receiver, |mut receiver| async move {
                let part = receiver.next().await?;
                Some((part, receiver))
            })
            .boxed())
        })
    }
}

/// Receives one answer.
struct Receiver {
    bytes: ByteStream,
    form: Form,
    reader: Reader,
    /// How long to wait for the end of a complete answer.
    close: Duration,
    fault: Option<LlmError>,
    over: bool,
}

/// What form the body has. The first character tells, whatever the headers say.
enum Form {
    /// Nothing but blanks so far.
    Unknown(Vec<u8>),
    /// A stream of events.
    Events(SseDecoder),
    /// One JSON value: a server that does not stream, or an error.
    Json(Vec<u8>),
}

impl Receiver {
    fn new(bytes: ByteStream, reader: Reader, close: Duration) -> Self {
        Self { bytes, form: Form::Unknown(Vec::new()), reader, close, fault: None, over: false }
    }

    async fn next(&mut self) -> Option<Result<StreamPart, LlmError>> {
        loop {
            if let Some(part) = self.reader.parts.pop_front() {
                return Some(Ok(part));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(fault));
            }
            if self.over {
                return None;
            }
            if let Err(fault) = self.advance().await {
                // What was understood before it comes first.
                self.over = true;
                self.fault = Some(fault);
            }
        }
    }

    /// Reads the next bytes.
    async fn advance(&mut self) -> Result<(), LlmError> {
        let chunk = if self.reader.is_done() {
            None
        } else if self.reader.is_finished() {
            // The answer is here: neither a fault nor a server that keeps the line matters now.
            match tokio::time::timeout(self.close, self.bytes.next()).await {
                Ok(Some(Ok(bytes))) => Some(bytes),
                _ => None,
            }
        } else {
            self.bytes.next().await.transpose()?
        };
        match chunk {
            Some(bytes) => self.take(&bytes),
            None => self.end(),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if let Form::Unknown(start) = &mut self.form {
            start.extend_from_slice(bytes);
            let seen = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start);
            let Some(first) = seen.iter().copied().find(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(());
            };
            let all = std::mem::take(start);
            return match first {
                b'{' | b'[' => {
                    self.form = Form::Json(all);
                    Ok(())
                }
                b'<' => Err(not_a_model(self.reader.host(), &String::from_utf8_lossy(&all))),
                _ => {
                    self.form = Form::Events(SseDecoder::new());
                    self.events(&all)
                }
            };
        }
        match &mut self.form {
            Form::Json(body) if body.len() + bytes.len() > MAX_EVENT_BYTES => {
                Err(self.reader.broken("the answer is too large"))
            }
            Form::Json(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            _ => self.events(bytes),
        }
    }

    fn events(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        let Form::Events(decoder) = &mut self.form else { return Ok(()) };
        let events = decoder.push(bytes).map_err(|error| self.reader.broken(&error.to_string()))?;
        events.iter().try_for_each(|event| self.reader.event(event))
    }

    fn end(&mut self) -> Result<(), LlmError> {
        self.over = true;
        match &mut self.form {
            Form::Unknown(_) => {}
            Form::Events(decoder) => {
                if let Some(event) = decoder.finish() {
                    self.reader.event(&event)?;
                }
            }
            Form::Json(body) => {
                let text = String::from_utf8_lossy(body);
                let text = text.trim_start_matches('\u{feff}').trim();
                let (answer, marked) = surrogate::parse(text).map_err(|error| {
                    self.reader.broken(&format!("the answer is broken JSON ({error})"))
                })?;
                self.reader.chunk(&answer, marked)?;
            }
        }
        self.reader.end()
    }
}

async fn web_page(host: &str, mut body: ByteStream) -> LlmError {
    let mut page = Vec::new();
    while let Some(Ok(bytes)) = body.next().await {
        page.extend(bytes);
        if page.len() > 64 * 1024 {
            break;
        }
    }
    not_a_model(host, &String::from_utf8_lossy(&page))
}

fn not_a_model(host: &str, page: &str) -> LlmError {
    LlmError::Protocol(format!(
        "{host} answered with a web page (\"{}\") and not with a model's answer. \
         Check base_url of the provider: it usually ends in /v1",
        refusal::in_html(page)
    ))
}

#[cfg(test)]
mod tests;
