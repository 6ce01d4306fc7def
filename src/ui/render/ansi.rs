//! What commands print. Colours and weights (`SGR`) are kept; every other escape sequence is dropped,
//! because output must not move our cursor, set titles or fill the clipboard.

use std::iter::Peekable;
use std::str::Chars;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::sanitize::sanitize_line;
use super::width::width;
use crate::ui::theme::ColorDepth;

/// The lines of `output`, unwrapped, over `base`, in colours of `depth`.
///
/// A line that is written over itself (`\r`, as progress bars do) shows what a terminal would show in
/// the end. Styles go on from line to line.
#[must_use]
pub fn ansi(output: &str, base: Style, depth: ColorDepth) -> Vec<Line<'static>> {
    let mut style = base;
    let mut lines = Vec::new();
    for line in output.lines() {
        if line.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            let span = Span::styled(line.to_owned(), depth.style(style));
            lines.push(Line::from(if line.is_empty() { vec![] } else { vec![span] }));
            continue;
        }
        let mut row = Row { cells: Vec::new(), column: 0, total: 0 };
        read_line(line, base, &mut style, &mut row);
        lines.push(row.line(depth));
    }
    lines
}

/// Text of one style that was written into a line.
struct Written {
    text: String,
    style: Style,
}

/// A line as it stands after everything that was written to it.
struct Row {
    cells: Vec<Written>,
    /// Where the next text goes, and the width of all.
    column: usize,
    total: usize,
}

impl Row {
    /// Goes back to the first column: what is written next covers what is there.
    fn carriage_return(&mut self) {
        self.column = 0;
    }

    fn backspace(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    fn erase_to_end(&mut self) {
        let (kept, _) = split(std::mem::take(&mut self.cells), self.column);
        self.cells = kept;
        self.total = self.total.min(self.column);
    }

    fn erase(&mut self) {
        self.cells.clear();
        self.total = 0;
    }

    fn write(&mut self, text: &str, style: Style) {
        let text = sanitize_line(text, self.column).into_owned();
        let cells = width(&text);
        if self.column >= self.total {
            if self.column > self.total {
                let gap = " ".repeat(self.column - self.total);
                self.cells.push(Written { text: gap, style: Style::new() });
            }
            self.cells.push(Written { text, style });
        } else {
            let (mut kept, covered) = split(std::mem::take(&mut self.cells), self.column);
            let (_, rest) = split(covered, cells);
            kept.push(Written { text, style });
            kept.extend(rest);
            self.cells = kept;
        }
        self.column += cells;
        self.total = self.total.max(self.column);
    }

    fn line(self, depth: ColorDepth) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for Written { text, style } in self.cells {
            let style = depth.style(style);
            match spans.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.style == style => last.content.to_mut().push_str(&text),
                _ => spans.push(Span::styled(text, style)),
            }
        }
        Line::from(spans)
    }
}

/// What stands before `column` and from it on; a wide character that is cut becomes spaces.
fn split(cells: Vec<Written>, column: usize) -> (Vec<Written>, Vec<Written>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut at = 0;
    for Written { text, style } in cells {
        let wide = width(&text);
        if at + wide <= column {
            before.push(Written { text, style });
        } else if at >= column {
            after.push(Written { text, style });
        } else {
            let (start, used) = super::width::fitting(&text, column - at);
            let hole = column - at - used;
            let rest = &text[start.len()..];
            let mut start = start.to_owned();
            if hole == 0 {
                after.push(Written { text: rest.to_owned(), style });
            } else {
                let (cut, cut_width) = super::width::fitting(rest, hole + 1);
                start.push_str(&" ".repeat(hole));
                let filled = " ".repeat(cut_width.saturating_sub(hole)) + &rest[cut.len()..];
                after.push(Written { text: filled, style });
            }
            before.push(Written { text: start, style });
        }
        at += wide;
    }
    (before, after)
}

fn read_line(line: &str, base: Style, style: &mut Style, row: &mut Row) {
    let mut text = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let is_text =
            !matches!(c, '\x1b' | '\u{9b}' | '\r' | '\x08' | '\x07' | '\u{90}'..='\u{9f}');
        if is_text {
            text.push(c);
            continue;
        }
        if !text.is_empty() {
            row.write(&std::mem::take(&mut text), *style);
        }
        match c {
            '\r' => row.carriage_return(),
            '\x08' => row.backspace(),
            '\x1b' => escape(&mut chars, base, style, row),
            '\u{9b}' => control_sequence(&mut chars, base, style, row),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            // The bell, and eight-bit controls without a meaning here.
            _ => {}
        }
    }
    if !text.is_empty() {
        row.write(&text, *style);
    }
}

/// After `ESC`.
fn escape(chars: &mut Peekable<Chars<'_>>, base: Style, style: &mut Style, row: &mut Row) {
    match chars.next() {
        Some('[') => control_sequence(chars, base, style, row),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars),
        // `ESC ( B` and its likes: intermediates, then one character.
        Some(' '..='/') => while chars.next().is_some_and(|c| (' '..='/').contains(&c)) {},
        _ => {}
    }
}

/// A string for the terminal, up to its end or the line's.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next() {
        match c {
            '\x07' | '\u{9c}' => return,
            '\x1b' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// After `ESC [`.
fn control_sequence(
    chars: &mut Peekable<Chars<'_>>,
    base: Style,
    style: &mut Style,
    row: &mut Row,
) {
    let mut parameters = String::new();
    while let Some(c) = chars.next_if(|c| (' '..='?').contains(c)) {
        parameters.push(c);
    }
    // Anything but a final character breaks the sequence and is text again.
    match chars.next_if(|c| ('@'..='~').contains(c)) {
        Some('m') if parameters.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':') => {
            apply(&parameters, base, style);
        }
        Some('K') if matches!(parameters.as_str(), "" | "0") => row.erase_to_end(),
        Some('K') if parameters == "2" => row.erase(),
        Some('G') if matches!(parameters.as_str(), "" | "0" | "1") => row.carriage_return(),
        _ => {}
    }
}

/// `SGR` parameters; `:` separates parts of one as `;` does.
fn apply(parameters: &str, base: Style, style: &mut Style) {
    let mut numbers = parameters
        .split([';', ':'])
        .map(|number| if number.is_empty() { 0 } else { number.parse().unwrap_or(u16::MAX) });
    while let Some(number) = numbers.next() {
        match number {
            0 => *style = base,
            1 => *style = style.add_modifier(Modifier::BOLD),
            2 => *style = style.add_modifier(Modifier::DIM),
            3 => *style = style.add_modifier(Modifier::ITALIC),
            4 => *style = style.add_modifier(Modifier::UNDERLINED),
            7 => *style = style.add_modifier(Modifier::REVERSED),
            9 => *style = style.add_modifier(Modifier::CROSSED_OUT),
            22 => *style = without(*style, Modifier::BOLD | Modifier::DIM),
            23 => *style = without(*style, Modifier::ITALIC),
            24 => *style = without(*style, Modifier::UNDERLINED),
            27 => *style = without(*style, Modifier::REVERSED),
            29 => *style = without(*style, Modifier::CROSSED_OUT),
            30..=37 => style.fg = Some(named(number - 30)),
            90..=97 => style.fg = Some(named(number - 90 + 8)),
            40..=47 => style.bg = Some(named(number - 40)),
            100..=107 => style.bg = Some(named(number - 100 + 8)),
            39 => style.fg = base.fg,
            49 => style.bg = base.bg,
            38 => style.fg = extended(&mut numbers).or(style.fg),
            48 => style.bg = extended(&mut numbers).or(style.bg),
            58 => drop(extended(&mut numbers)),
            _ => {}
        }
    }
}

/// Takes a modifier out as if it had never been put in: `remove_modifier` would also take it from
/// whatever this style is laid over.
fn without(mut style: Style, modifier: Modifier) -> Style {
    style.add_modifier.remove(modifier);
    style
}

fn extended(numbers: &mut impl Iterator<Item = u16>) -> Option<Color> {
    let mut byte = || numbers.next().and_then(|number| u8::try_from(number).ok());
    match byte()? {
        5 => Some(Color::Indexed(byte()?)),
        2 => Some(Color::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

fn named(index: u16) -> Color {
    const NAMES: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    NAMES.get(usize::from(index)).copied().unwrap_or(Color::Reset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Stylize;

    use super::*;

    fn lines(output: &str) -> Vec<Line<'static>> {
        ansi(output, Style::new(), ColorDepth::TrueColor)
    }

    fn plain(output: &str) -> Vec<String> {
        lines(output).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn colours_are_kept() {
        let got =
            lines("\x1b[1;31merror\x1b[0m: \x1b[38;5;208mx\x1b[38;2;1;2;3my\x1b[39;44mz\x1b[m");
        let expected = Line::from(vec![
            "error".bold().red(),
            ": ".into(),
            "x".fg(Color::Indexed(208)),
            "y".fg(Color::Rgb(1, 2, 3)),
            "z".on_blue(),
        ]);
        assert_eq!(got, [expected]);
        assert_eq!(lines("\x1b[32ma\nb")[1], Line::from("b".green()), "goes on in the next line");
        assert_eq!(lines("\x1b[38:2:1:2:3ma")[0], Line::from("a".fg(Color::Rgb(1, 2, 3))));
        assert_eq!(lines("\x1b[1ma\x1b[22mb")[0], Line::from(vec!["a".bold(), "b".into()]));
        let grey = Style::new().fg(Color::Gray);
        let over = ansi("a\x1b[31mb\x1b[39mc", grey, ColorDepth::TrueColor);
        assert_eq!(over[0].spans[2].style, grey);
        let none = ansi("\x1b[1;31ma", Style::new(), ColorDepth::None);
        assert_eq!(none[0], Line::from("a".bold()));
    }

    #[test]
    fn everything_else_is_dropped() {
        assert_eq!(plain("\x1b]0;title\x07a\x1b]52;c;eA==\x1b\\b\x1b[2J\x1b[10;3Hc"), ["abc"]);
        assert_eq!(plain("\x1b(Ba\x1b=b\x1bPq#0\x1b\\c\u{9b}31md\x07"), ["abcd"]);
        assert_eq!(plain("a\x1b"), ["a"]);
        assert_eq!(plain("a\x1b[31"), ["a"]);
        assert_eq!(plain("\x1b[?25la\x1b[>4;2mb"), ["ab"]);
        assert_eq!(plain("x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"), ["xlink"]);
    }

    #[test]
    fn progress_shows_its_last_state() {
        assert_eq!(plain("10%\r50%\r100%\ndone"), ["100%", "done"]);
        assert_eq!(plain("loading\rok"), ["okading"]);
        assert_eq!(plain("loading\r\x1b[Kok"), ["ok"]);
        assert_eq!(plain("loading\x1b[2K\rok"), ["ok"]);
        assert_eq!(plain("日本語\rab"), ["ab本語"]);
        assert_eq!(plain("日本語\ra"), ["a 本語"]);
        assert_eq!(plain("a\r\nb\r\n"), ["a", "b"]);
        assert_eq!(plain("ab\x08c"), ["ac"]);
        assert_eq!(plain("a\tb"), ["a   b"]);
    }

    proptest! {
        #[test]
        fn no_control_character_survives(output in prop_oneof![
            any::<String>(),
            "[\u{0}-\u{20}a-c0-9;:\\[\\]mKG?日\u{7f}-\u{9f}\u{1b}\u{202e}]{0,60}",
        ]) {
            for line in lines(&output) {
                let text = line.to_string();
                prop_assert!(!text.contains(char::is_control), "{text:?}");
                prop_assert!(!text.chars().any(|c| c == '\u{202e}'), "{text:?}");
            }
        }
    }
}
