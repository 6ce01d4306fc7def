//! `oauth` of a provider.

use super::{Reader, Section, is_http};
use crate::config::{OauthConfig, names};

impl Reader {
    /// How the provider in `section` is logged in to; none when it is not.
    pub(super) fn oauth(&mut self, section: &Section<'_>) -> Option<OauthConfig> {
        let section = self.section(section, "oauth")?;
        self.warn_of_slips(&section, names::OAUTH);
        let mut text = |key: &str| self.text(&section, key).unwrap_or_default();
        let (storage, key) = (text("storage"), text("key"));
        let (client_id, scope) = (text("client_id"), text("scope"));
        let [device_url, token_url] = ["device_url", "token_url"].map(|key| {
            let address = text(key);
            (key, address)
        });
        for (key, address) in [&device_url, &token_url] {
            if !address.is_empty() && !is_http(address) {
                let path = section.path(key);
                self.problem(
                    section.table.get(key).and_then(|entry| entry.line),
                    format!("{path} is not a web address"),
                    "It begins with https://.".to_owned(),
                );
            }
        }
        Some(OauthConfig {
            storage: if storage.is_empty() { "file".to_owned() } else { storage },
            key,
            client_id,
            device_url: device_url.1,
            token_url: token_url.1,
            scope,
            folder: Default::default(),
        })
    }
}
