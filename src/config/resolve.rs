//! Which model a session talks to: flag, environment and configuration put together
//! (upstream's `llm.py:276-314, 532-540` and `app.py:224-231`).

use super::error::{ConfigError, ConfigErrorKind};
use super::names::{self, quoted_unless_bare};
use super::{Capability, Config, ModelConfig, ProviderConfig, ProviderKind, ResolvedModel};

/// Where Kimi is when nothing says otherwise.
pub const KIMI_BASE_URL: &str = "https://api.moonshot.ai/v1";
/// Where OpenAI is when nothing says otherwise.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";
/// Where Anthropic is when nothing says otherwise.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";
/// Where Gemini is when nothing says otherwise.
pub const GEMINI_BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";
/// Context window of a model nobody described, in tokens; upstream's figure.
pub const ASSUMED_CONTEXT: u64 = 100_000;

/// Looks a variable up; an empty one counts as absent.
struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl Config {
    /// The model to use: `flag` (a key of `models`, or a model's own name), else `KIMI_MODEL_NAME`
    /// for a `kimi` provider, else `default_model`, with the environment's addresses and keys.
    /// `None` when nothing is configured at all: the demo model's case.
    ///
    /// # Errors
    /// When the model is unknown, or what is configured does not suffice to reach it.
    pub fn resolve_model(
        &self,
        flag: Option<&str>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<ResolvedModel>, ConfigError> {
        let env = Environment(env);
        let flag = flag.map(str::trim).filter(|flag| !flag.is_empty());
        let Some((key, model, provider_key, provider)) = self.choose(flag, &env)? else {
            return Ok(None);
        };
        let (model, mut provider) = with_environment(model, provider, flag.is_some(), &env)?;
        provider.oauth =
            provider.oauth.map(|oauth| Box::new(oauth.completed(provider.kind, env.0)));
        check_reachable(&model, &provider_key, &provider)?;
        let capabilities = capabilities_of(&model);
        let thinks = |capability| capabilities.contains(&capability);
        let thinking = thinks(Capability::AlwaysThinking)
            || (self.default_thinking && thinks(Capability::Thinking));
        Ok(Some(ResolvedModel {
            key,
            display_name: model.display_name.unwrap_or_else(|| model.model.clone()),
            model: model.model,
            max_context_size: model.max_context_size,
            capabilities,
            thinking,
            provider,
            max_output_tokens: model.max_output_tokens,
            price: model.price,
            network: self.network.clone(),
        }))
    }

    /// Key, model, provider's key and provider, before the environment changes them.
    fn choose(
        &self,
        flag: Option<&str>,
        env: &Environment<'_>,
    ) -> Result<Option<(String, ModelConfig, String, ProviderConfig)>, ConfigError> {
        if let Some(key) = self.key_of(flag)? {
            let Some(model) = self.models.get(&key) else { return Err(self.unknown_model(&key)) };
            let Some(provider) = self.providers.get(&model.provider) else {
                return Err(no_provider(&key, &model.provider, self));
            };
            return Ok(Some((key, model.clone(), model.provider.clone(), provider.clone())));
        }
        let Some((provider_key, kind, name)) = from_environment(flag, env)? else {
            return match flag {
                Some(flag) => Err(self.unknown_model(flag)),
                None => Ok(None),
            };
        };
        let model = ModelConfig {
            provider: String::new(),
            model: name.clone(),
            max_context_size: ASSUMED_CONTEXT,
            capabilities: None,
            display_name: None,
            max_output_tokens: None,
            price: None,
        };
        Ok(Some((name, model, provider_key.to_owned(), empty_provider(kind))))
    }

    /// The key of the model that is meant; none when only the environment can tell.
    fn key_of(&self, flag: Option<&str>) -> Result<Option<String>, ConfigError> {
        let Some(flag) = flag else {
            if !self.default_model.is_empty() {
                return Ok(Some(self.default_model.clone()));
            }
            return match self.models.len() {
                0 => Ok(None),
                // One model and no default: there is nothing to choose.
                1 => Ok(self.models.keys().next().cloned()),
                _ => Err(ConfigError::new(
                    ConfigErrorKind::Incomplete,
                    format!("no default_model is set (known: {})", self.known_models()),
                    "Write default_model = \"…\" at the top of config.toml, or pass --model.",
                )),
            };
        };
        if self.models.contains_key(flag) {
            return Ok(Some(flag.to_owned()));
        }
        let mut same_name = self.models.iter().filter(|(_, model)| model.model == flag);
        match (same_name.next(), same_name.next()) {
            (Some((key, _)), None) => Ok(Some(key.clone())),
            _ if self.models.is_empty() => Ok(None),
            _ => Err(self.unknown_model(flag)),
        }
    }

    fn known_models(&self) -> String {
        names::list(self.models.keys().map(String::as_str))
    }

    fn unknown_model(&self, name: &str) -> ConfigError {
        let what = format!("unknown model {name:?} (known: {})", self.known_models());
        let advice = match names::nearest(name, self.models.keys().map(String::as_str)) {
            Some(near) => format!("Did you mean --model {}?", quoted_unless_bare(near)),
            None if self.models.is_empty() => {
                "Set KIMI_API_KEY (or OPENAI_API_KEY) to reach it, or add it to config.toml."
                    .to_owned()
            }
            None => {
                format!("Add [models.{}] to config.toml or pass another.", quoted_unless_bare(name))
            }
        };
        ConfigError::new(ConfigErrorKind::Reference, what, advice)
    }
}

/// Provider and model that the environment alone describes.
fn from_environment(
    flag: Option<&str>,
    env: &Environment<'_>,
) -> Result<Option<(&'static str, ProviderKind, String)>, ConfigError> {
    let name = flag.map(str::to_owned).or_else(|| env.get("KIMI_MODEL_NAME"));
    let has_kimi = env.get("KIMI_API_KEY").is_some() || env.get("KIMI_BASE_URL").is_some();
    match name {
        Some(name) if has_kimi => Ok(Some(("kimi", ProviderKind::Kimi, name))),
        None if has_kimi => Err(ConfigError::new(
            ConfigErrorKind::Incomplete,
            "KIMI_API_KEY or KIMI_BASE_URL is set, but no model is named",
            "Set KIMI_MODEL_NAME, for example to kimi-k2-turbo-preview, or pass --model.",
        )),
        // Many people have OPENAI_API_KEY set for other programs: it is used only on request.
        name if flag.is_some()
            && (env.get("OPENAI_API_KEY").is_some() || env.get("OPENAI_BASE_URL").is_some()) =>
        {
            Ok(name.map(|name| ("openai", ProviderKind::OpenaiLegacy, name)))
        }
        Some(name) if flag.is_none() => Err(ConfigError::new(
            ConfigErrorKind::Incomplete,
            format!("KIMI_MODEL_NAME is {name:?}, but there is no key for it"),
            "Set KIMI_API_KEY, or unset KIMI_MODEL_NAME for the demo model.",
        )),
        _ => Ok(None),
    }
}

fn empty_provider(kind: ProviderKind) -> ProviderConfig {
    ProviderConfig {
        kind,
        base_url: String::new(),
        api_key: String::new(),
        env: std::collections::BTreeMap::new(),
        custom_headers: std::collections::BTreeMap::new(),
        reasoning_key: None,
        oauth: None,
    }
}

/// The environment wins over the file; the flag wins over the environment's model name.
fn with_environment(
    mut model: ModelConfig,
    mut provider: ProviderConfig,
    is_flag: bool,
    env: &Environment<'_>,
) -> Result<(ModelConfig, ProviderConfig), ConfigError> {
    let (address, key, default) = match provider.kind {
        ProviderKind::Kimi => ("KIMI_BASE_URL", "KIMI_API_KEY", KIMI_BASE_URL),
        ProviderKind::OpenaiLegacy | ProviderKind::OpenaiResponses => {
            ("OPENAI_BASE_URL", "OPENAI_API_KEY", OPENAI_BASE_URL)
        }
        _ => {
            fill_in(&mut provider, env);
            return Ok((model, provider));
        }
    };
    if let Some(base_url) = env.get(address) {
        provider.base_url = base_url;
    } else if provider.base_url.is_empty() {
        default.clone_into(&mut provider.base_url);
    }
    if let Some(api_key) = env.get(key) {
        provider.api_key = api_key;
    }
    if provider.kind != ProviderKind::Kimi {
        return Ok((model, provider));
    }
    if let Some(name) = env.get("KIMI_MODEL_NAME").filter(|_| !is_flag)
        && name != model.model
    {
        model.display_name = None;
        model.model = name;
    }
    if let Some(size) = env.get("KIMI_MODEL_MAX_CONTEXT_SIZE") {
        model.max_context_size = size.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
            ConfigError::new(
                ConfigErrorKind::Value,
                format!("KIMI_MODEL_MAX_CONTEXT_SIZE is {size:?}, but must be a number of tokens"),
                "Set it to 262144 for example, or unset it.",
            )
        })?;
    }
    if let Some(list) = env.get("KIMI_MODEL_CAPABILITIES") {
        // Upstream passes over names it does not know, and so do we.
        let known = |name: &str| match name.trim().to_lowercase().as_str() {
            "image_in" => Some(Capability::ImageIn),
            "video_in" => Some(Capability::VideoIn),
            "thinking" => Some(Capability::Thinking),
            "always_thinking" => Some(Capability::AlwaysThinking),
            _ => None,
        };
        model.capabilities = Some(list.split(',').filter_map(known).collect());
    }
    Ok((model, provider))
}

/// Address and key of a provider that upstream does not let the environment change: only what the
/// file does not say, so that a key for one service is never sent to a compatible other one.
fn fill_in(provider: &mut ProviderConfig, env: &Environment<'_>) {
    let (address, keys, default): (_, &[&str], _) = match provider.kind {
        ProviderKind::Anthropic => {
            ("ANTHROPIC_BASE_URL", &["ANTHROPIC_API_KEY"], ANTHROPIC_BASE_URL)
        }
        ProviderKind::GoogleGenai => {
            ("GOOGLE_GEMINI_BASE_URL", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], GEMINI_BASE_URL)
        }
        _ => return,
    };
    let is_elsewhere = !provider.base_url.is_empty();
    if !is_elsewhere {
        provider.base_url = env.get(address).unwrap_or_else(|| default.to_owned());
    }
    if provider.api_key.is_empty() && (!is_elsewhere || same_host(&provider.base_url, default)) {
        provider.api_key = keys.iter().find_map(|key| env.get(key)).unwrap_or_default();
    }
}

/// Do both addresses name the same server?
fn same_host(one: &str, other: &str) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase()
    };
    host(one) == host(other)
}

/// What `model` can do: what was configured, and what its name tells.
fn capabilities_of(model: &ModelConfig) -> Vec<Capability> {
    let mut capabilities = model.capabilities.clone().unwrap_or_default();
    let name = model.model.to_lowercase();
    if name.contains("thinking") || name.contains("reason") {
        capabilities.extend([Capability::Thinking, Capability::AlwaysThinking]);
    } else if matches!(model.model.as_str(), "kimi-for-coding" | "kimi-code") {
        capabilities.extend([Capability::Thinking, Capability::ImageIn, Capability::VideoIn]);
    }
    capabilities.sort_unstable();
    capabilities.dedup();
    capabilities
}

/// Is there enough to make a request with?
fn check_reachable(
    model: &ModelConfig,
    provider_key: &str,
    provider: &ProviderConfig,
) -> Result<(), ConfigError> {
    let incomplete = |what: String, advice: String| {
        Err(ConfigError::new(ConfigErrorKind::Incomplete, what, advice))
    };
    let is_internal = matches!(
        provider.kind,
        ProviderKind::Echo | ProviderKind::ScriptedEcho | ProviderKind::Chaos
    );
    if is_internal {
        return Ok(());
    }
    if model.model.is_empty() {
        return incomplete(
            "the model has no name".to_owned(),
            "Write model = \"…\", its name at the provider.".to_owned(),
        );
    }
    let names_key = |name: &String| {
        let name = name.to_lowercase();
        name == "authorization" || name.ends_with("api-key")
    };
    let needs_key = provider.kind != ProviderKind::Vertexai
        && !is_loopback(&provider.base_url)
        && !provider.custom_headers.keys().any(names_key);
    if !needs_key || provider.oauth.is_some() || !provider.api_key.trim().is_empty() {
        return Ok(());
    }
    let table = quoted_unless_bare(provider_key);
    let what = format!("provider {provider_key:?} has no api_key");
    let variable = match provider.kind {
        ProviderKind::Kimi => ", or set KIMI_API_KEY",
        ProviderKind::OpenaiLegacy | ProviderKind::OpenaiResponses => ", or set OPENAI_API_KEY",
        ProviderKind::Anthropic if same_host(&provider.base_url, ANTHROPIC_BASE_URL) => {
            ", or set ANTHROPIC_API_KEY"
        }
        ProviderKind::GoogleGenai if same_host(&provider.base_url, GEMINI_BASE_URL) => {
            ", or set GEMINI_API_KEY"
        }
        _ => "",
    };
    if provider_key.starts_with("managed:") {
        // Upstream's `/login` makes these, and says below them how they are logged in to.
        return incomplete(
            what,
            format!(
                "It was made by a login: write how below [providers.{table}] (oauth = {{ key = \
                 \"oauth/kimi-code\" }}), or api_key = \"…\"{variable}."
            ),
        );
    }
    incomplete(
        what,
        format!(
            "Write api_key = \"…\" below [providers.{table}] in config.toml{variable}. \
             A server that wants no key takes any text."
        ),
    )
}

/// Is the server of `url` this machine?
fn is_loopback(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => {
            let host = host.to_ascii_lowercase();
            host == "localhost" || host.ends_with(".localhost")
        }
    }
}

fn no_provider(key: &str, provider: &str, config: &Config) -> ConfigError {
    ConfigError::new(
        ConfigErrorKind::Reference,
        format!(
            "unknown provider {provider:?} (known: {})",
            names::list(config.providers.keys().map(String::as_str))
        ),
        format!(
            "Add [providers.{}] or change models.{}.provider.",
            quoted_unless_bare(provider),
            quoted_unless_bare(key)
        ),
    )
}
