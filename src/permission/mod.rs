//! Permission rules: what may be done unasked, what is asked about, what is never done. Pure.
//!
//! A [`Rule`] names a tool and, if it likes, the beginning of a command or a glob of paths, and
//! says allow, ask or deny. Rules come from the session, the project and the person; whoever says
//! deny wins, then ask, then allow ([`decide`]). [`preview`] tells what a rule would have covered.
//!
//! An allow must cover every part of a command, and everything the command is written with must be
//! understood ([`command`]); a deny or ask only has to cover one part.

pub mod command;
pub mod danger;
mod decide;
mod rule;
#[cfg(test)]
mod tests;

pub use decide::{Preview, Subject, decide, preview, suggest};
pub use rule::{Decision, Rule, Scope, ScopedRule};

/// What "for this session" lets through when it is said to a request with this action, in words.
#[must_use]
pub fn action_in_words(action: &str) -> String {
    match action {
        "run command" => "every shell command, whatever it does".to_owned(),
        "run background command" => "every command in the background".to_owned(),
        "edit file" => "every change of a file in the working directory".to_owned(),
        "edit file outside of working directory" => {
            "every change of a file outside of the working directory".to_owned()
        }
        other => match other.split_once(':') {
            Some(("mcp", tool)) => format!("every call of the MCP tool {tool}"),
            _ => format!("every action called \"{other}\""),
        },
    }
}
