//! Key presses as values: what the terminal edge turns events into, and what keymaps are written in.

use std::fmt;
use std::str::FromStr;

/// A key without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyCode {
    /// A character, as it would be typed: shift is part of it.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab; with shift for "back tab".
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Up arrow.
    Up,
    /// Down arrow.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key.
    F(u8),
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    /// The key.
    pub code: KeyCode,
    /// Was Ctrl held?
    pub ctrl: bool,
    /// Was Alt held?
    pub alt: bool,
    /// Was Shift held? Never set for characters.
    pub shift: bool,
}

impl KeyPress {
    /// The key alone.
    #[must_use]
    pub fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// Is it a character that would be written into text?
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.ctrl && !self.alt
    }

    /// One key for what terminals report in several ways: letters with Ctrl are small, and the
    /// shift of a character is the character.
    #[must_use]
    pub fn normalised(mut self) -> Self {
        if let KeyCode::Char(c) = self.code {
            if self.ctrl {
                self.code = KeyCode::Char(c.to_ascii_lowercase());
            }
            self.shift = false;
        }
        self
    }
}

const NAMED: [(&str, KeyCode); 15] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("minus", KeyCode::Char('-')),
];

/// A text that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown key {0:?}; write it like \"ctrl-t\", \"alt-enter\", \"f1\" or \"y\"")]
pub struct UnknownKey(pub String);

impl FromStr for KeyPress {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(text.to_owned());
        let mut key = Self::plain(KeyCode::Esc);
        let mut rest = text;
        loop {
            let (modifier, after) = match rest.split_once('-') {
                Some((modifier, after)) if !after.is_empty() => (modifier, after),
                _ => break,
            };
            match modifier {
                "ctrl" => key.ctrl = true,
                "alt" => key.alt = true,
                "shift" => key.shift = true,
                _ => return Err(unknown()),
            }
            rest = after;
        }
        let mut chars = rest.chars();
        key.code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => match NAMED.iter().find(|(name, _)| *name == rest) {
                Some((_, code)) => *code,
                None => rest
                    .strip_prefix('f')
                    .and_then(|number| number.parse().ok())
                    .filter(|number| (1..=24).contains(number))
                    .map(KeyCode::F)
                    .ok_or_else(unknown)?,
            },
        };
        Ok(key.normalised())
    }
}

impl fmt::Display for KeyPress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if held {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            // Every other key has a name above.
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_as_it_is_written() {
        for text in
            ["ctrl-t", "alt-enter", "shift-tab", "f12", "y", "?", "space", "minus", "pageup"]
        {
            let key: KeyPress = text.parse().expect(text);
            assert_eq!(key.to_string(), text);
        }
        assert!("hyper-x".parse::<KeyPress>().is_err());
        assert!("f99".parse::<KeyPress>().is_err());
        assert!("".parse::<KeyPress>().is_err());
    }

    #[test]
    fn ctrl_letters_are_one_key_whatever_the_case() {
        let a: KeyPress = "ctrl-T".parse().expect("key");
        assert_eq!(a, "ctrl-t".parse().expect("key"));
    }
}
