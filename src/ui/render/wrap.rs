//! Breaking styled text into lines of a width.
//!
//! Two ways: [`wrap`] between words, for prose; [`wrap_hard`] at the last cell, for code and output,
//! where every space counts. Both break between graphemes only and keep styles. Line breaks inside the
//! text are not looked for: a [`Line`] is one.

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::width::{grapheme_width, line_width, spans_width};

/// `line` in lines of at most `width` cells, broken between words; the first begins with `first`, the
/// others with `rest`. Spaces at a break are dropped. Chinese and Japanese break anywhere but before
/// closing and after opening punctuation; a word longer than a line breaks where the line ends.
///
/// Indents that leave no room for text are left out. A wide character in one cell stays too wide.
#[must_use]
pub fn wrap(
    line: &Line<'_>,
    width: u16,
    first: &[Span<'static>],
    rest: &[Span<'static>],
) -> Vec<Line<'static>> {
    Wrapper::new(line, width, first, rest).run(Mode::Words)
}

/// `line` in lines of at most `width` cells, broken where the line ends; no character is dropped.
#[must_use]
pub fn wrap_hard(
    line: &Line<'_>,
    width: u16,
    first: &[Span<'static>],
    rest: &[Span<'static>],
) -> Vec<Line<'static>> {
    Wrapper::new(line, width, first, rest).run(Mode::Cells)
}

/// How many lines `text`, one line, fills when it is wrapped between words to `width` cells.
#[must_use]
pub fn height(text: &str, width: u16) -> usize {
    wrap(&Line::raw(text), width, &[], &[]).len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Words,
    Cells,
}

/// One grapheme of the line.
#[derive(Clone, Copy)]
struct Piece {
    span: usize,
    start: usize,
    end: usize,
    cells: usize,
    class: Class,
}

/// What a grapheme is to a line break.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    /// Part of a word.
    Word,
    Hyphen,
    /// A character of a script without spaces, or a picture.
    Wide,
    /// Must not begin a line.
    Closing,
    /// Must not end a line.
    Opening,
}

struct Wrapper<'a> {
    line: &'a Line<'a>,
    width: usize,
    first: &'a [Span<'static>],
    rest: &'a [Span<'static>],
    pieces: Vec<Piece>,
    out: Vec<Line<'static>>,
}

impl<'a> Wrapper<'a> {
    fn new(
        line: &'a Line<'_>,
        width: u16,
        first: &'a [Span<'static>],
        rest: &'a [Span<'static>],
    ) -> Self {
        let width = usize::from(width.max(1));
        // An indent needs room for a wide character after it.
        let room = |indent: &'a [Span<'static>]| -> &'a [Span<'static>] {
            if spans_width(indent) + 2 > width { &[] } else { indent }
        };
        Self {
            line,
            width,
            first: room(first),
            rest: room(rest),
            pieces: Vec::new(),
            out: Vec::new(),
        }
    }

    fn run(mut self, mode: Mode) -> Vec<Line<'static>> {
        if spans_width(self.first) + line_width(self.line) <= self.width {
            let spans = self.line.spans.iter();
            let spans = spans.map(|s| Span::styled(s.content.clone().into_owned(), s.style));
            let all = self.first.iter().cloned().chain(spans).collect();
            self.out.push(self.dressed(all));
            return self.out;
        }
        self.split();
        let mut start = 0;
        while start < self.pieces.len() || self.out.is_empty() {
            let indent = if self.out.is_empty() { self.first } else { self.rest };
            let room = self.width - spans_width(indent);
            let (end, next) = self.one_line(start, room, mode);
            self.emit(indent, start, end);
            start = next;
        }
        self.out
    }

    fn split(&mut self) {
        for (span, content) in self.line.spans.iter().map(|span| &span.content).enumerate() {
            for (start, grapheme) in content.grapheme_indices(true) {
                let cells = grapheme_width(grapheme);
                let class = class(grapheme, cells);
                let end = start + grapheme.len();
                self.pieces.push(Piece { span, start, end, cells, class });
            }
        }
    }

    /// Where the line that begins at `start` ends, and where the next begins.
    fn one_line(&self, start: usize, room: usize, mode: Mode) -> (usize, usize) {
        let mut used = 0;
        let mut last_break = None;
        for at in start..self.pieces.len() {
            let piece = self.pieces[at];
            if mode == Mode::Words && at > start && self.breaks_before(at) {
                last_break = Some(at);
            }
            used += piece.cells;
            if used <= room || at == start {
                continue;
            }
            if mode == Mode::Cells {
                return (at, at);
            }
            if piece.class == Class::Space {
                return (self.trim(start, at), self.skip_spaces(at));
            }
            return match last_break {
                Some(next) if self.trim(start, next) > start => (self.trim(start, next), next),
                _ => (at, at),
            };
        }
        (self.pieces.len(), self.pieces.len())
    }

    fn breaks_before(&self, at: usize) -> bool {
        use Class::{Closing, Hyphen, Opening, Space, Wide, Word};
        let (before, after) = (self.pieces[at - 1].class, self.pieces[at].class);
        match (before, after) {
            (_, Space | Closing) | (Opening, _) => false,
            (Space | Wide | Closing, _) | (_, Wide | Opening) => true,
            // Between the halves of a word, not in the middle of a flag or a number.
            (Hyphen, Word) => at >= 2 && self.pieces[at - 2].class == Word,
            _ => false,
        }
    }

    fn trim(&self, start: usize, mut end: usize) -> usize {
        while end > start && self.pieces[end - 1].class == Class::Space {
            end -= 1;
        }
        end
    }

    fn skip_spaces(&self, mut at: usize) -> usize {
        while self.pieces.get(at).is_some_and(|piece| piece.class == Class::Space) {
            at += 1;
        }
        at
    }

    fn emit(&mut self, indent: &[Span<'static>], start: usize, end: usize) {
        let mut spans = indent.to_vec();
        let mut at = start;
        while at < end {
            let first = self.pieces[at];
            let mut last = first;
            while at < end && self.pieces[at].span == first.span {
                last = self.pieces[at];
                at += 1;
            }
            let span = &self.line.spans[first.span];
            spans.push(Span::styled(span.content[first.start..last.end].to_owned(), span.style));
        }
        let line = self.dressed(spans);
        self.out.push(line);
    }

    fn dressed(&self, spans: Vec<Span<'static>>) -> Line<'static> {
        Line { spans, style: self.line.style, alignment: self.line.alignment }
    }
}

fn class(grapheme: &str, cells: usize) -> Class {
    let Some(c) = grapheme.chars().next() else { return Class::Word };
    match c {
        // Not U+00A0: it is there to hold words together. A mark on a space is something to see.
        ' ' | '\u{3000}' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}'
            if grapheme.len() == c.len_utf8() =>
        {
            Class::Space
        }
        '-' | '\u{2010}' => Class::Hyphen,
        '、' | '。' | '，' | '．' | '：' | '；' | '？' | '！' | '）' | '］' | '｝' | '」'
        | '』' | '】' | '〕' | '〉' | '》' | '〗' | '〙' | '〛' | '’' | '”' | '…' | '‥' | '・'
        | 'ー' | '々' | '〜' | '～' | '％' | 'ぁ' | 'ぃ' | 'ぅ' | 'ぇ' | 'ぉ' | 'っ' | 'ゃ'
        | 'ゅ' | 'ょ' | 'ァ' | 'ィ' | 'ゥ' | 'ェ' | 'ォ' | 'ッ' | 'ャ' | 'ュ' | 'ョ' | '｡'
        | '､' | '｣' => Class::Closing,
        '（' | '［' | '｛' | '「' | '『' | '【' | '〔' | '〈' | '《' | '〖' | '〘' | '〚' | '｢' => {
            Class::Opening
        }
        _ if cells >= 2 => Class::Wide,
        _ => Class::Word,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::{Color, Style, Stylize};

    use super::*;

    fn wrapped(text: &str, width: u16) -> Vec<String> {
        wrap(&Line::raw(text), width, &[], &[]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrapped("the quick  ", 9), ["the quick"]);
        assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a long-term plan", 8), ["a long-", "term", "plan"]);
        assert_eq!(wrapped("use --no-color", 8), ["use", "--no-", "color"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("    ", 2), [""]);
        assert_eq!(wrapped("no\u{a0}break here", 9), ["no\u{a0}break", "here"]);
    }

    #[test]
    fn chinese_breaks_anywhere_but_before_closing_punctuation() {
        assert_eq!(wrapped("今天天气很好。", 12), ["今天天气很", "好。"]);
        assert_eq!(wrapped("他说（你好）了", 6), ["他说", "（你", "好）了"]);
        assert_eq!(wrapped("用cargo构建", 5), ["用", "cargo", "构建"]);
        assert_eq!(wrapped("日本", 1), ["日", "本"]);
    }

    #[test]
    fn indents_and_styles_are_kept() {
        let line = Line::from(vec!["one ".bold(), "two three".italic()]).red();
        let lines = wrap(&line, 9, &["* ".into()], &["  ".into()]);
        assert_eq!(
            lines,
            [
                Line::from(vec!["* ".into(), "one ".bold(), "two".italic()]).red(),
                Line::from(vec!["  ".into(), "three".italic()]).red(),
            ]
        );
        // No room for the indent: the text comes first.
        assert_eq!(
            wrap(&Line::raw("abcd"), 3, &["> ".into()], &["> ".into()])[0].to_string(),
            "abc"
        );
    }

    #[test]
    fn code_breaks_where_the_line_ends() {
        let lines = wrap_hard(&Line::raw("let a  = 日本;"), 6, &[], &["~ ".into()]);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["let a ", "~  = ", "~ 日本", "~ ;"]);
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["\\PC{0,60}", "[a-c 日本，。（）👩\u{200d}\u{fe0f}🇩e\u{301}-]{0,60}"]
    }

    /// Without the spaces a break may drop.
    fn spaceless(text: &str, keep_spaces: bool) -> String {
        let dropped = |c| matches!(c, ' ' | '\u{3000}' | '\u{1680}' | '\u{2000}'..='\u{200a}');
        text.chars().filter(|c| keep_spaces || !dropped(*c)).collect()
    }

    fn check(texts: &[String], width: u16, indent: usize, hard: bool) {
        let style = |i: usize| Style::new().fg(Color::Indexed(u8::try_from(i).expect("few")));
        let spans = texts.iter().enumerate().map(|(i, text)| Span::styled(text.clone(), style(i)));
        let line = Line::from(spans.collect::<Vec<_>>());
        let wrap = if hard { wrap_hard } else { wrap };
        let bare = wrap(&line, width, &[], &[]);
        for (lines, indent) in
            [(&bare, 0), (&wrap(&line, width, &[], &[Span::raw(">".repeat(indent))]), indent)]
        {
            for line in lines {
                let text = line.to_string();
                let widest = text.graphemes(true).map(grapheme_width).max().unwrap_or(0);
                // A grapheme that has no room cannot be made narrower.
                let room = usize::from(width).max(widest + indent);
                assert!(line_width(line) <= room, "{text:?}");
            }
        }
        for (i, text) in texts.iter().enumerate() {
            let own = bare.iter().flat_map(|line| &line.spans).filter(|s| s.style == style(i));
            let own: String = own.map(|span| span.content.as_ref()).collect();
            assert_eq!(spaceless(&own, hard), spaceless(text, hard));
        }
        let all: String = bare.iter().map(ToString::to_string).collect();
        assert_eq!(spaceless(&all, hard), spaceless(&texts.concat(), hard));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_too_wide(
            texts in prop::collection::vec(text(), 0..4),
            width in 2_u16..30,
            indent in 0_usize..4,
        ) {
            check(&texts, width, indent, false);
            check(&texts, width, indent, true);
        }
    }
}
