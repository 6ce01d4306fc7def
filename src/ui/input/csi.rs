//! Control sequences a terminal sends (`CSI`): keys with modifiers, the mouse, the focus.
//!
//! Keys come in xterm's two ways (`CSI 1;5A`, `CSI 27;2;13~`: see xterm's `ctlseqs`, `modifyOtherKeys`)
//! and in kitty's (`CSI 99:67:99;6u`: see kitty's page on its keyboard protocol).

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::decode::key;

/// What a sequence means.
pub(super) enum Csi {
    /// This.
    Event(Event),
    /// A paste begins.
    PasteBegins,
    /// Nothing to this program.
    Nothing,
}

impl From<Option<Event>> for Csi {
    fn from(event: Option<Event>) -> Self {
        event.map_or(Self::Nothing, Self::Event)
    }
}

/// What `CSI body last` means.
pub(super) fn read(body: &str, last: u8) -> Csi {
    if let Some(mouse) = body.strip_prefix('<') {
        return mouse_event(mouse, last).into();
    }
    // Answers to questions, which nobody here has asked.
    if body.starts_with(['?', '>', '=']) {
        return Csi::Nothing;
    }
    let fields = Fields::of(body);
    match last {
        b'I' if body.is_empty() => Csi::Event(Event::FocusGained),
        b'O' if body.is_empty() => Csi::Event(Event::FocusLost),
        b'Z' => Csi::Event(key(KeyCode::BackTab, fields.modifiers() | KeyModifiers::SHIFT)),
        b'u' => fields.pressed(fields.code_of_kitty()).into(),
        b'~' => match fields.number(0) {
            Some(200) => Csi::PasteBegins,
            Some(27) => {
                let code = fields.number(2).and_then(|code| of_code(code, fields.modifiers()));
                fields.pressed(code).into()
            }
            Some(number) => {
                fields.pressed(tilde(number).map(|code| (code, fields.modifiers()))).into()
            }
            None => Csi::Nothing,
        },
        _ => fields.pressed(letter(last).map(|code| (code, fields.modifiers()))).into(),
    }
}

/// Numbers between semicolons, each with others behind colons.
struct Fields<'a>(Vec<&'a str>);

impl<'a> Fields<'a> {
    fn of(body: &'a str) -> Self {
        Self(body.split(';').collect())
    }

    fn part(&self, field: usize, part: usize) -> Option<u32> {
        self.0.get(field)?.split(':').nth(part)?.parse().ok()
    }

    fn number(&self, field: usize) -> Option<u32> {
        self.part(field, 0)
    }

    fn modifiers(&self) -> KeyModifiers {
        let mask = self.number(1).unwrap_or(1).saturating_sub(1);
        let bits = [
            (1, KeyModifiers::SHIFT),
            (2, KeyModifiers::ALT),
            (4, KeyModifiers::CONTROL),
            (8, KeyModifiers::SUPER),
            (16, KeyModifiers::HYPER),
            (32, KeyModifiers::META),
        ];
        let held = bits.into_iter().filter(|(bit, _)| mask & bit != 0);
        held.fold(KeyModifiers::NONE, |all, (_, modifier)| all | modifier)
    }

    /// The event of a key that was pressed, is held, or was released.
    fn pressed(&self, key: Option<(KeyCode, KeyModifiers)>) -> Option<Event> {
        let (code, modifiers) = key?;
        let kind = match self.part(1, 1) {
            Some(2) => KeyEventKind::Repeat,
            Some(3) => KeyEventKind::Release,
            _ => KeyEventKind::Press,
        };
        Some(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
    }

    /// The key's own character, what it is with shift, and where it is on an English keyboard:
    /// `code:shifted:base`.
    fn code_of_kitty(&self) -> Option<(KeyCode, KeyModifiers)> {
        let mut modifiers = self.modifiers();
        let code = self.part(0, 0)?;
        let is_command = modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        // Ctrl-C is the key where C is, whatever else is written on it.
        if is_command
            && code > 0x7f
            && let Some(base) = self.part(0, 2).filter(|base| (0x20..0x7f).contains(base))
        {
            return of_code(base, modifiers);
        }
        if modifiers.contains(KeyModifiers::SHIFT)
            && let Some(shifted) = self.part(0, 1).and_then(char::from_u32)
        {
            modifiers -= KeyModifiers::SHIFT;
            return Some((KeyCode::Char(shifted), modifiers));
        }
        of_code(code, modifiers)
    }
}

/// A key by its character or number, as kitty counts them.
fn of_code(code: u32, modifiers: KeyModifiers) -> Option<(KeyCode, KeyModifiers)> {
    let code = match code {
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        57376..=57398 => KeyCode::F(u8::try_from(code - 57376 + 13).ok()?),
        57399..=57408 => KeyCode::Char(char::from_digit(code - 57399, 10)?),
        57409..=57413 => {
            KeyCode::Char(['.', '/', '*', '-', '+'][usize::try_from(code - 57409).ok()?])
        }
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        // Modifiers alone, keys of media: private numbers of kitty's.
        57344..=63743 => return None,
        _ => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            if modifiers.contains(KeyModifiers::SHIFT) && c.is_lowercase() {
                let mut upper = c.to_uppercase();
                let shifted = upper.next().filter(|_| upper.next().is_none());
                let modifiers = modifiers - KeyModifiers::SHIFT;
                return Some((KeyCode::Char(shifted.unwrap_or(c)), modifiers));
            }
            KeyCode::Char(c)
        }
    };
    Some((code, modifiers))
}

/// `CSI number ~`.
fn tilde(number: u32) -> Option<KeyCode> {
    let function = |number: u32| u8::try_from(number).ok().map(KeyCode::F);
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(number - 10),
        17..=21 => function(number - 11),
        23..=26 => function(number - 12),
        28 | 29 => function(number - 13),
        31..=34 => function(number - 14),
        _ => None,
    }
}

/// `CSI letter`, or `CSI 1;modifiers letter`.
pub(super) fn letter(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

/// `CSI < buttons;column;row M`, with `m` for a button that was released.
fn mouse_event(body: &str, last: u8) -> Option<Event> {
    let fields = Fields::of(body);
    let buttons = fields.number(0)?;
    let place = |field| fields.number(field).and_then(|n| u16::try_from(n.checked_sub(1)?).ok());
    let button = match buttons & 3 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let kind = match (buttons & 0b1110_0000, button, last) {
        (64, _, b'M') => match buttons & 3 {
            0 => MouseEventKind::ScrollUp,
            1 => MouseEventKind::ScrollDown,
            2 => MouseEventKind::ScrollLeft,
            _ => MouseEventKind::ScrollRight,
        },
        (32, Some(button), b'M') => MouseEventKind::Drag(button),
        (32, None, _) => MouseEventKind::Moved,
        (0, Some(button), b'M') => MouseEventKind::Down(button),
        (0 | 32, Some(button), b'm') => MouseEventKind::Up(button),
        _ => return None,
    };
    let bits = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let held = bits.into_iter().filter(|(bit, _)| buttons & bit != 0);
    let modifiers = held.fold(KeyModifiers::NONE, |all, (_, modifier)| all | modifier);
    let (column, row) = (place(1)?, place(2)?);
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
}
