//! The HTTP client of the providers and of the tools that reach the web: with the files in its
//! folder the only one that names `reqwest`.
//!
//! It posts JSON and hands out the answer's bytes; what it knows of models is how to say what went
//! wrong. It never retries and never follows a redirect: a POST that is redirected arrives as a GET,
//! and a key must not travel to a host nobody configured.

mod client;
pub(crate) mod fetch;
mod form;
mod get;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::OnceLock;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};

use super::masks::Masks;
use super::oauth::Login;
use super::{LlmError, refusal};
use crate::config::{NetworkConfig, OauthConfig, ResolvedModel, without_login};

const USER_AGENT: &str = concat!("kimi-tui/", env!("CARGO_PKG_VERSION"));
/// Bytes of an error's body that are read: its message is at the beginning.
const ERROR_BODY: usize = 64 * 1024;

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For the head of the answer.
    pub(crate) first: Duration,
    /// For the next bytes of the body.
    pub(crate) idle: Duration,
    /// For the end of the body, once what is in it is complete.
    pub(crate) close: Duration,
}

impl Patience {
    /// As configured.
    pub(crate) fn of(network: &NetworkConfig) -> Self {
        Self {
            connect: network.connect_timeout,
            first: network.first_byte_timeout,
            idle: network.idle_timeout,
            close: Duration::from_secs(3),
        }
    }
}

/// The bytes of a body, in pieces as they came.
pub(crate) type ByteStream = BoxStream<'static, Result<Vec<u8>, LlmError>>;

/// An answer with a success status.
pub(crate) struct HttpAnswer {
    /// The media type, in lower case and without parameters; empty when there was none.
    pub(crate) media_type: String,
    /// The body. Dropping it closes the connection.
    pub(crate) body: ByteStream,
}

/// How a server is told the key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name.
    Header(&'static str),
}

/// What an [`Endpoint`] is made of.
pub(crate) struct Target<'a> {
    /// Where the provider is.
    pub(crate) base_url: &'a str,
    /// The key; empty for none.
    pub(crate) key: &'a str,
    /// Headers that the person wants.
    pub(crate) custom_headers: &'a BTreeMap<String, String>,
    /// How it is reached.
    pub(crate) network: &'a NetworkConfig,
    /// What follows the base address.
    pub(crate) path: String,
    /// Pairs for the query.
    pub(crate) query: &'a [(&'a str, &'a str)],
    /// How the key is told.
    pub(crate) auth: Auth,
    /// Headers that the dialect wants.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// The login that a token is taken from, instead of a key.
    pub(crate) login: Option<&'a OauthConfig>,
}

impl<'a> Target<'a> {
    /// `path` at the provider of `model`, with a bearer key.
    pub(crate) fn of(model: &'a ResolvedModel, path: impl Into<String>) -> Self {
        Self {
            base_url: &model.provider.base_url,
            key: &model.provider.api_key,
            custom_headers: &model.provider.custom_headers,
            network: &model.network,
            path: path.into(),
            query: &[],
            auth: Auth::Bearer,
            headers: &[],
            login: model.provider.login(),
        }
    }
}

/// A place to post to.
pub(crate) struct Endpoint {
    url: reqwest::Url,
    host: String,
    headers: HeaderMap,
    patience: Patience,
    network: NetworkConfig,
    masks: Masks,
    login: Option<Login>,
    client: OnceLock<Result<reqwest::Client, LlmError>>,
}

/// A client for `url`, for those who speak another protocol over HTTP: with the configured proxy and
/// certificates, and without following redirects.
///
/// # Errors
/// When `url` is no address, or the client cannot be set up, with what to change.
pub(crate) fn web_client(url: &str, network: &NetworkConfig) -> Result<reqwest::Client, LlmError> {
    let url = reqwest::Url::parse(url)
        .map_err(|error| LlmError::Protocol(format!("\"{url}\" is no address ({error})")))?;
    client::build(&url, Patience::of(network), network)
}

impl Endpoint {
    /// An endpoint at `target`. Custom headers come last and win. Costs nothing: the client is built
    /// at the first request.
    ///
    /// # Errors
    /// When an address or a header cannot be one, with what to change.
    pub(crate) fn new(target: &Target<'_>) -> Result<Self, LlmError> {
        let mut url = endpoint_url(target.base_url, &target.path)?;
        if !target.query.is_empty() {
            url.query_pairs_mut().extend_pairs(target.query);
        }
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_owned(),
        };
        let mut masks = Masks::default();
        masks.add(target.key);
        masks.add(url.password().unwrap_or_default());
        for (name, value) in target.custom_headers {
            masks.add_header(name, value);
        }
        let headers = header_map(target)?;
        // A person's own header wins.
        let login = target.login.filter(|_| !headers.contains_key(AUTHORIZATION));
        Ok(Self {
            login: login.map(|oauth| Login::new(oauth, target.network, &host)),
            host,
            url,
            headers,
            patience: Patience::of(target.network),
            network: target.network.clone(),
            masks,
            client: OnceLock::new(),
        })
    }

    /// The same with other waiting times.
    #[cfg(test)]
    pub(crate) fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// How long it waits.
    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    /// What errors must not repeat.
    pub(crate) fn masks(&self) -> Masks {
        let mut masks = self.masks.clone();
        if let Some(login) = &self.login {
            masks.add(&login.latest());
        }
        masks
    }

    /// Does nobody on the way read what is sent?
    pub(crate) fn is_private(&self) -> bool {
        self.url.scheme() == "https" || client::is_loopback(&self.url)
    }

    /// Whom errors name: host and, unless it is the usual one, port.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Posts `body`, waits for the head of the answer.
    ///
    /// # Errors
    /// [`LlmError::Connection`] and [`LlmError::Timeout`] when there is no answer,
    /// [`LlmError::Status`] when there is one that is not a success.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<HttpAnswer, LlmError> {
        let request =
            self.client()?.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let response = self.send_as_whoever(request).await?;
        Ok(HttpAnswer {
            media_type: media_type(response.headers()),
            body: body_stream(response, self.host.clone(), self.patience),
        })
    }

    /// Sends `request` with the token of the login, where there is one; with a new one when the server
    /// refuses it, once. Whoever is refused with that one has to log in again.
    async fn send_as_whoever(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<reqwest::Response, LlmError> {
        let Some(login) = &self.login else { return self.send(request).await };
        let token = login.token().await?;
        let again = request.try_clone();
        match (self.send(with_token(request, &token)?).await, again) {
            (Err(LlmError::Status { status: 401, .. }), Some(again)) => {
                let token = login.renewed(&token).await?;
                match self.send(with_token(again, &token)?).await {
                    Err(LlmError::Status { status: 401, .. }) => Err(login.is_void()),
                    answer => answer,
                }
            }
            (answer, _) => answer,
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, LlmError> {
        let response = tokio::time::timeout(self.patience.first, request.send())
            .await
            .map_err(|_| self.timeout(self.patience.first))?
            .map_err(|error| fault(&self.host, &error, self.patience))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        Ok(response)
    }

    fn client(&self) -> Result<&reqwest::Client, LlmError> {
        let built =
            self.client.get_or_init(|| client::build(&self.url, self.patience, &self.network));
        built.as_ref().map_err(LlmError::clone)
    }

    fn timeout(&self, after: Duration) -> LlmError {
        LlmError::Timeout { host: self.host.clone(), after }
    }

    async fn refused(&self, response: reqwest::Response) -> LlmError {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = refusal::retry_after(
            header("retry-after-ms"),
            header("retry-after"),
            jiff::Timestamp::now(),
        );
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        let mut body = Vec::new();
        let mut chunks = body_stream(response, self.host.clone(), self.patience);
        // The status alone is an answer: a body that breaks off must not hide it.
        while let Some(Ok(chunk)) = chunks.next().await {
            body.extend(chunk);
            if body.len() >= ERROR_BODY {
                break;
            }
        }
        let message = match location {
            Some(to) if (300..400).contains(&status) => {
                format!("it redirects to {to}; set base_url of the provider to where that is")
            }
            _ => refusal::message(status, &media_type(&headers), &body),
        };
        let host = self.host.clone();
        self.masks().hide_in(LlmError::Status { host, status, message, retry_after })
    }
}

fn with_token(
    request: reqwest::RequestBuilder,
    token: &str,
) -> Result<reqwest::RequestBuilder, LlmError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
        LlmError::Protocol("the token of the login is damaged: log in again".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(request.header(AUTHORIZATION, value))
}

fn endpoint_url(base_url: &str, path: &str) -> Result<reqwest::Url, LlmError> {
    let wrong = |why: &str| {
        LlmError::Protocol(format!(
            "base_url \"{}\" of the provider {why}. Write it like \
             https://api.moonshot.cn/v1 or http://127.0.0.1:11434/v1",
            without_login(base_url)
        ))
    };
    if base_url.trim().is_empty() {
        return Err(wrong("is empty"));
    }
    let mut url = reqwest::Url::parse(base_url.trim())
        .map_err(|error| wrong(&format!("is no address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("does not begin with http:// or https:// and a host"));
    }
    // A query stays (Azure's api-version); a person may have given the whole address.
    let base = url.path().trim_end_matches('/').to_owned();
    if !base.ends_with(path) {
        url.set_path(&format!("{base}{path}"));
    }
    Ok(url)
}

fn header_map(target: &Target<'_>) -> Result<HeaderMap, LlmError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(reqwest::header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    if !target.key.is_empty() {
        let (name, text) = match target.auth {
            Auth::Bearer => ("authorization", format!("Bearer {}", target.key)),
            Auth::Header(name) => (name, target.key.to_owned()),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            LlmError::Protocol(
                "the provider's api_key holds a character no key can have (a line break?). \
                 Copy it again"
                    .to_owned(),
            )
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    let own = target.headers.iter().copied();
    let custom = target.custom_headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in own.chain(custom) {
        // The value may be a secret: it is not told.
        let wrong = || {
            LlmError::Protocol(format!(
                "custom_headers of the provider: \"{name}\" is no header's name, or its value \
                 holds a character that is not allowed"
            ))
        };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn body_stream(response: reqwest::Response, host: String, patience: Patience) -> ByteStream {
    stream::unfold(Some((response, host)), move |state| async move {
        let (mut response, host) = state?;
        match tokio::time::timeout(patience.idle, response.chunk()).await {
            Ok(Ok(Some(chunk))) => Some((Ok(chunk.to_vec()), Some((response, host)))),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => Some((Err(fault(&host, &error, patience)), None)),
            Err(_) => Some((Err(LlmError::Timeout { host, after: patience.idle }), None)),
        }
    })
    .boxed()
}

fn fault(host: &str, error: &reqwest::Error, patience: Patience) -> LlmError {
    let host = host.to_owned();
    if error.is_timeout() {
        let after = if error.is_connect() { patience.connect } else { patience.idle };
        return LlmError::Timeout { host, after };
    }
    if error.is_builder() {
        return LlmError::Protocol(format!("could not make the request: {}", root_cause(error)));
    }
    let cause = root_cause(error);
    let detail = if error.is_connect() {
        format!("no connection ({cause})")
    } else if error.is_body() || error.is_decode() {
        format!("the answer was cut off ({cause})")
    } else {
        cause
    };
    LlmError::Connection { host, detail }
}

/// The innermost reason: the outer ones only say that something failed, and may hold the address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(inner) = cause.and_then(|cause| cause.source()) {
        cause = Some(inner);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str) -> String {
        endpoint_url(base, "/chat/completions").map_or_else(|e| e.to_string(), |u| u.to_string())
    }

    #[test]
    fn a_base_url_may_end_as_it_likes() {
        for base in
            ["http://h/v1", "http://h/v1/", " http://h/v1// ", "http://h/v1/chat/completions"]
        {
            assert_eq!(url(base), "http://h/v1/chat/completions");
        }
        assert_eq!(url("https://h/o?api-version=1"), "https://h/o/chat/completions?api-version=1");
    }

    #[test]
    fn a_wrong_base_url_is_told_with_an_example() {
        for base in ["", "api.moonshot.cn/v1", "localhost:11434", "ftp://h/", "http://"] {
            let said = url(base);
            assert!(said.contains("base_url") && said.contains("https://api."), "{base}: {said}");
        }
    }

    fn headers(key: &str, custom: &[(&str, &str)]) -> Result<HeaderMap, String> {
        let custom = custom.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let target = Target {
            base_url: "http://h",
            key,
            custom_headers: &custom,
            network: &NetworkConfig::default(),
            path: String::new(),
            query: &[],
            auth: Auth::Bearer,
            headers: &[("x-own", "1")],
            login: None,
        };
        header_map(&target).map_err(|error| error.to_string())
    }

    #[test]
    fn headers_that_cannot_be_are_told_without_their_values() {
        let said = headers("k", &[("X Team", "s3cret")]).expect_err("space");
        assert!(said.contains("X Team") && !said.contains("s3cret"), "{said}");
        assert!(headers("k", &[("X-Team", "s3\ncret")]).expect_err("line").contains("X-Team"));
        assert!(headers("a\nb", &[]).expect_err("key").contains("api_key"));
    }

    #[test]
    fn custom_headers_win() {
        let headers = headers("k", &[("authorization", "Token t"), ("X-A", "1"), ("X-Own", "2")])
            .expect("ok");
        assert_eq!(headers["authorization"], "Token t");
        assert_eq!(
            (&headers["x-a"], &headers["x-own"]),
            (&"1".parse().expect("v"), &"2".parse().expect("v"))
        );
        assert!(headers["user-agent"].to_str().expect("text").starts_with("kimi-tui/"));
    }
}
