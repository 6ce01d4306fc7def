//! A provider that is logged in to instead of being given a key (`oauth` of a provider; the names of
//! `storage` and `key`, and of the file, are upstream's).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ProviderConfig, ProviderKind};

/// Who gives out logins for Kimi, unless `KIMI_CODE_OAUTH_HOST` or `KIMI_OAUTH_HOST` says otherwise.
const KIMI_HOST: &str = "https://auth.kimi.com";

/// How a provider is logged in to, and where the login is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OauthConfig {
    /// `file`; upstream's `keyring` is read from the same file.
    pub storage: String,
    /// Its name, `oauth/kimi-code` for instance: `credentials/kimi-code.json` is the file.
    pub key: String,
    /// What this program is called there.
    pub client_id: String,
    /// Where a code is asked for (RFC 8628, device authorization).
    pub device_url: String,
    /// Where tokens come from.
    pub token_url: String,
    /// What is asked for; empty for what is usual there.
    pub scope: String,
    /// The folder of logins. Never written.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A code that a person confirms in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginCode {
    /// What to open: with the code in it, where that is possible.
    pub address: String,
    /// The code, which is typed or compared there.
    pub code: String,
}

impl OauthConfig {
    /// The file of the login.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name()))
    }

    /// The login's name: a plain one, whatever the configuration says.
    #[must_use]
    pub fn name(&self) -> String {
        let last = self.key.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = last.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        if name.trim_matches('.').is_empty() { "login".to_owned() } else { name }
    }

    /// The same with what only the environment and the kind of provider tell.
    #[must_use]
    pub fn completed(mut self, kind: ProviderKind, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| {
            env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let host = get("KIMI_CODE_OAUTH_HOST").or_else(|| get("KIMI_OAUTH_HOST"));
        if kind == ProviderKind::Kimi {
            let host = host.as_deref().unwrap_or(KIMI_HOST).trim_end_matches('/');
            if self.device_url.is_empty() {
                self.device_url = format!("{host}/api/oauth/device_authorization");
            }
            if self.token_url.is_empty() {
                self.token_url = format!("{host}/api/oauth/token");
            }
            if let Some(id) = get("KIMI_OAUTH_CLIENT_ID") {
                self.client_id = id;
            }
        }
        self
    }

    /// The same with what only `other`, the same login, says.
    #[must_use]
    pub fn filled_from(mut self, other: &Self) -> Self {
        let pairs = [
            (&mut self.client_id, &other.client_id),
            (&mut self.device_url, &other.device_url),
            (&mut self.token_url, &other.token_url),
            (&mut self.scope, &other.scope),
        ];
        for (own, other) in pairs {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
        self
    }

    /// The same, kept below the share folder `share`.
    #[must_use]
    pub fn kept_in(mut self, share: &Path) -> Self {
        self.folder = share.join("credentials");
        self
    }
}

impl ProviderConfig {
    /// The login that counts: a key wins over it.
    #[must_use]
    pub fn login(&self) -> Option<&OauthConfig> {
        self.oauth.as_deref().filter(|_| self.api_key.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_kept_in_its_folder_whatever_it_is_called() {
        for (key, file) in [
            ("oauth/kimi-code", "/s/credentials/kimi-code.json"),
            ("../../etc/passwd", "/s/credentials/passwd.json"),
            ("..", "/s/credentials/login.json"),
            ("a b", "/s/credentials/a_b.json"),
            ("", "/s/credentials/login.json"),
        ] {
            let oauth = OauthConfig { key: key.to_owned(), ..Default::default() };
            assert_eq!(oauth.kept_in(Path::new("/s")).file(), Path::new(file), "{key}");
        }
    }

    #[test]
    fn the_environment_says_where_kimi_is_and_nothing_else() {
        let env = |name: &str| match name {
            "KIMI_OAUTH_HOST" => Some("http://127.0.0.1:9/".to_owned()),
            "KIMI_OAUTH_CLIENT_ID" => Some("me".to_owned()),
            _ => None,
        };
        let kimi = OauthConfig::default().completed(ProviderKind::Kimi, &env);
        assert_eq!(kimi.device_url, "http://127.0.0.1:9/api/oauth/device_authorization");
        assert_eq!(
            (kimi.token_url.as_str(), kimi.client_id.as_str()),
            ("http://127.0.0.1:9/api/oauth/token", "me")
        );
        let own = OauthConfig { token_url: "https://h/t".into(), ..Default::default() };
        assert_eq!(own.clone().completed(ProviderKind::Kimi, &env).token_url, "https://h/t");
        assert_eq!(own.clone().completed(ProviderKind::Anthropic, &env), own);
    }
}
