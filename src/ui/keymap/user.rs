//! The person's own keys: `keymap.toml`, a patch over the defaults.
//!
//! A table for each context, in it an action's name and its keys, which replace the action's default
//! keys there: `[composer]`, `newline = ["alt-enter", "ctrl-j"]`. An empty list takes the keys away.
//! What is wrong is told and left out; the rest holds, so that a slip never locks anybody out.

use toml_edit::{Document, Item, Value};

use super::{Action, Binding, Chord, Context, Keymap};
use crate::ui::key::KeyPress;

impl Keymap {
    /// The default keys with those of `text`, the content of `file`, in their place; and what is wrong
    /// with it, in words for a person.
    #[must_use]
    pub fn with_user_keys(file: &str, text: &str) -> (Self, Vec<String>) {
        let mut patch = Patch {
            file,
            text,
            bindings: Self::default().bindings,
            faults: Vec::new(),
            leader: super::chord::LEADER.to_owned(),
        };
        match Document::parse(text) {
            Ok(document) => patch.apply(&document),
            Err(error) => {
                let line = error.span().map_or(1, |span| patch.line(span.start));
                let what = error.message().lines().next().unwrap_or_default().to_owned();
                patch.faults.push(format!("{file}:{line}: {what}. The default keys are used."));
            }
        }
        (Self::from_bindings(patch.bindings), patch.faults)
    }
}

struct Patch<'a> {
    file: &'a str,
    text: &'a str,
    bindings: Vec<Binding>,
    faults: Vec<String>,
    leader: String,
}

impl Patch<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
    }

    fn fault(&mut self, item_start: Option<usize>, what: &str) {
        let line = item_start.map_or(1, |start| self.line(start));
        self.faults.push(format!("{}:{line}: {what}", self.file));
    }

    fn apply(&mut self, document: &Document<&str>) {
        if let Some(item) = document.get("leader") {
            self.set_leader(item);
        }
        for (name, item) in document.iter().filter(|(name, _)| *name != "leader") {
            let at = item.span().map(|span| span.start);
            let Some(context) = context_named(name) else {
                let known: Vec<_> = Context::ALL.iter().map(|context| context.name()).collect();
                self.fault(
                    at,
                    &format!("unknown context \"{name}\" (known: {})", known.join(", ")),
                );
                continue;
            };
            let Some(table) = item.as_table_like() else {
                self.fault(at, &format!("\"{name}\" must be a table: [{name}]"));
                continue;
            };
            for (action, keys) in table.iter() {
                self.set(context, action, keys);
            }
        }
    }

    /// Another leader: the default chords begin with it too.
    fn set_leader(&mut self, item: &Item) {
        let at = item.span().map(|span| span.start);
        let parsed = item.as_str().map(|text| (text.to_owned(), text.parse::<KeyPress>()));
        let Some((text, Ok(key))) = parsed else {
            self.fault(at, "leader must be a key: leader = \"ctrl-b\"");
            return;
        };
        let Ok(old) = super::chord::LEADER.parse::<KeyPress>() else { return };
        for chord in self.bindings.iter_mut().flat_map(|binding| &mut binding.chords) {
            if chord.0.first() == Some(&old) {
                chord.0[0] = key;
            }
        }
        self.leader = text;
    }

    fn set(&mut self, context: Context, name: &str, item: &Item) {
        let at = item.span().map(|span| span.start);
        let row = self
            .bindings
            .iter()
            .position(|binding| binding.context == context && binding.action.name() == name);
        let Some(row) = row else {
            let mut known: Vec<_> = self
                .bindings
                .iter()
                .filter(|binding| binding.context == context)
                .map(|binding| binding.action.name())
                .collect();
            known.dedup();
            let place = context.name();
            let list = known.join(", ");
            self.fault(at, &format!("unknown action \"{name}\" in [{place}] (known: {list})"));
            return;
        };
        let Some((keys, chords)) = self.keys(item) else { return };
        self.take_from_others(context, row, &keys, at);
        self.bindings[row].keys = keys;
        self.bindings[row].chords = chords;
    }

    fn keys(&mut self, item: &Item) -> Option<(Vec<KeyPress>, Vec<Chord>)> {
        let at = item.span().map(|span| span.start);
        let texts: Option<Vec<&str>> = match item.as_value() {
            Some(Value::String(text)) => Some(vec![text.value()]),
            Some(Value::Array(list)) => list.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let Some(texts) = texts else {
            self.fault(at, "write a key or a list of keys: \"ctrl-t\" or [\"ctrl-t\", \"f4\"]");
            return None;
        };
        let (mut keys, mut chords) = (Vec::new(), Vec::new());
        for text in texts {
            let text = text.replace("leader", &self.leader);
            match text.parse::<Chord>() {
                Ok(chord) => match chord.0.as_slice() {
                    [key] => keys.push(*key),
                    [] => self.fault(at, "a key is missing: \"ctrl-t\""),
                    _ => chords.push(chord),
                },
                Err(error) => self.fault(at, &error.to_string()),
            }
        }
        Some((keys, chords))
    }

    /// A key means one thing in a context: the person's wish wins, and the loser is told.
    fn take_from_others(
        &mut self,
        context: Context,
        row: usize,
        keys: &[KeyPress],
        at: Option<usize>,
    ) {
        for index in 0..self.bindings.len() {
            let other = &mut self.bindings[index];
            if index == row || other.context != context {
                continue;
            }
            let before = other.keys.len();
            other.keys.retain(|key| !keys.contains(key));
            if other.keys.is_empty() && before > 0 {
                let what = format!(
                    "\"{}\" has no key in [{}] any more, because this takes it",
                    other.action.name(),
                    context.name()
                );
                self.fault(at, &what);
            }
        }
    }
}

fn context_named(name: &str) -> Option<Context> {
    Context::ALL.into_iter().find(|context| context.name() == name)
}

impl Context {
    /// Its name in `keymap.toml`.
    #[must_use]
    pub fn name(self) -> String {
        kebab(&format!("{self:?}"))
    }
}

impl Action {
    /// Its name in `keymap.toml`.
    #[must_use]
    pub fn name(self) -> String {
        kebab(&format!("{self:?}"))
    }
}

/// `SelectNext` as `select-next`. The names are the variants' own, so none can be forgotten.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (index, c) in name.chars().enumerate() {
        if c.is_uppercase() && index > 0 {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keymap::Hit;

    fn key(text: &str) -> KeyPress {
        text.parse().expect(text)
    }

    #[test]
    fn own_keys_replace_the_default_ones_of_an_action() {
        let text =
            "[composer]\nsubmit = \"ctrl-j\"\nnewline = [\"enter\"]\n[timeline]\nrevert = []\n";
        let (keymap, faults) = Keymap::with_user_keys("keymap.toml", text);
        assert_eq!(keymap.in_context(Context::Composer, key("ctrl-j")), Some(Action::Submit));
        assert_eq!(keymap.in_context(Context::Composer, key("enter")), Some(Action::Newline));
        assert_eq!(keymap.in_context(Context::Timeline, key("r")), None);
        assert_eq!(keymap.in_context(Context::Composer, key("ctrl-s")), Some(Action::Steer));
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_rest_holds() {
        let text = "[composr]\n[composer]\nsubmitt = \"x\"\nsteer = \"hyper-x\"\nsubmit = 1\n\
                    complete = \"ctrl-s\"\n";
        let (keymap, faults) = Keymap::with_user_keys("keymap.toml", text);
        assert_eq!(keymap.in_context(Context::Composer, key("ctrl-s")), Some(Action::Complete));
        assert_eq!(keymap.in_context(Context::Composer, key("enter")), Some(Action::Submit));
        let told = |line: &str| faults.iter().any(|fault| fault.starts_with(line));
        assert!(told("keymap.toml:1: unknown context \"composr\""), "{faults:#?}");
        assert!(told("keymap.toml:3: unknown action \"submitt\" in [composer]"), "{faults:#?}");
        assert!(told("keymap.toml:4: unknown key \"hyper-x\""), "{faults:#?}");
        assert!(told("keymap.toml:5: write a key or a list of keys"), "{faults:#?}");
    }

    #[test]
    fn a_key_taken_from_another_action_is_told() {
        let (_, faults) = Keymap::with_user_keys("k", "[global]\nquit = \"esc\"\n");
        assert_eq!(
            faults,
            ["k:2: \"back\" has no key in [global] any more, because this takes it"]
        );
    }

    #[test]
    fn chords_and_another_leader() {
        let text = "leader = \"ctrl-b\"\n[composer]\nexternal-editor = [\"ctrl-x ctrl-e\"]\n\
                    [global]\nsessions = \"leader g s\"\n";
        let (keymap, faults) = Keymap::with_user_keys("k", text);
        assert_eq!(faults, Vec::<String>::new());
        let hit = |keys: &str| {
            let chord: Chord = keys.parse().expect(keys);
            keymap.chord(Context::Composer, &chord.0)
        };
        assert_eq!(hit("ctrl-x"), Hit::Pending);
        assert_eq!(hit("ctrl-x ctrl-e"), Hit::Action(Context::Composer, Action::ExternalEditor));
        assert_eq!(hit("ctrl-b g s"), Hit::Action(Context::Global, Action::Sessions));
        assert_eq!(hit("ctrl-b t"), Hit::Action(Context::Global, Action::FocusTimeline));
        assert_eq!(hit("ctrl-space"), Hit::None);
        let (_, faults) = Keymap::with_user_keys("k", "leader = 3\n");
        assert!(faults[0].starts_with("k:1: leader must be a key"), "{faults:?}");
    }

    #[test]
    fn a_file_that_is_no_toml_leaves_the_default_keys() {
        let (keymap, faults) = Keymap::with_user_keys("k", "[composer\n");
        assert_eq!(keymap, Keymap::default());
        assert!(faults[0].starts_with("k:1: "), "{faults:?}");
    }
}
