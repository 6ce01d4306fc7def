//! `kimi-tui doctor`: looks at everything this program needs and says what to do about what is wrong.

mod data;
mod models;
mod report;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;

use report::{Look, as_text};
use serde::Serialize;

use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::cli::plan::config_source;
use crate::config::ConfigSource;
use crate::engine::Env;
use crate::paths::Paths;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Do not talk to any server
    #[arg(long)]
    offline: bool,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    /// It works, but not as well as it could.
    Warn,
    /// It does not work.
    Fail,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    area: &'static str,
    level: Level,
    /// What was seen.
    said: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

impl Check {
    fn ok(area: &'static str, said: impl Into<String>) -> Self {
        Self { area, level: Level::Ok, said: said.into(), cure: None }
    }

    fn warn(area: &'static str, said: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { area, level: Level::Warn, said: said.into(), cure: Some(cure.into()) }
    }

    fn fail(area: &'static str, said: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { area, level: Level::Fail, said: said.into(), cure: Some(cure.into()) }
    }
}

/// What is looked at.
struct Surroundings {
    paths: Paths,
    source: ConfigSource,
    /// `--model`.
    model: Option<String>,
    env: Env,
    is_terminal: bool,
    is_offline: bool,
}

impl Surroundings {
    fn is_set(&self, name: &str) -> bool {
        self.env.get(name).is_some_and(|value| !value.trim().is_empty())
    }

    /// Where the program `name` is found, by `PATH`.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.env.get("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
    }
}

fn is_program(file: &std::path::Path) -> bool {
    let Ok(facts) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    facts.is_file() && may_run
}

pub(super) fn run(args: &DoctorArgs, flags: &Args) -> anyhow::Result<End> {
    let source = config_source(flags);
    let around = Surroundings {
        paths: Paths::from_env()?,
        source,
        model: flags.model.clone(),
        env: Env::process(),
        is_terminal: stdout().is_terminal() && std::io::stdin().is_terminal(),
        is_offline: args.offline,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let checks = runtime.block_on(examine(&around));
    let look = Look::of(&around);
    let text = if args.json { as_json(&checks)? } else { as_text(&checks, look) };
    writeln!(stdout(), "{text}")?;
    Ok(match count(&checks, Level::Fail) {
        0 => End::Done,
        1 => End::failed("One check failed."),
        many => End::failed(format!("{many} checks failed.")),
    })
}

/// Looks at everything.
async fn examine(around: &Surroundings) -> Vec<Check> {
    let mut checks = models::examine(around).await;
    checks.extend(terminal::examine(around));
    checks.extend(data::examine(around));
    checks.extend(data::programs(around));
    checks
}

fn count(checks: &[Check], level: Level) -> usize {
    checks.iter().filter(|check| check.level == level).count()
}

fn as_json(checks: &[Check]) -> serde_json::Result<String> {
    let ok = count(checks, Level::Fail) == 0;
    serde_json::to_string_pretty(&serde_json::json!({ "ok": ok, "checks": checks }))
}
