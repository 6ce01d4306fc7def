//! What is wrong with a configuration: where it stands, what it is, what to write instead.

use std::fmt;
use std::path::PathBuf;

/// Which kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfigErrorKind {
    /// The file could not be read.
    Unreadable,
    /// It is not TOML (or JSON).
    Syntax,
    /// A value is of the wrong type or out of its range, or a required one is missing.
    Value,
    /// A name refers to nothing.
    Reference,
    /// What is configured does not suffice to reach a model.
    Incomplete,
}

/// An error in the configuration, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Which kind of thing went wrong.
    pub kind: ConfigErrorKind,
    /// The file, or `--config`; none when it is about flags and environment.
    pub file: Option<PathBuf>,
    /// The line in it, from 1, where known (JSON values have none).
    pub line: Option<usize>,
    /// What is wrong, without a full stop.
    pub what: String,
    /// What to do about it: whole sentences.
    pub advice: String,
}

impl ConfigError {
    pub(crate) fn new(
        kind: ConfigErrorKind,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { kind, file: None, line: None, what: what.into(), advice: advice.into() }
    }

    pub(crate) fn at(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    pub(crate) fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, _) => {}
        }
        write!(f, "{}. {}", self.what, self.advice)
    }
}

impl std::error::Error for ConfigError {}
