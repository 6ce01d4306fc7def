//! What a front end needs to let a person choose: the configuration as it is now, changes to it, what
//! is there to connect to, and a look at a server.

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use super::{Host, HostOptions, chosen, open};
use crate::config::edit::{self, Edit};
use crate::config::{
    Config, ConfigError, ConfigSource, KIMI_CODE, Loaded, LoginCode, NetworkConfig, Offered,
    ProviderConfig, Service,
};
use crate::llm::probe::{self, LOCAL, Trouble};
use crate::llm::{LlmError, oauth};
use crate::soul::{Settings, SettingsSource, Wish};

impl Host {
    /// The same, reading `source` again whenever a session is opened or its settings change.
    #[must_use]
    pub fn reading(self, source: ConfigSource) -> Self {
        Self(self.0, Some(source))
    }

    /// The configuration as it is now.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub fn read_config(&self) -> Result<Loaded, ConfigError> {
        match &self.1 {
            Some(source) => Config::load(&self.0.paths, source),
            None => Ok(Loaded { config: self.0.config.clone(), warnings: Vec::new() }),
        }
    }

    /// Changes the configuration file; says which.
    ///
    /// # Errors
    /// When it is no file that can be changed.
    pub fn configure(&self, edits: &[Edit]) -> Result<PathBuf, ConfigError> {
        self.forget_logins(edits);
        edit::edit(&self.0.paths, self.1.as_ref().unwrap_or(&ConfigSource::Default), edits)
    }

    /// The services a person may connect to, those that are ready first.
    pub async fn services(&self) -> Vec<Service> {
        let local = probe::local_servers(&LOCAL).await;
        let env = |name: &str| self.0.env.get(name);
        let mut services: Vec<Service> = local
            .into_iter()
            .map(|server| Service::local(server.name, &server.base_url, server.models))
            .collect();
        services.extend(self.logins());
        services.extend(Service::known(&env));
        services.sort_by_key(|service| service.found.is_none());
        services
    }

    /// The models at the server of `provider`.
    ///
    /// # Errors
    /// Why there are none, and what to do, for a person.
    pub async fn offered(&self, provider: &ProviderConfig) -> Result<Vec<Offered>, String> {
        let network = self
            .read_config()
            .map_or_else(|_| NetworkConfig::default(), |loaded| loaded.config.network);
        probe::models(&self.complete(provider), &network)
            .await
            .map_err(|error| format!("{error}. {}", Trouble::of(&error).cure("the provider")))
    }

    /// Logs in to `provider`: `tell` hears which code the person is to confirm, and this waits until they
    /// have.
    ///
    /// # Errors
    /// Why there is no login, and what to do, for a person.
    pub async fn log_in(
        &self,
        provider: &ProviderConfig,
        tell: &mut (dyn FnMut(LoginCode) + Send),
    ) -> Result<(), String> {
        let provider = self.complete(provider);
        let Some(oauth) = &provider.oauth else {
            return Err("This service is given a key; it cannot be logged in to.".to_owned());
        };
        let network = self
            .read_config()
            .map_or_else(|_| NetworkConfig::default(), |loaded| loaded.config.network);
        let told = |error: LlmError| format!("{error}.");
        let login = oauth::begin(oauth, &network).await.map_err(told)?;
        tell(LoginCode {
            address: login.complete.clone().unwrap_or_else(|| login.address.clone()),
            code: login.user_code.clone(),
        });
        login.finish().await.map_err(told)
    }

    /// Is `provider` one that is logged in to, and is there a login?
    #[must_use]
    pub fn has_login(&self, provider: &ProviderConfig) -> bool {
        self.complete(provider).oauth.is_some_and(|oauth| oauth::is_logged_in(&oauth))
    }

    /// `provider` with what the environment says of its login, and where logins are kept.
    fn complete(&self, provider: &ProviderConfig) -> ProviderConfig {
        let env = |name: &str| self.0.env.get(name);
        let oauth = provider.oauth.clone().map(|oauth| {
            Box::new(oauth.completed(provider.kind, &env).kept_in(&self.0.paths.share))
        });
        ProviderConfig { oauth, ..provider.clone() }
    }

    /// What can be logged in to: what the configuration says, and Kimi where the environment does.
    fn logins(&self) -> Vec<Service> {
        let providers = self.read_config().map(|loaded| loaded.config.providers);
        let providers = providers.unwrap_or_default();
        let mut logins: Vec<Service> = providers
            .iter()
            .filter_map(|(key, provider)| {
                let oauth = provider.oauth.as_deref()?;
                Some(Service::login(key, provider, oauth, self.has_login(provider)))
            })
            .collect();
        let may_log_in = self.0.env.get("KIMI_OAUTH_CLIENT_ID").is_some_and(|id| !id.is_empty());
        if may_log_in && !providers.contains_key(KIMI_CODE) {
            logins.push(Service::kimi_code(&|name| self.0.env.get(name)));
        }
        logins
    }

    /// Whoever takes a key out wants the login gone too.
    fn forget_logins(&self, edits: &[Edit]) {
        let providers = self.read_config().map(|loaded| loaded.config.providers);
        let providers = providers.unwrap_or_default();
        for edit in edits {
            if let Edit::Key { provider, secret: None } = edit
                && let Some(provider) = providers.get(provider)
                && let Some(oauth) = self.complete(provider).oauth
                && let Err(error) = oauth::forget(&oauth)
            {
                tracing::warn!(%error, "a login could not be removed");
            }
        }
    }

    /// The options with the configuration as it is now.
    pub(super) fn fresh_options(&self) -> Result<Arc<HostOptions>, ConfigError> {
        if self.1.is_none() {
            return Ok(Arc::clone(&self.0));
        }
        let config = self.read_config()?.config;
        Ok(Arc::new(HostOptions { config, ..(*self.0).clone() }))
    }

    /// Where an open session's settings come from.
    pub(super) fn settings(&self) -> SettingsSource {
        let host = self.clone();
        SettingsSource::new(move |wish| host.settings_for(wish).map_err(|e| format!("{e:#}")))
    }

    fn settings_for(&self, wish: &Wish) -> anyhow::Result<Settings> {
        let Loaded { config, mut warnings } = self.read_config()?;
        let mut options = HostOptions { config, ..(*self.0).clone() };
        options.model = wish.model.clone().or(options.model);
        options.thinking = wish.thinking.or(options.thinking);
        let chosen = chosen::choose_model(&options)?;
        let rules = open::rules(&options, &options.work_dir, &mut warnings)?.rules;
        let limits = chosen::limits(&options);
        Ok(Settings {
            compaction_at: chosen::compaction_at(&limits, chosen.model.max_context),
            model: chosen.model,
            key: chosen.key,
            thinking: chosen.thinking,
            price: chosen.price,
            is_demo: chosen.is_demo,
            limits,
            compaction: options.config.compaction,
            hooks: options.config.hooks,
            rules,
            warnings,
        })
    }
}
