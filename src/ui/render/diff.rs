//! Changes to files: one column of line numbers, signs, the words that changed.
//!
//! [`Diff`] finds the rows at once and draws any range of them, so that a change of ten thousand lines
//! costs what is on the screen.

mod beside;
mod laid;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub use self::beside::Beside;
pub use self::laid::Laid;
use self::rows::{Label, Row, Texts};
use super::format;
use super::highlight::{HighlightCache, language_of};
use super::sanitize::sanitize_line;
use super::width::{line_width, truncate_middle};
use super::wrap::wrap_hard;
use crate::message::DiffBlock;
use crate::ui::theme::Theme;

/// Blocks of more lines are drawn without the colours of their language.
const MAX_COLORED: usize = 400;
/// Line numbers are left out where less room than this is left for the text.
const LEAST_ROOM: usize = 20;

/// All lines of the diff of `blocks`, in `width` cells.
#[must_use]
pub fn diff(
    blocks: &[DiffBlock],
    width: u16,
    theme: &Theme,
    hl: &HighlightCache,
) -> Vec<Line<'static>> {
    let diff = Diff::new(blocks);
    diff.lines(0..diff.rows(), width, theme, hl)
}

/// How many lines `blocks` add and remove.
#[must_use]
pub fn stats(blocks: &[DiffBlock]) -> (usize, usize) {
    Diff::new(blocks).stats()
}

/// The rows of a diff.
#[derive(Debug)]
pub struct Diff<'a> {
    blocks: Cow<'a, [DiffBlock]>,
    texts: Vec<Texts>,
    rows: Vec<Row>,
}

impl<'a> Diff<'a> {
    /// Compares the texts of `blocks`, hunks of one file or of several.
    #[must_use]
    pub fn new(blocks: impl Into<Cow<'a, [DiffBlock]>>) -> Self {
        let blocks = blocks.into();
        let texts: Vec<Texts> = blocks.iter().map(Texts::new).collect();
        let rows = rows::rows(&blocks, &texts);
        Self { blocks, texts, rows }
    }

    /// How many rows there are. Each is one line, or more where it must be wrapped.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many lines are added and removed; summaries do not count.
    #[must_use]
    pub fn stats(&self) -> (usize, usize) {
        let counts = |block: &usize| !self.blocks[*block].is_summary;
        let added =
            self.rows.iter().filter(|row| matches!(row, Row::Added { block, .. } if counts(block)));
        let removed = self
            .rows
            .iter()
            .filter(|row| matches!(row, Row::Removed { block, .. } if counts(block)));
        (added.count(), removed.count())
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
        let mut painter = Painter::new(self, width, theme, hl);
        let end = range.end.min(self.rows.len());
        let rows = self.rows.get(range.start.min(end)..end).unwrap_or_default();
        rows.iter().flat_map(|row| painter.row(*row)).collect()
    }

    /// A line of the old text of a block.
    fn old(&self, block: usize, line: usize) -> &str {
        &self.blocks[block].old_text[self.texts[block].old[line].clone()]
    }

    /// A line of the new text of a block.
    fn new_line(&self, block: usize, line: usize) -> &str {
        &self.blocks[block].new_text[self.texts[block].new[line].clone()]
    }

    /// The largest line number.
    fn last_number(&self) -> u64 {
        let last = |(block, texts): (&DiffBlock, &Texts)| {
            let old = block.old_start.saturating_add(texts.old.len() as u64);
            let new = block.new_start.saturating_add(texts.new.len() as u64);
            old.max(new).saturating_sub(1)
        };
        self.blocks
            .iter()
            .zip(&self.texts)
            .filter(|(b, _)| !b.is_summary)
            .map(last)
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
thread_local! {
    /// Rows that were drawn: what a frame costs.
    pub(in crate::ui) static DRAWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

type Colored = Vec<Vec<Span<'static>>>;

#[derive(Debug)]
struct Painter<'a> {
    diff: &'a Diff<'a>,
    width: u16,
    digits: usize,
    theme: &'a Theme,
    hl: &'a HighlightCache,
    /// The coloured texts of the block that is being drawn.
    colored: Option<(usize, Colored, Colored)>,
}

/// How a row of text is drawn.
struct Look {
    number: Option<u64>,
    sign: &'static str,
    style: Style,
    word: Style,
}

impl<'a> Painter<'a> {
    fn new(diff: &'a Diff<'a>, width: u16, theme: &'a Theme, hl: &'a HighlightCache) -> Self {
        let digits = diff.last_number().to_string().len();
        let digits = if usize::from(width) < digits + LEAST_ROOM { 0 } else { digits };
        Self { diff, width, digits, theme, hl, colored: None }
    }

    fn row(&mut self, row: Row) -> Vec<Line<'static>> {
        #[cfg(test)]
        DRAWN.set(DRAWN.get() + 1);
        let (theme, diff) = (self.theme, self.diff);
        match row {
            Row::Label(label) => vec![self.label(label)],
            Row::Gap(count) => vec![self.gap(count)],
            Row::Context { block, old, new } => {
                let number = self.number(block, diff.blocks[block].new_start, new);
                let look =
                    Look { number, sign: " ", style: theme.diff_context, word: theme.diff_context };
                self.text(diff.old(block, old), Vec::new(), &[], &look)
            }
            Row::Removed { block, old, pair } => {
                let text = diff.old(block, old);
                let paired = pair.and_then(|new| words::changed(text, diff.new_line(block, new)));
                let number = self.number(block, diff.blocks[block].old_start, old);
                let look =
                    Look { number, sign: "-", style: theme.diff_del, word: theme.diff_del_word };
                let colors = self.colors(block, old, false);
                self.text(text, colors, &paired.map(|(gone, _)| gone).unwrap_or_default(), &look)
            }
            Row::Added { block, new, pair } => {
                let text = diff.new_line(block, new);
                let paired = pair.and_then(|old| words::changed(diff.old(block, old), text));
                let number = self.number(block, diff.blocks[block].new_start, new);
                let look =
                    Look { number, sign: "+", style: theme.diff_add, word: theme.diff_add_word };
                let colors = self.colors(block, new, true);
                self.text(text, colors, &paired.map(|(_, come)| come).unwrap_or_default(), &look)
            }
        }
    }

    /// A row as the old text has it.
    fn old_side(&mut self, row: Row) -> Vec<Line<'static>> {
        let Row::Context { block, old, .. } = row else { return self.row(row) };
        let number = self.number(block, self.diff.blocks[block].old_start, old);
        let style = self.theme.diff_context;
        let look = Look { number, sign: " ", style, word: style };
        self.text(self.diff.old(block, old), Vec::new(), &[], &look)
    }

    fn number(&self, block: usize, start: u64, index: usize) -> Option<u64> {
        let known = self.digits > 0 && !self.diff.blocks[block].is_summary;
        known.then(|| start.saturating_add(index as u64))
    }

    /// The spans of a line in the colours of its language; none where they are not wanted.
    fn colors(&mut self, block: usize, line: usize, new: bool) -> Vec<Span<'static>> {
        // Without a ground of its own a line tells what it is by its colour.
        if self.theme.diff_add.bg.is_none() || self.diff.blocks[block].is_summary {
            return Vec::new();
        }
        let texts = &self.diff.texts[block];
        if texts.old.len() + texts.new.len() > MAX_COLORED {
            return Vec::new();
        }
        if self.colored.as_ref().is_none_or(|(colored, ..)| *colored != block) {
            let language = language_of(&self.diff.blocks[block].path);
            let color = |lines: Vec<&str>| self.hl.lines(&language, &lines.join("\n"), self.theme);
            let of = &self.diff.blocks[block];
            let old = color(rows::texts(&of.old_text, &texts.old));
            self.colored = Some((block, old, color(rows::texts(&of.new_text, &texts.new))));
        }
        let Some((_, old, others)) = &self.colored else { return Vec::new() };
        let lines = if new { others } else { old };
        lines.get(line).cloned().unwrap_or_default()
    }

    fn label(&self, label: Label) -> Line<'static> {
        let room = usize::from(self.width);
        match label {
            Label::Path(block) => {
                let path = sanitize_line(&self.diff.blocks[block].path, 0);
                Line::styled(truncate_middle(&path, room).into_owned(), self.theme.strong)
            }
            Label::Binary(block) => {
                let block = &self.diff.blocks[block];
                let size = |text: &str| format::size(text.len() as u64);
                let text = format!(
                    "binary file, {} {} {}",
                    size(&block.old_text),
                    self.theme.marks.arrow,
                    size(&block.new_text)
                );
                Line::styled(text, self.theme.muted)
            }
            Label::Renamed(block) => {
                let path = sanitize_line(&self.diff.blocks[block].path, 0);
                let path = truncate_middle(&path, room.saturating_sub(13));
                Line::styled(format!("renamed from {path}"), self.theme.muted)
            }
            Label::New => Line::styled("new file", self.theme.muted),
            Label::Deleted => Line::styled("deleted file", self.theme.muted),
            Label::Unchanged => Line::styled("no changes", self.theme.muted),
            Label::TooLong => Line::styled("too long to show", self.theme.muted),
        }
    }

    fn gap(&self, count: u64) -> Line<'static> {
        let mark = format!("{:>width$} ", self.theme.marks.gap, width = self.digits.max(1));
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let said = if count > 0 { format::count(count, "line", "lines") } else { String::new() };
        Line::from(vec![
            Span::styled(mark, self.theme.diff_line_number),
            Span::styled(said, self.theme.muted),
        ])
    }

    fn text(
        &self,
        text: &str,
        colors: Vec<Span<'static>>,
        changed: &[Range<usize>],
        look: &Look,
    ) -> Vec<Line<'static>> {
        let spans = dress(text, colors, changed, look);
        let digits = self.digits;
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        if digits > 0 {
            let number = look.number.map(|number| number.to_string()).unwrap_or_default();
            first.push(Span::styled(format!("{number:>digits$} "), self.theme.diff_line_number));
            rest.push(Span::styled(" ".repeat(digits + 1), self.theme.diff_line_number));
        }
        let ground = Style { fg: None, ..look.style };
        let sign = match look.sign {
            "+" => Style { fg: self.theme.success.fg, ..look.style },
            "-" => Style { fg: self.theme.danger.fg, ..look.style },
            _ => look.style,
        };
        first.push(Span::styled(format!("{} ", look.sign), sign));
        let mark = format!("{} ", self.theme.marks.wrapped);
        rest.push(Span::styled(mark, self.theme.muted.patch(ground)));
        let mut lines = wrap_hard(&Line::from(spans), self.width, &first, &rest);
        if ground.bg.is_some() {
            for line in &mut lines {
                let free = usize::from(self.width).saturating_sub(line_width(line));
                line.push_span(Span::styled(" ".repeat(free), ground));
            }
        }
        lines
    }
}

/// `text` with the ground of its row, the colours of its language, and the words that changed.
fn dress(
    text: &str,
    colors: Vec<Span<'static>>,
    changed: &[Range<usize>],
    look: &Look,
) -> Vec<Span<'static>> {
    if changed.is_empty() {
        if colors.is_empty() {
            return vec![Span::styled(sanitize_line(text, 0).into_owned(), look.style)];
        }
        let on = |span: Span<'static>| {
            // Its own weight would compete with the marks.
            let style = Style { fg: span.style.fg.or(look.style.fg), ..look.style };
            Span::styled(span.content, style)
        };
        return colors.into_iter().map(on).collect();
    }
    // Marked words are what there is to see: no other colours in the same line.
    let mut spans = Vec::new();
    let (mut from, mut column) = (0, 0);
    let mut put = |part: &str, style: Style| {
        let safe = sanitize_line(part, column);
        column += super::width::width(&safe);
        if !safe.is_empty() {
            spans.push(Span::styled(safe.into_owned(), style));
        }
    };
    for range in changed {
        put(&text[from..range.start], look.style);
        put(&text[range.clone()], look.word);
        from = range.end;
    }
    put(&text[from..], look.style);
    spans
}
