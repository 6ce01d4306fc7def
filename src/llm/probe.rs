//! Looking at a server before it is used: which models it has, whether it takes the key, what a
//! person can do when it does not.

#[cfg(test)]
mod tests;

use std::time::Duration;

use futures::StreamExt;
use serde_json::Value;

use super::http::{Auth, Endpoint, Target};
use super::{ChatRequest, LlmError, build};
use crate::config::{NetworkConfig, Offered, ProviderConfig, ProviderKind, ResolvedModel};
use crate::message::Message;

/// Longest time a look may take at each of its stages.
const WITHIN: Duration = Duration::from_secs(8);

/// A server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What it is: `Ollama`, `llama.cpp`.
    pub name: &'static str,
    /// The base address for chat completions.
    pub base_url: String,
    /// What it has.
    pub models: Vec<Offered>,
}

/// What a look at a model's server told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is there, and so is the model.
    Ready,
    /// It is there and has no such model, but these.
    NoSuchModel(Vec<Offered>),
}

/// What is in the way, for the choice of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The name of the host is known to nobody.
    UnknownHost,
    /// Nothing listens there.
    Refused,
    /// No trust in the server's certificate, or no TLS at all.
    Tls,
    /// The key is wrong or missing.
    Key,
    /// There is no login.
    Login,
    /// The key may not do this.
    Forbidden,
    /// The address or the model is not there.
    NotFound,
    /// Too many requests, or no credit.
    Limit,
    /// It did not answer in time.
    Slow,
    /// The server has trouble of its own.
    Server,
    /// Something else.
    Other,
}

impl Trouble {
    /// The trouble behind `error`.
    #[must_use]
    pub fn of(error: &LlmError) -> Self {
        match error {
            LlmError::Timeout { .. } => Self::Slow,
            LlmError::Connection { detail, .. } => {
                let detail = detail.to_lowercase();
                let says = |words: &[&str]| words.iter().any(|word| detail.contains(word));
                if says(&["lookup", "dns", "resolve", "name or service", "nodename"]) {
                    Self::UnknownHost
                } else if says(&["refused"]) {
                    Self::Refused
                } else if says(&["certificate", "tls", "ssl", "corrupt message", "handshake"]) {
                    Self::Tls
                } else {
                    Self::Other
                }
            }
            LlmError::Status { status, .. } => match status {
                401 => Self::Key,
                403 => Self::Forbidden,
                404 | 405 => Self::NotFound,
                402 | 429 => Self::Limit,
                408 | 504 => Self::Slow,
                500.. => Self::Server,
                _ => Self::Other,
            },
            LlmError::LoggedOut { .. } => Self::Login,
            LlmError::Empty | LlmError::Protocol(_) => Self::Other,
        }
    }

    /// What a person can do about it; `place` says where the provider is configured.
    #[must_use]
    pub fn cure(self, place: &str) -> String {
        match self {
            Self::UnknownHost => format!(
                "Check base_url in {place}, and the network: behind a proxy set HTTPS_PROXY, or \
                 proxy below [network]."
            ),
            Self::Refused => format!(
                "Nothing listens there. Start the server, or correct host and port of base_url in \
                 {place}."
            ),
            Self::Tls => "Behind a company's proxy set ca_file below [network], or SSL_CERT_FILE, \
                          to its certificate; a server without TLS wants http:// in base_url."
                .to_owned(),
            Self::Login => "Type /login, or run kimi-tui login --oauth.".to_owned(),
            Self::Key => format!("Put a valid api_key into {place}: kimi-tui login does it."),
            Self::Forbidden => {
                "The key may not use this model, or not from this country: see the provider's \
                 console."
                    .to_owned()
            }
            Self::NotFound => {
                format!("Check base_url in {place} (it usually ends in /v1) and the model's name.")
            }
            Self::Limit => {
                "Wait, or look at credit and limits in the provider's console.".to_owned()
            }
            Self::Slow => "Try again; behind a proxy set HTTPS_PROXY. For a slow server raise \
                           first_byte_timeout_s below [network]."
                .to_owned(),
            Self::Server => "The service has trouble: try again later.".to_owned(),
            Self::Other => format!("Check base_url in {place}, and the network."),
        }
    }
}

/// Asks the server of `provider` for its models. Costs no tokens.
///
/// # Errors
/// What went wrong; servers without such a list answer 404.
pub async fn models(
    provider: &ProviderConfig,
    network: &NetworkConfig,
) -> Result<Vec<Offered>, LlmError> {
    let base = provider.base_url.split(['?', '#']).next().unwrap_or_default();
    let base = base.trim().trim_end_matches('/');
    let last = base.rsplit('/').next().unwrap_or_default();
    let has_version = last.len() > 1
        && last.starts_with('v')
        && last[1..].starts_with(|c: char| c.is_ascii_digit());
    let (path, auth, headers): (_, _, &[(&str, &str)]) = match provider.kind {
        ProviderKind::Anthropic => (
            if has_version { "/models" } else { "/v1/models" },
            Auth::Header("x-api-key"),
            &[("anthropic-version", "2023-06-01"), ("accept", "application/json")],
        ),
        ProviderKind::GoogleGenai => (
            if has_version { "/models" } else { "/v1beta/models" },
            Auth::Header("x-goog-api-key"),
            &[("accept", "application/json")],
        ),
        ProviderKind::Kimi | ProviderKind::OpenaiLegacy | ProviderKind::OpenaiResponses => {
            ("/models", Auth::Bearer, &[("accept", "application/json")])
        }
        kind => {
            let name = kind.name();
            return Err(LlmError::Protocol(format!("a provider of type {name} has no server")));
        }
    };
    let network = hasty(network);
    let endpoint = Endpoint::new(&Target {
        base_url: &provider.base_url,
        key: &provider.api_key,
        custom_headers: &provider.custom_headers,
        network: &network,
        path: path.to_owned(),
        query: &[],
        auth,
        headers,
        login: provider.login(),
    })?;
    let list = read_list(&endpoint.get_json().await?);
    list.ok_or_else(|| LlmError::Protocol(format!("{} sent no list of models", endpoint.host())))
}

fn hasty(network: &NetworkConfig) -> NetworkConfig {
    NetworkConfig {
        connect_timeout: network.connect_timeout.min(WITHIN),
        first_byte_timeout: network.first_byte_timeout.min(WITHIN),
        idle_timeout: network.idle_timeout.min(WITHIN),
        ..network.clone()
    }
}

/// The models in an answer, wherever servers put them: `data` (OpenAI and most others, Anthropic),
/// `models` (Gemini, Ollama), or the bare list.
fn read_list(answer: &Value) -> Option<Vec<Offered>> {
    let list = answer.get("data").or_else(|| answer.get("models")).unwrap_or(answer).as_array()?;
    Some(list.iter().filter_map(read_model).collect())
}

fn read_model(model: &Value) -> Option<Offered> {
    let name = ["id", "name", "model"].iter().find_map(|key| model.get(*key)?.as_str());
    let name = name.or_else(|| model.as_str())?;
    let sizes = [
        "context_length",
        "context_window",
        "max_model_len",
        "inputTokenLimit",
        "max_input_tokens",
    ];
    let context = sizes.iter().find_map(|key| model.get(*key)?.as_u64());
    let context = context.or_else(|| model.pointer("/meta/n_ctx_train").and_then(Value::as_u64));
    Some(Offered {
        name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        context: context.filter(|size| *size > 0),
    })
}

/// Is the server of `model` there, does it take the key, has it the model? By its list of models
/// where it has one, which costs nothing, otherwise by the smallest question there is.
///
/// # Errors
/// What is in the way.
pub async fn check(model: &ResolvedModel) -> Result<Found, LlmError> {
    match models(&model.provider, &model.network).await {
        Ok(list) if list.is_empty() => ask(model).await,
        Ok(list) => {
            let wanted = model.model.as_str();
            // Ollama's names go without the tag too.
            let is_it = |offered: &Offered| {
                offered.name == wanted || offered.name.strip_suffix(":latest") == Some(wanted)
            };
            let is_there = list.iter().any(is_it);
            Ok(if is_there { Found::Ready } else { Found::NoSuchModel(list) })
        }
        Err(LlmError::Status { status: 400 | 404 | 405 | 501, .. } | LlmError::Protocol(_)) => {
            ask(model).await
        }
        Err(error) => Err(error),
    }
}

/// One request for as little as can be asked for, broken off at its first piece.
async fn ask(model: &ResolvedModel) -> Result<Found, LlmError> {
    let small = ResolvedModel {
        thinking: false,
        max_output_tokens: Some(16),
        network: hasty(&model.network),
        ..model.clone()
    };
    let provider = build(&small)?;
    let messages = [Message::user("hi")];
    let request = ChatRequest {
        system: "Answer with one word.",
        tools: &[],
        messages: &messages,
        cache_key: None,
        input_tokens: None,
    };
    let mut parts = provider.stream(request).await?;
    match parts.next().await {
        Some(Err(LlmError::Empty) | Ok(_)) => Ok(Found::Ready),
        Some(Err(error)) => Err(error),
        None => Err(LlmError::Empty),
    }
}

/// Where local servers listen unless told otherwise.
pub const LOCAL: [(&str, &str); 4] = [
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];

/// The servers of `places` (name and base address) that answer with a list of models. On this machine
/// a port is open or it is not: none of them is waited for.
pub async fn local_servers(places: &[(&'static str, &str)]) -> Vec<LocalServer> {
    let network = NetworkConfig {
        connect_timeout: Duration::from_millis(400),
        first_byte_timeout: Duration::from_millis(1500),
        idle_timeout: Duration::from_millis(1500),
        ..NetworkConfig::default()
    };
    let looks = places.iter().map(|(name, address)| {
        let network = &network;
        async move {
            let provider = local_provider(address);
            let models = models(&provider, network).await.ok()?;
            Some(LocalServer { name, base_url: (*address).to_owned(), models })
        }
    });
    futures::future::join_all(looks).await.into_iter().flatten().collect()
}

fn local_provider(address: &str) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::OpenaiLegacy,
        base_url: address.to_owned(),
        api_key: String::new(),
        env: Default::default(),
        custom_headers: Default::default(),
        reasoning_key: None,
        oauth: None,
    }
}
