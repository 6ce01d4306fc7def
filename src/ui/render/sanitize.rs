//! The one place that makes untrusted text safe to draw.
//!
//! A model, a tool, a file, a session may hold anything: escape sequences that would move our cursor
//! or write to the clipboard, characters that turn the direction of text around, characters nobody
//! sees. What could act is shown as a picture (`␛`) or by its number (`<U+202E>`); what has no meaning
//! in a grid of cells is left out; what scripts and emoji need stays.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Cells from one tab stop to the next.
pub const TAB: usize = 4;

/// Marks that may stand on one character. Real scripts need fewer; more of them overflow the cell.
const MAX_MARKS: usize = 6;

/// Safe text, in which `\n` still ends lines. `\r\n` is a line end too. Tabs become spaces.
#[must_use]
pub fn sanitize(text: &str) -> Cow<'_, str> {
    clean(text, 0, true)
}

/// Safe text for one line that begins at `column`, which tabs depend on; line ends become pictures.
#[must_use]
pub fn sanitize_line(text: &str, column: usize) -> Cow<'_, str> {
    clean(text, column, false)
}

fn clean(text: &str, column: usize, many_lines: bool) -> Cow<'_, str> {
    let harmless = |byte: u8| (0x20..0x7f).contains(&byte) || (many_lines && byte == b'\n');
    let safe = text.bytes().position(|byte| !harmless(byte)).unwrap_or(text.len());
    if safe == text.len() {
        return Cow::Borrowed(text);
    }
    // The character before a mark or joiner counts, so go on from the last one that was safe.
    let from = safe.saturating_sub(1);
    let mut out = Cleaner::new(text.len(), column, many_lines);
    out.out.push_str(&text[..from]);
    if !text.is_ascii() || text[from..].bytes().any(|byte| !harmless(byte)) {
        out.column = match text[..from].rfind('\n') {
            Some(end) => from - end - 1,
            None => column + from,
        };
    }
    out.run(&text[from..]);
    Cow::Owned(out.out)
}

struct Cleaner {
    out: String,
    column: usize,
    many_lines: bool,
    /// The last character that was written, and how many marks stand on it.
    last: Option<char>,
    marks: usize,
}

impl Cleaner {
    fn new(capacity: usize, column: usize, many_lines: bool) -> Self {
        Self { out: String::with_capacity(capacity), column, many_lines, last: None, marks: 0 }
    }

    fn run(&mut self, text: &str) {
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                ' '..='~' => self.put(c),
                '\n' if self.many_lines => {
                    self.put(c);
                    self.column = 0;
                }
                '\r' if self.many_lines && rest.as_str().starts_with('\n') => {}
                '\t' => {
                    for _ in 0..TAB - self.column % TAB {
                        self.put(' ');
                    }
                }
                '\0'..='\u{1f}' => self.put(picture(c)),
                '\u{7f}' => self.put('␡'),
                '\u{80}'..='\u{9f}' => self.eight_bit_control(c),
                '\u{200c}' | '\u{200d}' => self.joiner(c, rest.as_str()),
                '\u{1f3f4}' => {
                    self.put(c);
                    rest = self.flag(rest.as_str()).chars();
                }
                _ if is_invisible(c) => {}
                _ if is_active(c) => self.number(c),
                _ => self.visible(c),
            }
        }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += c.width().unwrap_or(0);
        self.last = Some(c);
        self.marks = 0;
    }

    fn visible(&mut self, c: char) {
        if c.width() == Some(0) {
            self.marks += 1;
            if self.marks <= MAX_MARKS {
                self.out.push(c);
                self.last = Some(c);
            }
        } else {
            self.put(c);
        }
    }

    /// `ESC [` and its likes exist as one character each; both spellings look the same here.
    fn eight_bit_control(&mut self, c: char) {
        self.put('␛');
        self.put(u8::try_from(u32::from(c) - 0x40).map_or('?', char::from));
    }

    fn number(&mut self, c: char) {
        for c in format!("<U+{:04X}>", u32::from(c)).chars() {
            self.put(c);
        }
    }

    /// Joiners hold emoji together and shape Persian and Indic words; elsewhere they hide.
    fn joiner(&mut self, c: char, rest: &str) {
        let (Some(before), Some(after)) = (self.last, rest.chars().next()) else { return };
        let script = |c: char| u32::from(c) >= 0x600 && !is_invisible(c) && !is_active(c);
        let letters = script(before) && after.is_alphabetic() && script(after);
        let emoji = c == '\u{200d}' && is_emoji(before) && is_emoji(after);
        if (letters || emoji) && self.marks < MAX_MARKS * 2 {
            self.out.push(c);
        }
    }

    /// A flag of a region is a black flag and invisible letters, with an end. Returns what follows.
    fn flag<'t>(&mut self, rest: &'t str) -> &'t str {
        let tags = |c: char| ('\u{e0030}'..='\u{e007a}').contains(&c);
        let end = rest.char_indices().find(|(_, c)| !tags(*c));
        match end {
            Some((at, c)) if c == '\u{e007f}' && (8..=24).contains(&at) => {
                let all = at + c.len_utf8();
                self.out.push_str(&rest[..all]);
                &rest[all..]
            }
            _ => rest,
        }
    }
}

/// The picture of a control character.
fn picture(control: char) -> char {
    char::from_u32(0x2400 + u32::from(control)).unwrap_or('\u{fffd}')
}

/// Takes no cell and means nothing in one: left out.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    )
}

/// Turns text around, breaks lines, hides messages, or fills space with nothing: shown by number.
fn is_active(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2065}'..='\u{206f}'
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// May be joined to another emoji: pictures, and the selectors and skin tones that may follow one.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{fe0f}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(sanitize("two\nlines"), Cow::Borrowed(_)));
        assert!(matches!(sanitize_line("one line", 0), Cow::Borrowed(_)));
    }

    #[test]
    fn escape_sequences_become_pictures() {
        assert_eq!(sanitize("\x1b]52;c;aGk=\x07"), "␛]52;c;aGk=␇");
        assert_eq!(sanitize("\u{9b}2J"), "␛[2J");
        assert_eq!(sanitize("a\x08b\x7f\0"), "a␈b␡␀");
        assert_eq!(sanitize("a\rb"), "a␍b");
        assert_eq!(sanitize("a\r\nb"), "a\nb");
        assert_eq!(sanitize_line("a\r\nb", 0), "a␍␊b");
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(sanitize("\tx\n\ty"), "    x\n    y");
        assert_eq!(sanitize("ab\tx"), "ab  x");
        assert_eq!(sanitize("日\tx"), "日  x");
        assert_eq!(sanitize("long line\nab\tx"), "long line\nab  x");
        assert_eq!(sanitize_line("\tx", 3), " x");
        assert_eq!(sanitize_line("a\tx", 3), "a    x");
    }

    #[test]
    fn direction_and_hidden_text_are_shown() {
        assert_eq!(sanitize("a\u{202e}b"), "a<U+202E>b");
        assert_eq!(sanitize("a\u{2028}b"), "a<U+2028>b");
        assert_eq!(sanitize("a\u{e0041}"), "a<U+E0041>");
        assert_eq!(sanitize("a\u{200b}b\u{feff}\u{ad}"), "ab");
        assert_eq!(sanitize("pay\u{200d}pal"), "paypal");
    }

    #[test]
    fn what_scripts_and_emoji_need_stays() {
        for text in [
            "👩‍👩‍👧‍👦",
            "❤️‍🔥",
            "🏳️‍🌈",
            "👍🏽",
            "🇩🇪",
            "می\u{200c}خواهم",
            "क्‍ष",
            "e\u{301}",
            "日本語",
            "\u{1100}\u{1161}\u{11a8}",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        ] {
            assert_eq!(sanitize(text), text);
        }
    }

    #[test]
    fn towers_of_marks_are_cut() {
        let tower = format!("a{}b", "\u{301}".repeat(100));
        assert_eq!(sanitize(&tower), format!("a{}b", "\u{301}".repeat(MAX_MARKS)));
    }

    fn is_safe(text: &str) -> bool {
        !text.chars().any(|c| {
            c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
        })
    }

    proptest! {
        #[test]
        fn nothing_active_survives(text in prop_oneof![
            any::<String>(),
            "[\u{0}-\u{20}a\u{7f}-\u{9f}\u{200b}-\u{202e}\u{2066}-\u{2069}👩日\u{301}]{0,40}",
        ]) {
            prop_assert!(is_safe(&sanitize_line(&text, 0)));
            let safe = sanitize(&text);
            prop_assert!(safe.lines().all(is_safe));
            // Safe text is left as it is.
            prop_assert_eq!(sanitize(&safe), safe.clone());
        }
    }
}
