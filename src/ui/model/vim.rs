//! Vim's keys for the composer: a state machine that is given a key and a text and changes both. It
//! knows neither the widget nor the screen.

mod command;
#[cfg(test)]
mod tests;
mod text;

use crate::ui::key::{KeyCode, KeyPress};
pub use text::Text;

/// What keys mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// They are written.
    #[default]
    Insert,
    /// They are commands.
    Normal,
    /// They change what is selected.
    Visual,
    /// They change which lines are selected.
    VisualLine,
}

impl Mode {
    /// Its name, for the line above the composer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual => "visual",
            Self::VisualLine => "visual line",
        }
    }
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    /// It was a command, or part of one.
    Took,
    /// It is not vim's.
    Ignored,
    /// Up, from the first line.
    Above,
    /// Down, from the last.
    Below,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

impl Operator {
    fn of(c: char) -> Option<Self> {
        match c {
            'd' => Some(Self::Delete),
            'c' => Some(Self::Change),
            'y' => Some(Self::Yank),
            _ => None,
        }
    }
}

/// A search for a character in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Find {
    forward: bool,
    till: bool,
}

/// What the next character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Find(Find),
    Replace,
    Go,
    Object { around: bool },
}

/// Which characters a motion covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    Exclusive,
    Inclusive,
    Lines,
}

/// Changes that can be taken back, at most.
const UNDO: usize = 200;
/// No count goes further than this.
const MOST: usize = 9_999;

/// The state between keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vim {
    /// What keys mean.
    pub mode: Mode,
    count: Option<usize>,
    operator: Option<(Operator, usize)>,
    wait: Option<Wait>,
    register: String,
    is_register_lines: bool,
    found: Option<(Find, char)>,
    anchor: usize,
    undo: Vec<Text>,
    redo: Vec<Text>,
    // The text as it was when writing began.
    base: Option<Text>,
}

impl Vim {
    /// For a new draft: writing, with nothing to take back. What was yanked stays.
    pub fn restart(&mut self) {
        *self = Self {
            register: std::mem::take(&mut self.register),
            is_register_lines: self.is_register_lines,
            ..Self::default()
        };
    }

    /// Is it known what the text was before it was written in?
    #[must_use]
    pub fn is_writing(&self) -> bool {
        self.base.is_some()
    }

    /// What was typed of a command that is not complete.
    #[must_use]
    pub fn pending(&self) -> String {
        let mut out = String::new();
        if let Some((operator, count)) = self.operator {
            if count > 1 {
                out.push_str(&count.to_string());
            }
            out.push(match operator {
                Operator::Delete => 'd',
                Operator::Change => 'c',
                Operator::Yank => 'y',
            });
        }
        out.extend(self.count.map(|count| count.to_string()));
        match self.wait {
            Some(Wait::Find(Find { forward, till })) => out.push(match (forward, till) {
                (true, false) => 'f',
                (true, true) => 't',
                (false, false) => 'F',
                (false, true) => 'T',
            }),
            Some(Wait::Replace) => out.push('r'),
            Some(Wait::Go) => out.push('g'),
            Some(Wait::Object { around }) => out.push(if around { 'a' } else { 'i' }),
            None => {}
        }
        out
    }

    /// Where the selection begins; none when nothing is selected.
    #[must_use]
    pub fn selection(&self) -> Option<usize> {
        matches!(self.mode, Mode::Visual | Mode::VisualLine).then_some(self.anchor)
    }

    /// A key was pressed.
    pub fn press(&mut self, key: KeyPress, text: &mut Text) -> Pressed {
        let is_escape = key.code == KeyCode::Esc
            || key.ctrl && matches!(key.code, KeyCode::Char('[')) && !key.alt;
        if self.mode == Mode::Insert {
            if !is_escape {
                if self.base.is_none() {
                    self.base = Some(text.clone());
                }
                return Pressed::Ignored;
            }
            self.leave_insert(text);
            return Pressed::Took;
        }
        if is_escape {
            return self.escape(text);
        }
        if key.ctrl && key.code == KeyCode::Char('r') {
            self.travel(text, false);
            return Pressed::Took;
        }
        let c = match key.code {
            _ if key.ctrl || key.alt => return Pressed::Ignored,
            KeyCode::Char(c) => c,
            KeyCode::Left | KeyCode::Backspace => 'h',
            KeyCode::Right => 'l',
            KeyCode::Up => 'k',
            KeyCode::Down => 'j',
            KeyCode::Home => '0',
            KeyCode::End => '$',
            KeyCode::Delete => 'x',
            _ => return Pressed::Ignored,
        };
        let pressed = self.command(c, text);
        self.keep_inside(text);
        pressed
    }

    fn escape(&mut self, text: &mut Text) -> Pressed {
        let was_busy = self.mode != Mode::Normal || !self.pending().is_empty();
        self.mode = Mode::Normal;
        self.forget_pending();
        self.keep_inside(text);
        if was_busy { Pressed::Took } else { Pressed::Ignored }
    }

    fn leave_insert(&mut self, text: &mut Text) {
        self.mode = Mode::Normal;
        if let Some(base) = self.base.take()
            && base.chars != text.chars
        {
            self.remember(base);
        }
        if text.cursor > text.line_start(text.cursor) {
            text.cursor -= 1;
        }
        self.keep_inside(text);
    }

    fn forget_pending(&mut self) {
        (self.count, self.operator, self.wait) = (None, None, None);
    }

    /// Outside of writing, the cursor stands on a character.
    fn keep_inside(&self, text: &mut Text) {
        text.cursor = text.cursor.min(text.chars.len());
        if self.mode != Mode::Insert
            && text.cursor == text.line_end(text.cursor)
            && text.cursor > text.line_start(text.cursor)
        {
            text.cursor -= 1;
        }
    }

    fn remember(&mut self, before: Text) {
        self.undo.push(before);
        if self.undo.len() > UNDO {
            self.undo.remove(0);
        }
        self.redo.clear();
    }

    fn travel(&mut self, text: &mut Text, back: bool) {
        let (from, to) =
            if back { (&mut self.undo, &mut self.redo) } else { (&mut self.redo, &mut self.undo) };
        for _ in 0..self.count.unwrap_or(1) {
            let Some(other) = from.pop() else { break };
            to.push(std::mem::replace(text, other));
        }
        self.forget_pending();
    }

    fn write(&mut self, before: Text) {
        self.mode = Mode::Insert;
        self.base = Some(before);
        self.forget_pending();
    }

    fn times(&mut self) -> usize {
        let own = self.count.take().unwrap_or(1);
        let outer = self.operator.map_or(1, |(_, count)| count);
        own.saturating_mul(outer).clamp(1, MOST)
    }

    fn command(&mut self, c: char, text: &mut Text) -> Pressed {
        if let Some(wait) = self.wait.take() {
            self.waited(wait, c, text);
            return Pressed::Took;
        }
        if let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some()) {
            let count = self.count.unwrap_or(0) * 10 + digit as usize;
            self.count = Some(count.min(MOST));
            return Pressed::Took;
        }
        let is_busy = self.operator.is_some() || self.selection().is_some();
        match c {
            'f' | 't' | 'F' | 'T' => {
                self.wait = Some(Wait::Find(Find {
                    forward: c.is_lowercase(),
                    till: matches!(c, 't' | 'T'),
                }));
            }
            'g' => self.wait = Some(Wait::Go),
            'r' if self.operator.is_none() => self.wait = Some(Wait::Replace),
            'i' | 'a' if is_busy => self.wait = Some(Wait::Object { around: c == 'a' }),
            'j' | 'k' if !is_busy => return self.vertical(c == 'j', text),
            _ => self.complete(c, text),
        }
        Pressed::Took
    }

    fn vertical(&mut self, down: bool, text: &mut Text) -> Pressed {
        let count = self.times();
        match text.vertical(down, count) {
            Some(at) => text.cursor = at,
            None if down => return Pressed::Below,
            None => return Pressed::Above,
        }
        Pressed::Took
    }

    fn waited(&mut self, wait: Wait, c: char, text: &mut Text) {
        match wait {
            Wait::Find(find) => {
                self.found = Some((find, c));
                self.find(find, c, text);
            }
            Wait::Replace => self.replace(c, text),
            Wait::Go if c == 'g' => {
                let line = self.count.take().unwrap_or(1);
                let at = command::line_number(text, line);
                self.go(at, Span::Lines, text);
            }
            Wait::Go => self.forget_pending(),
            Wait::Object { around } => match text.object(c, around) {
                Some((start, end)) if self.operator.is_some() => {
                    self.operate(start, end, false, text);
                }
                Some((start, end)) if end > start => {
                    self.anchor = start;
                    text.cursor = end - 1;
                    self.count = None;
                }
                _ => self.forget_pending(),
            },
        }
    }

    fn find(&mut self, find: Find, c: char, text: &mut Text) {
        let count = self.times();
        // `t` that stands before its character already looks behind it when repeated.
        let step = usize::from(find.till);
        let from = if find.forward { text.cursor } else { text.cursor.min(text.chars.len()) };
        match text.find(c, find.forward, from, count) {
            Some(at) if find.forward => self.go(at - step, Span::Inclusive, text),
            Some(at) => self.go(at + step, Span::Exclusive, text),
            None => self.forget_pending(),
        }
    }

    fn replace(&mut self, c: char, text: &mut Text) {
        let (start, end) = match self.selection() {
            Some(_) => self.selected(text),
            None => (text.cursor, text.cursor + self.times()),
        };
        if end <= text.chars.len() && (self.selection().is_some() || end <= text.line_end(start)) {
            let before = text.clone();
            for at in start..end {
                if text.chars[at] != '\n' {
                    text.chars[at] = c;
                }
            }
            text.cursor = if self.selection().is_some() { start } else { end - 1 };
            self.remember(before);
        }
        self.mode = Mode::Normal;
        self.forget_pending();
    }

    /// A motion is known: the cursor goes there, or the operator does its work up to there.
    fn go(&mut self, at: usize, span: Span, text: &mut Text) {
        if self.operator.is_none() {
            text.cursor = at;
            self.count = None;
            return;
        }
        let (mut start, mut end) = (text.cursor.min(at), text.cursor.max(at));
        match span {
            Span::Exclusive => {}
            Span::Inclusive => end = (end + 1).min(text.chars.len()),
            Span::Lines => (start, end) = (text.line_start(start), text.line_end(end)),
        }
        self.operate(start, end, span == Span::Lines, text);
    }

    fn selected(&self, text: &Text) -> (usize, usize) {
        let (start, end) = (self.anchor.min(text.cursor), self.anchor.max(text.cursor));
        if self.mode == Mode::VisualLine {
            (text.line_start(start), text.line_end(end))
        } else {
            (start.min(text.chars.len()), (end + 1).min(text.chars.len()))
        }
    }

    fn operate(&mut self, start: usize, end: usize, lines: bool, text: &mut Text) {
        let Some((operator, _)) = self.operator.take() else { return };
        self.apply(operator, (start, end), lines, text);
    }

    fn apply(
        &mut self,
        operator: Operator,
        (start, end): (usize, usize),
        lines: bool,
        text: &mut Text,
    ) {
        let before = text.clone();
        self.register = text.slice(start, end);
        self.is_register_lines = lines;
        self.forget_pending();
        match operator {
            Operator::Yank => {
                self.mode = Mode::Normal;
                text.cursor = if lines { text.cursor.clamp(start, end) } else { start };
            }
            Operator::Change => {
                text.chars.drain(start..end);
                text.cursor = start;
                self.write(before);
            }
            Operator::Delete => {
                // A line goes with its line end, the last one with that of the line above.
                let (mut start, mut end) = (start, end);
                if lines && end < text.chars.len() {
                    end += 1;
                } else if lines && start > 0 {
                    start -= 1;
                }
                text.chars.drain(start..end);
                text.cursor = start.min(text.chars.len());
                if lines {
                    text.cursor = text.first_word(text.cursor);
                }
                self.mode = Mode::Normal;
                if before.chars != text.chars {
                    self.remember(before);
                }
            }
        }
    }
}
