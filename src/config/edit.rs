//! Changing `config.toml`: what is asked for, and not a byte of what is beside it.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use similar::{Algorithm, capture_diff_slices};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::error::{ConfigError, ConfigErrorKind};
use super::load::read_text;
use super::{
    ConfigSource, ModelConfig, OauthConfig, ProviderConfig, ProviderKind, Secret, read, tree,
};
use crate::files;
use crate::paths::Paths;

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Add a provider, or set what is known of one that is there.
    Provider {
        /// Its key.
        key: String,
        /// What it is.
        provider: ProviderConfig,
    },
    /// Add a model, or set what is known of one that is there.
    Model {
        /// Its key.
        key: String,
        /// What it is.
        model: ModelConfig,
    },
    /// Set the key of a provider that is there.
    Key {
        /// The provider's key in `providers`.
        provider: String,
        /// The secret; none takes it out.
        secret: Option<Secret>,
    },
    /// Set `default_model`.
    DefaultModel(String),
    /// Set `default_thinking`.
    Thinking(bool),
    /// Set `theme`.
    Theme(String),
    /// Set `default_editor`.
    Editor(String),
}

impl ProviderKind {
    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kimi => "kimi",
            Self::OpenaiLegacy => "openai_legacy",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::GoogleGenai => "google_genai",
            Self::Vertexai => "vertexai",
            Self::Echo => "_echo",
            Self::ScriptedEcho => "_scripted_echo",
            Self::Chaos => "_chaos",
        }
    }
}

/// Carries `edits` out on the configuration that `source` names; gives the file that was written. It
/// is replaced at once or not at all, and is its owner's alone as soon as a key is in it.
///
/// # Errors
/// When the configuration is no TOML file, is broken, or cannot be written; it is untouched then.
pub fn edit(paths: &Paths, source: &ConfigSource, edits: &[Edit]) -> Result<PathBuf, ConfigError> {
    let file = file_of(paths, source)?;
    // A link, into a folder of dotfiles for instance, stays one.
    let file = file.canonicalize().unwrap_or(file);
    let old = read_text(&file)?.unwrap_or_default();
    let new = edited(&old, edits).map_err(|error| error.in_file(&file))?;
    if new != old || !file.exists() {
        write(&file, &new)?;
    }
    Ok(file)
}

fn file_of(paths: &Paths, source: &ConfigSource) -> Result<PathBuf, ConfigError> {
    let is_json = |file: &Path| file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let refused = |what: &str, advice: &str| {
        ConfigError::new(ConfigErrorKind::Unreadable, what.to_owned(), advice.to_owned())
    };
    let file = match source {
        ConfigSource::Inline(_) => {
            return Err(refused(
                "the configuration was given as text on the command line and cannot be changed",
                "Start without --config, or change that text.",
            ));
        }
        ConfigSource::File(file) => file.clone(),
        ConfigSource::Default => {
            let (toml, json) = (paths.config_file(), paths.share.join("config.json"));
            if !toml.exists() && json.exists() { json } else { toml }
        }
    };
    if is_json(&file) {
        let advice = "Move what is in it to config.toml, which is read first, and try again.";
        return Err(refused("JSON files are read, but not changed", advice).in_file(&file));
    }
    Ok(file)
}

fn write(file: &Path, text: &str) -> Result<(), ConfigError> {
    let unwritable = |error: std::io::Error| {
        ConfigError::new(
            ConfigErrorKind::Unreadable,
            format!("the file cannot be written ({error})"),
            "Check who may write it and its folder.",
        )
        .in_file(file)
    };
    #[cfg(unix)]
    if holds_key(text) && file.exists() {
        use std::os::unix::fs::PermissionsExt;
        // Before the key is in it. The new file takes this mode over.
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(file, private).map_err(unwritable)?;
    }
    files::write_atomic(file, text.as_bytes()).map_err(unwritable)
}

/// Is there a key in the configuration `text`?
fn holds_key(text: &str) -> bool {
    let Ok(document) = text.parse::<DocumentMut>() else { return true };
    let providers = document.get("providers").and_then(Item::as_table_like);
    providers.is_some_and(|providers| {
        providers.iter().any(|(_, provider)| {
            let provider = provider.as_table_like();
            let key = provider.and_then(|p| p.get("api_key")).and_then(Item::as_str);
            let headers = provider.and_then(|p| p.get("custom_headers"));
            key.is_some_and(|key| !key.is_empty()) || headers.is_some()
        })
    })
}

/// `text` with `edits`. Comments, the order, spaces and unknown keys stay as they are.
///
/// # Errors
/// When `text` is no TOML, when what is to be changed is no table, or when the result would not be a
/// configuration although `text` was one.
pub fn edited(text: &str, edits: &[Edit]) -> Result<String, ConfigError> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    // Says where a syntax error is, as reading does.
    let was_good = read::config(&tree::from_toml(body)?).is_ok();
    let mut document: DocumentMut = body.parse().map_err(|error: toml_edit::TomlError| {
        ConfigError::new(
            ConfigErrorKind::Syntax,
            format!("this is not TOML: {}", error.message()),
            "Correct it first.",
        )
    })?;
    // Of a file of comments only, the comments come first.
    let comments = if document.is_empty() { body } else { "" };
    if !comments.is_empty() {
        document = DocumentMut::new();
    }
    for edit in edits {
        carry_out(document.as_table_mut(), edit)?;
    }
    let gap = if comments.is_empty() || comments.ends_with('\n') { "" } else { "\n" };
    let mut new = format!("{comments}{gap}{document}");
    if body.contains("\r\n") {
        new = with_endings_of(body, &new);
    }
    if was_good {
        read::config(&tree::from_toml(&new)?)?;
    }
    Ok(format!("{mark}{new}"))
}

/// `new` with each line ending as it does in `old`, and the lines that are new as most do there.
fn with_endings_of(old: &str, new: &str) -> String {
    fn bare(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r'])).collect()
    }
    let pieces: Vec<&str> = old.split_inclusive('\n').collect();
    let most = pieces.iter().filter(|line| line.ends_with("\r\n")).count() * 2 >= pieces.len();
    // A last line without an ending says nothing.
    let is_crlf = |line: &str| if line.ends_with('\n') { line.ends_with("\r\n") } else { most };
    let (old_lines, new_lines) = (bare(old), bare(new));
    let mut crlf = vec![most; new_lines.len()];
    for op in capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
        let (_, from, to) = op.as_tag_tuple();
        // A line that was changed keeps its ending too.
        for (from, to) in from.zip(to) {
            crlf[to] = is_crlf(pieces[from]);
        }
    }
    let ends = new.ends_with('\n');
    let count = new_lines.len();
    let endings = crlf.iter().enumerate().map(|(at, crlf)| match crlf {
        _ if at + 1 == count && !ends => "",
        true => "\r\n",
        false => "\n",
    });
    new_lines.iter().zip(endings).flat_map(|(line, end)| [*line, end]).collect()
}

fn carry_out(root: &mut Table, edit: &Edit) -> Result<(), ConfigError> {
    match edit {
        Edit::DefaultModel(key) => set(root, "default_model", key.as_str()),
        Edit::Thinking(on) => set(root, "default_thinking", *on),
        Edit::Theme(name) => set(root, "theme", name.as_str()),
        Edit::Editor(command) => set(root, "default_editor", command.as_str()),
        Edit::Provider { key, provider } => {
            write_provider(entry(root, "providers", key)?, provider);
        }
        Edit::Model { key, model } => write_model(entry(root, "models", key)?, model),
        Edit::Key { provider, secret } => {
            let known = root
                .get("providers")
                .and_then(Item::as_table_like)
                .is_some_and(|providers| providers.contains_key(provider));
            if !known {
                return Err(ConfigError::new(
                    ConfigErrorKind::Reference,
                    format!("there is no provider {provider:?}"),
                    "Add it first: kimi-tui login --help tells how.",
                ));
            }
            let table = entry(root, "providers", provider)?;
            match secret {
                Some(secret) => {
                    set(table, "api_key", secret.0.as_str());
                }
                None => {
                    table.remove("api_key");
                }
            }
        }
    }
    Ok(())
}

fn write_provider(table: &mut dyn TableLike, provider: &ProviderConfig) {
    set(table, "type", provider.kind.name());
    set(table, "base_url", provider.base_url.as_str());
    if !provider.api_key.is_empty() {
        set(table, "api_key", provider.api_key.as_str());
    }
    for (key, map) in [("custom_headers", &provider.custom_headers), ("env", &provider.env)] {
        if !map.is_empty() {
            set(table, key, Value::from_iter(map.iter().map(|(k, v)| (k.as_str(), v.as_str()))));
        }
    }
    if let Some(key) = &provider.reasoning_key {
        set(table, "reasoning_key", key.as_str());
    }
    if let Some(oauth) = &provider.oauth {
        write_oauth(table, oauth);
    }
}

fn write_oauth(table: &mut dyn TableLike, oauth: &OauthConfig) {
    let said = [
        ("storage", &oauth.storage),
        ("key", &oauth.key),
        ("client_id", &oauth.client_id),
        ("device_url", &oauth.device_url),
        ("token_url", &oauth.token_url),
        ("scope", &oauth.scope),
    ];
    let said = said.iter().filter(|(_, value)| !value.is_empty());
    if let Some(old) = table.get_mut("oauth").and_then(Item::as_table_like_mut) {
        said.for_each(|(key, value)| set(old, key, value.as_str()));
    } else {
        set(table, "oauth", Value::from_iter(said.map(|(key, value)| (*key, value.as_str()))));
    }
}

fn write_model(table: &mut dyn TableLike, model: &ModelConfig) {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    set(table, "provider", model.provider.as_str());
    set(table, "model", model.model.as_str());
    set(table, "max_context_size", whole(model.max_context_size));
    if let Some(capabilities) = &model.capabilities {
        let names = capabilities.iter().map(|capability| capability.name());
        set(table, "capabilities", Value::from_iter(names));
    }
    if let Some(name) = &model.display_name {
        set(table, "display_name", name.as_str());
    }
    if let Some(tokens) = model.max_output_tokens {
        set(table, "max_output_tokens", whole(tokens));
    }
}

/// `[parent.key]`, made where it is not there.
fn entry<'a>(
    root: &'a mut Table,
    parent: &str,
    key: &str,
) -> Result<&'a mut dyn TableLike, ConfigError> {
    let no_table = |name: String| {
        ConfigError::new(
            ConfigErrorKind::Value,
            format!("{name} is no table"),
            format!("Write it as [{name}] with its keys below."),
        )
    };
    let parent_item = root.entry(parent).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    // Inside of braces there can only be more braces.
    let is_inline = matches!(parent_item, Item::Value(Value::InlineTable(_)));
    let table = parent_item.as_table_like_mut().ok_or_else(|| no_table(parent.to_owned()))?;
    let item = table.entry(key).or_insert_with(|| {
        if is_inline {
            Item::Value(Value::InlineTable(toml_edit::InlineTable::new()))
        } else {
            Item::Table(Table::new())
        }
    });
    item.as_table_like_mut().ok_or_else(|| no_table(format!("{parent}.{key}")))
}

/// Sets a value; what stands around the old one, a comment behind it for instance, stays.
fn set(table: &mut dyn TableLike, key: &str, value: impl Into<Value>) {
    let mut value = value.into();
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            if said(old) == said(&value) {
                return;
            }
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert(key, Item::Value(value))),
    }
}

/// A value without what stands around it, to compare.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.value()),
        other => other.clone().decorated("", "").to_string(),
    }
}
