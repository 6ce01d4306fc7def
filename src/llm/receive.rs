//! Asks a server and receives its answer, whatever the dialect: a [`Reader`] understands the events.
//!
//! Here is what all dialects share: where an answer ends, what is no answer at all, in which order
//! parts and a fault are handed out, and that no secret of ours is repeated in an error.

use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::Value;

use super::http::{ByteStream, Endpoint};
use super::masks::Masks;
use super::sse::{MAX_EVENT_BYTES, SseDecoder, SseEvent};
use super::{LlmError, PartStream, StreamPart, refusal, surrogate};

/// Bytes of a web page that are read to find its title.
const PAGE: usize = 64 * 1024;

/// Understands one answer in one dialect. Pure.
pub(crate) trait Reader: Send + 'static {
    /// Takes one event of the stream.
    ///
    /// # Errors
    /// [`LlmError::Status`] for an error object, [`LlmError::Connection`] for what makes no sense.
    fn event(&mut self, event: &SseEvent) -> Result<(), LlmError>;

    /// Takes an answer that came in one piece. `marked` is what [`surrogate::parse`] told.
    ///
    /// # Errors
    /// As [`Reader::event`].
    fn whole(&mut self, answer: &Value, marked: bool) -> Result<(), LlmError>;

    /// The stream has ended.
    ///
    /// # Errors
    /// [`LlmError::Connection`] when it ended before the answer did.
    fn end(&mut self) -> Result<(), LlmError>;

    /// Has the server said that the answer is over? (It may still send counts.)
    fn is_finished(&self) -> bool;

    /// Has the server said its very last word?
    fn is_done(&self) -> bool;

    /// The next part that can be handed out.
    fn pop(&mut self) -> Option<StreamPart>;
}

/// A server as errors name it.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    host: String,
}

impl Peer {
    /// The server at `host`.
    pub(crate) fn new(host: &str) -> Self {
        Self { host: host.to_owned() }
    }

    /// The error of an answer that broke in `detail`'s way; another attempt may work.
    pub(crate) fn broken(&self, detail: &str) -> LlmError {
        LlmError::Connection { host: self.host.clone(), detail: detail.to_owned() }
    }

    /// The error of a stream that ended too early.
    pub(crate) fn cut_off(&self, began: bool) -> LlmError {
        self.broken(if began {
            "the answer was cut off before its end"
        } else {
            "it closed the connection without an answer"
        })
    }

    /// The error that an error object inside a stream is.
    pub(crate) fn refused(&self, error: &Value) -> LlmError {
        refusal::in_stream(&self.host, error)
    }

    /// The JSON of an event; `None` when it has no data. See [`surrogate::parse`] for the flag.
    ///
    /// # Errors
    /// [`LlmError::Status`] when the event says that it is an error, [`LlmError::Connection`] when
    /// it is no JSON.
    pub(crate) fn json(&self, event: &SseEvent) -> Result<Option<(Value, bool)>, LlmError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(None);
        }
        match surrogate::parse(data) {
            Ok((error, _)) if event.name == "error" => Err(self.refused(&error)),
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) if event.name == "error" => Err(self.refused(&Value::from(data))),
            Err(error) => Err(self.broken(&format!(
                "a piece of the answer is not JSON ({error}): {}",
                refusal::shorten(data)
            ))),
        }
    }

    /// The error of a web page where an answer was expected.
    fn not_a_model(&self, page: &str) -> LlmError {
        LlmError::Protocol(format!(
            "{} answered with a web page (\"{}\") and not with a model's answer. \
             Check base_url of the provider: it usually ends in /v1",
            self.host,
            refusal::in_html(page)
        ))
    }
}

/// Posts `body` and gives the parts of the answer as `reader` understands it.
///
/// # Errors
/// When the request could not be made or was refused.
pub(crate) async fn ask<R: Reader>(
    endpoint: &Endpoint,
    body: &Value,
    reader: R,
) -> Result<PartStream, LlmError> {
    let body = serde_json::to_vec(body)
        .map_err(|error| LlmError::Protocol(format!("could not write JSON: {error}")))?;
    let answer = endpoint.post(body).await?;
    let peer = Peer::new(endpoint.host());
    let masks = endpoint.masks();
    if answer.media_type.contains("html") {
        return Err(masks.hide_in(web_page(&peer, answer.body).await));
    }
    Ok(parts(answer.body, reader, peer, masks, endpoint.patience().close))
}

/// The parts of an answer whose body is `bytes`.
pub(crate) fn parts<R: Reader>(
    bytes: ByteStream,
    reader: R,
    peer: Peer,
    masks: Masks,
    close: Duration,
) -> PartStream {
    let form = Form::Unknown(Vec::new());
    let receiver = Receiver { bytes, form, reader, peer, masks, close, fault: None, over: false };
    stream::unfold(receiver, |mut receiver| async move {
        let part = receiver.next().await?;
        Some((part, receiver))
    })
    .boxed()
}

/// Receives one answer.
struct Receiver<R> {
    bytes: ByteStream,
    form: Form,
    reader: R,
    peer: Peer,
    masks: Masks,
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

impl<R: Reader> Receiver<R> {
    async fn next(&mut self) -> Option<Result<StreamPart, LlmError>> {
        loop {
            if let Some(part) = self.reader.pop() {
                return Some(Ok(part));
            }
            if let Some(fault) = self.fault.take() {
                return Some(Err(self.masks.hide_in(fault)));
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
            if start.len() + bytes.len() > MAX_EVENT_BYTES {
                return Err(self.peer.broken("the answer begins with nothing but blanks"));
            }
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
                b'<' => Err(self.peer.not_a_model(&String::from_utf8_lossy(&all))),
                _ => {
                    self.form = Form::Events(SseDecoder::new());
                    self.events(&all)
                }
            };
        }
        match &mut self.form {
            Form::Json(body) if body.len() + bytes.len() > MAX_EVENT_BYTES => {
                Err(self.peer.broken("the answer is too large"))
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
        let events = decoder.push(bytes).map_err(|error| self.peer.broken(&error.to_string()))?;
        for event in &events {
            // What follows the last word is not the answer's.
            if self.reader.is_done() {
                break;
            }
            self.reader.event(event)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), LlmError> {
        self.over = true;
        match &mut self.form {
            Form::Unknown(_) => {}
            Form::Events(decoder) => {
                if let Some(event) = decoder.finish().filter(|_| !self.reader.is_done()) {
                    self.reader.event(&event)?;
                }
            }
            Form::Json(body) => {
                let text = String::from_utf8_lossy(body);
                let text = text.trim_start_matches('\u{feff}').trim();
                let (answer, marked) = surrogate::parse(text).map_err(|error| {
                    self.peer.broken(&format!("the answer is broken JSON ({error})"))
                })?;
                self.reader.whole(&answer, marked)?;
            }
        }
        self.reader.end()
    }
}

async fn web_page(peer: &Peer, mut body: ByteStream) -> LlmError {
    let mut page = Vec::new();
    while let Some(Ok(bytes)) = body.next().await {
        page.extend(bytes);
        if page.len() > PAGE {
            break;
        }
    }
    peer.not_a_model(&String::from_utf8_lossy(&page))
}
