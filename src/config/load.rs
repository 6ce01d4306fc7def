//! Finding the configuration and reading it: a file, a text on the command line, or nothing.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{ConfigError, ConfigErrorKind};
use super::{Config, read, tree};
use crate::paths::Paths;

/// Where the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ConfigSource {
    /// `config.toml` in the share folder, else the `config.json` of old versions, else nothing.
    #[default]
    Default,
    /// This file: JSON when its name ends in `.json`, else TOML.
    File(PathBuf),
    /// This text: JSON, else TOML.
    Inline(String),
}

/// A configuration and what a person should know about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Things that do no harm but are hardly meant, a misspelt key for instance: one line each.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads and checks the configuration of `source`. A share folder without one gives the
    /// defaults; nothing is written.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML or JSON, or does not make sense.
    pub fn load(paths: &Paths, source: &ConfigSource) -> Result<Loaded, ConfigError> {
        let mut loaded = Self::load_from(paths, source)?;
        let Config { providers, web, .. } = &mut loaded.config;
        for provider in providers.values_mut() {
            provider.oauth =
                provider.oauth.take().map(|oauth| Box::new(oauth.kept_in(&paths.share)));
        }
        for service in [&mut web.search, &mut web.fetch].into_iter().flatten() {
            let Some(oauth) = service.oauth.take() else { continue };
            let oauth = oauth.kept_in(&paths.share);
            // One login, written down once: at the provider's.
            let mut same = providers.values().filter_map(|provider| provider.oauth.as_deref());
            let whole = match same.find(|other| other.file() == oauth.file()) {
                Some(other) => oauth.filled_from(other),
                None => oauth,
            };
            service.oauth = Some(Box::new(whole));
        }
        Ok(loaded)
    }

    fn load_from(paths: &Paths, source: &ConfigSource) -> Result<Loaded, ConfigError> {
        match source {
            ConfigSource::Default => {
                let current = paths.config_file();
                let old = paths.share.join("config.json");
                for file in [current, old] {
                    if let Some(text) = read_text(&file)? {
                        return from_file(&file, &text);
                    }
                }
                Ok(Loaded::default())
            }
            ConfigSource::File(file) => match read_text(file)? {
                Some(text) => from_file(file, &text),
                None => Err(ConfigError::new(
                    ConfigErrorKind::Unreadable,
                    "there is no such file",
                    "Check the path given with --config-file.",
                )
                .in_file(file)),
            },
            ConfigSource::Inline(text) => {
                from_text(text).map_err(|error| error.in_file("--config"))
            }
        }
    }
}

/// The text of `file`; none when there is no such file.
pub(super) fn read_text(file: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |what: String, advice: &str| {
        ConfigError::new(ConfigErrorKind::Unreadable, what, advice).in_file(file)
    };
    match std::fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..valid].iter().filter(|b| **b == b'\n').count();
            unreadable("this is not UTF-8 text".to_owned(), "Save the file as UTF-8.")
                .at(Some(line))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(
            format!("the file cannot be read ({error})"),
            "Check what it is and who may read it.",
        )),
    }
}

fn from_file(file: &Path, text: &str) -> Result<Loaded, ConfigError> {
    let is_json = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    // An editor's byte order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = if is_json { tree::from_json(text) } else { tree::from_toml(text) };
    let mut loaded = table.and_then(|table| read::config(&table)).map_err(|e| e.in_file(file))?;
    for warning in &mut loaded.warnings {
        // A warning begins with its line, or with a blank where it has none.
        *warning = format!("{}:{warning}", file.display());
    }
    Ok(loaded)
}

fn from_text(text: &str) -> Result<Loaded, ConfigError> {
    if text.trim().is_empty() {
        return Err(ConfigError::new(
            ConfigErrorKind::Syntax,
            "the text is empty",
            "Give TOML or JSON, for example --config 'default_yolo = true'.",
        ));
    }
    let table = tree::from_json(text).or_else(|in_json| {
        tree::from_toml(text).map_err(|in_toml| {
            // Whoever begins with a brace means JSON and wants to hear of its error.
            if text.trim_start().starts_with('{') { in_json } else { in_toml }
        })
    })?;
    let mut loaded = read::config(&table)?;
    for warning in &mut loaded.warnings {
        *warning = format!("--config:{warning}");
    }
    Ok(loaded)
}
