//! `kimi-tui attach`: the screen over another process's engine. `attach SESSION` joins a daemon,
//! `attach -- COMMAND …` starts a wire server and drives it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::net::UnixStream;
use tokio::runtime::Builder;

use super::daemon;
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::cli::{plan, run};
use crate::config::Config;
use crate::engine::SessionChoice;
use crate::error::{in_words, user};
use crate::paths::Paths;
use crate::remote::{self, Connected};
use crate::ui::{self, DoorSource, UiOptions};
use crate::wire::Door;
use crate::wire::record::Story;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct AttachArgs {
    /// The session of a daemon, by its id or the beginning of it; the only one if none is given
    session: Option<String>,
    /// A wire server to start and drive instead: attach -- kimi-tui --wire
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "session")]
    command: Vec<String>,
}

/// Where the engine is.
enum Target {
    Socket(PathBuf),
    Command(Vec<String>),
}

/// Doors to that engine.
struct Elsewhere {
    paths: Paths,
    config: Config,
    work_dir: PathBuf,
    target: Target,
}

pub(super) fn run(args: AttachArgs, flags: &Args) -> anyhow::Result<End> {
    let (paths, config, warnings) = run::prepare(flags)?;
    let work_dir = run::work_dir(flags.work_dir.as_deref())?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let target = if args.command.is_empty() {
        let folder = daemon::folder(&paths);
        Target::Socket(runtime.block_on(daemon::find(&folder, args.session.as_deref()))?.1)
    } else {
        Target::Command(args.command)
    };
    let options = UiOptions {
        session: SessionChoice::New,
        first_prompt: flags.prompt.clone(),
        theme: flags.theme.clone(),
        screen_reader: flags.screen_reader,
        inline: flags.inline,
        warnings,
        replay: None,
        doctor: plan::doctor(&plan::config_source(flags), None),
    };
    let source = Elsewhere { paths, config, work_dir, target };
    let exit = ui::run(Arc::new(source), options, &runtime)?;
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(End::of_screen(exit.signal))
}

impl DoorSource for Elsewhere {
    fn paths(&self) -> &Paths {
        &self.paths
    }

    fn work_dir(&self) -> &Path {
        &self.work_dir
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn open<'a>(
        &'a self,
        choice: &'a SessionChoice,
    ) -> BoxFuture<'a, Result<(Door, Option<Story>), String>> {
        Box::pin(async move {
            if *choice != SessionChoice::New {
                let told = user(
                    "This screen shows an engine of another process, which keeps its own sessions.",
                    "Leave, and open the session without attach.",
                );
                return Err(told.to_string());
            }
            let connected = match &self.target {
                Target::Command(command) => remote::start(command, &self.work_dir).await,
                Target::Socket(path) => join(path, self.work_dir.clone()).await,
            };
            let Connected { door, story } = connected.map_err(|error| in_words(&error))?;
            Ok((door, Some(story)))
        })
    }
}

async fn join(path: &Path, work_dir: PathBuf) -> anyhow::Result<Connected> {
    let stream = UnixStream::connect(path).await.map_err(|error| {
        user(format!("The daemon is gone ({error})."), "kimi-tui daemon list tells which run.")
    })?;
    let (from, to) = stream.into_split();
    remote::join(from, to, work_dir).await
}
