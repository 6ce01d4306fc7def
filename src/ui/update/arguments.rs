//! What may stand behind a slash command, to be offered while it is typed.

use super::super::model::Model;
use super::super::model::timeline::{CheckpointEntry, EntryKind};
use super::picker::EDITORS;
use super::slash::{self, Completion};

/// Offers at most: nobody reads more, and typing narrows them.
const MOST: usize = 50;

/// Lines that begin with the command `name` and what is `typed` behind it. As long as nothing is, the
/// command alone is the first of them: what is offered must not be what is sent unasked.
pub(super) fn offers(model: &Model, name: &str, typed: &str) -> Vec<Completion> {
    let typed = typed.trim_start();
    let fits = |(words, _): &(String, String)| words.starts_with(typed);
    let mut found: Vec<Completion> = known(model, slash::proper_name(name))
        .into_iter()
        .filter(fits)
        .take(MOST)
        .map(|(words, what)| (format!("{name} {words}"), what))
        .collect();
    if typed.is_empty() && !found.is_empty() {
        let what = slash::commands(model, name).into_iter().find(|(known, _)| known == name);
        found.insert(0, (name.to_owned(), what.map(|(_, what)| what).unwrap_or_default()));
    }
    found
}

/// Words that a command knows, each with what it makes of them.
fn known(model: &Model, name: &str) -> Vec<(String, String)> {
    let list = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(word, what)| ((*word).to_owned(), (*what).to_owned())).collect()
    };
    match name {
        "copy" => list(&[
            ("2", "The answer before the last"),
            ("code 1", "The first block of code of the last answer that has any"),
            ("code 2", "The second block of it"),
            ("all", "The whole conversation"),
        ]),
        "debug" => list(&[("messages", "Every message of the context, with its checkpoints")]),
        "editor" => EDITORS
            .iter()
            .filter(|(command, _)| !command.is_empty())
            .map(|(command, label)| ((*command).to_owned(), (*label).to_owned()))
            .collect(),
        "export" => list(&[
            ("session.md", "Markdown, in this folder"),
            ("session.html", "A page for the browser"),
            ("session.zip", "Every file of the session"),
        ]),
        "model" => model.known_models.iter().map(|key| (key.clone(), String::new())).collect(),
        "plan" => list(&[
            ("on", "Nothing is changed but the plan"),
            ("off", "Back to work"),
            ("view", "Show the plan"),
            ("clear", "Throw the plan away"),
        ]),
        "redo" => list(&[
            ("files", "Bring forth the files that were taken back"),
            ("both", "Conversation and files"),
        ]),
        "restore" => (0..model.timeline.generation.0)
            .rev()
            .map(|id| (id.to_string(), format!("Context {id}")))
            .collect(),
        "rewind" => rewinds(model),
        "rules" => list(&[("remove", "Take the rule of this number away")]),
        "theme" => model
            .themes
            .known
            .iter()
            .map(|name| {
                let now = if *name == model.themes.chosen { "now" } else { "" };
                (name.clone(), now.to_owned())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The living checkpoints that stand before a prompt, latest first, each with what may go back.
fn rewinds(model: &Model) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in model.timeline.entries.iter().rev() {
        let EntryKind::Checkpoint(CheckpointEntry { at, is_live: true, step: None, .. }) =
            &entry.kind
        else {
            continue;
        };
        for (scope, what) in [
            ("conversation", "The conversation only"),
            ("files", "Files only"),
            ("both", "Conversation and files"),
        ] {
            all.push((format!("{} {scope}", at.id), format!("To checkpoint {}: {what}", at.id)));
        }
        if all.len() >= MOST {
            break;
        }
    }
    all
}
