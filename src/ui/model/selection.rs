//! Text selected with the mouse: two spots in the transcript, and the source of what lies between.

use std::ops::Range;

use super::cell::CellId;

/// A place in the transcript that stays where it is, whatever is written or scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The cell.
    pub cell: CellId,
    /// Its line, from 0, without the gap above.
    pub line: usize,
    /// The column in the pane, from 0.
    pub column: u16,
}

/// What a selection grows by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Characters.
    #[default]
    Character,
    /// Words: the button was pressed twice.
    Word,
    /// Lines of the source: it was pressed three times.
    Line,
}

/// Seconds within which presses at one place belong together.
const TOGETHER: f64 = 0.4;

/// How often the button was pressed at one place.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Presses {
    last: Option<(u16, u16, f64)>,
    unit: Unit,
}

impl Presses {
    /// It was pressed; says what is selected by that.
    pub fn press(&mut self, x: u16, y: u16, now: f64) -> Unit {
        let again = self.last.is_some_and(|(column, row, at)| {
            row == y && column.abs_diff(x) <= 1 && now - at <= TOGETHER
        });
        self.unit = match self.unit {
            Unit::Character if again => Unit::Word,
            Unit::Word if again => Unit::Line,
            _ => Unit::Character,
        };
        self.last = Some((x, y, now));
        self.unit
    }
}

/// Text that is being selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// What it grows by.
    pub unit: Unit,
    /// Where the button was pressed.
    pub from: Spot,
    /// Where the mouse is.
    pub to: Spot,
    /// Was the button released? Then the text is to be copied.
    pub is_over: bool,
}

impl Selection {
    /// The first and the last spot.
    #[must_use]
    pub fn ordered(&self) -> (Spot, Spot) {
        if self.from <= self.to { (self.from, self.to) } else { (self.to, self.from) }
    }

    /// The selected columns of a line, both ends included.
    #[must_use]
    pub fn columns(&self, cell: CellId, line: usize) -> Option<(u16, u16)> {
        let (first, last) = self.ordered();
        let at = (cell, line);
        if at < (first.cell, first.line) || at > (last.cell, last.line) {
            return None;
        }
        let from = if at == (first.cell, first.line) { first.column } else { 0 };
        let to = if at == (last.cell, last.line) { last.column } else { u16::MAX };
        Some((from, to))
    }
}

/// Characters looked ahead for one that was drawn: marks of Markdown are not.
const AHEAD: usize = 24;

/// Where in `source` the drawn characters come from: for each of `lines`, columns and bytes. None for a
/// line that does not come from there.
///
/// Spaces and breaks are left out of the comparison, so wraps and padding do not matter; what is drawn
/// but not in the source (bullets, bars, labels) is passed over.
fn origins(source: &str, lines: &[Vec<(u16, char)>]) -> Vec<Vec<(u16, Range<usize>)>> {
    let known: Vec<(usize, char)> =
        source.char_indices().filter(|(_, c)| !c.is_whitespace()).collect();
    let mut at = 0;
    let origin = |line: &Vec<(u16, char)>| {
        let drawn: Vec<(u16, char)> =
            line.iter().copied().filter(|(_, c)| !c.is_whitespace()).collect();
        let Some(places) = exact(&known, at, &drawn).or_else(|| loose(&known, at, &drawn)) else {
            return Vec::new();
        };
        if let Some(last) = places.iter().flatten().last() {
            at = last + 1;
        }
        let byte = |((column, c), place): (&(u16, char), &Option<usize>)| {
            let start = known[(*place)?].0;
            Some((*column, start..start + c.len_utf8()))
        };
        drawn.iter().zip(&places).filter_map(byte).collect()
    };
    lines.iter().map(origin).collect()
}

/// The part of `source` that was drawn as `lines`, of which `is_selected` says which columns are
/// wanted. None when what was drawn does not come from there.
#[must_use]
pub fn source_of(
    source: &str,
    lines: &[Vec<(u16, char)>],
    is_selected: impl Fn(usize, u16) -> bool,
) -> Option<String> {
    let origins = origins(source, lines);
    let wanted = || {
        let line = |(number, line): (usize, &'_ Vec<(u16, Range<usize>)>)| {
            let is_wanted = |(column, _): &&(u16, Range<usize>)| is_selected(number, *column);
            line.iter().filter(is_wanted).map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
        };
        origins.iter().enumerate().flat_map(line)
    };
    let (start, end) = (wanted().next()?.start, wanted().last()?.end);
    source.get(start..end).map(str::to_owned)
}

/// The word or the line of `source` at a place of what was drawn of it, as the first and the last place
/// of the drawing that belong to it: line and column. Without a source that of what is drawn.
#[must_use]
pub fn unit_at(
    unit: Unit,
    source: &str,
    lines: &[Vec<(u16, char)>],
    (line, column): (usize, u16),
) -> Option<((usize, u16), (usize, u16))> {
    let origins = origins(source, lines);
    let here = origins.get(line)?;
    let at = here.iter().rev().find(|(start, _)| *start <= column).or(here.first());
    let drawn = lines.get(line)?;
    let under = drawn.iter().rev().find(|(start, _)| *start <= column);
    // On a bullet or a number of a line there is no word of the source.
    let at = at.filter(|(start, _)| unit == Unit::Line || under.is_some_and(|u| u.0 == *start));
    let Some((_, bytes)) = at else { return Some(drawn_unit(unit, drawn, line, column)) };
    let range = match unit {
        Unit::Character => bytes.clone(),
        Unit::Word => word(source, bytes.start),
        Unit::Line => {
            let start = source[..bytes.start].rfind('\n').map_or(0, |end| end + 1);
            start..source[bytes.start..].find('\n').map_or(source.len(), |end| bytes.start + end)
        }
    };
    let inside = || {
        let places = |(number, line): (usize, &Vec<(u16, Range<usize>)>)| {
            let is_inside = |(_, bytes): &&(u16, Range<usize>)| range.contains(&bytes.start);
            line.iter().filter(is_inside).map(|(column, _)| (number, *column)).collect::<Vec<_>>()
        };
        origins.iter().enumerate().flat_map(places)
    };
    Some((inside().next()?, inside().last()?))
}

/// What can be said without a source.
fn drawn_unit(
    unit: Unit,
    drawn: &[(u16, char)],
    line: usize,
    column: u16,
) -> ((usize, u16), (usize, u16)) {
    if unit == Unit::Line {
        return ((line, 0), (line, u16::MAX));
    }
    let text: String = drawn.iter().map(|(_, c)| c).collect();
    let nth = drawn.iter().rposition(|(start, _)| *start <= column).unwrap_or_default();
    let byte = text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let range = word(&text, byte);
    let column_of = |byte: usize| {
        let nth = text[..byte.min(text.len())].chars().count();
        drawn.get(nth).map_or(column, |(start, _)| *start)
    };
    let last = text[range.clone()].char_indices().next_back().map_or(0, |(at, _)| range.start + at);
    ((line, column_of(range.start)), (line, column_of(last)))
}

/// The word at a byte of `text`: a name, a number, a path; characters of one script.
fn word(text: &str, at: usize) -> Range<usize> {
    let kind = |c: char| match c {
        '_' | '-' | '.' | '/' | '~' | '@' | '+' => 1,
        _ if c.is_alphanumeric() && c.is_ascii() => 1,
        _ if c.is_alphanumeric() && ('\u{1100}'..).contains(&c) => 2,
        // Letters with marks, and the marks themselves.
        _ if c.is_alphanumeric() || ('\u{300}'..'\u{370}').contains(&c) => 1,
        _ => 0,
    };
    let Some(here) = text[at..].chars().next() else { return at..at };
    if kind(here) == 0 {
        return at..at + here.len_utf8();
    }
    let same = |c: &char| kind(*c) == kind(here);
    let before: usize = text[..at].chars().rev().take_while(same).map(char::len_utf8).sum();
    let after: usize = text[at..].chars().take_while(same).map(char::len_utf8).sum();
    let found = &text[at - before..at + after];
    // The dot at the end of a sentence is not of its last word.
    let end = at - before + found.trim_end_matches(['.', '-']).len();
    at - before..end.max(at + here.len_utf8())
}

/// The line as it stands. A short one is looked for nearby only: it may stand in many places.
fn exact(known: &[(usize, char)], at: usize, drawn: &[(u16, char)]) -> Option<Vec<Option<usize>>> {
    let count = drawn.len();
    let rest = known.get(at..)?;
    let starts = rest.len().checked_sub(count)? + 1;
    let within = if count < 12 { starts.min(AHEAD) } else { starts };
    let is_here = |start: &usize| {
        drawn.iter().zip(&rest[*start..]).all(|((_, drawn), (_, known))| drawn == known)
    };
    let start = (0..within).find(is_here).filter(|_| count > 0)?;
    Some((0..count).map(|nth| Some(at + start + nth)).collect())
}

/// The line character by character, those that are not in the source left out; none when most of them
/// are not.
fn loose(
    known: &[(usize, char)],
    mut at: usize,
    drawn: &[(u16, char)],
) -> Option<Vec<Option<usize>>> {
    let mut places = Vec::with_capacity(drawn.len());
    for (_, c) in drawn {
        let ahead = known.iter().skip(at).take(AHEAD).position(|(_, known)| known == c);
        places.push(ahead.map(|ahead| at + ahead));
        if let Some(ahead) = ahead {
            at += ahead + 1;
        }
    }
    let hits = places.iter().flatten().count();
    (hits * 10 >= drawn.len() * 7 && hits > 0).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Vec<Vec<(u16, char)>> {
        let line = |line: &str| (0_u16..).zip(line.chars()).collect();
        text.lines().map(line).collect()
    }

    #[test]
    fn the_source_comes_back_without_wraps_and_marks() {
        let source = "Some **strong** words that are\nwrapped. And `code`.\n\n- one item\n- two";
        let lines = drawn(
            "Some strong words\nthat are wrapped.\nAnd code.\n\n\u{2022} one item\n\u{2022} two",
        );
        let all = source_of(source, &lines, |_, _| true).expect("all");
        assert_eq!(all, source);
        let part = source_of(source, &lines, |line, column| match line {
            0 => column >= 12,
            1 => column < 8,
            _ => false,
        });
        assert_eq!(part.as_deref(), Some("words that are"));
        let item = source_of(source, &lines, |line, _| line == 4);
        assert_eq!(item.as_deref(), Some("one item"));
    }

    #[test]
    fn long_lines_of_code_are_one_again_and_the_end_of_an_output_is_found() {
        let source = "fn main() {\n    let x = call(1, 2, 3, 4);\n}";
        let lines = drawn("  fn main() {\n      let x = call(1,\n  \u{21aa} 2, 3, 4);\n  }");
        let part = source_of(source, &lines, |line, _| line == 1 || line == 2);
        assert_eq!(part.as_deref(), Some("let x = call(1, 2, 3, 4);"));
        let output: String = (0..500).map(|n| format!("this is line number {n} of it\n")).collect();
        let lines = drawn("  this is line number 498 of it\n  this is line number 499 of it");
        let part = source_of(&output, &lines, |_, _| true);
        assert_eq!(
            part.as_deref(),
            Some("this is line number 498 of it\nthis is line number 499 of it")
        );
        assert_eq!(source_of("else", &drawn("what is drawn"), |_, _| true), None);
    }
}
