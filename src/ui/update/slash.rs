//! Sending: prompts, slash commands of the screen's own and of the engine's, and their completion.

use super::super::effect::{Effect, OpenTarget};
use super::super::model::Model;
use super::super::model::overlay::Overlay;
use super::super::model::status::Activity;
use super::{
    arguments, compose, copy, is_idle, ledger, overlay, pages, papers, picker, session, sessions,
    setup, shell, tasks, toast,
};
use crate::message::UserInput;
use crate::wire::Command;

/// A slash command that the screen itself carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LocalCommand {
    /// Without the slash.
    name: &'static str,
    /// Other names.
    aliases: &'static [&'static str],
    /// One line.
    description: &'static str,
}

const LOCAL: &[LocalCommand] = &[
    LocalCommand { name: "help", aliases: &["h", "?"], description: "Keys and commands" },
    LocalCommand {
        name: "sessions",
        aliases: &["resume"],
        description: "Find, open and tidy up the sessions of all folders",
    },
    LocalCommand {
        name: "context",
        aliases: &["ctx"],
        description: "What fills the context, by kind and message; hide results",
    },
    LocalCommand { name: "title", aliases: &["rename"], description: "Give this session a title" },
    LocalCommand { name: "fork", aliases: &[], description: "Go on in a copy of this session" },
    LocalCommand {
        name: "undo",
        aliases: &[],
        description: "Go on before an earlier prompt, in a new session",
    },
    LocalCommand {
        name: "export",
        aliases: &[],
        description: "Write this session to a file: /export [name.md, name.html or name.zip]",
    },
    LocalCommand {
        name: "import",
        aliases: &[],
        description: "Let the model know a text file or another session: /import FILE or ID",
    },
    LocalCommand {
        name: "copy",
        aliases: &[],
        description: "Copy the last answer, an earlier one, a block of code, or all",
    },
    LocalCommand {
        name: "editor",
        aliases: &[],
        description: "Choose the external editor: /editor [command]",
    },
    LocalCommand { name: "replay", aliases: &[], description: "Play this session from its record" },
    LocalCommand { name: "new", aliases: &[], description: "Begin a new session" },
    LocalCommand {
        name: "clear",
        aliases: &["reset"],
        description: "Empty the context; asks first, and keeps the old one on disk",
    },
    LocalCommand { name: "tasks", aliases: &["task"], description: "Background tasks" },
    LocalCommand { name: "theme", aliases: &["themes"], description: "Choose how it looks" },
    LocalCommand {
        name: "vim",
        aliases: &[],
        description: "Vim's keys in the composer, on or off",
    },
    LocalCommand {
        name: "usage",
        aliases: &["status"],
        description: "What was used: tokens, cache, cost",
    },
    LocalCommand { name: "mcp", aliases: &[], description: "MCP servers and their tools" },
    LocalCommand { name: "hooks", aliases: &[], description: "The configured hooks" },
    LocalCommand {
        name: "debug",
        aliases: &[],
        description: "What the screen knows about the session",
    },
    LocalCommand {
        name: "doctor",
        aliases: &[],
        description: "Look at configuration, model, terminal and data, and say what to do",
    },
    LocalCommand { name: "changelog", aliases: &["release-notes"], description: "What changed" },
    LocalCommand { name: "version", aliases: &[], description: "This program's version" },
    LocalCommand {
        name: "away",
        aliases: &[],
        description: "Nobody is here: approve everything until /away again",
    },
    LocalCommand {
        name: "btw",
        aliases: &[],
        description: "Ask something beside the conversation",
    },
    LocalCommand { name: "exit", aliases: &["quit", "q"], description: "Leave" },
];

/// A slash command to offer: name and description.
pub type Completion = (String, String);

/// The slash commands that what is typed may become; empty when it is no beginning of one.
#[must_use]
pub fn completions(model: &Model) -> Vec<Completion> {
    if model.composer.is_shell {
        return Vec::new();
    }
    let Some(typed) = model.composer.editor.command() else { return Vec::new() };
    if model.composer.completion == DISMISSED {
        return Vec::new();
    }
    let found = match typed.split_once(' ') {
        Some((name, typed)) => arguments::offers(model, name, typed),
        None if typed.contains(char::is_whitespace) => Vec::new(),
        None => commands(model, &typed),
    };
    match found.as_slice() {
        [(only, _)] if only == typed.trim_end() => Vec::new(),
        _ => found,
    }
}

/// The command that `name` stands for: itself, or the one it is another name of.
pub(super) fn proper_name(name: &str) -> &str {
    LOCAL
        .iter()
        .find(|command| command.aliases.contains(&name))
        .map_or(name, |command| command.name)
}

/// The slash commands that begin with `typed`, those called so first; when none does, those that
/// have its letters in their order. The screen's own and the engine's.
#[must_use]
pub fn commands(model: &Model, typed: &str) -> Vec<Completion> {
    let local = LOCAL.iter().map(|command| {
        (command.name.to_owned(), command.description.to_owned(), command.aliases.join(" "))
    });
    let engine = model
        .status
        .info
        .slash_commands
        .iter()
        .filter(|command| LOCAL.iter().all(|local| local.name != command.name))
        .map(|command| {
            (command.name.clone(), command.description.clone(), command.aliases.join(" "))
        });
    let own = setup::COMMANDS.iter().map(|(name, alias, description)| {
        ((*name).to_owned(), (*description).to_owned(), (*alias).to_owned())
    });
    let all: Vec<_> = local.chain(own).chain(engine).collect();
    let mut found: Vec<(u8, &(String, String, String))> = all
        .iter()
        .filter_map(|command| Some((nearness(&command.0, &command.2, typed)?, command)))
        .collect();
    found.sort();
    let best = found.first().map_or(0, |(nearness, _)| *nearness);
    found
        .into_iter()
        .filter(|(nearness, _)| best == FAR || *nearness < FAR)
        .map(|(_, (name, description, aliases))| {
            let called = aliases.split(' ').find(|alias| {
                !name.starts_with(typed) && !alias.is_empty() && alias.starts_with(typed)
            });
            let also = called.map_or_else(String::new, |alias| format!(" (/{alias})"));
            (name.clone(), format!("{description}{also}"))
        })
        .collect()
}

// Nothing but the letters, in their order.
const FAR: u8 = 3;

/// How near what is typed is to a command: smaller is nearer, none is not at all.
fn nearness(name: &str, aliases: &str, typed: &str) -> Option<u8> {
    let mut aliases = aliases.split(' ').filter(|alias| !alias.is_empty());
    if name == typed || aliases.clone().any(|alias| alias == typed) {
        return Some(0);
    }
    if name.starts_with(typed) {
        return Some(1);
    }
    if aliases.any(|alias| alias.starts_with(typed)) {
        return Some(2);
    }
    let mut letters = name.chars();
    let has_all = typed.chars().all(|wanted| letters.any(|letter| letter == wanted));
    (has_all && typed.chars().count() > 1).then_some(FAR)
}

// A completion index no list is long enough for: the list was closed.
const DISMISSED: usize = usize::MAX;

/// Closes the list of completions; says whether one was open.
pub(super) fn dismiss(model: &mut Model) -> bool {
    let is_open = !completions(model).is_empty();
    if is_open {
        model.composer.completion = DISMISSED;
    }
    is_open
}

/// Moves the mark in the list of completions; says whether one is open.
pub(super) fn move_completion(model: &mut Model, down: bool) -> bool {
    let count = completions(model).len();
    if count < 2 {
        return false;
    }
    let at = model.composer.completion.min(count - 1);
    model.composer.completion = if down { (at + 1) % count } else { (at + count - 1) % count };
    true
}

/// Keeps the mark inside the list.
pub(super) fn clamp(model: &mut Model) {
    let count = completions(model).len();
    if model.composer.completion != DISMISSED {
        model.composer.completion = model.composer.completion.min(count.saturating_sub(1));
    }
}

/// Writes the marked completion into the composer.
pub(super) fn complete(model: &mut Model) {
    let found = completions(model);
    if let Some((name, _)) = found.get(model.composer.completion.min(found.len().max(1) - 1)) {
        model.composer.editor =
            super::super::model::editor::Editor::with_text(&format!("/{name} "));
        model.composer.completion = 0;
    }
}

/// Sends what is in the composer, or queues it while a turn runs.
pub(super) fn submit(model: &mut Model, now: f64) -> Vec<Effect> {
    if model.composer.is_shell {
        return shell::submit(model, now);
    }
    if completions(model).len() > 1 || !completions(model).is_empty() && !is_exact(model) {
        complete(model);
    }
    if model.composer.editor.text().trim().is_empty() {
        return Vec::new();
    }
    if !can_send(model) {
        return without_session(model, now);
    }
    let text = model.composer.take();
    let mut effects = vec![Effect::Remember(text.clone())];
    effects.extend(send(model, text.trim(), now));
    effects
}

/// What needs no session is carried out without one, so that /login can be what opens it.
fn without_session(model: &mut Model, now: f64) -> Vec<Effect> {
    let kept = model.composer.clone();
    let text = model.composer.take();
    if text.starts_with('/')
        && let Some(effects) = local(model, text.trim(), now)
    {
        return effects;
    }
    model.composer = kept;
    toast(model, "No session is open; Ctrl-G lists them, F5 begins one", now);
    Vec::new()
}

fn is_exact(model: &Model) -> bool {
    let text = model.composer.editor.text();
    completions(model).iter().any(|(name, _)| text.trim() == format!("/{name}"))
}

fn can_send(model: &Model) -> bool {
    model.status.activity != Activity::Gone
}

/// Sends a prompt or carries out a slash command.
pub(super) fn send(model: &mut Model, text: &str, now: f64) -> Vec<Effect> {
    if let Some(effects) = local(model, text, now) {
        return effects;
    }
    if !is_idle(model) || model.shell.is_some() {
        if model.status.activity == Activity::Gone {
            toast(model, "No session is open; Ctrl-G lists them, F5 begins one", now);
        } else {
            model.composer.queue.push_back(text.to_owned());
        }
        return Vec::new();
    }
    let input = model.composer.input(text);
    start(model, input, now)
}

/// Begins a turn.
pub(super) fn start(model: &mut Model, input: UserInput, now: f64) -> Vec<Effect> {
    if model.replay.is_some() {
        toast(model, "This is a recording; Esc leaves it", now);
        return Vec::new();
    }
    model.status.activity = Activity::Running { since: now, step: 0, cancelling: false };
    model.awaits_turn = true;
    model.transcript.scroll(super::super::model::transcript::Scroll::Bottom);
    vec![Effect::Send(Command::Prompt(input))]
}

fn local(model: &mut Model, text: &str, now: f64) -> Option<Vec<Effect>> {
    // Upstream leaves on these words too.
    let name = if matches!(text, "exit" | "quit") { "exit" } else { text.strip_prefix('/')? };
    if let Some(effects) = setup::command(model, name, now) {
        return Some(effects);
    }
    let (name, rest) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
    let command =
        LOCAL.iter().find(|command| command.name == name || command.aliases.contains(&name))?;
    if let Some(effects) = papers::command(model, command.name, rest.trim(), now) {
        return Some(effects);
    }
    if let Some(effects) = pages::command(model, command.name, rest.trim(), now) {
        return Some(effects);
    }
    match command.name {
        "copy" => return Some(copy::command(model, rest.trim(), now)),
        "editor" if rest.trim().is_empty() => {
            picker::open_editors(model);
            return Some(Vec::new());
        }
        "editor" => return Some(compose::choose_editor(model, rest.trim().to_owned())),
        "theme" if !rest.trim().is_empty() => {
            return Some(picker::choose_theme(model, rest.trim(), now));
        }
        _ => {}
    }
    // What stands behind the others is for the engine, or a sentence.
    if !rest.trim().is_empty() {
        return None;
    }
    match command.name {
        "help" => model.overlays.push(Overlay::Help { scroll: 0 }),
        "sessions" => return Some(sessions::open(model)),
        "new" => return Some(session::open(model, OpenTarget::New, now)),
        "context" => return Some(ledger::toggle(model, now)),
        "clear" => overlay::ask_clear(model, now),
        "vim" => compose::toggle_vim(model, now),
        "tasks" => tasks::open(model),
        "theme" => picker::open_themes(model),
        _ => return Some(vec![Effect::Quit]),
    }
    Some(Vec::new())
}
