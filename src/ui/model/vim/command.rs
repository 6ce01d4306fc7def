//! Vim's commands: motions, operators on them, and those that are one key.

use super::{Mode, Operator, Span, Text, Vim};

impl Vim {
    pub(super) fn complete(&mut self, c: char, text: &mut Text) {
        if self.selection().is_some() && self.visual(c, text) {
            return;
        }
        if let Some(operator) = Operator::of(c) {
            match self.operator {
                Some((pending, _)) if pending == operator => {
                    let count = self.times();
                    let start = text.line_start(text.cursor);
                    let last = text.vertical(true, count - 1).unwrap_or(text.cursor);
                    self.operate(start, text.line_end(last), true, text);
                }
                Some(_) => self.forget_pending(),
                None => self.operator = Some((operator, self.count.take().unwrap_or(1))),
            }
            return;
        }
        if let Some((at, span)) = self.motion(c, text) {
            self.go(at, span, text);
        } else if self.operator.is_none() {
            self.simple(c, text);
        } else {
            self.forget_pending();
        }
    }

    fn motion(&mut self, c: char, text: &Text) -> Option<(usize, Span)> {
        let from = text.cursor;
        let big = c.is_uppercase();
        let repeat =
            |times: usize, step: &dyn Fn(usize) -> usize| (0..times).fold(from, |at, _| step(at));
        Some(match c {
            'h' => (from.saturating_sub(self.times()).max(text.line_start(from)), Span::Exclusive),
            'l' | ' ' => ((from + self.times()).min(text.line_end(from)), Span::Exclusive),
            'j' | 'k' => (text.vertical(c == 'j', self.times())?, Span::Lines),
            'w' | 'W' => return Some(self.word(big, text)),
            'b' | 'B' => (repeat(self.times(), &|at| text.word_start(at, big)), Span::Exclusive),
            'e' | 'E' => (repeat(self.times(), &|at| text.word_end(at, big)), Span::Inclusive),
            '0' => (text.line_start(from), Span::Exclusive),
            '^' | '_' => (text.first_word(from), Span::Exclusive),
            '$' => {
                let line = text.vertical(true, self.times() - 1).unwrap_or(from);
                (text.line_end(line), Span::Exclusive)
            }
            'G' => {
                let line = self.count.take().unwrap_or(usize::MAX);
                (line_number(text, line), Span::Lines)
            }
            '}' | '{' => {
                (repeat(self.times(), &|at| text.paragraph(at, c == '}')), Span::Exclusive)
            }
            '%' => (text.matching()?, Span::Inclusive),
            ';' | ',' => {
                let (find, wanted) = self.found?;
                let forward = find.forward == (c == ';');
                let count = self.times();
                // Standing before its character already, `t` would never get on.
                let skip = usize::from(find.till);
                let start = if forward { from + skip } else { from.saturating_sub(skip) };
                let at = text.find(wanted, forward, start, count)?;
                let step = usize::from(find.till);
                if forward { (at - step, Span::Inclusive) } else { (at + step, Span::Exclusive) }
            }
            _ => return None,
        })
    }

    fn word(&mut self, big: bool, text: &Text) -> (usize, Span) {
        let from = text.cursor;
        let times = self.times();
        let on_word = text.at(from).is_some_and(|c| !c.is_whitespace());
        if matches!(self.operator, Some((Operator::Change, _))) && on_word {
            // To change a word leaves the blank behind it. One that ends here is a word too.
            let mut at = from;
            for index in 0..times {
                let ends = index == 0 && text.word_object_end(at, big) == at;
                at = if ends { at } else { text.word_end(at, big) };
            }
            return (at, Span::Inclusive);
        }
        let mut at = (0..times).fold(from, |at, _| text.next_word(at, big));
        if self.operator.is_some() {
            // What is deleted ends with the line, not at the first word of the next.
            let start = text.line_start(at.min(text.chars.len()));
            let is_indent = (start..at).all(|index| text.chars[index].is_whitespace());
            if start > from && is_indent && start - 1 > from {
                at = start - 1;
            }
        }
        (at, Span::Exclusive)
    }

    /// A command of visual mode; says whether it was one.
    fn visual(&mut self, c: char, text: &mut Text) -> bool {
        let lines = self.mode == Mode::VisualLine;
        let operator = match c {
            'x' => Some(Operator::Delete),
            's' => Some(Operator::Change),
            _ => Operator::of(c),
        };
        let range = self.selected(text);
        match (operator, c) {
            (Some(operator), _) => {
                self.apply(operator, range, lines, text);
                if operator == Operator::Yank {
                    text.cursor = range.0;
                }
            }
            (None, 'v' | 'V') => {
                let wanted = if c == 'v' { Mode::Visual } else { Mode::VisualLine };
                self.mode = if self.mode == wanted { Mode::Normal } else { wanted };
            }
            (None, 'o') => std::mem::swap(&mut self.anchor, &mut text.cursor),
            (None, 'p' | 'P') => {
                let register = self.register.clone();
                let before = text.clone();
                self.register = text.slice(range.0, range.1);
                self.is_register_lines = lines;
                text.chars.splice(range.0..range.1, register.chars());
                text.cursor = (range.0 + register.chars().count()).saturating_sub(1);
                self.mode = Mode::Normal;
                self.forget_pending();
                self.remember(before);
            }
            _ => return false,
        }
        true
    }

    fn simple(&mut self, c: char, text: &mut Text) {
        if self.selection().is_some() {
            return self.forget_pending();
        }
        let before = text.clone();
        let end = text.line_end(text.cursor);
        match c {
            'i' => self.write(before),
            'a' => {
                text.cursor = (text.cursor + 1).min(end);
                self.write(before);
            }
            'I' => {
                text.cursor = text.first_word(text.cursor);
                self.write(before);
            }
            'A' => {
                text.cursor = end;
                self.write(before);
            }
            'o' => {
                text.chars.insert(end, '\n');
                text.cursor = end + 1;
                self.write(before);
            }
            'O' => {
                text.cursor = text.line_start(text.cursor);
                text.chars.insert(text.cursor, '\n');
                self.write(before);
            }
            'v' | 'V' => {
                self.anchor = text.cursor;
                self.mode = if c == 'v' { Mode::Visual } else { Mode::VisualLine };
                self.count = None;
            }
            'x' | 'X' | 's' | 'D' | 'C' | 'S' | 'Y' => self.shorthand(c, text),
            'p' | 'P' => self.put(c == 'p', text),
            'u' => self.travel(text, true),
            'J' => self.join(text),
            '~' => self.turn_case(text),
            _ => self.forget_pending(),
        }
    }

    fn shorthand(&mut self, c: char, text: &mut Text) {
        let at = text.cursor;
        let (start, end) = (text.line_start(at), text.line_end(at));
        let count = self.times();
        let (operator, range) = match c {
            'x' => (Operator::Delete, (at, (at + count).min(end))),
            'X' => (Operator::Delete, (at.saturating_sub(count).max(start), at)),
            's' => (Operator::Change, (at, (at + count).min(end))),
            'D' => (Operator::Delete, (at, end)),
            'C' => (Operator::Change, (at, end)),
            'S' => (Operator::Change, (start, end)),
            _ => (Operator::Yank, (start, end)),
        };
        self.apply(operator, range, c == 'Y', text);
    }

    fn put(&mut self, after: bool, text: &mut Text) {
        let count = self.times();
        if self.register.is_empty() && !self.is_register_lines {
            return;
        }
        let before = text.clone();
        let (start, end) = (text.line_start(text.cursor), text.line_end(text.cursor));
        if self.is_register_lines {
            let lines = vec![self.register.as_str(); count].join("\n");
            let (at, new) =
                if after { (end, format!("\n{lines}")) } else { (start, format!("{lines}\n")) };
            text.chars.splice(at..at, new.chars());
            text.cursor = text.first_word(at + usize::from(after));
        } else {
            let at = if after { (text.cursor + 1).min(end) } else { text.cursor };
            let new = self.register.repeat(count);
            text.chars.splice(at..at, new.chars());
            text.cursor = (at + new.chars().count()).saturating_sub(1);
        }
        self.remember(before);
    }

    fn join(&mut self, text: &mut Text) {
        let before = text.clone();
        for _ in 0..self.times().saturating_sub(1).max(1) {
            let end = text.line_end(text.cursor);
            if end >= text.chars.len() {
                break;
            }
            let next = text.first_word(end + 1);
            text.chars.splice(end..next, [' ']);
            text.cursor = end;
        }
        if before.chars != text.chars {
            self.remember(before);
        }
    }

    fn turn_case(&mut self, text: &mut Text) {
        let before = text.clone();
        let end = (text.cursor + self.times()).min(text.line_end(text.cursor));
        for at in text.cursor..end {
            let c = text.chars[at];
            let mut turned: Vec<char> = if c.is_lowercase() {
                c.to_uppercase().collect()
            } else {
                c.to_lowercase().collect()
            };
            if turned.len() == 1 {
                text.chars[at] = turned.remove(0);
            }
        }
        text.cursor = end;
        if before.chars != text.chars {
            self.remember(before);
        }
    }
}

/// The first character of line `number`, from 1; of the last line when there are fewer.
pub(super) fn line_number(text: &Text, number: usize) -> usize {
    let mut at = 0;
    for _ in 1..number {
        let end = text.line_end(at);
        if end >= text.chars.len() {
            break;
        }
        at = end + 1;
    }
    text.first_word(at)
}
