//! Bytes of a terminal as events: characters, control characters, escape sequences, pastes. Keys are
//! read in every way terminals tell them: the old one, xterm's and kitty's.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::csi::{self, Csi};

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Bytes of a sequence that are waited for: no key is longer, and a terminal may be mad.
const LONGEST: usize = 256;

/// Bytes that have come and are no event yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// Is what comes part of a paste?
    pastes: bool,
}

/// What the first bytes amount to.
enum Step {
    /// So many bytes, and what they mean if they mean anything.
    Take(usize, Option<Event>),
    /// A paste begins behind so many bytes.
    Paste(usize),
    /// More have to come.
    Wait,
}

impl Decoder {
    /// The events that `bytes` complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            if self.pastes {
                let Some(end) = find(rest, PASTE_END) else { break };
                let text = String::from_utf8_lossy(&rest[..end]).into_owned();
                events.push(Event::Paste(text));
                at += end + PASTE_END.len();
                self.pastes = false;
                continue;
            }
            match step(rest) {
                Step::Take(count, event) => {
                    events.extend(event);
                    at += count;
                }
                Step::Paste(count) => {
                    at += count;
                    self.pastes = true;
                }
                Step::Wait if rest.len() > LONGEST => at += 1,
                Step::Wait => break,
            }
        }
        self.bytes.drain(..at);
        events
    }

    /// Has something begun that may never be completed?
    pub(super) fn waits(&self) -> bool {
        !self.pastes && !self.bytes.is_empty()
    }

    /// What has come stands for itself: an escape character is the key, `ESC [` is Alt with a bracket.
    pub(super) fn give_up(&mut self) -> Vec<Event> {
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.as_slice() {
            [ESC] => vec![key(KeyCode::Esc, KeyModifiers::NONE)],
            [ESC, byte @ (b'[' | b'O')] => {
                vec![key(KeyCode::Char(char::from(*byte)), KeyModifiers::ALT)]
            }
            // A part of a sequence is no key.
            _ => Vec::new(),
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

pub(super) fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn step(bytes: &[u8]) -> Step {
    match bytes {
        [ESC] => Step::Wait,
        // The second one may begin something.
        [ESC, ESC, ..] => Step::Take(1, Some(key(KeyCode::Esc, KeyModifiers::NONE))),
        [ESC, b'[', ..] => control_sequence(bytes),
        [ESC, b'O', ..] => match bytes.get(2) {
            None => Step::Wait,
            Some(last) => {
                Step::Take(3, single_shift(*last).map(|code| key(code, KeyModifiers::NONE)))
            }
        },
        [ESC, rest @ ..] => match plain(rest) {
            Step::Take(count, event) => Step::Take(count + 1, event.map(with_alt)),
            other => other,
        },
        _ => plain(bytes),
    }
}

fn with_alt(event: Event) -> Event {
    match event {
        Event::Key(mut key) => {
            key.modifiers |= KeyModifiers::ALT;
            Event::Key(key)
        }
        other => other,
    }
}

/// A character, or a control character.
fn plain(bytes: &[u8]) -> Step {
    let Some(&first) = bytes.first() else { return Step::Wait };
    let control = |c: u8| (KeyCode::Char(char::from(c)), KeyModifiers::CONTROL);
    let none = |code| (code, KeyModifiers::NONE);
    let (code, modifiers) = match first {
        b'\r' => none(KeyCode::Enter),
        b'\t' => none(KeyCode::Tab),
        0x7f => none(KeyCode::Backspace),
        0 => control(b' '),
        0x01..=0x1a => control(first - 1 + b'a'),
        ESC => none(KeyCode::Esc),
        0x1c..=0x1f => control(first - 0x1c + b'4'),
        _ => return character(bytes),
    };
    Step::Take(1, Some(key(code, modifiers)))
}

fn character(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        // Nothing begins so.
        _ => return Step::Take(1, None),
    };
    let there = &bytes[..length.min(bytes.len())];
    match std::str::from_utf8(there) {
        Ok(text) => {
            let typed = text.chars().next();
            Step::Take(length, typed.map(|c| key(KeyCode::Char(c), KeyModifiers::NONE)))
        }
        Err(error) if error.error_len().is_none() => Step::Wait,
        Err(_) => Step::Take(1, None),
    }
}

/// What follows `ESC O`: the arrows and the keypad of old terminals.
fn single_shift(last: u8) -> Option<KeyCode> {
    match last {
        b'M' => Some(KeyCode::Enter),
        // Behind CSI this letter is a report of the cursor's place.
        b'R' => Some(KeyCode::F(3)),
        b'j'..=b'y' => Some(KeyCode::Char(char::from(last - b'j' + b'*'))),
        _ => csi::letter(last),
    }
}

fn control_sequence(bytes: &[u8]) -> Step {
    match bytes.get(2) {
        None => return Step::Wait,
        // F1 to F5 of the Linux console.
        Some(b'[') => {
            return match bytes.get(3) {
                None => Step::Wait,
                Some(last @ b'A'..=b'E') => {
                    let event = key(KeyCode::F(last - b'A' + 1), KeyModifiers::NONE);
                    Step::Take(4, Some(event))
                }
                Some(_) => Step::Take(4, None),
            };
        }
        // The oldest way to tell of the mouse, which is never asked for: three bytes follow.
        Some(b'M') => {
            return if bytes.len() < 6 { Step::Wait } else { Step::Take(6, None) };
        }
        Some(_) => {}
    }
    let is_body = |byte: &&u8| (0x20..=0x3f).contains(*byte);
    let body = bytes[2..].iter().take_while(is_body).count();
    let Some(&last) = bytes.get(2 + body) else { return Step::Wait };
    let count = 2 + body + 1;
    if !(0x40..=0x7e).contains(&last) {
        // It broke off: the byte belongs to what comes next.
        return Step::Take(count - 1, None);
    }
    let Ok(body) = std::str::from_utf8(&bytes[2..2 + body]) else {
        return Step::Take(count, None);
    };
    match csi::read(body, last) {
        Csi::PasteBegins => Step::Paste(count),
        Csi::Event(event) => Step::Take(count, Some(event)),
        Csi::Nothing => Step::Take(count, None),
    }
}

#[cfg(test)]
mod tests;
