//! Is the terminal dark or light? A guess from the environment, and the terminal's own answer.
//!
//! The answer to `OSC 11` comes among the keys: as Alt-], the characters `11;rgb:RRRR/GGGG/BBBB`, and
//! an end that is BEL (Ctrl-G) or ST (Alt-\). [`Listener`] takes it out of them, and gives back every
//! key that turns out to be none of it.

use crate::ui::key::{KeyCode, KeyPress};

/// The name that stands for `dark` or `light`, as the terminal is.
pub const AUTO: &str = "auto";
/// What asks the terminal for its background.
pub const QUESTION: &str = "\x1b]11;?\x1b\\";
/// How long an answer is recognised, in seconds. Nothing waits for it.
pub const ANSWERS_WITHIN: f64 = 5.0;

/// What the terminal's own background is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// Dark, as most are.
    #[default]
    Dark,
    /// Light.
    Light,
}

impl Ground {
    /// What the environment says (`COLORFGBG`, as rxvt and Konsole set it); dark when it is silent.
    #[must_use]
    pub fn guess(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let colors = env("COLORFGBG").unwrap_or_default();
        match colors.rsplit(';').next().and_then(|ground| ground.parse::<u8>().ok()) {
            Some(7 | 9..=15) => Self::Light,
            _ => Self::Dark,
        }
    }

    /// The theme that suits it.
    #[must_use]
    pub fn theme(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }

    /// Reads `11;rgb:RRRR/GGGG/BBBB`, of one to four digits each.
    fn read(answer: &str) -> Option<Self> {
        let colors = answer.strip_prefix("11;rgb:").or_else(|| answer.strip_prefix("11;rgba:"))?;
        let mut parts = colors.split('/').map(|part| {
            let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1)?;
            let value = u32::from_str_radix(part, 16).ok()?;
            (most > 0).then(|| f64::from(value) / f64::from(most))
        });
        let mut next = || parts.next().flatten();
        let (red, green, blue) = (next()?, next()?, next()?);
        let light = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(if light > 0.5 { Self::Light } else { Self::Dark })
    }
}

/// Takes the answer out of the keys.
#[derive(Debug, Default)]
pub struct Listener {
    held: Vec<KeyPress>,
    text: String,
}

/// What a key was.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Perhaps part of the answer: it is held back.
    Part,
    /// The end of the answer.
    Answer(Ground),
    /// None of it: these are keys of the person.
    Keys(Vec<KeyPress>),
}

/// Characters of the longest answer.
const LONGEST: usize = 40;

impl Listener {
    /// Takes in a key.
    pub fn hear(&mut self, key: KeyPress) -> Heard {
        let plain = !key.alt && !key.ctrl;
        match key.code {
            KeyCode::Char(']') if self.held.is_empty() && key.alt => {
                self.held.push(key);
                return Heard::Part;
            }
            _ if self.held.is_empty() => return Heard::Keys(vec![key]),
            KeyCode::Char('g') if key.ctrl => return self.end(key),
            KeyCode::Char('\\') if key.alt => return self.end(key),
            // An end that came in two pieces: Esc, then the backslash.
            KeyCode::Char('\\')
                if plain && self.held.last().is_some_and(|last| last.code == KeyCode::Esc) =>
            {
                return self.end(key);
            }
            KeyCode::Esc => {
                self.held.push(key);
                return Heard::Part;
            }
            KeyCode::Char(c) if plain && self.text.len() < LONGEST && self.goes_on_with(c) => {
                self.held.push(key);
                self.text.push(c);
                return Heard::Part;
            }
            _ => {}
        }
        self.held.push(key);
        Heard::Keys(self.give_back())
    }

    /// The keys held back so far.
    pub fn give_back(&mut self) -> Vec<KeyPress> {
        self.text.clear();
        std::mem::take(&mut self.held)
    }

    fn goes_on_with(&self, c: char) -> bool {
        const BEGIN: &str = "11;rgb";
        match BEGIN.chars().nth(self.text.len()) {
            Some(wanted) => c == wanted,
            None => c.is_ascii_hexdigit() || matches!(c, 'a' | ':' | '/'),
        }
    }

    fn end(&mut self, key: KeyPress) -> Heard {
        match Ground::read(&self.text) {
            Some(ground) => {
                self.give_back();
                Heard::Answer(ground)
            }
            None => {
                self.held.push(key);
                Heard::Keys(self.give_back())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode) -> KeyPress {
        KeyPress::plain(code)
    }

    fn alt(c: char) -> KeyPress {
        KeyPress { alt: true, ..key(KeyCode::Char(c)) }
    }

    /// The answer as the key reader of the terminal gives it.
    fn answer(text: &str, end: &[KeyPress]) -> Vec<KeyPress> {
        let text = text.chars().map(|c| key(KeyCode::Char(c)));
        std::iter::once(alt(']')).chain(text).chain(end.iter().copied()).collect()
    }

    fn bell() -> KeyPress {
        KeyPress { ctrl: true, ..key(KeyCode::Char('g')) }
    }

    #[test]
    fn the_answer_is_taken_out_of_the_keys() {
        let ends: [&[KeyPress]; 3] =
            [&[bell()], &[alt('\\')], &[key(KeyCode::Esc), key(KeyCode::Char('\\'))]];
        for end in ends {
            for (text, ground) in [
                ("11;rgb:1e1e/1e1e/2e2e", Ground::Dark),
                ("11;rgb:ffff/fafa/f0f0", Ground::Light),
                ("11;rgb:ff/ff/ff", Ground::Light),
                ("11;rgba:0000/0000/0000/ffff", Ground::Dark),
            ] {
                let mut listener = Listener::default();
                let keys = answer(text, end);
                let (last, parts) = keys.split_last().expect("keys");
                for part in parts {
                    assert_eq!(listener.hear(*part), Heard::Part, "{text}");
                }
                assert_eq!(listener.hear(*last), Heard::Answer(ground), "{text}");
                let next = key(KeyCode::Char('x'));
                assert_eq!(listener.hear(next), Heard::Keys(vec![next]));
            }
        }
    }

    #[test]
    fn no_key_of_the_person_is_lost() {
        for typed in ["hello", "1", "11;x", "11;rgb:zz"] {
            for keys in [answer(typed, &[key(KeyCode::Enter)]), answer(typed, &[bell()])] {
                let mut listener = Listener::default();
                let mut back = Vec::new();
                for key in &keys {
                    match listener.hear(*key) {
                        Heard::Keys(keys) => back.extend(keys),
                        heard => assert_eq!(heard, Heard::Part),
                    }
                }
                assert_eq!(back, keys, "{typed}");
            }
        }
    }

    #[test]
    fn the_environment_is_a_first_guess() {
        let guess = |value: &str| Ground::guess(&|_| Some(value.to_owned()));
        assert_eq!(guess("0;15"), Ground::Light);
        assert_eq!(guess("0;default;7"), Ground::Light);
        assert_eq!(guess("15;0"), Ground::Dark);
        assert_eq!(guess("15;8"), Ground::Dark);
        assert_eq!(Ground::guess(&|_| None), Ground::Dark);
    }
}
