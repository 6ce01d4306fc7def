//! `[services]` and `[tools.fetch]`.

use super::{Reader, Section, is_http};
use crate::config::{ServiceConfig, WebConfig, names};

impl Reader {
    /// How tools reach the web. A service without an address is none: upstream writes such.
    pub(super) fn web(&mut self, top: &Section<'_>) -> WebConfig {
        let mut web = WebConfig::default();
        if let Some(services) = self.section(top, "services") {
            web.search = self.service(&services, "moonshot_search");
            web.fetch = self.service(&services, "moonshot_fetch");
        }
        if let Some(tools) = self.section(top, "tools")
            && let Some(fetch) = self.section(&tools, "fetch")
        {
            self.warn_of_slips(&fetch, names::FETCH);
            web.allow_private = self.flag(&fetch, "allow_private", false);
        }
        web
    }

    fn service(&mut self, services: &Section<'_>, key: &str) -> Option<ServiceConfig> {
        let section = self.section(services, key)?;
        self.warn_of_slips(&section, names::SERVICE);
        let base_url = self.text(&section, "base_url").unwrap_or_default();
        if base_url.is_empty() {
            return None;
        }
        if !is_http(&base_url) {
            let path = section.path("base_url");
            self.problem(
                section.table.get("base_url").and_then(|entry| entry.line),
                format!("{path} is not a web address"),
                "It begins with http:// or https://, for example \"https://api.example.com/search\"."
                    .to_owned(),
            );
        }
        let api_key = self.text(&section, "api_key").unwrap_or_default();
        let custom_headers = self.texts(&section, "custom_headers");
        let oauth = self.oauth(&section).map(Box::new);
        Some(ServiceConfig { base_url, api_key, custom_headers, oauth })
    }
}
