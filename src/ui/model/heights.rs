//! How high the cells of the transcript are: measured where they were drawn, estimated elsewhere. Only
//! the scroll bar and "N new lines" depend on it, never what is drawn where.

use super::cell::{Cell, CellKind};

/// Cells of one partial sum.
const BLOCK: usize = 256;

/// Heights by cell index, with partial sums, so that a question costs little in the longest session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heights {
    width: u16,
    rows: Vec<u32>,
    blocks: Vec<u64>,
}

impl Heights {
    /// Knows something about each of `cells` in `width` columns. Costs what is new, and all of it
    /// only when the width changes.
    pub fn sync(&mut self, cells: &[Cell], width: u16) {
        if self.width != width {
            *self = Self { width, ..Self::default() };
        }
        self.truncate(cells.len());
        for cell in &cells[self.rows.len()..] {
            let rows = estimate(cell, width);
            if self.rows.len().is_multiple_of(BLOCK) {
                self.blocks.push(0);
            }
            if let Some(block) = self.blocks.last_mut() {
                *block += u64::from(rows);
            }
            self.rows.push(rows);
        }
    }

    /// This cell was measured.
    pub fn set(&mut self, index: usize, lines: usize) {
        if let Some(row) = self.rows.get_mut(index) {
            let lines = u32::try_from(lines).unwrap_or(u32::MAX);
            let block = &mut self.blocks[index / BLOCK];
            *block = *block - u64::from(*row) + u64::from(lines);
            *row = lines;
        }
    }

    /// Forgets the cells from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.rows.len() {
            self.rows.truncate(len);
            self.blocks.truncate(len.div_ceil(BLOCK));
            if let Some(block) = self.blocks.last_mut() {
                let start = (len - 1) / BLOCK * BLOCK;
                *block = self.rows[start..].iter().map(|rows| u64::from(*rows)).sum();
            }
        }
    }

    /// Lines of the cells before `index`.
    #[must_use]
    pub fn before(&self, index: usize) -> u64 {
        let index = index.min(self.rows.len());
        let block = index / BLOCK;
        let whole: u64 = self.blocks[..block].iter().sum();
        whole + self.rows[block * BLOCK..index].iter().map(|rows| u64::from(*rows)).sum::<u64>()
    }

    /// How many cells it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Does it know none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns the heights are for.
    #[must_use]
    pub fn width(&self) -> u16 {
        self.width
    }
}

/// A guess that costs nothing: no text is looked through.
fn estimate(cell: &Cell, width: u16) -> u32 {
    let lines = |bytes: usize| bytes / usize::from(width.max(8)) + bytes / 120 + 1;
    let rows = match &cell.kind {
        CellKind::User { text, .. } | CellKind::Plan { text } | CellKind::Notice { text, .. } => {
            lines(text.len()) + 1
        }
        CellKind::Assistant { text } => lines(text.len()) + 1,
        CellKind::Thinking { .. } | CellKind::Mark(_) => 2,
        CellKind::Tool(_) => 4,
    };
    u32::try_from(rows).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::transcript::Transcript;
    use super::*;

    fn cells(count: usize) -> Vec<Cell> {
        let mut transcript = Transcript::default();
        for n in 0..count {
            let text = "word ".repeat(n % 50).into();
            transcript.push(CellKind::Assistant { text }, true, 0.0);
        }
        transcript.cells().to_vec()
    }

    proptest! {
        #[test]
        fn partial_sums_stay_true(
            steps in proptest::collection::vec((0_usize..3, 0_usize..900, 0_usize..90), 1..40)
        ) {
            let all = cells(900);
            let mut heights = Heights::default();
            let mut len = 0;
            for (what, at, lines) in steps {
                match what {
                    0 => {
                        len = at;
                        heights.sync(&all[..len], 80);
                    }
                    1 => heights.set(at, lines),
                    _ => {
                        heights.truncate(at);
                        len = len.min(at);
                    }
                }
                prop_assert_eq!(heights.len(), len);
                for index in [0, at.min(len), len] {
                    let sum: u64 = heights.rows[..index].iter().map(|rows| u64::from(*rows)).sum();
                    prop_assert_eq!(heights.before(index), sum);
                }
            }
        }
    }
}
