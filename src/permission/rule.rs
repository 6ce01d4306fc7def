//! A rule, and its words.

use serde::{Deserialize, Serialize};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is done unasked.
    Allow,
    /// The person is asked, whatever else was said.
    Ask,
    /// It is not done.
    Deny,
}

/// How far a rule holds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// In this session.
    #[default]
    Session,
    /// In this project: `.kimi/permissions.toml` in the work folder.
    Project,
    /// Everywhere: `config.toml`.
    User,
}

/// One rule. `tool` alone covers every call of it.
///
/// ```
/// use kimi_tui::permission::{Decision, Rule};
/// let rule = Rule::command("git status", Decision::Allow);
/// assert_eq!(rule.in_words(), "Bash: commands that begin with `git status`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The tool's name, ours or the Python program's; `*` stands for any letters.
    pub tool: String,
    /// How the command begins, word by word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Which files: a glob, from the work folder on unless it begins with `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it says.
    pub decision: Decision,
}

impl Rule {
    /// A rule about commands that begin with the words of `command`.
    #[must_use]
    pub fn command(command: impl Into<String>, decision: Decision) -> Self {
        Self { tool: "Bash".to_owned(), command: Some(command.into()), path: None, decision }
    }

    /// A rule about the files `glob` that `tool` touches.
    #[must_use]
    pub fn path(tool: impl Into<String>, glob: impl Into<String>, decision: Decision) -> Self {
        Self { tool: tool.into(), command: None, path: Some(glob.into()), decision }
    }

    /// A rule about every call of `tool`.
    #[must_use]
    pub fn tool(tool: impl Into<String>, decision: Decision) -> Self {
        Self { tool: tool.into(), command: None, path: None, decision }
    }

    /// What it covers, in words for a person.
    #[must_use]
    pub fn in_words(&self) -> String {
        match (&self.command, &self.path) {
            (Some(command), _) => {
                format!("{}: commands that begin with `{}`", self.tool, command.trim())
            }
            (None, Some(path)) => format!("{}: files that match `{path}`", self.tool),
            (None, None) => format!("{}: every call", self.tool),
        }
    }

    /// Why it cannot be used, for a person.
    ///
    /// # Errors
    /// When it names no tool, has an empty pattern, two patterns, or a glob that is none.
    pub fn check(&self) -> Result<(), String> {
        if self.tool.trim().is_empty() {
            return Err("it names no tool; write for example tool = \"Bash\"".to_owned());
        }
        if self.command.is_some() && self.path.is_some() {
            return Err("it has a command and a path; make two rules of it".to_owned());
        }
        if let Some(command) = &self.command
            && super::decide::prefix(command).is_none()
        {
            return Err(format!(
                "{command:?} is not the beginning of one command; write for example \"git status\""
            ));
        }
        match &self.path {
            Some(path) => super::decide::glob(path)
                .map(drop)
                .map_err(|error| format!("path {path:?} is not a glob: {error}")),
            None => Ok(()),
        }
    }
}

/// A rule and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedRule {
    /// How far it holds.
    pub scope: Scope,
    /// The rule.
    pub rule: Rule,
}
