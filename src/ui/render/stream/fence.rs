//! A block of code that is still being written: only the lines that came are read, coloured and wrapped.
//!
//! In it every line is code until one ends it, so nothing that was drawn can change, apart from colours
//! that were not there yet.

use ratatui::text::Line;

use crate::ui::render::highlight::too_long;
use crate::ui::render::markdown::{Look, code_label, code_rows, without_half_a_fence};
use crate::ui::render::sanitize::sanitize;

/// Such a block, one that stands in no other.
#[derive(Debug)]
pub(super) struct Fence {
    mark: char,
    count: usize,
    info: String,
    /// Bytes of the block's source that were read: its first line, and the lines of code.
    read: usize,
    /// The whole lines of code, safe to draw.
    code: String,
    /// How many of them are drawn for good, and their bytes.
    fixed: (usize, usize),
    is_long: bool,
}

/// What is drawn of it.
pub(super) struct Rows {
    pub(super) lines: Vec<Line<'static>>,
    /// How many of them do not change any more.
    pub(super) fixed: usize,
    /// Are they the whole block, in place of all that was drawn of it?
    pub(super) is_all: bool,
}

impl Fence {
    /// The block that `source` begins with.
    pub(super) fn begin(source: &str) -> Option<Self> {
        let (first, _) = source.split_once('\n')?;
        let mark = first.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = first.trim_start_matches(mark);
        let count = first.len() - info.len();
        let is_plain = !info.contains(['`', '&', '\\', '\r', '\0']);
        (count >= 3 && is_plain).then(|| Self {
            mark,
            count,
            info: info.trim().to_owned(),
            read: first.len() + 1,
            code: String::new(),
            fixed: (0, 0),
            is_long: false,
        })
    }

    /// Takes in the lines of the block's `source` that are whole; says whether it goes on.
    pub(super) fn read(&mut self, source: &str) -> bool {
        let Some(new) = source.get(self.read..) else { return false };
        if new.contains(['\r', '\0']) {
            return false;
        }
        let whole = new.rfind('\n').map_or(0, |end| end + 1);
        for line in new[..whole].split_inclusive('\n') {
            if self.ends_with(line) {
                return false;
            }
            self.code.push_str(&sanitize(line));
        }
        self.read += whole;
        true
    }

    fn ends_with(&self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let after = text.trim_start_matches(self.mark);
        line.len() - text.len() <= 3
            && text.len() - after.len() >= self.count
            && after.trim().is_empty()
    }

    /// The lines of `source`, the block's, that are not drawn for good so far.
    pub(super) fn draw(&mut self, source: &str, look: &Look<'_>) -> Rows {
        let whole = self.code.len();
        let last = sanitize(source.get(self.read..).unwrap_or_default());
        self.code.push_str(without_half_a_fence(&last));
        // Code that got too long has no colours at all.
        if !self.is_long && too_long(&self.code) {
            (self.is_long, self.fixed) = (true, (0, 0));
        }
        let (from, start) = self.fixed;
        let (colored, known) = look.hl.open_rest(&self.info, &self.code, self.fixed, look.theme);
        self.code.truncate(whole);
        let new = self.code[start..].split_inclusive('\n').take(known.saturating_sub(from));
        let (count, bytes) = new.fold((0, 0), |(n, bytes), line| (n + 1, bytes + line.len()));
        let mut rows = Vec::new();
        rows.extend(code_label(&self.info, look).filter(|_| from == 0));
        let (fixed, rest) = colored.split_at(count.min(colored.len()));
        rows.extend(code_rows(fixed, look));
        let fixed = if count > 0 { rows.len() } else { 0 };
        rows.extend(code_rows(rest, look));
        self.fixed = (from + count, start + bytes);
        Rows { lines: rows, fixed, is_all: from == 0 }
    }
}
