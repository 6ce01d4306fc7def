//! Services a person may connect to, and what is assumed of their models.

use super::edit::Edit;
use super::resolve::{ANTHROPIC_BASE_URL, GEMINI_BASE_URL, KIMI_BASE_URL, OPENAI_BASE_URL};
use super::{ASSUMED_CONTEXT, Capability, ModelConfig, OauthConfig, ProviderConfig, ProviderKind};

/// A model that a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its name there.
    pub name: String,
    /// Size of its context window in tokens, where the server says it.
    pub context: Option<u64>,
}

/// A text that is never told.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(pub String);

// By hand: it must not reach a log.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(none)" } else { "Secret" })
    }
}

/// A service a person may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// What it is called.
    pub name: String,
    /// Its key in `providers`.
    pub key: String,
    /// How it is spoken to.
    pub kind: ProviderKind,
    /// Where it is; empty when the person is to say it.
    pub base_url: String,
    /// Does it want a key?
    pub wants_key: bool,
    /// Why it is ready to be used: a variable that is set, a server that answers.
    pub found: Option<String>,
    /// The key that was found in the environment.
    pub secret: Secret,
    /// Is the key read from the environment at every start, so that it need not be written?
    pub key_stays_outside: bool,
    /// What it has, where that is known already.
    pub models: Vec<Offered>,
    /// How it is logged in to, where it is not given a key.
    pub oauth: Option<OauthConfig>,
}

/// The provider that upstream's login makes, and where it is.
pub const KIMI_CODE: &str = "managed:kimi-code";
const KIMI_CODE_URL: &str = "https://api.kimi.com/coding/v1";

struct Known {
    name: &'static str,
    key: &'static str,
    kind: ProviderKind,
    base_url: &'static str,
    variables: &'static [&'static str],
    stays_outside: bool,
}

const fn known(
    (name, key): (&'static str, &'static str),
    kind: ProviderKind,
    base_url: &'static str,
    variables: &'static [&'static str],
    stays_outside: bool,
) -> Known {
    Known { name, key, kind, base_url, variables, stays_outside }
}

const KNOWN: [Known; 8] = [
    known(
        ("Kimi (moonshot.ai)", "moonshot"),
        ProviderKind::Kimi,
        KIMI_BASE_URL,
        &["KIMI_API_KEY", "MOONSHOT_API_KEY"],
        false,
    ),
    known(
        ("Kimi in China (moonshot.cn)", "moonshot-cn"),
        ProviderKind::Kimi,
        "https://api.moonshot.cn/v1",
        &[],
        false,
    ),
    known(
        ("OpenAI", "openai"),
        ProviderKind::OpenaiResponses,
        OPENAI_BASE_URL,
        &["OPENAI_API_KEY"],
        true,
    ),
    known(
        ("Anthropic", "anthropic"),
        ProviderKind::Anthropic,
        ANTHROPIC_BASE_URL,
        &["ANTHROPIC_API_KEY"],
        true,
    ),
    known(
        ("Google Gemini", "google"),
        ProviderKind::GoogleGenai,
        GEMINI_BASE_URL,
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        true,
    ),
    known(
        ("DeepSeek", "deepseek"),
        ProviderKind::OpenaiLegacy,
        "https://api.deepseek.com/v1",
        &["DEEPSEEK_API_KEY"],
        false,
    ),
    known(
        ("OpenRouter", "openrouter"),
        ProviderKind::OpenaiLegacy,
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
        false,
    ),
    known(
        ("Another server (Ollama, vLLM …: OpenAI's protocol)", "server"),
        ProviderKind::OpenaiLegacy,
        "",
        &[],
        false,
    ),
];

impl Service {
    /// All that are known, with the keys `env` has for them.
    #[must_use]
    pub fn known(env: &dyn Fn(&str) -> Option<String>) -> Vec<Self> {
        let set = |name: &&str| {
            let value = env(name).map(|value| value.trim().to_owned())?;
            (!value.is_empty()).then(|| ((*name).to_owned(), value))
        };
        KNOWN
            .iter()
            .map(|known| {
                let found = known.variables.iter().find_map(set);
                let (variable, secret) = found.unzip();
                let is_kimis = variable.as_deref() == Some("KIMI_API_KEY");
                Self {
                    name: known.name.to_owned(),
                    key: known.key.to_owned(),
                    kind: known.kind,
                    base_url: known.base_url.to_owned(),
                    wants_key: true,
                    found: variable.map(|name| format!("{name} is set")),
                    secret: Secret(secret.unwrap_or_default()),
                    key_stays_outside: known.stays_outside || is_kimis,
                    models: Vec::new(),
                    oauth: None,
                }
            })
            .collect()
    }

    /// A server on this machine.
    #[must_use]
    pub fn local(name: &str, base_url: &str, models: Vec<Offered>) -> Self {
        let count = models.len();
        let models_word = if count == 1 { "model" } else { "models" };
        Self {
            name: format!("{name} on this machine"),
            key: name.to_lowercase().replace([' ', '.'], "-"),
            kind: ProviderKind::OpenaiLegacy,
            base_url: base_url.to_owned(),
            wants_key: false,
            found: Some(format!("answers, {count} {models_word}")),
            secret: Secret::default(),
            key_stays_outside: false,
            models,
            oauth: None,
        }
    }

    /// What the provider `key` logs in to.
    #[must_use]
    pub fn login(key: &str, provider: &ProviderConfig, oauth: &OauthConfig, is_in: bool) -> Self {
        Self {
            name: format!("{key}: log in with the browser"),
            key: key.to_owned(),
            kind: provider.kind,
            base_url: provider.base_url.clone(),
            wants_key: false,
            found: is_in.then(|| "logged in".to_owned()),
            secret: Secret::default(),
            key_stays_outside: false,
            models: Vec::new(),
            oauth: Some(oauth.clone()),
        }
    }

    /// Kimi's own login, where `env` says that it is; what this program is called there has to be said
    /// by somebody.
    #[must_use]
    pub fn kimi_code(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let elsewhere = env("KIMI_CODE_BASE_URL").map(|url| url.trim().to_owned());
        let oauth = OauthConfig {
            storage: "file".to_owned(),
            key: "oauth/kimi-code".to_owned(),
            ..OauthConfig::default()
        };
        Self {
            name: "Kimi Code: log in with the browser".to_owned(),
            key: KIMI_CODE.to_owned(),
            kind: ProviderKind::Kimi,
            base_url: elsewhere
                .filter(|url| !url.is_empty())
                .unwrap_or_else(|| KIMI_CODE_URL.to_owned()),
            wants_key: false,
            found: None,
            secret: Secret::default(),
            key_stays_outside: false,
            models: Vec::new(),
            oauth: Some(oauth),
        }
    }

    /// Is it to be logged in to first?
    #[must_use]
    pub fn wants_login(&self) -> bool {
        self.oauth.is_some() && self.found.is_none()
    }

    /// The service as a provider.
    #[must_use]
    pub fn provider(&self) -> ProviderConfig {
        ProviderConfig {
            kind: self.kind,
            base_url: self.base_url.clone(),
            api_key: self.secret.0.clone(),
            env: Default::default(),
            custom_headers: Default::default(),
            reasoning_key: None,
            oauth: self.oauth.clone().map(Box::new),
        }
    }

    /// What to write so that the model called `offered` answers from now on; and the model's key.
    #[must_use]
    pub fn edits(&self, offered: &Offered) -> (String, Vec<Edit>) {
        let mut provider = self.provider();
        if self.key_stays_outside && self.found.is_some() {
            provider.api_key.clear();
        }
        let key = format!("{}/{}", self.key, offered.name);
        let model = ModelConfig {
            provider: self.key.clone(),
            model: offered.name.clone(),
            max_context_size: offered
                .context
                .unwrap_or_else(|| self.assumed_context(&offered.name)),
            capabilities: Some(assumed_capabilities(&offered.name)),
            display_name: None,
            max_output_tokens: None,
            price: None,
        };
        let edits = vec![
            Edit::Provider { key: self.key.clone(), provider },
            Edit::Model { key: key.clone(), model },
            Edit::DefaultModel(key.clone()),
        ];
        (key, edits)
    }

    fn assumed_context(&self, name: &str) -> u64 {
        let name = name.to_lowercase();
        let has = |word: &str| name.contains(word);
        match self.kind {
            // Local servers give models far less than they could have.
            ProviderKind::OpenaiLegacy if !self.wants_key => 32_768,
            ProviderKind::GoogleGenai => 1_048_576,
            _ if has("claude") => 200_000,
            _ if has("gpt-5") => 400_000,
            _ if has("kimi-k2") => 262_144,
            _ if has("deepseek") => 131_072,
            _ => ASSUMED_CONTEXT,
        }
    }
}

/// What a model of this name is known to do.
fn assumed_capabilities(name: &str) -> Vec<Capability> {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let mut capabilities = Vec::new();
    if has(&["claude", "gpt-4o", "gpt-4.1", "gpt-5", "gemini", "kimi-k2.5", "vision", "-vl"]) {
        capabilities.push(Capability::ImageIn);
    }
    if has(&[
        "claude-sonnet-4",
        "claude-opus-4",
        "claude-haiku-4",
        "gpt-5",
        "gemini-2.5",
        "gemini-3",
    ]) || has(&["kimi-k2.5", "qwen3", "gpt-oss"])
    {
        capabilities.push(Capability::Thinking);
    }
    capabilities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::edited;
    use crate::config::{Config, ConfigSource};
    use crate::paths::Paths;

    #[test]
    fn kimis_own_service_is_where_the_environment_says() {
        assert_eq!(Service::kimi_code(&|_| None).base_url, KIMI_CODE_URL);
        let env = |name: &str| (name == "KIMI_CODE_BASE_URL").then(|| " https://h/v1 ".to_owned());
        assert_eq!(Service::kimi_code(&env).base_url, "https://h/v1");
    }

    #[test]
    fn every_service_can_be_written_and_answers_afterwards() {
        for has_env in [false, true] {
            let env = |name: &str| {
                (has_env && name.ends_with("_API_KEY")).then(|| "sk-from-env".to_owned())
            };
            for mut service in Service::known(&env) {
                assert_eq!(
                    service.found.is_some(),
                    has_env && !service.secret.0.is_empty(),
                    "{service:?}"
                );
                if service.base_url.is_empty() {
                    service.base_url = "http://h/v1".into();
                }
                if service.found.is_none() {
                    service.secret = Secret("sk-typed".into());
                }
                let key = service.secret.0.clone();
                let (name, edits) = service.edits(&Offered { name: "a/b:c".into(), context: None });
                let text = edited("", &edits).expect("edited");
                let is_outside = service.found.is_some() && service.key_stays_outside;
                assert_eq!(text.contains(&key), !is_outside, "{text}");
                let paths = Paths::new("/nowhere");
                let loaded = Config::load(&paths, &ConfigSource::Inline(text)).expect("loads");
                let model = loaded.config.resolve_model(None, &env).expect("ok").expect("a model");
                assert_eq!(model.key, name);
                if !has_env {
                    assert_eq!(model.provider.api_key, key);
                }
                assert_eq!(model.provider.base_url, service.base_url);
                assert!(!format!("{service:?}{edits:?}").contains(&key));
            }
        }
    }
}
