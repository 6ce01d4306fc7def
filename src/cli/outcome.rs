//! How a run ends: the exit code, and the words on standard error.

use std::io::Write;

use super::print::Interrupt;
use crate::error::{EXIT_FAILURE, EXIT_OK, EXIT_RETRYABLE, in_words};
use crate::ui::render::sanitize::sanitize;
use crate::wire::PromptOutcome;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// All was done.
    Done,
    /// Something failed.
    Failed {
        /// What and what to do.
        message: String,
        /// May it work when tried again?
        retryable: bool,
    },
    /// Somebody stopped it.
    Interrupted(Interrupt),
}

impl End {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), retryable: false }
    }

    /// How the screen's run ended, by `signal` or by the person.
    pub(super) fn of_screen(signal: Option<i32>) -> Self {
        match signal {
            None => Self::Done,
            Some(signal) if signal == rustix::process::Signal::INT.as_raw() => {
                Self::Interrupted(Interrupt::Keyboard)
            }
            Some(_) => Self::Interrupted(Interrupt::Terminate),
        }
    }

    /// The exit code: upstream's, and 128 + the signal's number as shells have it.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Done => EXIT_OK,
            Self::Failed { retryable: true, .. } => EXIT_RETRYABLE,
            Self::Failed { retryable: false, .. } => EXIT_FAILURE,
            Self::Interrupted(Interrupt::Keyboard) => 130,
            Self::Interrupted(Interrupt::Terminate) => 143,
        }
    }
}

/// What a prompt's outcome means for the run.
pub(super) fn end_of(outcome: PromptOutcome) -> End {
    match outcome {
        PromptOutcome::Finished => End::Done,
        PromptOutcome::Cancelled => End::Interrupted(Interrupt::Keyboard),
        PromptOutcome::MaxStepsReached { steps } => End::failed(format!(
            "The limit of {steps} steps in a turn was reached. \
             Go on with --continue, or raise --max-steps-per-turn."
        )),
        PromptOutcome::ModelNotSet => End::failed(
            "No model is configured. Set KIMI_API_KEY and KIMI_MODEL_NAME, or write a config.toml.",
        ),
        PromptOutcome::NotSupported { capability, model } => {
            End::failed(format!("{model} cannot take this: it lacks {capability}."))
        }
        PromptOutcome::ProviderFailed { message, retryable } => End::Failed { message, retryable },
        PromptOutcome::LoggedOut { message } | PromptOutcome::Failed { message } => {
            End::failed(message)
        }
    }
}

/// Tells `error` on standard error: what happened, why, and what to do.
pub(super) fn report(error: &anyhow::Error) {
    tell(&format!("kimi-tui: {}", in_words(error)));
}

/// Writes a line to standard error; nobody reading is no failure.
pub(super) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", sanitize(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_tell_what_is_worth_trying_again() {
        let failed = |retryable| PromptOutcome::ProviderFailed { message: "x".into(), retryable };
        for (outcome, code) in [
            (PromptOutcome::Finished, 0),
            (failed(false), 1),
            (failed(true), 75),
            (PromptOutcome::MaxStepsReached { steps: 3 }, 1),
            (PromptOutcome::ModelNotSet, 1),
            (PromptOutcome::Cancelled, 130),
        ] {
            assert_eq!(end_of(outcome.clone()).code(), code, "{outcome:?}");
        }
        assert_eq!(End::Interrupted(Interrupt::Terminate).code(), 143);
    }
}
