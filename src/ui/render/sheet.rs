//! A long text of which only the lines that are seen are drawn.

use std::ops::Range;

use ratatui::text::{Line, Span};

use super::diff::Laid;
use super::highlight::HighlightCache;
use crate::ui::theme::Theme;

/// Lines that were drawn, and changes that are drawn where they are looked at.
#[derive(Debug, Default)]
pub struct Sheet {
    parts: Vec<Part>,
    lines: usize,
}

#[derive(Debug)]
enum Part {
    Lines(Vec<Line<'static>>),
    /// A diff, and the blanks before its lines.
    Diff(Laid, usize),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.len(),
            Self::Diff(diff, _) => diff.len(),
        }
    }

    fn lines(&self, range: Range<usize>, theme: &Theme, hl: &HighlightCache) -> Vec<Line<'static>> {
        match self {
            Self::Lines(lines) => lines.get(range).unwrap_or_default().to_vec(),
            Self::Diff(diff, indent) => {
                let mut lines = diff.lines(range, theme, hl);
                for line in lines.iter_mut().filter(|_| *indent > 0) {
                    line.spans.insert(0, Span::raw(" ".repeat(*indent)));
                }
                lines
            }
        }
    }
}

impl Sheet {
    /// Adds lines at the end.
    pub fn push_lines(&mut self, lines: Vec<Line<'static>>) {
        self.lines += lines.len();
        self.parts.push(Part::Lines(lines));
    }

    /// Adds a diff at the end, so many blanks before each of its lines.
    pub fn push_diff(&mut self, diff: Laid, indent: usize) {
        self.lines += diff.len();
        self.parts.push(Part::Diff(diff, indent));
    }

    /// Adds all of another one at the end.
    pub fn append(&mut self, other: Self) {
        self.lines += other.lines;
        self.parts.extend(other.parts);
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines
    }

    /// Is there nothing in it?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// The lines of a range.
    #[must_use]
    pub fn lines(
        &self,
        range: Range<usize>,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut start = 0;
        for part in &self.parts {
            let len = part.len();
            let from = range.start.clamp(start, start + len);
            let to = range.end.clamp(from, start + len);
            if from < to {
                lines.extend(part.lines(from - start..to - start, theme, hl));
            }
            start += len;
        }
        lines
    }
}

impl From<Vec<Line<'static>>> for Sheet {
    fn from(lines: Vec<Line<'static>>) -> Self {
        let mut sheet = Self::default();
        sheet.push_lines(lines);
        sheet
    }
}
