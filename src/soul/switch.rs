//! Another model, or a configuration that has changed, in a session that is open.

use std::sync::Arc;

use super::{Model, Soul};
use crate::config::{CompactionConfig, HookConfig, LoopControl, Price};
use crate::permission::ScopedRule;
use crate::wire::DoorMessage;

/// Which model is wanted, beside what is configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Wish {
    /// Its key or name.
    pub(crate) model: Option<String>,
    /// Should it think?
    pub(crate) thinking: Option<bool>,
}

/// What a session goes by, as the configuration has it now.
pub(crate) struct Settings {
    /// Who answers.
    pub(crate) model: Model,
    /// Its key in the configuration.
    pub(crate) key: Option<String>,
    /// Does it think, where there is a choice?
    pub(crate) thinking: Option<bool>,
    /// What it costs.
    pub(crate) price: Option<Price>,
    /// Is it the demo?
    pub(crate) is_demo: bool,
    /// Limits of the loop.
    pub(crate) limits: LoopControl,
    /// How a context is made shorter, and from which part of the window on.
    pub(crate) compaction: CompactionConfig,
    /// See `SessionInfo::compaction_at`.
    pub(crate) compaction_at: f64,
    /// Commands run at events.
    pub(crate) hooks: Vec<HookConfig>,
    /// Rules of the person and the project.
    pub(crate) rules: Vec<ScopedRule>,
    /// What a person should know about it.
    pub(crate) warnings: Vec<String>,
}

type Read = dyn Fn(&Wish) -> Result<Settings, String> + Send + Sync;

/// Where settings come from, and what was wished for so far.
#[derive(Clone, Default)]
pub(crate) struct Source {
    read: Option<Arc<Read>>,
    wish: Wish,
}

impl Source {
    /// Settings that `read` reads.
    pub(crate) fn new(
        read: impl Fn(&Wish) -> Result<Settings, String> + Send + Sync + 'static,
    ) -> Self {
        Self { read: Some(Arc::new(read)), wish: Wish::default() }
    }

    fn read(&self, wish: &Wish) -> Result<Settings, String> {
        match &self.read {
            Some(read) => read(wish),
            None => Err("This session's settings cannot be changed.".to_owned()),
        }
    }
}

impl Soul {
    /// From where settings are read when they are to change.
    pub(crate) fn take_settings_from(&mut self, source: Source) {
        self.settings = source;
    }

    /// Lets another model answer.
    pub(super) fn set_model(&mut self, key: Option<String>, thinking: Option<bool>) {
        let wish = Wish {
            model: key.or_else(|| self.settings.wish.model.clone()),
            thinking: thinking.or(self.settings.wish.thinking),
        };
        match self.settings.read(&wish) {
            Ok(settings) => {
                self.settings.wish = wish;
                self.take_model(settings);
            }
            Err(reason) => self.refuse(reason),
        }
    }

    /// Goes by the configuration as it is now.
    pub(super) fn reload(&mut self) {
        match self.settings.read(&self.settings.wish) {
            Ok(settings) => {
                self.limits = settings.limits.clone();
                self.compaction = settings.compaction;
                self.hooks.replace(&settings.hooks);
                self.approvals.replace_rules(settings.rules.clone());
                let warnings = settings.warnings.join("\n");
                self.take_model(settings);
                if !warnings.is_empty() {
                    self.notify("Configuration", &warnings, "warning");
                }
            }
            Err(reason) => self.refuse(reason),
        }
    }

    fn take_model(&mut self, settings: Settings) {
        let Settings { model, key, thinking, price, is_demo, compaction_at, .. } = settings;
        self.info.model = Some(model.name.clone());
        self.info.model_key = key;
        self.info.thinking = thinking;
        self.info.price = price;
        self.info.is_demo = is_demo;
        self.info.max_context_tokens = model.max_context;
        self.info.compaction_at = compaction_at;
        self.the_model = Some(model.clone());
        self.model = Some(model);
        // Another window: what was in vain may help now.
        self.compacted_to = 0;
        self.hub.tell(DoorMessage::Info(Arc::new(self.info.clone())));
        self.tell_status();
    }
}
