//! How the program ends when something is wrong: kinds, hints and exit codes.

use std::fmt;

/// Exit code of a run that worked.
pub const EXIT_OK: u8 = 0;
/// Exit code of a run that failed for good.
pub const EXIT_FAILURE: u8 = 1;
/// Exit code of a wrong command line, as clap's.
pub const EXIT_USAGE: u8 = 2;
/// Exit code of a run that may work if it is tried again (`EX_TEMPFAIL`), as upstream's print mode.
pub const EXIT_RETRYABLE: u8 = 75;

/// An error for a person: what happened, where, and what to do next.
///
/// Attach one to an [`anyhow::Error`] chain with [`hint`] or make one with [`user`]; `cli` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    /// What happened and where.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UserError {}

/// An error with advice.
#[must_use]
pub fn user(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UserError { message: message.into(), hint: Some(hint.into()) })
}

/// `error` and what caused it, each said once: many errors repeat their cause in their own words.
#[must_use]
pub fn in_words(error: &anyhow::Error) -> String {
    let mut lines = Vec::new();
    for cause in error.chain() {
        let line = cause.to_string();
        if !lines.iter().any(|told: &String| told.contains(&line)) {
            lines.push(line);
        }
    }
    lines.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_named_is_not_named_again() {
        let full = || anyhow::anyhow!("no space");
        let told = in_words(&full().context("cannot write x: no space. Free some"));
        assert_eq!(told, "cannot write x: no space. Free some");
        assert_eq!(in_words(&full().context("cannot write x")), "cannot write x: no space");
    }
}
