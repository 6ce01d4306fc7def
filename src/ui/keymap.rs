//! The keymap: which key does what where. Help, footer hints and `docs/keys.md` come from this one
//! table, so they cannot disagree with what the keys do.

mod action;
mod chord;
mod context;
mod defaults;
mod user;

use std::collections::HashMap;

use super::key::KeyPress;
pub use action::Action;
pub use chord::{Chord, Hit};
pub use context::Context;
use defaults::DEFAULTS;

/// One row of the keymap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Where.
    pub context: Context,
    /// Which keys; the first is the one shown in hints.
    pub keys: Vec<KeyPress>,
    /// Which keys one after the other.
    pub chords: Vec<Chord>,
    /// What it does.
    pub action: Action,
    /// What it does, in a few words for help.
    pub label: &'static str,
    /// What it does, in a word for the footer; empty to leave it out there.
    pub hint: &'static str,
}

impl Binding {
    /// The key, or the keys one after the other, that hints name; none when there are none.
    #[must_use]
    pub fn shown_key(&self) -> Option<String> {
        let chord = || self.chords.first().map(ToString::to_string);
        self.keys.first().map(ToString::to_string).or_else(chord)
    }
}

/// Keys to actions, by context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
    index: HashMap<(Context, KeyPress), Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::from_bindings(
            DEFAULTS
                .iter()
                .flat_map(|&(context, rows)| rows.iter().map(move |row| (context, *row)))
                .map(|(context, (keys, action, label, hint))| Binding {
                    context,
                    keys: keys.split(' ').filter_map(|key| key.parse().ok()).collect(),
                    chords: default_chords(context, action),
                    action,
                    label,
                    hint,
                })
                .collect(),
        )
    }
}

/// The leader's chords for `action`.
fn default_chords(context: Context, action: Action) -> Vec<Chord> {
    let led = chord::LED.iter().filter(|(_, led)| context == Context::Global && *led == action);
    led.filter_map(|(key, _)| format!("{} {key}", chord::LEADER).parse().ok()).collect()
}

impl Keymap {
    fn from_bindings(bindings: Vec<Binding>) -> Self {
        let mut index = HashMap::new();
        for binding in &bindings {
            for key in &binding.keys {
                index.entry((binding.context, *key)).or_insert(binding.action);
            }
        }
        Self { bindings, index }
    }

    /// What `key` does in `context`, the global meaning of the key not considered.
    #[must_use]
    pub fn in_context(&self, context: Context, key: KeyPress) -> Option<Action> {
        self.index.get(&(context, key)).copied()
    }

    /// What `key` does in `context` or everywhere.
    #[must_use]
    pub fn lookup(&self, context: Context, key: KeyPress) -> Option<Action> {
        self.in_context(context, key).or_else(|| self.in_context(Context::Global, key))
    }

    /// Every action that can be carried out from anywhere, for the palette.
    pub fn everywhere(&self) -> impl Iterator<Item = &Binding> {
        self.of(Context::Global)
            .chain(self.of(Context::Composer).filter(|binding| {
                matches!(
                    binding.action,
                    Action::SearchHistory
                        | Action::ExternalEditor
                        | Action::ToggleShell
                        | Action::Stash
                        | Action::FocusQueue
                        | Action::PasteImage
                )
            }))
            // Closing the palette again is nothing to look for in it.
            .filter(|binding| !matches!(binding.action, Action::Palette | Action::Back))
    }

    /// The rows of one context, for help.
    pub fn of(&self, context: Context) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |binding| binding.context == context)
    }

    /// The first key for `action` in `context` or everywhere, as text.
    #[must_use]
    pub fn key_for(&self, context: Context, action: Action) -> Option<String> {
        self.of(context)
            .chain(self.of(Context::Global))
            .find(|binding| binding.action == action)
            .and_then(Binding::shown_key)
    }

    /// Footer hints of a context: key and word.
    #[must_use]
    pub fn hints(&self, context: Context) -> Vec<(String, &'static str)> {
        self.of(context)
            .filter(|binding| !binding.hint.is_empty())
            .filter_map(|binding| Some((binding.keys.first()?.to_string(), binding.hint)))
            .collect()
    }

    /// The reference that `docs/keys.md` holds.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::from(
            "# Keys\n\nMade from the tables in `src/ui/keymap/defaults.rs`; a test keeps the two equal \
             (`UPDATE_DOCS=1 cargo test keys_page` writes this page anew).\n\n\
             ## Your own keys\n\n\
             Write `keymap.toml` into the data folder (`~/.kimi`). A table for each place below, in it \
             the name of an action and its keys, which replace the default ones there; an empty list \
             takes them away:\n\n\
             ```toml\n[composer]\nsubmit = \"ctrl-j\"\nnewline = [\"enter\", \"alt-enter\"]\n\n\
             [timeline]\nrevert = []\n```\n\n\
             Keys one after the other are written with a blank between them, and `leader` stands for \
             a key of your choice (at the top of the file; `ctrl-space` otherwise). What may follow \
             is shown:\n\n\
             ```toml\nleader = \"ctrl-b\"\n\n[composer]\nexternal-editor = [\"ctrl-o\", \
             \"ctrl-x ctrl-e\"]\n\n[global]\nsessions = [\"ctrl-g\", \"leader s\"]\n```\n\n\
             What is wrong in it is told at the start, with its line, and left out.\n",
        );
        for context in Context::ALL {
            out.push_str(&format!(
                "\n## {}, `[{}]`\n\n| Keys | What they do | Name |\n|---|---|---|\n",
                context.title(),
                context.name()
            ));
            for binding in self.of(context) {
                let keys: Vec<_> = binding
                    .keys
                    .iter()
                    .map(|key| format!("`{key}`"))
                    .chain(binding.chords.iter().map(|chord| format!("`{chord}`")))
                    .collect();
                let name = binding.action.name();
                let keys = keys.join(" ");
                out.push_str(&format!("| {keys} | {} | `{name}` |\n", binding.label));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
