//! Models and services: what the configuration knows, and connecting to another service.

use super::editor::Editor;
use crate::config::edit::Edit;
use crate::config::{LoginCode, Offered, ProviderConfig, Secret, Service, StatusConfig, Switch};
use crate::ui::effect::EffectId;

/// What is asked of the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// What is configured now.
    Config,
    /// What there is to connect to.
    Services,
    /// The models of a server.
    Offered(ProviderConfig),
    /// Log in to a service, then its models.
    LogIn(ProviderConfig),
    /// Change the configuration.
    Write(Vec<Edit>),
}

/// What the world answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// What is configured now.
    Config(Result<Known, String>),
    /// What there is to connect to.
    Services(Vec<Service>),
    /// The models of a server, or why there are none and what to do.
    Offered(Result<Vec<Offered>, String>),
    /// The code to be confirmed; the models follow when it was.
    Code(LoginCode),
    /// The file that was changed, or why none was.
    Written(Result<String, String>),
}

/// What of the configuration the screen shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    /// Its models.
    pub models: Vec<KnownModel>,
    /// Providers with a key in the file.
    pub keys: Vec<String>,
    /// The theme.
    pub theme: String,
    /// Is thinking shown while it streams?
    pub shows_thinking: bool,
    /// What the last line holds.
    pub status: StatusConfig,
    /// Is the terminal told that a turn runs?
    pub progress: Switch,
    /// What is wrong with it, though it does no harm.
    pub warnings: Vec<String>,
}

/// A model of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownModel {
    /// Its key.
    pub key: String,
    /// Its name at the provider.
    pub model: String,
    /// Key of its provider.
    pub provider: String,
    /// Size of its window, in tokens.
    pub context: u64,
}

/// Why the configuration was asked for, or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// To choose a model.
    Models,
    /// To take a key out.
    Logout,
    /// To go by it.
    Reload,
    /// To keep a choice that counts already.
    Keep,
    /// To let this model answer.
    Connect(String),
    /// The key of this provider was to be taken out.
    Forget(String),
}

/// Connecting to a service.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The request whose answer is awaited.
    pub request: Option<EffectId>,
    /// What there is to connect to.
    pub services: Vec<Service>,
    /// The one that was chosen.
    pub service: Option<Service>,
    /// Where it stands.
    pub stage: Stage,
    /// What is typed: an address, or a filter.
    pub field: Editor,
    /// The key that is typed.
    pub secret: Secret,
    /// Index of the marked line.
    pub marked: usize,
    /// What went wrong last.
    pub trouble: Option<String>,
}

/// Where connecting stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Which service?
    Services,
    /// Where is it?
    Address,
    /// With which key?
    Key,
    /// The person confirms a code in a browser, once it is there.
    Login(Option<LoginCode>),
    /// Its models are being listed.
    Trying,
    /// Which model?
    Models(Vec<Offered>),
}

impl Setup {
    /// At its beginning, waiting for `request`.
    #[must_use]
    pub fn new(request: EffectId) -> Self {
        Self {
            request: Some(request),
            services: Vec::new(),
            service: None,
            stage: Stage::Services,
            field: Editor::default(),
            secret: Secret::default(),
            marked: 0,
            trouble: None,
        }
    }

    /// The models that match what is typed; what is typed itself when none is called so.
    #[must_use]
    pub fn shown_models(&self) -> Vec<Offered> {
        let Stage::Models(all) = &self.stage else { return Vec::new() };
        let typed = self.field.text().trim().to_lowercase();
        let mut shown: Vec<Offered> = all
            .iter()
            .filter(|model| model.name.to_lowercase().contains(&typed))
            .cloned()
            .collect();
        if shown.is_empty() && !typed.is_empty() {
            shown.push(Offered { name: self.field.text().trim().to_owned(), context: None });
        }
        shown
    }

    /// Lines that can be marked.
    #[must_use]
    pub fn count(&self) -> usize {
        match self.stage {
            Stage::Services => self.services.len(),
            Stage::Models(_) => self.shown_models().len(),
            Stage::Address | Stage::Key | Stage::Login(_) | Stage::Trying => 0,
        }
    }
}
