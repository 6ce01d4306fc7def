//! The fixed texts the program says to a model, from the files in `prompts/`.
//!
//! Tool descriptions live in `prompts/tools/` and belong to the tools; an agent's system prompt
//! belongs to its folder in `agents/`.

/// System prompt of the call that condenses a conversation.
pub const COMPACT_SYSTEM: &str = include_str!("../prompts/compact_system.md").trim_ascii();

const COMPACT: &str = include_str!("../prompts/compact.md").trim_ascii();
const INIT: &str = include_str!("../prompts/init.md").trim_ascii();
const DMAIL: &str = include_str!("../prompts/dmail.md").trim_ascii();
const DMAIL_FROM_PERSON: &str = include_str!("../prompts/dmail_from_person.md").trim_ascii();

const BTW: &str = include_str!("../prompts/btw.md").trim_ascii();
const RALPH: &str = include_str!("../prompts/ralph.md").trim_ascii();
const AFK: &str = include_str!("../prompts/afk.md").trim_ascii();
const AFK_OVER: &str = include_str!("../prompts/afk_over.md").trim_ascii();
const PLAN_MODE: &str = include_str!("../prompts/plan_mode.md").trim_ascii();
const PLAN_MODE_SHORT: &str = include_str!("../prompts/plan_mode_short.md").trim_ascii();

/// Where the plan's file stands in the plan mode texts.
const PLAN_FILE: &str = "${plan_file}";

/// Where the message stands in the D-Mail texts.
const MESSAGE: &str = "${message}";

/// What is asked of the model that condenses a conversation: follows the conversation itself.
///
/// The answer consists of the blocks `current_focus`, `environment`, `completed_tasks`,
/// `active_issues`, `code_state` and `important_context`.
#[must_use]
pub fn compact() -> &'static str {
    COMPACT
}

/// The request behind `/init`: explore the project and write its `AGENTS.md`.
#[must_use]
pub fn init() -> &'static str {
    INIT
}

/// The user message a model gets when a D-Mail it sent arrives (`kimi-cli`
/// `soul/kimisoul.py:1319-1336` has its form).
#[must_use]
pub fn dmail(message: &str) -> String {
    in_system_tags(DMAIL, message)
}

/// The user message a model gets when a person took the conversation back and left it a D-Mail.
#[must_use]
pub fn dmail_from_person(message: &str) -> String {
    in_system_tags(DMAIL_FROM_PERSON, message)
}

/// What asks a model a side question.
#[must_use]
pub fn btw(question: &str) -> String {
    BTW.replacen(MESSAGE, question, 1)
}

/// What asks a model to go on with `prompt`, or to say that all of it is done.
#[must_use]
pub fn ralph(prompt: &str) -> String {
    let (before, after) = RALPH.split_once(MESSAGE).unwrap_or((RALPH, ""));
    format!("{before}{prompt}{after}")
}

/// Tells a model that nobody is there.
#[must_use]
pub fn afk() -> String {
    format!("<system-reminder>\n{AFK}\n</system-reminder>")
}

/// Tells a model that somebody is there again.
#[must_use]
pub fn afk_over() -> String {
    format!("<system-reminder>\n{AFK_OVER}\n</system-reminder>")
}

/// What a model is told in plan mode, in full or as a reminder.
#[must_use]
pub fn plan_mode(plan_file: &str, is_full: bool) -> String {
    if is_full { PLAN_MODE } else { PLAN_MODE_SHORT }.replacen(PLAN_FILE, plan_file, 1)
}

/// Puts `message` in its place, once: a message that holds the mark itself is left as it is.
fn in_system_tags(template: &str, message: &str) -> String {
    let (before, after) = template.split_once(MESSAGE).unwrap_or((template, ""));
    format!("<system>{before}{message}{after}</system>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dmail_has_the_form_upstream_gives_it() {
        let mail = dmail("main.rs: only lines 50 to 60 matter");
        assert!(mail.starts_with("<system>You just got a D-Mail from your future self."));
        assert!(
            mail.ends_with("D-Mail content:\n\nmain.rs: only lines 50 to 60 matter</system>"),
            "{mail}"
        );
        assert!(mail.contains("Never mention"));
    }

    #[test]
    fn a_persons_dmail_says_whose_it_is() {
        let mail = dmail_from_person("use the other file");
        assert!(mail.starts_with("<system>You just got a D-Mail from your future self."));
        assert!(mail.contains("the user who sent it back"));
        assert!(mail.ends_with("D-Mail content:\n\nuse the other file</system>"));
    }

    #[test]
    fn a_message_is_never_expanded() {
        let message = "write ${message} twice: ${message}";
        for mail in [dmail(message), dmail_from_person(message)] {
            assert_eq!(mail.matches(MESSAGE).count(), 2);
            assert!(mail.ends_with(&format!("{message}</system>")));
        }
    }

    #[test]
    fn the_summary_is_asked_for_in_all_six_blocks() {
        for tag in [
            "current_focus",
            "environment",
            "completed_tasks",
            "active_issues",
            "code_state",
            "important_context",
        ] {
            assert!(compact().contains(&format!("<{tag}>")), "{tag} opens");
            assert!(compact().contains(&format!("</{tag}>")), "{tag} closes");
        }
        for rule in ["MUST KEEP", "MERGE", "REMOVE", "CONDENSE", "20 lines"] {
            assert!(compact().contains(rule), "{rule}");
        }
        assert!(!COMPACT_SYSTEM.is_empty() && init().contains("AGENTS.md"));
    }
}
