//! `[services]` and `[tools.fetch]`: how tools reach the web.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{OauthConfig, without_login};

/// How tools reach the web.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WebConfig {
    /// The search service (`[services.moonshot_search]`); without it nothing can be searched for.
    pub search: Option<ServiceConfig>,
    /// A service that fetches pages (`[services.moonshot_fetch]`); without it they are fetched directly.
    pub fetch: Option<ServiceConfig>,
    /// May pages of this machine and its private networks be fetched (`[tools.fetch]`)?
    pub allow_private: bool,
}

/// A service of upstream's makers, or one that speaks as theirs does.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceConfig {
    /// Where it is: the whole address.
    pub base_url: String,
    /// The key; a secret.
    pub api_key: String,
    /// Headers of every request.
    pub custom_headers: BTreeMap<String, String>,
    /// How it is logged in to; a key wins over it.
    pub oauth: Option<Box<OauthConfig>>,
}

impl ServiceConfig {
    /// The login that counts.
    #[must_use]
    pub fn login(&self) -> Option<&OauthConfig> {
        self.oauth.as_deref().filter(|_| self.api_key.trim().is_empty())
    }
}

// By hand: a key must never reach a log.
impl fmt::Debug for ServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceConfig")
            .field("base_url", &without_login(&self.base_url))
            .field("has_api_key", &!self.api_key.is_empty())
            .finish_non_exhaustive()
    }
}
