//! Text selected with the mouse: two spots in the transcript, and the source of what lies between.

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

/// Text that is being selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
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

/// The part of `source` that was drawn as `lines`, of which `is_selected` says which columns are
/// wanted. None when what was drawn does not come from there.
///
/// Spaces and breaks are left out of the comparison, so wraps and padding do not matter; what is drawn
/// but not in the source (bullets, bars, labels) is passed over.
#[must_use]
pub fn source_of(
    source: &str,
    lines: &[Vec<(u16, char)>],
    is_selected: impl Fn(usize, u16) -> bool,
) -> Option<String> {
    let known: Vec<(usize, char)> =
        source.char_indices().filter(|(_, c)| !c.is_whitespace()).collect();
    let mut at = 0;
    let mut found: Option<(usize, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        let drawn: Vec<(u16, char)> =
            line.iter().copied().filter(|(_, c)| !c.is_whitespace()).collect();
        let Some(places) = exact(&known, at, &drawn).or_else(|| loose(&known, at, &drawn)) else {
            continue;
        };
        for (&(column, c), place) in drawn.iter().zip(&places) {
            let Some(place) = *place else { continue };
            at = place + 1;
            if is_selected(number, column) {
                let start = known[place].0;
                let (first, _) = found.unwrap_or((start, start));
                found = Some((first, start + c.len_utf8()));
            }
        }
    }
    found.and_then(|(start, end)| source.get(start..end)).map(str::to_owned)
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
