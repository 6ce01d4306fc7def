//! Chords: several keys one after the other, `ctrl-x ctrl-e` or the leader and a letter.

use std::str::FromStr;

use super::{Action, Context, Keymap};
use crate::ui::key::{KeyPress, UnknownKey};

/// The leader when `keymap.toml` names none.
pub(super) const LEADER: &str = "ctrl-space";

/// What follows the leader by default, for actions that work everywhere.
pub(super) const LED: &[(&str, Action)] = &[
    ("t", Action::FocusTimeline),
    ("s", Action::Sessions),
    ("n", Action::NewSession),
    ("p", Action::Palette),
    ("b", Action::ToggleSidebar),
    ("z", Action::Zoom),
    ("m", Action::TogglePlan),
    ("c", Action::Compact),
    ("d", Action::ToggleDetails),
    ("h", Action::Help),
    ("1", Action::ToggleContext),
    ("2", Action::ToggleTodos),
    ("3", Action::ToggleTools),
    ("4", Action::ToggleTimeline),
    ("0", Action::ResetLayout),
];

/// Several keys, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chord(pub Vec<KeyPress>);

impl FromStr for Chord {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl std::fmt::Display for Chord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&keys.join(" "))
    }
}

/// What keys pressed so far amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// An action, bound in this context.
    Action(Context, Action),
    /// The beginning of a chord.
    Pending,
    /// No chord begins so.
    None,
}

impl Keymap {
    fn chords(&self, context: Context) -> impl Iterator<Item = (Context, &Chord, &super::Binding)> {
        [context, Context::Global].into_iter().flat_map(move |context| {
            let rows = self.of(context);
            rows.flat_map(move |row| row.chords.iter().map(move |chord| (context, chord, row)))
        })
    }

    /// What `keys` amount to in `context` or everywhere.
    #[must_use]
    pub fn chord(&self, context: Context, keys: &[KeyPress]) -> Hit {
        let mut hit = Hit::None;
        for (place, chord, row) in self.chords(context) {
            if chord.0 == keys {
                return Hit::Action(place, row.action);
            }
            if chord.0.starts_with(keys) {
                hit = Hit::Pending;
            }
        }
        hit
    }

    /// What may follow `keys`: the next key and what it does.
    #[must_use]
    pub fn followers(&self, context: Context, keys: &[KeyPress]) -> Vec<(String, &'static str)> {
        self.chords(context)
            .filter(|(_, chord, _)| chord.0.starts_with(keys) && chord.0.len() > keys.len())
            .map(|(_, chord, row)| {
                let word = row.label.split([',', ';', '(']).next().unwrap_or(row.label).trim();
                (chord.0[keys.len()].to_string(), word)
            })
            .collect()
    }
}
