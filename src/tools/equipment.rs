//! What a session has that some tools need: without it they are not offered.

use crate::config::{Capability, Config, NetworkConfig, WebConfig};

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
    /// The equipment of a session with this configuration and a model that can do this.
    #[must_use]
    pub fn new(config: &Config, capabilities: &[Capability]) -> Self {
        Self {
            web: config.web.clone(),
            network: config.network.clone(),
            sees_images: capabilities.contains(&Capability::ImageIn),
        }
    }
}
