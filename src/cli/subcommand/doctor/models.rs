//! Configuration, keys, and the servers behind them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Check, Level, Surroundings};
use crate::config::{Config, ConfigError, ConfigSource, Loaded, ResolvedModel};
use crate::llm;
use crate::llm::probe::{self, Found, Trouble};

const CONFIG: &str = "Configuration";
const KEYS: &str = "Keys";
const CONNECTION: &str = "Connection";
/// Models that are tried, at most.
const TRIED: usize = 12;
/// Variables that hold keys.
const VARIABLES: [&str; 5] =
    ["KIMI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];

pub(super) async fn examine(around: &Surroundings) -> Vec<Check> {
    let loaded = match Config::load(&around.paths, &around.source) {
        Ok(loaded) => loaded,
        Err(error) => {
            let said = Check { area: CONFIG, ..of_config_error(&error) };
            return vec![said];
        }
    };
    let mut checks = configuration(around, &loaded);
    let models = resolve(around, &loaded.config, &mut checks);
    checks.extend(keys(around, &loaded.config, &models));
    checks.extend(modes(around, &loaded.config));
    checks.extend(connections(around, &loaded.config, &models).await);
    checks
}

fn of_config_error(error: &ConfigError) -> Check {
    let place = match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{}:{line}: ", file.display()),
        (Some(file), None) => format!("{}: ", file.display()),
        (None, _) => String::new(),
    };
    Check::fail(KEYS, format!("{place}{}", error.what), error.advice.clone())
}

fn configuration(around: &Surroundings, loaded: &Loaded) -> Vec<Check> {
    let config = &loaded.config;
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let file = around.paths.config_file();
    let place = match &around.source {
        ConfigSource::File(file) => file.display().to_string(),
        ConfigSource::Inline(_) => "--config".to_owned(),
        ConfigSource::Default if file.exists() => file.display().to_string(),
        ConfigSource::Default => {
            let old = around.paths.share.join("config.json");
            if old.exists() {
                old.display().to_string()
            } else {
                format!("no configuration ({} would be it)", file.display())
            }
        }
    };
    let said = format!(
        "{place}: {}, {}",
        counted(config.providers.len(), "provider"),
        counted(config.models.len(), "model")
    );
    let mut checks = vec![Check::ok(CONFIG, said)];
    checks.extend(loaded.warnings.iter().map(|warning| {
        let (said, cure) = warning.split_once(". ").unwrap_or((warning, "Correct or remove it."));
        Check::warn(CONFIG, said, cure)
    }));
    let used: Vec<&str> = config.models.values().map(|model| model.provider.as_str()).collect();
    for key in config.providers.keys().filter(|key| !used.contains(&key.as_str())) {
        let cure = format!("Add a model with provider = {key:?}, or remove it.");
        checks.push(Check::warn(CONFIG, format!("provider {key:?} is used by no model"), cure));
    }
    checks
}

/// A model and whether it is the one that answers.
struct Chosen {
    model: ResolvedModel,
    is_default: bool,
}

fn resolve(around: &Surroundings, config: &Config, checks: &mut Vec<Check>) -> Vec<Chosen> {
    let env = |name: &str| around.env.get(name);
    let mut chosen = Vec::new();
    let mut default = None;
    match config.resolve_model(around.model.as_deref(), &env) {
        Ok(Some(model)) => {
            default = Some(model.key.clone());
            checks.push(Check::ok(CONFIG, format!("{} is the model ({})", model.key, model.model)));
            chosen.push(Chosen { model, is_default: true });
        }
        Ok(None) => checks.push(Check::warn(
            CONFIG,
            "no model is configured: the built-in demo model answers",
            "Run kimi-tui login, or set KIMI_API_KEY and KIMI_MODEL_NAME.",
        )),
        Err(error) => checks.push(Check { area: CONFIG, ..of_config_error(&error) }),
    }
    let others = config.models.keys().filter(|key| Some(*key) != default.as_ref()).take(TRIED);
    for key in others {
        match config.resolve_model(Some(key), &env) {
            Ok(Some(model)) => chosen.push(Chosen { model, is_default: false }),
            Ok(None) => {}
            Err(error) => {
                let check = of_config_error(&error);
                // Already told when it is the one that answers.
                if !checks.iter().any(|told| told.said == check.said) {
                    checks.push(Check {
                        level: Level::Warn,
                        said: format!("model {key:?}: {}", check.said),
                        ..check
                    });
                }
            }
        }
    }
    chosen
}

fn keys(around: &Surroundings, config: &Config, models: &[Chosen]) -> Vec<Check> {
    let mut told = BTreeMap::new();
    for Chosen { model, .. } in models {
        let provider = config.models.get(&model.key).map(|known| known.provider.clone());
        let name = provider.clone().unwrap_or_else(|| "the environment".to_owned());
        let key = model.provider.api_key.trim();
        let in_file = provider.and_then(|provider| config.providers.get(&provider));
        let from = if in_file.is_some_and(|provider| provider.api_key.trim() == key) {
            "the configuration".to_owned()
        } else {
            let holds = |name: &&str| around.env.get(name).is_some_and(|value| value.trim() == key);
            VARIABLES.into_iter().find(holds).unwrap_or("the environment").to_owned()
        };
        if let Some(oauth) = model.provider.login() {
            let check = if llm::oauth::is_logged_in(oauth) {
                Check::ok(KEYS, format!("{name}: logged in"))
            } else {
                let cure = format!("Type /login, or run kimi-tui login --oauth {name}.");
                Check::warn(KEYS, format!("{name}: not logged in"), cure)
            };
            told.entry(name).or_insert(check);
            continue;
        }
        let said = if key.is_empty() {
            format!("{name}: no key, and none is needed")
        } else {
            format!("{name}: {} from {from}", masked(key))
        };
        told.entry(name).or_insert(Check::ok(KEYS, said));
    }
    told.into_values().collect()
}

/// Enough of a key to know it by.
pub(super) fn masked(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    if characters.len() < 16 {
        return "****".to_owned();
    }
    let start: String = characters[..3].iter().collect();
    let end: String = characters[characters.len() - 4..].iter().collect();
    format!("{start}…{end}")
}

/// Files with secrets must be their owner's alone.
fn modes(around: &Surroundings, config: &Config) -> Vec<Check> {
    let mut files = Vec::new();
    if config.providers.values().any(|provider| !provider.api_key.is_empty()) {
        files.push(match &around.source {
            ConfigSource::File(file) => file.clone(),
            _ => around.paths.config_file(),
        });
    }
    let credentials = around.paths.share.join("credentials");
    let inside = std::fs::read_dir(credentials).into_iter().flatten().flatten();
    let is_login = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    files.extend(inside.map(|entry| entry.path()).filter(is_login));
    files.iter().filter_map(|file| mode(file)).collect()
}

#[cfg(unix)]
fn mode(file: &Path) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(file).ok()?.permissions().mode() & 0o777;
    let shown = file.display();
    Some(if mode & 0o077 == 0 {
        Check::ok(KEYS, format!("{shown} is yours alone (mode {mode:o})"))
    } else {
        let said = format!("{shown} holds a key and others may read it (mode {mode:o})");
        Check::warn(KEYS, said, format!("chmod 600 {shown}"))
    })
}

#[cfg(not(unix))]
fn mode(_file: &Path) -> Option<Check> {
    None
}

async fn connections(around: &Surroundings, config: &Config, models: &[Chosen]) -> Vec<Check> {
    if around.is_offline || models.is_empty() {
        return Vec::new();
    }
    let looks = models.iter().map(|chosen| connection(config, chosen));
    futures::future::join_all(looks).await.into_iter().flatten().collect()
}

async fn connection(config: &Config, chosen: &Chosen) -> Option<Check> {
    let model = &chosen.model;
    if model.provider.kind.name().starts_with('_') {
        return None;
    }
    let place = match config.models.get(&model.key) {
        Some(known) => format!("[providers.{}]", known.provider),
        None => "the environment".to_owned(),
    };
    let check = match probe::check(model).await {
        Ok(Found::Ready) => {
            return Some(Check::ok(
                CONNECTION,
                format!("{}: the server answers and has {}", model.key, model.model),
            ));
        }
        Ok(Found::NoSuchModel(known)) => {
            let names: Vec<&str> = known.iter().take(8).map(|model| model.name.as_str()).collect();
            let more = if known.len() > 8 { ", …" } else { "" };
            Check::fail(
                CONNECTION,
                format!("{}: the server has no model {:?}", model.key, model.model),
                format!("Change models.{}.model to one of: {}{more}.", model.key, names.join(", ")),
            )
        }
        Err(error) => Check::fail(
            CONNECTION,
            format!("{}: {error}", model.key),
            Trouble::of(&error).cure(&place),
        ),
    };
    // What is not in use may be away: a local server, for instance.
    Some(if chosen.is_default { check } else { Check { level: Level::Warn, ..check } })
}
