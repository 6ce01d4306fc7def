//! Both texts of a diff side by side: what went on the left, what came for it on the right.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::rows::Row;
use super::{Diff, Painter};
use crate::ui::render::highlight::HighlightCache;
use crate::ui::render::width::line_width;
use crate::ui::theme::Theme;

/// Columns from which two texts have room side by side.
pub(super) const BESIDE_FROM: u16 = 140;

impl Diff<'_> {
    /// Is it shown in two columns, where that is `wanted`? There must be room, and both must hold
    /// something: a new file would leave half of the screen empty.
    #[must_use]
    pub fn is_beside(&self, wanted: bool, width: u16) -> bool {
        let has = |is: fn(&Row) -> bool| self.rows.iter().any(is);
        wanted
            && width >= BESIDE_FROM
            && has(|row| matches!(row, Row::Context { .. } | Row::Removed { .. }))
            && has(|row| matches!(row, Row::Context { .. } | Row::Added { .. }))
    }
}

/// A row of the two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// Words about the change, over both.
    Whole(Row),
    /// A line of each, or of one.
    Both(Option<Row>, Option<Row>),
}

/// A diff in two columns.
#[derive(Debug)]
pub struct Beside<'a> {
    diff: &'a Diff<'a>,
    pairs: Vec<Pair>,
}

impl<'a> Beside<'a> {
    /// The rows of `diff`, those that stand for each other in one.
    #[must_use]
    pub fn new(diff: &'a Diff<'a>) -> Self {
        Self { diff, pairs: pairs(&diff.rows) }
    }

    /// How many rows there are. Each is one line, or more where it must be wrapped.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.pairs.len()
    }

    /// The lines of the rows in `range`, in `width` cells.
    #[must_use]
    pub fn lines(
        &self,
        range: Range<usize>,
        width: u16,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> Vec<Line<'static>> {
        let mut columns = Columns::new(self.diff, width, theme, hl);
        let end = range.end.min(self.pairs.len());
        let pairs = self.pairs.get(range.start.min(end)..end).unwrap_or_default();
        pairs.iter().flat_map(|pair| columns.pair(*pair)).collect()
    }
}

/// Draws the two columns, and what goes over both.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    whole: Painter<'a>,
    side: Painter<'a>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        diff: &'a Diff<'a>,
        width: u16,
        theme: &'a Theme,
        hl: &'a HighlightCache,
    ) -> Self {
        let half = width.saturating_sub(1) / 2;
        let whole = Painter::new(diff, width, theme, hl);
        Self { whole, side: Painter::new(diff, half, theme, hl) }
    }

    pub(super) fn pair(&mut self, pair: Pair) -> Vec<Line<'static>> {
        match pair {
            Pair::Whole(row) => self.whole.row(row),
            Pair::Both(old, new) => {
                let left = old.map(|row| self.side.old_side(row)).unwrap_or_default();
                let right = new.map(|row| self.side.row(row)).unwrap_or_default();
                join(left, right, usize::from(self.side.width), self.side.theme)
            }
        }
    }

    /// How many lines [`Self::pair`] gives.
    pub(super) fn height(&mut self, pair: Pair) -> usize {
        match pair {
            Pair::Whole(row) => self.whole.height(row),
            Pair::Both(old, new) => {
                let left = old.map_or(0, |row| self.side.height(row));
                left.max(new.map_or(0, |row| self.side.height(row)))
            }
        }
    }
}

/// Puts the two columns together, blanks where one of them is shorter.
fn join(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    half: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let rows = left.len().max(right.len());
    let mut lines = Vec::with_capacity(rows);
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    for _ in 0..rows {
        let mut line = left.next().unwrap_or_default();
        let free = half.saturating_sub(line_width(&line));
        line.push_span(Span::raw(" ".repeat(free)));
        line.push_span(Span::styled(theme.marks.bar, theme.border));
        line.spans.extend(right.next().unwrap_or_default().spans);
        lines.push(line);
    }
    lines
}

/// Runs of lines that went and the lines that came after them stand beside each other.
pub(super) fn pairs(rows: &[Row]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(rows.len());
    let mut at = 0;
    while let Some(row) = rows.get(at) {
        let run = |from: usize, wanted: fn(&Row) -> bool| {
            rows[from..].iter().take_while(|row| wanted(row)).count()
        };
        match row {
            Row::Context { .. } => pairs.push(Pair::Both(Some(*row), Some(*row))),
            Row::Label(_) | Row::Gap(_) => pairs.push(Pair::Whole(*row)),
            Row::Removed { .. } | Row::Added { .. } => {
                let gone = run(at, |row| matches!(row, Row::Removed { .. }));
                let come = run(at + gone, |row| matches!(row, Row::Added { .. }));
                let (old, new) = (&rows[at..at + gone], &rows[at + gone..at + gone + come]);
                pairs.extend(
                    (0..gone.max(come))
                        .map(|nth| Pair::Both(old.get(nth).copied(), new.get(nth).copied())),
                );
                at += gone + come;
                continue;
            }
        }
        at += 1;
    }
    pairs
}
