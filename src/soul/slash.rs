//! Slash commands the engine itself carries out: what they are called and how a line is read as
//! one. What they do is in [`super::turn`].

use crate::wire::SlashCommand;

/// A command of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// Summarise the context.
    Compact,
    /// Empty the context.
    Clear,
    /// Approve everything, or no longer.
    Yolo,
    /// Bring an earlier context back.
    Restore,
    /// Bring back what was gone back from.
    Redo,
    /// Take the conversation, files or both back.
    Rewind,
    /// The person is away, or back.
    Afk,
    /// Write `AGENTS.md`.
    Init,
    /// Plan mode.
    Plan,
    /// A wider workspace.
    AddDir,
    /// Messages that a compaction took away.
    Pin,
    /// Permission rules.
    Rules,
    /// A question beside the conversation.
    Btw,
}

struct Entry {
    builtin: Builtin,
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
}

const BUILTINS: &[Entry] = &[
    Entry {
        builtin: Builtin::Init,
        name: "init",
        aliases: &[],
        description: "Look at the project and write AGENTS.md",
    },
    Entry {
        builtin: Builtin::Compact,
        name: "compact",
        aliases: &[],
        description: "Summarise the context; text after it says what to keep in mind",
    },
    Entry {
        builtin: Builtin::Clear,
        name: "clear",
        aliases: &["reset"],
        description: "Empty the context; the old one is kept on disk",
    },
    Entry {
        builtin: Builtin::Restore,
        name: "restore",
        aliases: &[],
        description: "Bring an earlier context back: the last one, or a generation by its number",
    },
    Entry {
        builtin: Builtin::Redo,
        name: "redo",
        aliases: &[],
        description: "Bring back what you have just gone back from; files, or both, too",
    },
    Entry {
        builtin: Builtin::Rewind,
        name: "rewind",
        aliases: &[],
        description: "Go back to a checkpoint: conversation, files or both; shows first what it does",
    },
    Entry {
        builtin: Builtin::Yolo,
        name: "yolo",
        aliases: &[],
        description: "Approve every action unasked, or ask again",
    },
    Entry {
        builtin: Builtin::Afk,
        name: "afk",
        aliases: &[],
        description: "You are away: nothing is asked, everything approved; again when you are back",
    },
    Entry {
        builtin: Builtin::Plan,
        name: "plan",
        aliases: &[],
        description: "Plan before anything is changed: on, off, view or clear",
    },
    Entry {
        builtin: Builtin::Pin,
        name: "pin",
        aliases: &[],
        description: "List what the last compaction took away, or bring it back by number",
    },
    Entry {
        builtin: Builtin::Rules,
        name: "rules",
        aliases: &[],
        description: "List the permission rules, or take one away: remove N",
    },
    Entry {
        builtin: Builtin::Btw,
        name: "btw",
        aliases: &[],
        description: "Ask something beside the conversation, also while a turn runs",
    },
    Entry {
        builtin: Builtin::AddDir,
        name: "add-dir",
        aliases: &[],
        description: "Add a folder to the workspace, or list those added",
    },
];

/// The commands as front ends list them.
pub(crate) fn commands() -> Vec<SlashCommand> {
    BUILTINS
        .iter()
        .map(|entry| SlashCommand {
            name: entry.name.to_owned(),
            description: entry.description.to_owned(),
            aliases: entry.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        })
        .collect()
}

/// The command called `name`, by its name or an alias.
pub(crate) fn find(name: &str) -> Option<Builtin> {
    BUILTINS
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
        .map(|entry| entry.builtin)
}

/// A line that is a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The name, without the slash.
    pub(crate) name: &'a str,
    /// Everything after it, trimmed.
    pub(crate) arguments: &'a str,
}

/// Reads `text` as a command: `/`, a name of letters, digits, `_`, `-` in parts joined by `:`, then
/// nothing or a blank (`kimi-cli` `utils/slashcmd.py:118-145`). Anything else, a path for
/// instance, is a prompt.
pub(crate) fn parse(text: &str) -> Option<Line<'_>> {
    let rest = text.trim().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, arguments) = rest.split_at(end);
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    name.split(':').all(is_part).then(|| Line { name, arguments: arguments.trim() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_arguments_are_told_apart() {
        assert_eq!(parse("/compact"), Some(Line { name: "compact", arguments: "" }));
        assert_eq!(
            parse(" /compact  keep the\nplan "),
            Some(Line { name: "compact", arguments: "keep the\nplan" })
        );
        assert_eq!(parse("/skill:x y"), Some(Line { name: "skill:x", arguments: "y" }));
        assert_eq!(find("reset"), Some(Builtin::Clear));
        assert_eq!(find("nope"), None);
    }

    #[test]
    fn what_merely_begins_with_a_slash_is_a_prompt() {
        for text in ["/usr/bin/env is missing", "/", "/ x", "//", "/a:", "/:a", "/ä", "x /clear"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
