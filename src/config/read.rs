//! A tree of values checked and made into a [`Config`] (limits: upstream's `config.py:26-264`).

mod background;
mod hooks;
mod mcp;
mod network;
mod oauth;
pub(super) mod permission;
mod snapshots;
mod status_line;
mod ui;
mod web;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as PlainError, StrDeserializer};

use super::error::{ConfigError, ConfigErrorKind};
use super::load::Loaded;
use super::names::{self, quoted_unless_bare};
use super::tree::{Entry, Node, Table, Value};
use super::{
    Capability, CompactionConfig, CompactionStrategyKind, Config, LoopControl, ModelConfig,
    ProviderConfig, ProviderKind,
};

/// The configuration in `table`.
pub(super) fn config(table: &Table) -> Result<Loaded, ConfigError> {
    let mut reader = Reader::default();
    let config = reader.top(table);
    reader.check_references(table, &config);
    // All were looked for, and the first in the file is told: correcting goes from top to bottom.
    match reader.problems.into_iter().min_by_key(|problem| problem.line) {
        Some(problem) => Err(problem),
        None => Ok(Loaded { config, warnings: reader.warnings }),
    }
}

/// A table and its name, for messages: `models.k2`.
struct Section<'a> {
    name: String,
    table: &'a Table,
    line: Option<usize>,
}

impl Section<'_> {
    /// The full name of a key in it.
    fn path(&self, key: &str) -> String {
        let key = quoted_unless_bare(key);
        if self.name.is_empty() { key } else { format!("{}.{key}", self.name) }
    }
}

#[derive(Default)]
struct Reader {
    problems: Vec<ConfigError>,
    warnings: Vec<String>,
}

impl Reader {
    fn problem(&mut self, line: Option<usize>, what: String, advice: String) {
        self.problems.push(ConfigError::new(ConfigErrorKind::Value, what, advice).at(line));
    }

    fn top(&mut self, table: &Table) -> Config {
        let top = Section { name: String::new(), table, line: Some(1) };
        self.warn_of_slips(&top, names::TOP);
        let default = Config::default();
        Config {
            default_model: self.text(&top, "default_model").unwrap_or_default(),
            default_thinking: self.flag(&top, "default_thinking", default.default_thinking),
            default_yolo: self.flag(&top, "default_yolo", default.default_yolo),
            default_plan_mode: self.flag(&top, "default_plan_mode", default.default_plan_mode),
            default_editor: self.text(&top, "default_editor").unwrap_or_default(),
            theme: self.text(&top, "theme").filter(|t| !t.is_empty()).unwrap_or(default.theme),
            show_thinking_stream: self.flag(
                &top,
                "show_thinking_stream",
                default.show_thinking_stream,
            ),
            models: self
                .sections(&top, "models")
                .into_iter()
                .filter_map(|(key, section)| Some((key, self.model(&section)?)))
                .collect(),
            providers: self
                .sections(&top, "providers")
                .into_iter()
                .filter_map(|(key, section)| Some((key, self.provider(&section)?)))
                .collect(),
            loop_control: self.loop_control(&top),
            compaction: self.compaction(&top),
            background: self.background(&top),
            snapshots: self.snapshots(&top),
            permission_rules: self.permission(&top),
            hooks: self.hooks(&top),
            merge_all_available_skills: self.flag(&top, "merge_all_available_skills", true),
            extra_skill_dirs: self.text_list(&top, "extra_skill_dirs"),
            skip_afk_prompt_injection: self.flag(&top, "skip_afk_prompt_injection", false),
            network: self.network(&top),
            web: self.web(&top),
            ui: self.ui(&top),
            mcp: self.mcp(&top),
        }
    }

    fn model(&mut self, section: &Section<'_>) -> Option<ModelConfig> {
        self.warn_of_slips(section, names::MODEL);
        let provider = self.required_text(section, "provider", "the key of a provider");
        let model = self.required_text(section, "model", "its name at the provider");
        let size = self.integer(section, "max_context_size", 1);
        if size.is_none() && section.table.get("max_context_size").is_none() {
            self.missing(section, "max_context_size", "max_context_size = 262144");
        }
        let capabilities = self.capabilities(section);
        let display_name = self.text(section, "display_name");
        let max_output_tokens =
            self.integer(section, "max_output_tokens", 1).map(i64::unsigned_abs);
        let price = self.price(section);
        Some(ModelConfig {
            provider: provider?,
            model: model?,
            max_context_size: size?.unsigned_abs(),
            capabilities,
            display_name,
            max_output_tokens,
            price,
        })
    }

    fn provider(&mut self, section: &Section<'_>) -> Option<ProviderConfig> {
        self.warn_of_slips(section, names::PROVIDER);
        let kind =
            self.required_text(section, "type", "how it is spoken to, \"kimi\" for instance");
        let kind = kind.and_then(|name| self.provider_kind(section, &name));
        let base_url = self.text(section, "base_url").unwrap_or_default();
        if !base_url.is_empty() && !is_http(&base_url) {
            let path = section.path("base_url");
            self.problem(
                section.table.get("base_url").and_then(|entry| entry.line),
                format!("{path} is not a web address"),
                "It begins with http:// or https://, for example \"https://api.example.com/v1\"."
                    .to_owned(),
            );
        }
        let api_key = self.text(section, "api_key").unwrap_or_default();
        let env = self.texts(section, "env");
        let custom_headers = self.texts(section, "custom_headers");
        let reasoning_key = self.text(section, "reasoning_key");
        let oauth = self.oauth(section).map(Box::new);
        Some(ProviderConfig {
            kind: kind?,
            base_url,
            api_key,
            env,
            custom_headers,
            reasoning_key,
            oauth,
        })
    }

    fn provider_kind(&mut self, section: &Section<'_>, name: &str) -> Option<ProviderKind> {
        let plain: StrDeserializer<'_, PlainError> = name.into_deserializer();
        if let Ok(kind) = ProviderKind::deserialize(plain) {
            return Some(kind);
        }
        let known = names::PROVIDER_TYPES.iter().copied().filter(|name| !name.starts_with('_'));
        let advice = match names::nearest(name, names::PROVIDER_TYPES.iter().copied()) {
            Some(near) => format!("Did you mean type = {near:?}?"),
            None => "Servers that speak OpenAI's chat completions are of type \"openai_legacy\"."
                .to_owned(),
        };
        self.problem(
            section.table.get("type").and_then(|entry| entry.line),
            format!(
                "unknown provider type {name:?} in {} (known: {})",
                section.path("type"),
                names::list(known)
            ),
            advice,
        );
        None
    }

    fn capabilities(&mut self, section: &Section<'_>) -> Option<Vec<Capability>> {
        let entry = section.table.get("capabilities")?;
        let path = section.path("capabilities");
        let Value::List(list) = &entry.node.value else {
            self.wrong_type(entry, &path, "a list of texts", "capabilities = [\"thinking\"]");
            return None;
        };
        let mut capabilities = Vec::new();
        for node in list {
            let capability = match &node.value {
                Value::Text(name) => {
                    let plain: StrDeserializer<'_, PlainError> = name.as_str().into_deserializer();
                    Capability::deserialize(plain).ok()
                }
                _ => None,
            };
            match capability {
                Some(capability) => capabilities.push(capability),
                None => self.problem(
                    node.line.or(entry.line),
                    format!("{path} has an entry that is not a capability"),
                    format!("Known are {}.", names::list(names::CAPABILITIES.iter().copied())),
                ),
            }
        }
        Some(capabilities)
    }

    fn loop_control(&mut self, top: &Section<'_>) -> LoopControl {
        let default = LoopControl::default();
        let Some(section) = self.section(top, "loop_control") else { return default };
        self.warn_of_slips(&section, names::LOOP_CONTROL);
        let mut count =
            |key: &str, least: i64| self.integer(&section, key, least).map(i64::unsigned_abs);
        let max_steps = count("max_steps_per_turn", 1).or_else(|| count("max_steps_per_run", 1));
        let max_retries = count("max_retries_per_step", 1);
        let reserved = count("reserved_context_size", 1000);
        let ralph = self.integer(&section, "max_ralph_iterations", -1);
        LoopControl {
            max_steps_per_turn: max_steps.unwrap_or(default.max_steps_per_turn),
            max_retries_per_step: max_retries.unwrap_or(default.max_retries_per_step),
            max_ralph_iterations: ralph.unwrap_or(default.max_ralph_iterations),
            reserved_context_size: reserved.unwrap_or(default.reserved_context_size),
            compaction_trigger_ratio: self
                .ratio(&section, "compaction_trigger_ratio")
                .unwrap_or(default.compaction_trigger_ratio),
        }
    }

    fn compaction(&mut self, top: &Section<'_>) -> CompactionConfig {
        let Some(section) = self.section(top, "compaction") else { return Default::default() };
        self.warn_of_slips(&section, names::COMPACTION);
        CompactionConfig {
            strategy: self.strategy(&section, "strategy").unwrap_or_default(),
            fallback: self.strategy(&section, "fallback"),
        }
    }

    fn strategy(&mut self, section: &Section<'_>, key: &str) -> Option<CompactionStrategyKind> {
        let name = self.text(section, key).filter(|name| !name.is_empty())?;
        if let Some(kind) = CompactionStrategyKind::by_name(&name) {
            return Some(kind);
        }
        let known = CompactionStrategyKind::NAMES.map(|(known, _)| known);
        let advice = match names::nearest(&name, known) {
            Some(near) => format!("Did you mean {key} = {near:?}?"),
            None => "Strategies of one's own are not loaded; choose one of these.".to_owned(),
        };
        self.problem(
            section.table.get(key).and_then(|entry| entry.line),
            format!("unknown strategy {name:?} (known: {})", names::list(known.iter().copied())),
            advice,
        );
        None
    }

    /// Every name that must refer to something does.
    fn check_references(&mut self, table: &Table, config: &Config) {
        // By the tree, not by the configuration: a model with another fault still exists.
        let keys = |name: &str| -> Vec<String> {
            match table.get(name).map(|entry| &entry.node.value) {
                Some(Value::Table(table)) => table.0.iter().map(|e| e.key.clone()).collect(),
                _ => Vec::new(),
            }
        };
        let (models, providers) = (keys("models"), keys("providers"));
        let line = |path: &[&str]| line_of(table, path);
        if !config.default_model.is_empty() && !models.contains(&config.default_model) {
            let known = names::list(models.iter().map(String::as_str));
            let name = &config.default_model;
            let meant = names::nearest(name, models.iter().map(String::as_str));
            let advice = match meant {
                Some(near) => format!("Did you mean default_model = {near:?}?"),
                None => {
                    format!("Add [models.{}] or change default_model.", quoted_unless_bare(name))
                }
            };
            self.reference(
                line(&["default_model"]),
                format!("default_model {name:?} is not among the models (known: {known})"),
                advice,
            );
        }
        for (key, model) in &config.models {
            if providers.contains(&model.provider) {
                continue;
            }
            let known = names::list(providers.iter().map(String::as_str));
            let name = &model.provider;
            self.reference(
                line(&["models", key, "provider"]),
                format!("unknown provider {name:?} (known: {known})"),
                format!(
                    "Add [providers.{}] or change models.{}.provider.",
                    quoted_unless_bare(name),
                    quoted_unless_bare(key)
                ),
            );
        }
    }

    fn reference(&mut self, line: Option<usize>, what: String, advice: String) {
        self.problems.push(ConfigError::new(ConfigErrorKind::Reference, what, advice).at(line));
    }

    fn warn_of_slips(&mut self, section: &Section<'_>, known: &[&str]) {
        for entry in &section.table.0 {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let key = entry.key.as_str();
            // Upstream's tables for models and providers may have keys of other programs.
            let is_plain = !section.name.contains('.');
            let advice = match names::home(key, &section.name).filter(|_| is_plain) {
                Some("") => format!("{key} stands at the top, before the first [table]."),
                Some(home) => format!("{key} belongs to [{home}]."),
                // A name near to nothing may belong to a newer version or another program, but
                // [ui] is ours alone.
                None => match names::nearest(key, known.iter().copied()) {
                    Some(near) => format!("Did you mean {near}?"),
                    None if section.name == "ui" => {
                        format!("Known: {}.", names::list(known.iter().copied()))
                    }
                    None => continue,
                },
            };
            let line = entry.line.map(|line| format!("{line}:")).unwrap_or_default();
            let path = section.path(key);
            self.warnings
                .push(format!("{line} {path} is not a known key and is ignored. {advice}"));
        }
    }

    fn section<'a>(&mut self, parent: &Section<'a>, key: &str) -> Option<Section<'a>> {
        let entry = parent.table.get(key)?;
        self.as_section(parent, entry)
    }

    fn as_section<'a>(&mut self, parent: &Section<'_>, entry: &'a Entry) -> Option<Section<'a>> {
        let name = parent.path(&entry.key);
        match &entry.node.value {
            Value::Table(table) => Some(Section { name, table, line: entry.line }),
            _ => {
                self.wrong_type(entry, &name, "a table", &format!("[{name}]"));
                None
            }
        }
    }

    /// The tables inside the table `key`.
    fn sections<'a>(&mut self, parent: &Section<'a>, key: &str) -> Vec<(String, Section<'a>)> {
        let Some(outer) = self.section(parent, key) else { return Vec::new() };
        let entries = outer.table.0.iter();
        entries
            .filter_map(|entry| Some((entry.key.clone(), self.as_section(&outer, entry)?)))
            .collect()
    }

    fn text(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let entry = section.table.get(key)?;
        if let Value::Text(text) = &entry.node.value {
            return Some(text.clone());
        }
        self.wrong_type(entry, &section.path(key), "text", &format!("{key} = \"…\""));
        None
    }

    fn required_text(&mut self, section: &Section<'_>, key: &str, what: &str) -> Option<String> {
        if section.table.get(key).is_none() {
            self.missing(section, key, &format!("{key} = \"…\" ({what})"));
        }
        self.text(section, key)
    }

    fn flag(&mut self, section: &Section<'_>, key: &str, default: bool) -> bool {
        let Some(entry) = section.table.get(key) else { return default };
        if let Value::Bool(is) = entry.node.value {
            return is;
        }
        self.wrong_type(entry, &section.path(key), "true or false", &format!("{key} = true"));
        default
    }

    fn integer(&mut self, section: &Section<'_>, key: &str, least: i64) -> Option<i64> {
        let entry = section.table.get(key)?;
        let path = section.path(key);
        match entry.node.value {
            Value::Integer(number) if number >= least => Some(number),
            Value::Integer(number) => {
                self.problem(
                    entry.line,
                    format!("{path} is {number}, but must be at least {least}"),
                    format!("Write for example {key} = {least}, or remove the line."),
                );
                None
            }
            _ => {
                let example = format!("{key} = {}", least.max(1000));
                self.wrong_type(entry, &path, "a whole number", &example);
                None
            }
        }
    }

    fn ratio(&mut self, section: &Section<'_>, key: &str) -> Option<f64> {
        let entry = section.table.get(key)?;
        let path = section.path(key);
        let ratio = match entry.node.value {
            Value::Float(number) => number,
            // Any whole number is out of the range anyway; say that rather than "wrong type".
            Value::Integer(0) => 0.0,
            Value::Integer(_) => 1.0,
            _ => {
                self.wrong_type(entry, &path, "a decimal number", &format!("{key} = 0.85"));
                return None;
            }
        };
        if (0.5..=0.99).contains(&ratio) {
            return Some(ratio);
        }
        self.problem(
            entry.line,
            format!("{path} must be between 0.5 and 0.99"),
            format!("Write for example {key} = 0.85, or remove the line."),
        );
        None
    }

    /// A table of texts.
    fn texts(&mut self, section: &Section<'_>, key: &str) -> BTreeMap<String, String> {
        let Some(inner) = self.section(section, key) else { return BTreeMap::new() };
        let entries = inner.table.0.iter();
        entries
            .filter_map(|entry| Some((entry.key.clone(), self.text(&inner, &entry.key)?)))
            .collect()
    }

    fn missing(&mut self, section: &Section<'_>, key: &str, example: &str) {
        self.problem(
            section.line,
            format!("{} has no {key}", section.name),
            format!("Add below [{}]: {example}.", section.name),
        );
    }

    // The value itself is not told: it may be a secret in the wrong place.
    fn wrong_type(&mut self, entry: &Entry, path: &str, wanted: &str, example: &str) {
        let Node { line, value } = &entry.node;
        self.problem(
            entry.line.or(*line),
            format!("{path} must be {wanted}, not {}", value.kind()),
            format!("Write for example {example}."),
        );
    }
}

/// Is `url` one that can be asked?
fn is_http(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && url.len() > scheme.len()
    })
}

fn line_of(table: &Table, path: &[&str]) -> Option<usize> {
    let (key, rest) = path.split_first()?;
    let entry = table.get(key)?;
    match &entry.node.value {
        Value::Table(inner) if !rest.is_empty() => line_of(inner, rest).or(entry.line),
        _ => entry.line,
    }
}
