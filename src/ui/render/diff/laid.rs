//! A diff laid out in a width: which line each row begins at is known, and any lines of it can be drawn.

use std::ops::Range;

use ratatui::text::Line;

use super::beside::{Columns, Pair, pairs};
use super::rows::Row;
use super::{Diff, Painter};
use crate::message::DiffBlock;
use crate::ui::render::highlight::HighlightCache;
use crate::ui::render::sanitize::sanitize_line;
use crate::ui::render::width::{grapheme_width, width};
use crate::ui::theme::Theme;

/// A diff of which only the lines that are seen are drawn.
#[derive(Debug)]
pub struct Laid {
    diff: Diff<'static>,
    /// Rows of two columns, where it is shown in two.
    pairs: Option<Vec<Pair>>,
    width: u16,
    /// The line each row begins at, and at the end the number of lines.
    starts: Vec<usize>,
}

impl Laid {
    /// Compares the texts of `blocks` and measures what is to be shown of them; side by side when that
    /// is wanted and there is room.
    #[must_use]
    pub fn new(
        blocks: Vec<DiffBlock>,
        beside: bool,
        width: u16,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> Self {
        let diff = Diff::new(blocks);
        let pairs = diff.is_beside(beside, width).then(|| pairs(&diff.rows));
        let mut starts = vec![0];
        let mut end = 0;
        let mut add = |height: usize| {
            end += height;
            starts.push(end);
        };
        match &pairs {
            Some(pairs) => {
                let mut columns = Columns::new(&diff, width, theme, hl);
                pairs.iter().for_each(|pair| add(columns.height(*pair)));
            }
            None => {
                let mut painter = Painter::new(&diff, width, theme, hl);
                diff.rows.iter().for_each(|row| add(painter.height(*row)));
            }
        }
        Self { diff, pairs, width, starts }
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Is there nothing to show?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lines of a range.
    #[must_use]
    pub fn lines(
        &self,
        range: Range<usize>,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> Vec<Line<'static>> {
        let range = range.start.min(self.len())..range.end.min(self.len());
        if range.is_empty() {
            return Vec::new();
        }
        // Several rows may begin at one line only when all but the last have no lines.
        let first = self.starts.partition_point(|start| *start <= range.start) - 1;
        let last = self.starts.partition_point(|start| *start < range.end);
        let drawn: Vec<Line<'static>> = match &self.pairs {
            Some(pairs) => {
                let mut columns = Columns::new(&self.diff, self.width, theme, hl);
                pairs[first..last].iter().flat_map(|pair| columns.pair(*pair)).collect()
            }
            None => {
                let mut painter = Painter::new(&self.diff, self.width, theme, hl);
                self.diff.rows[first..last].iter().flat_map(|row| painter.row(*row)).collect()
            }
        };
        drawn.into_iter().skip(range.start - self.starts[first]).take(range.len()).collect()
    }
}

impl Painter<'_> {
    /// How many lines [`Self::row`] gives. Text that certainly fits is only measured.
    pub(super) fn height(&mut self, row: Row) -> usize {
        let text = match row {
            Row::Label(_) | Row::Gap(_) => return 1,
            Row::Context { block, old, .. } | Row::Removed { block, old, .. } => {
                self.diff.old(block, old)
            }
            Row::Added { block, new, .. } => self.diff.new_line(block, new),
        };
        let lead = if self.digits > 0 { self.digits + 1 } else { 0 } + 2;
        if usize::from(self.width) < lead + 2 {
            return self.row(row).len();
        }
        let room = usize::from(self.width) - lead;
        // Every character is one byte at least, and has a width of two at most.
        let safe = sanitize_line(text, 0);
        if safe.is_ascii() {
            return safe.len().div_ceil(room).max(1);
        }
        // How far a tab reaches depends on what stands before it, and that on where colours divide it.
        if text.contains('\t') {
            return self.row(row).len();
        }
        let apart: usize = safe.chars().map(|c| grapheme_width(c.encode_utf8(&mut [0; 4]))).sum();
        if apart.max(width(&safe)) <= room { 1 } else { self.row(row).len() }
    }
}
