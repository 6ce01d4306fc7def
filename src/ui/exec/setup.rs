//! The configuration read and changed for the screen, and servers looked at.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::{Done, Executor};
use crate::engine::Host;
use crate::ui::effect::EffectId;
use crate::ui::model::setup::{Ask, Known, KnownModel, Told};
use crate::ui::msg::Msg;

/// How long looking at everything may take: servers are asked, too.
const LONGEST: Duration = Duration::from_secs(60);

impl Executor {
    pub(super) fn examine(&mut self, arguments: Vec<OsString>) {
        let (work_dir, done) = (self.host.work_dir().to_path_buf(), self.done.clone());
        self.tasks.spawn(async move {
            let said = examine(arguments, &work_dir).await;
            let _ = done.send(Done::Msg(Msg::Examined(said)));
        });
    }

    pub(super) fn set_up(&mut self, id: EffectId, ask: Ask) {
        let done = self.done.clone();
        let Some(host) = self.host.host().cloned() else {
            let told = Box::new(not_here(&ask));
            let _ = done.send(Done::Msg(Msg::Setup { id, told }));
            return;
        };
        self.tasks.spawn(async move {
            let told = match ask {
                Ask::Services => Told::Services(host.services().await),
                Ask::Offered(provider) => Told::Offered(host.offered(&provider).await),
                Ask::LogIn(provider) => {
                    let mut tell = |code| {
                        let told = Box::new(Told::Code(code));
                        let _ = done.send(Done::Msg(Msg::Setup { id, told }));
                    };
                    Told::Offered(match host.log_in(&provider, &mut tell).await {
                        Ok(()) => host.offered(&provider).await,
                        Err(reason) => Err(reason),
                    })
                }
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

/// What the program says of itself when it is called with `arguments`.
async fn examine(arguments: Vec<OsString>, work_dir: &Path) -> String {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return format!("This program cannot be found any more: {error}"),
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(work_dir).stdin(Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(LONGEST, command.output()).await {
        Ok(Ok(output)) if output.stdout.is_empty() => {
            String::from_utf8_lossy(&output.stderr).into_owned()
        }
        Ok(Ok(output)) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(Err(error)) => format!("It could not be looked at: {error}"),
        Err(_) => format!("It took longer than {} seconds.", LONGEST.as_secs()),
    }
}

/// What is answered where the configuration is another program's.
fn not_here(ask: &Ask) -> Told {
    let reason = "The engine is another program's, and so is its configuration.".to_owned();
    match ask {
        Ask::Services => Told::Services(Vec::new()),
        Ask::Offered(_) | Ask::LogIn(_) => Told::Offered(Err(reason)),
        Ask::Config => Told::Config(Err(reason)),
        Ask::Write(_) => Told::Written(Err(reason)),
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
            .filter(|(_, provider)| has_key(&provider.api_key) || host.has_login(provider))
            .map(|(key, _)| key)
            .collect(),
        theme: config.theme,
        shows_thinking: config.show_thinking_stream,
        status: config.ui.status,
        progress: config.ui.progress,
        warnings: loaded.warnings,
    })
}
