//! Bytes of real terminals, and of mad ones.

use proptest::prelude::*;

use super::*;
use crate::ui::key::KeyPress;
use crate::ui::msg::{Mouse, Msg};
use crate::ui::terminal::msg_of;

/// What all of `bytes` mean, nothing coming behind them.
fn read(bytes: &[u8]) -> Vec<Msg> {
    let mut decoder = Decoder::default();
    let mut events = decoder.feed(bytes);
    events.extend(decoder.give_up());
    events.into_iter().filter_map(msg_of).collect()
}

fn keys(bytes: &str) -> String {
    let keys = read(bytes.as_bytes()).into_iter().map(|msg| match msg {
        Msg::Key(key) => key.to_string(),
        other => panic!("{other:?}"),
    });
    keys.collect::<Vec<_>>().join(" ")
}

#[test]
fn keys_of_terminals_that_tell_them_in_the_old_way() {
    for (bytes, expected) in [
        ("aZ9?é界", "a Z 9 ? é 界"),
        ("\r\t\x7f", "enter tab backspace"),
        ("\n\x01\x1a\x08", "ctrl-j ctrl-a ctrl-z ctrl-h"),
        ("\0\x1f", "ctrl-space ctrl-7"),
        ("\x1b", "esc"),
        ("\x1b\x1b", "esc esc"),
        ("\x1bb\x1bB\x1b\r\x1b\x7f", "alt-b alt-B alt-enter alt-backspace"),
        ("\x1b[", "alt-["),
        ("\x1bO", "alt-O"),
        ("\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D", "up down ctrl-right alt-left"),
        ("\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[3~", "home end home end delete"),
        ("\x1b[5~\x1b[6;5~", "pageup ctrl-pagedown"),
        ("\x1bOP\x1b[15~\x1b[24~\x1b[[C", "f1 f5 f12 f3"),
        ("\x1b[Z", "shift-tab"),
        ("\x1bOM\x1bOp\x1bOk", "enter 0 +"),
    ] {
        assert_eq!(keys(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn keys_of_xterm_and_tmux_with_other_keys_modified() {
    for (bytes, expected) in [
        ("\x1b[27;2;13~", "shift-enter"),
        ("\x1b[27;5;13~\x1b[27;3;13~", "ctrl-enter alt-enter"),
        ("\x1b[27;5;106~\x1b[27;6;74~", "ctrl-j ctrl-j"),
        ("\x1b[27;3;122~\x1b[27;4;90~", "alt-z alt-Z"),
        ("\x1b[27;5;9~\x1b[27;2;9~", "ctrl-tab shift-tab"),
        ("\x1b[27;5;47~\x1b[27;2;65~", "ctrl-/ A"),
        ("\x1b[27;1;27~", "esc"),
        ("\x1b[27;5;32~", "ctrl-space"),
        ("\x1b[13;2u\x1b[106;5u", "shift-enter ctrl-j"),
    ] {
        assert_eq!(keys(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn keys_of_terminals_with_kittys_protocol_whatever_the_layout() {
    for (bytes, expected) in [
        ("\x1b[27u", "esc"),
        ("a\x1b[97;5u\x1b[97;3u", "a ctrl-a alt-a"),
        (
            "\x1b[13;2u\x1b[13;3u\x1b[9;2u\x1b[127;3u",
            "shift-enter alt-enter shift-tab alt-backspace",
        ),
        ("\x1b[122:90;4u\x1b[61:43;4u", "alt-Z alt-+"),
        ("\x1b[122;4u", "alt-Z"),
        // Russian: Ctrl with the key where C is, Alt with that of Z, a letter as text.
        ("с\x1b[1089::99;5u\x1b[1103:1071:122;4u", "с ctrl-c alt-Z"),
        // Greek without the place of the key: the letter is all that is known.
        ("\x1b[968;5u", "ctrl-ψ"),
        // German: the key of y is where z is in English, and stays what is written on it.
        ("\x1b[121::122;5u", "ctrl-y"),
        ("\x1b[57414u\x1b[57400u\x1b[57417;5u", "enter 1 ctrl-left"),
        // With num lock and caps lock on.
        ("\x1b[97;197u", "ctrl-a"),
        // Held is pressed again, released is nothing, and so is shift alone.
        ("\x1b[97;5:2u\x1b[97;5:3u\x1b[57441;2u", "ctrl-a"),
        ("\x1b[1;2:3A\x1b[1;1:1B", "down"),
    ] {
        assert_eq!(keys(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn the_mouse_the_focus_and_pastes() {
    let mouse = |what, x, y| Msg::Mouse { what, x, y };
    assert_eq!(
        read(b"\x1b[<0;5;7M\x1b[<32;6;7M\x1b[<0;6;7m\x1b[<64;1;1M\x1b[<65;1;1M\x1b[<2;1;1M"),
        [
            mouse(Mouse::Press, 4, 6),
            mouse(Mouse::Drag, 5, 6),
            mouse(Mouse::Release, 5, 6),
            Msg::Wheel(-1),
            Msg::Wheel(1),
        ]
    );
    assert_eq!(read(b"\x1b[I\x1b[O"), [Msg::Focus(true), Msg::Focus(false)]);
    let text = "one\r\x1b[31mtwo \u{7ec8}\x1b";
    let mut bytes = format!("a\x1b[200~{text}\x1b[201~b").into_bytes();
    assert_eq!(read(&bytes).get(1), Some(&Msg::Paste(text.into())));
    assert_eq!(read(&bytes).len(), 3);
    // However it is torn apart, and with time between.
    bytes.push(b'c');
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for byte in bytes {
        events.extend(decoder.feed(&[byte]));
    }
    assert_eq!(events.into_iter().filter_map(msg_of).count(), 4);
    assert!(!decoder.waits());
}

#[test]
fn answers_of_the_terminal_are_no_keys_and_a_torn_sequence_is_whole_again() {
    assert_eq!(read(b"\x1b[?62;22c\x1b[?1u\x1b[>0;10;1c\x1b[12;40R\x1b[201~"), []);
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b"), []);
    assert!(decoder.waits());
    let events: Vec<_> = decoder.feed(b"[1;5").into_iter().chain(decoder.feed(b"Ax")).collect();
    let pressed: Vec<_> = events.into_iter().filter_map(msg_of).collect();
    let key = |text: &str| Msg::Key(text.parse::<KeyPress>().expect("key"));
    assert_eq!(pressed, [key("ctrl-up"), key("x")]);
    // A part of one that never comes is no text.
    assert_eq!(decoder.feed(b"\x1b[1;5"), []);
    assert_eq!(decoder.give_up(), []);
    assert!(!decoder.waits());
}

proptest! {
    #[test]
    fn no_bytes_are_too_much_and_text_behind_them_is_read(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut decoder = Decoder::default();
        let _ = decoder.feed(&bytes);
        // Whatever has begun is over: a paste, a long sequence, a character.
        let _ = decoder.feed(b"\x1b[201~");
        let _ = decoder.give_up();
        decoder.bytes.clear();
        prop_assert!(!decoder.pastes || bytes.windows(6).any(|b| b == b"\x1b[200~"));
        decoder.pastes = false;
        let events = decoder.feed("x".as_bytes());
        prop_assert_eq!(events, vec![key(KeyCode::Char('x'), KeyModifiers::NONE)]);
    }

    #[test]
    fn text_is_read_as_it_is_typed_however_it_is_torn(text in "[ -~\u{e0}-\u{2fff}]{0,40}", cut in 0_usize..80) {
        let bytes = text.as_bytes();
        let cut = cut.min(bytes.len());
        let mut decoder = Decoder::default();
        let mut events = decoder.feed(&bytes[..cut]);
        events.extend(decoder.feed(&bytes[cut..]));
        let typed: String = events.iter().filter_map(|event| match event {
            Event::Key(KeyEvent { code: KeyCode::Char(c), .. }) => Some(*c),
            _ => None,
        }).collect();
        prop_assert_eq!(typed, text);
    }
}
