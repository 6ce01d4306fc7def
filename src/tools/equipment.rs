//! What a session has that some tools need: without it they are not offered.

use crate::config::{Capability, Config, NetworkConfig, ProviderKind, WebConfig};

/// The equipment of one session.
#[derive(Debug, Clone, Default)]
pub struct Equipment {
    /// How the web is reached.
    pub web: WebConfig,
    /// How servers are reached.
    pub network: NetworkConfig,
    /// Does the model take pictures?
    pub sees_images: bool,
}

impl Equipment {
    /// The equipment of a session with this configuration and environment, and a model that can do
    /// this.
    #[must_use]
    pub fn new(
        config: &Config,
        capabilities: &[Capability],
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut web = config.web.clone();
        for service in [&mut web.search, &mut web.fetch].into_iter().flatten() {
            // These services are Kimi's, and so are their logins.
            let oauth = service.oauth.take();
            service.oauth = oauth.map(|oauth| Box::new(oauth.completed(ProviderKind::Kimi, env)));
        }
        Self {
            web,
            network: config.network.clone(),
            sees_images: capabilities.contains(&Capability::ImageIn),
        }
    }
}
