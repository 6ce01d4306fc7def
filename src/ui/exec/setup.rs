//! The configuration read and changed for the screen, and servers looked at.

use super::{Done, Executor};
use crate::engine::Host;
use crate::ui::effect::EffectId;
use crate::ui::model::setup::{Ask, Known, KnownModel, Told};
use crate::ui::msg::Msg;

impl Executor {
    pub(super) fn set_up(&mut self, id: EffectId, ask: Ask) {
        let (host, done) = (self.host.clone(), self.done.clone());
        self.tasks.spawn(async move {
            let told = match ask {
                Ask::Services => Told::Services(host.services().await),
                Ask::Offered(provider) => Told::Offered(host.offered(&provider).await),
                Ask::Config => Told::Config(known(&host)),
                Ask::Write(edits) => Told::Written(
                    host.configure(&edits)
                        .map(|file| file.display().to_string())
                        .map_err(|error| error.to_string()),
                ),
            };
            let _ = done.send(Done::Msg(Msg::Setup { id, told: Box::new(told) }));
        });
    }
}

fn known(host: &Host) -> Result<Known, String> {
    let loaded = host.read_config().map_err(|error| error.to_string())?;
    let config = loaded.config;
    let has_key = |key: &str| !key.trim().is_empty();
    Ok(Known {
        models: config
            .models
            .into_iter()
            .map(|(key, model)| KnownModel {
                key,
                model: model.model,
                provider: model.provider,
                context: model.max_context_size,
            })
            .collect(),
        keys: config
            .providers
            .into_iter()
            .filter(|(_, provider)| has_key(&provider.api_key))
            .map(|(key, _)| key)
            .collect(),
        theme: config.theme,
        shows_thinking: config.show_thinking_stream,
        warnings: loaded.warnings,
    })
}
