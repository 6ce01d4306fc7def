//! The YAML configuration of early versions (`config.yaml`), read once and written as `config.toml`.

use std::path::{Path, PathBuf};

use super::error::{ConfigError, ConfigErrorKind};
use super::load::read_text;
use super::{read, tree};
use crate::files;
use crate::paths::Paths;

/// The places a `config.yaml` may be, for the share folder `paths` and the home folder `home`.
fn candidates(paths: &Paths, home: Option<&Path>) -> Vec<PathBuf> {
    let mut files = vec![paths.share.join("config.yaml"), paths.share.join("config.yml")];
    // A share folder of its own has nothing to do with what is at home.
    if let Some(home) = home.filter(|home| paths.share == home.join(".kimi")) {
        files.push(home.join(".config/kimi/config.yaml"));
        files.push(home.join(".kimi-cli/config.yaml"));
    }
    files
}

/// Writes `config.toml` from an old `config.yaml` when there is no other configuration; says so. The
/// old file stays as it is.
///
/// # Errors
/// When the file is there and is no configuration, or `config.toml` cannot be written.
pub fn import_yaml(paths: &Paths, home: Option<&Path>) -> Result<Option<String>, ConfigError> {
    let target = paths.config_file();
    if target.exists() || paths.share.join("config.json").exists() {
        return Ok(None);
    }
    for file in candidates(paths, home) {
        let Some(text) = read_text(&file)? else { continue };
        let toml = as_toml(&text).map_err(|error| error.in_file(&file))?;
        let note = format!("# Imported from {}, which is not read any more.\n\n", file.display());
        files::write_atomic(&target, (note + &toml).as_bytes()).map_err(|error| {
            let what = format!("the file cannot be written ({error})");
            ConfigError::new(ConfigErrorKind::Unreadable, what, "Make its folder writable.")
                .in_file(&target)
        })?;
        return Ok(Some(format!(
            "{} was imported into {}; from now on only the latter counts.",
            file.display(),
            target.display()
        )));
    }
    Ok(None)
}

fn as_toml(yaml: &str) -> Result<String, ConfigError> {
    let wrong = |what: String| {
        ConfigError::new(
            ConfigErrorKind::Syntax,
            what,
            "Correct it, or move the file away to start with the defaults.",
        )
    };
    let value: Option<serde_json::Value> = serde_saphyr::from_str(yaml)
        .map_err(|error| wrong(format!("this is not YAML: {}", first_line(&error.to_string()))))?;
    let value = match value {
        None | Some(serde_json::Value::Null) => serde_json::json!({}),
        Some(value) => without_nulls(value),
    };
    if !value.is_object() {
        return Err(wrong("it must be a mapping of keys to values".to_owned()));
    }
    let toml = toml::to_string_pretty(&value).map_err(|error| wrong(error.to_string()))?;
    // Its lines are not those of the YAML file: only what is wrong is told.
    read::config(&tree::from_toml(&toml)?).map_err(|error| error.at(None))?;
    Ok(toml)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// TOML has no null: what is null is not there.
fn without_nulls(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(list) => {
            list.into_iter().filter(|value| !value.is_null()).map(without_nulls).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigSource};

    const YAML: &str = "default_model: k2\nproviders:\n  moonshot:\n    type: kimi\n    \
                        base_url: https://h/v1\n    api_key: sk-1\nmodels:\n  k2:\n    \
                        provider: moonshot\n    model: kimi-k2\n    max_context_size: 1000\n    \
                        capabilities: ~\n";

    #[test]
    fn yaml_is_imported_once_and_only_from_where_it_belongs() {
        let home = tempfile::tempdir().expect("folder");
        let paths = Paths::new(home.path().join(".kimi"));
        let old = home.path().join(".config/kimi/config.yaml");
        std::fs::create_dir_all(old.parent().expect("folder")).expect("folder");
        std::fs::write(&old, YAML).expect("file");
        let elsewhere = Paths::new(home.path().join("other"));
        assert_eq!(import_yaml(&elsewhere, Some(home.path())).expect("ok"), None);
        let note = import_yaml(&paths, Some(home.path())).expect("ok").expect("a note");
        assert!(note.contains("config.yaml was imported into"), "{note}");
        let loaded = Config::load(&paths, &ConfigSource::Default).expect("loads");
        assert_eq!(loaded.config.models["k2"].model, "kimi-k2");
        assert_eq!(import_yaml(&paths, Some(home.path())).expect("ok"), None, "once");
        assert!(old.exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(paths.config_file()).expect("file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_configuration_is_told_and_not_written() {
        let folder = tempfile::tempdir().expect("folder");
        let paths = Paths::new(folder.path());
        for (yaml, words) in [
            ("a: [1", "not YAML"),
            ("- 1\n- 2\n", "must be a mapping"),
            ("default_model: nowhere\n", "nowhere"),
        ] {
            std::fs::write(folder.path().join("config.yaml"), yaml).expect("file");
            let error = import_yaml(&paths, None).expect_err(yaml).to_string();
            assert!(error.contains(words) && error.contains("config.yaml"), "{error}");
            assert!(!paths.config_file().exists());
        }
    }
}
