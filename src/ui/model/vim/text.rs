//! The text a vim command works on, and the places in it that motions name.

/// Text and cursor, in characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The characters, line ends included.
    pub chars: Vec<char>,
    /// Before which character the cursor stands.
    pub cursor: usize,
}

/// What a character is to word motions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Other,
}

fn class(c: char, big: bool) -> Class {
    if c.is_whitespace() {
        Class::Blank
    } else if big || c.is_alphanumeric() || c == '_' {
        Class::Word
    } else {
        Class::Other
    }
}

impl Text {
    /// `text` with the cursor before its `cursor`th character.
    #[must_use]
    pub fn new(text: &str, cursor: usize) -> Self {
        let chars: Vec<_> = text.chars().collect();
        let cursor = cursor.min(chars.len());
        Self { chars, cursor }
    }

    /// The text alone.
    #[must_use]
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// The text from `start` to `end`.
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> String {
        self.chars.get(start..end).unwrap_or_default().iter().collect()
    }

    pub(super) fn at(&self, index: usize) -> Option<char> {
        self.chars.get(index).copied()
    }

    fn class_at(&self, index: usize, big: bool) -> Option<Class> {
        self.at(index).map(|c| class(c, big))
    }

    /// Where the line of `index` begins.
    #[must_use]
    pub fn line_start(&self, index: usize) -> usize {
        let before = &self.chars[..index.min(self.chars.len())];
        before.iter().rposition(|&c| c == '\n').map_or(0, |at| at + 1)
    }

    /// Where the line of `index` ends: at its line end, or at the end of the text.
    #[must_use]
    pub fn line_end(&self, index: usize) -> usize {
        let index = index.min(self.chars.len());
        self.chars[index..]
            .iter()
            .position(|&c| c == '\n')
            .map_or(self.chars.len(), |at| index + at)
    }

    /// The first character of the line that is no blank.
    #[must_use]
    pub fn first_word(&self, index: usize) -> usize {
        let (start, end) = (self.line_start(index), self.line_end(index));
        (start..end).find(|&at| !self.chars[at].is_whitespace()).unwrap_or(end)
    }

    /// The line below or above, `count` times, in the same column; none when there is none at all.
    #[must_use]
    pub fn vertical(&self, down: bool, count: usize) -> Option<usize> {
        let column = self.cursor - self.line_start(self.cursor);
        let mut start = self.line_start(self.cursor);
        let mut moved = false;
        for _ in 0..count {
            let next = if down {
                let end = self.line_end(start);
                (end < self.chars.len()).then_some(end + 1)
            } else {
                start.checked_sub(1).map(|end| self.line_start(end))
            };
            let Some(next) = next else { break };
            start = next;
            moved = true;
        }
        moved.then(|| (start + column).min(self.line_end(start)))
    }

    /// The beginning of the next word.
    #[must_use]
    pub fn next_word(&self, from: usize, big: bool) -> usize {
        let mut at = from;
        let began = self.class_at(at, big);
        while at < self.chars.len()
            && began != Some(Class::Blank)
            && self.class_at(at, big) == began
        {
            at += 1;
        }
        while self.class_at(at, big) == Some(Class::Blank) {
            at += 1;
            // An empty line is a word.
            if self.at(at) == Some('\n') && self.at(at - 1) == Some('\n') {
                break;
            }
        }
        at
    }

    /// The last character of this word or the next.
    #[must_use]
    pub fn word_end(&self, from: usize, big: bool) -> usize {
        let last = self.chars.len().saturating_sub(1);
        let mut at = (from + 1).min(last);
        while at < last && self.class_at(at, big) == Some(Class::Blank) {
            at += 1;
        }
        let kind = self.class_at(at, big);
        while at < last && self.class_at(at + 1, big) == kind {
            at += 1;
        }
        at
    }

    /// The last character of the word that `at` is in.
    #[must_use]
    pub fn word_object_end(&self, at: usize, big: bool) -> usize {
        let kind = self.class_at(at, big);
        let mut end = at;
        while end + 1 < self.chars.len() && self.class_at(end + 1, big) == kind {
            end += 1;
        }
        end
    }

    /// The beginning of this word or the one before.
    #[must_use]
    pub fn word_start(&self, from: usize, big: bool) -> usize {
        let mut at = from.min(self.chars.len());
        while at > 0 && self.class_at(at - 1, big) == Some(Class::Blank) {
            at -= 1;
        }
        let kind = at.checked_sub(1).and_then(|before| self.class_at(before, big));
        while at > 0 && self.class_at(at - 1, big) == kind {
            at -= 1;
        }
        at
    }

    /// The `count`th `wanted` in the cursor's line, after the cursor or before it.
    #[must_use]
    pub fn find(&self, wanted: char, forward: bool, from: usize, count: usize) -> Option<usize> {
        let hit = |at: &usize| self.chars[*at] == wanted;
        let nth = count.saturating_sub(1);
        if forward {
            (from + 1..self.line_end(self.cursor)).filter(hit).nth(nth)
        } else {
            (self.line_start(self.cursor)..from.min(self.chars.len())).rev().filter(hit).nth(nth)
        }
    }

    /// The empty line after or before `from`, or the end of the text.
    #[must_use]
    pub fn paragraph(&self, from: usize, forward: bool) -> usize {
        let is_empty_line = |at: usize| self.line_start(at) == at && self.line_end(at) == at;
        if forward {
            (from + 1..self.chars.len()).find(|&at| is_empty_line(at)).unwrap_or(self.chars.len())
        } else {
            (0..from).rev().find(|&at| is_empty_line(at)).unwrap_or(0)
        }
    }

    /// The bracket that belongs to the one at the cursor or after it in the line.
    #[must_use]
    pub fn matching(&self) -> Option<usize> {
        const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
        let mut places = self.cursor..self.line_end(self.cursor);
        let (from, open, close, forward) = places.find_map(|at| {
            let c = self.chars[at];
            PAIRS.iter().find_map(|&(open, close)| match c {
                _ if c == open => Some((at, open, close, true)),
                _ if c == close => Some((at, open, close, false)),
                _ => None,
            })
        })?;
        if forward { self.closing(from, open, close) } else { self.opening(from, open, close) }
    }

    fn closing(&self, from: usize, open: char, close: char) -> Option<usize> {
        let mut depth = 0_usize;
        for at in from..self.chars.len() {
            match self.chars[at] {
                c if c == open => depth += 1,
                c if c == close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn opening(&self, from: usize, open: char, close: char) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..=from).rev() {
            match self.chars[at] {
                c if c == close => depth += 1,
                c if c == open => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The text object that `name` calls, `around` it or inside: its beginning and what follows it.
    #[must_use]
    pub fn object(&self, name: char, around: bool) -> Option<(usize, usize)> {
        match name {
            'w' | 'W' => self.word_object(name == 'W', around),
            '"' | '\'' | '`' => self.quoted(name, around),
            '(' | ')' | 'b' => self.bracketed('(', ')', around),
            '[' | ']' => self.bracketed('[', ']', around),
            '{' | '}' | 'B' => self.bracketed('{', '}', around),
            '<' | '>' => self.bracketed('<', '>', around),
            'p' => self.paragraph_object(around),
            _ => None,
        }
    }

    fn word_object(&self, big: bool, around: bool) -> Option<(usize, usize)> {
        let (first, last) = (self.line_start(self.cursor), self.line_end(self.cursor));
        let kind = self.class_at(self.cursor, big).filter(|_| self.cursor < last)?;
        let same = |at: usize, kind| self.class_at(at, big) == Some(kind);
        let (mut start, mut end) = (self.cursor, self.cursor + 1);
        while start > first && same(start - 1, kind) {
            start -= 1;
        }
        while end < last && same(end, kind) {
            end += 1;
        }
        if around {
            let before = end;
            while end < last && same(end, Class::Blank) {
                end += 1;
            }
            while before == end && start > first && same(start - 1, Class::Blank) {
                start -= 1;
            }
        }
        Some((start, end))
    }

    fn quoted(&self, quote: char, around: bool) -> Option<(usize, usize)> {
        let (first, last) = (self.line_start(self.cursor), self.line_end(self.cursor));
        let quotes: Vec<_> = (first..last).filter(|&at| self.chars[at] == quote).collect();
        let pair = quotes.chunks_exact(2).find(|pair| pair[1] >= self.cursor)?;
        Some(if around { (pair[0], pair[1] + 1) } else { (pair[0] + 1, pair[1]) })
    }

    fn bracketed(&self, open: char, close: char, around: bool) -> Option<(usize, usize)> {
        // On a closing bracket the cursor is inside; everywhere else one more closes it.
        let mut depth = 0_usize;
        let begin = (0..=self.cursor).rev().find(|&at| match self.at(at) {
            Some(c) if c == close && at != self.cursor => {
                depth += 1;
                false
            }
            Some(c) if c == open && depth == 0 => true,
            Some(c) if c == open => {
                depth -= 1;
                false
            }
            _ => false,
        })?;
        let end = self.closing(begin, open, close)?;
        Some(if around { (begin, end + 1) } else { (begin + 1, end) })
    }

    fn paragraph_object(&self, around: bool) -> Option<(usize, usize)> {
        if self.chars.is_empty() {
            return None;
        }
        let is_empty_line = |at: usize| self.line_start(at) == self.line_end(at);
        let mut start = self.line_start(self.cursor);
        while start > 0 && !is_empty_line(start - 1) {
            start = self.line_start(start - 1);
        }
        let mut end = self.line_end(self.cursor);
        while end < self.chars.len() && !is_empty_line(end + 1) {
            end = self.line_end(end + 1);
        }
        if around && end < self.chars.len() {
            end = self.line_end(end + 1);
        }
        Some((start, end))
    }
}
