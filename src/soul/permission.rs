//! The permission rules of a session, asked about calls before they are made and when they ask.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::state::SharedState;
use crate::config::RuleFiles;
use crate::message::{DisplayBlock, ToolCall};
use crate::permission::{Decision, Rule, Scope, ScopedRule, Subject, decide};
use crate::tools::Toolset;

/// Tools that never ask by themselves; an ask rule has the loop ask for them.
const UNASKED: &[&str] = &[
    "FetchURL",
    "Glob",
    "Grep",
    "LS",
    "ReadFile",
    "SearchWeb",
    "SendDMail",
    "Task",
    "TaskList",
    "TaskOutput",
    "Think",
    "Todo",
];

/// Where a session's rules come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSource {
    /// Those of the project and the person, as the session was opened.
    pub(crate) rules: Vec<ScopedRule>,
    /// Where new ones are kept.
    pub(crate) files: RuleFiles,
}

/// What a call touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Deed {
    /// The tool's names.
    pub(crate) names: Vec<String>,
    /// Its command.
    pub(crate) command: Option<String>,
    /// Its files.
    pub(crate) paths: Vec<PathBuf>,
}

/// The rules of one session.
#[derive(Debug)]
pub(crate) struct Permissions {
    state: SharedState,
    work_dir: PathBuf,
    files: RuleFiles,
    /// Of the project and the person.
    rules: Arc<Mutex<Vec<ScopedRule>>>,
    /// All names of the tool that answers to a name.
    names: HashMap<String, Vec<String>>,
}

impl Permissions {
    pub(crate) fn new(
        state: SharedState,
        work_dir: &Path,
        tools: &Toolset,
        source: RuleSource,
    ) -> Self {
        let RuleSource { rules, files } = source;
        Self {
            state,
            work_dir: work_dir.to_owned(),
            files,
            rules: Arc::new(Mutex::new(rules)),
            names: names_in(tools),
        }
    }

    /// The same rules for an agent with other tools.
    pub(crate) fn for_tools(&self, tools: &Toolset) -> Self {
        Self {
            state: self.state.clone(),
            work_dir: self.work_dir.clone(),
            files: self.files.clone(),
            rules: Arc::clone(&self.rules),
            names: names_in(tools),
        }
    }

    /// What the rules say about `deed`.
    pub(crate) fn decide(&self, deed: &Deed) -> Option<(Decision, ScopedRule)> {
        let rules = self.all();
        let names: Vec<&str> = deed.names.iter().map(String::as_str).collect();
        let paths: Vec<&Path> = deed.paths.iter().map(PathBuf::as_path).collect();
        let subject = Subject {
            tool: &names,
            command: deed.command.as_deref(),
            paths: &paths,
            work_dir: &self.work_dir,
        };
        decide(&rules, &subject).map(|(decision, rule)| (decision, rule.clone()))
    }

    /// Every rule: those of the project and the person, then those of the session.
    pub(crate) fn all(&self) -> Vec<ScopedRule> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner).clone();
        rules.extend(self.state.read(|state| {
            let of_session = |rule: &Rule| ScopedRule { scope: Scope::Session, rule: rule.clone() };
            state.permission_rules.iter().map(of_session).collect::<Vec<_>>()
        }));
        rules
    }

    /// Puts other rules of the project and the person in place of those there are.
    pub(crate) fn replace(&self, rules: Vec<ScopedRule>) {
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// Adds a rule for good, as far as its scope goes.
    ///
    /// # Errors
    /// Why it cannot be used or kept, for a person.
    pub(crate) fn add(&self, scope: Scope, rule: Rule) -> Result<(), String> {
        rule.check().map_err(|reason| format!("That rule cannot be used: {reason}."))?;
        let scoped = ScopedRule { scope, rule };
        if self.all().contains(&scoped) {
            return Ok(());
        }
        if scope == Scope::Session {
            return self
                .state
                .change(|state| state.permission_rules.push(scoped.rule))
                .map_err(|error| format!("The rule holds now, but could not be kept: {error}"));
        }
        self.files.add(scope, &scoped.rule).map_err(|error| error.to_string())?;
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).push(scoped);
        Ok(())
    }

    /// Takes a rule away, from its file too.
    ///
    /// # Errors
    /// In words, when there is no such rule or its file cannot be changed; it then holds on.
    pub(crate) fn remove(&self, scope: Scope, rule: &Rule) -> Result<(), String> {
        let scoped = ScopedRule { scope, rule: rule.clone() };
        if !self.all().contains(&scoped) {
            return Err(format!("There is no such rule: {}.", rule.in_words()));
        }
        if scope == Scope::Session {
            return self
                .state
                .change(|state| state.permission_rules.retain(|known| known != rule))
                .map_err(|error| {
                    format!("The rule is gone for now, but is still stored: {error}")
                });
        }
        self.files.remove(scope, rule).map_err(|error| error.to_string())?;
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| *known != scoped);
        Ok(())
    }

    /// What `call` would touch, by its arguments. Paths as they are written, and where they lead.
    pub(crate) fn deed_of_call(&self, call: &ToolCall) -> Deed {
        let arguments: Value = serde_json::from_str(call.arguments()).unwrap_or_default();
        let text = |key: &str| arguments.get(key).and_then(Value::as_str);
        let mut paths = Vec::new();
        for path in ["path", "file_path", "directory"].iter().filter_map(|key| text(key)) {
            let path = PathBuf::from(path);
            paths.extend(std::fs::canonicalize(self.work_dir.join(&path)));
            paths.push(path);
        }
        Deed {
            names: self.names_of(&call.function.name),
            command: text("command").map(str::to_owned),
            paths,
        }
    }

    /// What a tool asks about, by what it shows.
    pub(crate) fn deed_of_ask(&self, called_as: &str, display: &[DisplayBlock]) -> Deed {
        let mut deed = Deed { names: self.names_of(called_as), ..Deed::default() };
        for block in display {
            match block {
                DisplayBlock::Shell { command, .. } => deed.command = Some(command.clone()),
                DisplayBlock::Diff(diff) => {
                    let path = PathBuf::from(&diff.path);
                    if !deed.paths.contains(&path) {
                        deed.paths.push(path);
                    }
                }
                _ => {}
            }
        }
        deed
    }

    fn names_of(&self, name: &str) -> Vec<String> {
        self.names.get(name).cloned().unwrap_or_else(|| vec![name.to_owned()])
    }
}

/// All names of each tool, by each of them.
fn names_in(tools: &Toolset) -> HashMap<String, Vec<String>> {
    let mut names = HashMap::new();
    for spec in tools.specs() {
        let aliases = tools.get(&spec.name).map_or(&[][..], |tool| tool.aliases());
        let all: Vec<String> =
            std::iter::once(spec.name.clone()).chain(aliases.iter().map(|&a| a.into())).collect();
        for name in &all {
            names.insert(name.clone(), all.clone());
        }
    }
    names
}

/// Must the loop ask, because a tool of these names does not?
pub(crate) fn asks_nobody(names: &[String]) -> bool {
    names.iter().any(|name| UNASKED.contains(&name.as_str()))
}

/// Which rule forbids something, for the model.
pub(crate) fn prohibition(rule: &ScopedRule) -> String {
    let whose = match rule.scope {
        Scope::Session => "of this session",
        Scope::Project => "of this project",
        Scope::User => "of the user",
    };
    format!(
        "A permission rule {whose} forbids this ({}). The user was not asked. Do not try to get \
         round it; do without it, or tell the user what you need it for.",
        rule.rule.in_words()
    )
}
