//! The HTTP client of the providers: the only file that names `reqwest`.
//!
//! It posts JSON and hands out the answer's bytes; what it knows of models is how to say what went
//! wrong. It never retries and never follows a redirect: a POST that is redirected arrives as a GET,
//! and a key must not travel to a host nobody configured.

use std::error::Error as _;
use std::sync::{Once, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};

use super::LlmError;
use super::refusal;

const USER_AGENT: &str = concat!("kimi-tui/", env!("CARGO_PKG_VERSION"));
/// Bytes of an error's body that are read: its message is at the beginning.
const ERROR_BODY: usize = 64 * 1024;

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For the next byte, of the head or of the body.
    pub(crate) idle: Duration,
    /// For the end of the body, once what is in it is complete.
    pub(crate) close: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            idle: Duration::from_secs(120),
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

/// A place to post to.
pub(crate) struct Endpoint {
    url: reqwest::Url,
    host: String,
    headers: HeaderMap,
    patience: Patience,
    /// What must never be shown, though a server may repeat it.
    secret: String,
    client: OnceLock<Result<reqwest::Client, LlmError>>,
}

impl Endpoint {
    /// An endpoint at `base_url` + `path`, with a bearer key unless it is empty. `headers` come last
    /// and win. Costs nothing: the client is built at the first request.
    ///
    /// # Errors
    /// When an address or a header cannot be one, with what to change.
    pub(crate) fn new<'a>(
        base_url: &str,
        path: &str,
        key: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, LlmError> {
        let url = endpoint_url(base_url, path)?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (host, _) => host.unwrap_or_default().to_owned(),
        };
        Ok(Self {
            host,
            url,
            headers: header_map(key, headers)?,
            patience: Patience::default(),
            secret: key.to_owned(),
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
        let response = tokio::time::timeout(self.patience.idle, request.send())
            .await
            .map_err(|_| self.timeout(self.patience.idle))?
            .map_err(|error| fault(&self.host, &error, self.patience))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        Ok(HttpAnswer {
            media_type: media_type(response.headers()),
            body: body_stream(response, self.host.clone(), self.patience),
        })
    }

    fn client(&self) -> Result<&reqwest::Client, LlmError> {
        let built = self.client.get_or_init(|| build_client(&self.url, self.patience));
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
        let mut message = match location {
            Some(to) if (300..400).contains(&status) => {
                format!("it redirects to {to}; set base_url of the provider to where that is")
            }
            _ => refusal::message(status, &media_type(&headers), &body),
        };
        if self.secret.len() >= 8 {
            message = message.replace(&self.secret, "[api key]");
        }
        LlmError::Status { host: self.host.clone(), status, message, retry_after }
    }
}

fn endpoint_url(base_url: &str, path: &str) -> Result<reqwest::Url, LlmError> {
    let wrong = |why: &str| {
        LlmError::Protocol(format!(
            "base_url \"{base_url}\" of the provider {why}. Write it like \
             https://api.moonshot.cn/v1 or http://127.0.0.1:11434/v1"
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

fn header_map<'a>(
    key: &str,
    custom: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderMap, LlmError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(reqwest::header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    if !key.is_empty() {
        let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
            LlmError::Protocol(
                "the provider's api_key holds a character no key can have (a line break?). \
                 Copy it again"
                    .to_owned(),
            )
        })?;
        value.set_sensitive(true);
        headers.insert(reqwest::header::AUTHORIZATION, value);
    }
    for (name, value) in custom {
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

fn build_client(url: &reqwest::Url, patience: Patience) -> Result<reqwest::Client, LlmError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that somebody has installed one already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(patience.connect)
        .tcp_keepalive(Duration::from_secs(30));
    if url.scheme() == "http" {
        // No TLS will be spoken: a machine without certificates can still talk to its own server.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        // A proxy for the world has no way to this machine.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        LlmError::Protocol(format!(
            "could not set up TLS: {}. Install the system's CA certificates, or set SSL_CERT_FILE",
            root_cause(&error)
        ))
    })
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
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

    #[test]
    fn headers_that_cannot_be_are_told_without_their_values() {
        let header = |headers: &[(&str, &str)]| {
            header_map("k", headers.iter().copied()).map(|_| ()).map_err(|e| e.to_string())
        };
        let said = header(&[("X Team", "s3cret")]).expect_err("space");
        assert!(said.contains("X Team") && !said.contains("s3cret"), "{said}");
        assert!(header(&[("X-Team", "s3\ncret")]).expect_err("line").contains("X-Team"));
        assert!(header_map("a\nb", []).expect_err("key").to_string().contains("api_key"));
    }

    #[test]
    fn own_headers_win() {
        let headers = header_map("k", [("authorization", "Token t"), ("X-A", "1")]).expect("ok");
        assert_eq!(headers["authorization"], "Token t");
        assert_eq!(headers["x-a"], "1");
        assert!(headers["user-agent"].to_str().expect("text").starts_with("kimi-tui/"));
    }

    #[test]
    fn tls_is_set_up_or_says_what_it_lacks() {
        let endpoint = Endpoint::new("https://api.example.com/v1", "/x", "k", []).expect("one");
        if let Err(error) = endpoint.client() {
            assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
        }
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
        let loopback = |text: &str| is_loopback(&reqwest::Url::parse(text).expect("address"));
        for here in
            ["http://127.0.0.1:1", "http://localhost/v1", "http://[::1]:8/", "http://127.1.2.3"]
        {
            assert!(loopback(here), "{here}");
        }
        for there in ["http://10.0.0.1", "https://localhost.example.com", "http://[fe80::1]/"] {
            assert!(!loopback(there), "{there}");
        }
    }
}
