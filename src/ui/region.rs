//! The live rows at the end of the terminal's own scrollback (`--inline`).
//!
//! Nothing here has an absolute place: rows are found by going up from the cursor, as a shell's line
//! editor does it. So the terminal is never asked where the cursor is, what is printed scrolls away as
//! the output of any command does, and the rows may begin anywhere on the screen.

use std::io::{self, Write};

use crossterm::cursor::{Hide, MoveDown, MoveRight, MoveUp, Show};
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position as Point;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::render::links::Links;
use super::render::width::grapheme_width;
use super::terminal::write_line;
use super::view::inline::Piece;

/// Rows that are cut off at the edge instead of going on below: their number must be known.
const WRAP_OFF: &[u8] = b"\x1b[?7l";
const WRAP_ON: &[u8] = b"\x1b[?7h";

/// A row: its cells up to the last one that can be seen.
type Row = Vec<Cell>;

/// What stands in the live rows, and where the cursor is in them.
#[derive(Debug, Default)]
pub(super) struct Region {
    rows: Vec<Row>,
    /// Row and column of the cursor.
    at: (u16, u16),
    /// Is the cursor hidden, as far as it is known?
    is_hidden: Option<bool>,
    /// Rows above the cursor's, as the terminal has them.
    above: u16,
    /// Is what stands there not what was drawn?
    is_stale: bool,
    look: Look,
}

/// What is written besides text and colours.
#[derive(Debug, Clone, Default)]
pub(super) struct Look {
    /// Are prompts and answers marked (OSC 133)?
    pub marks: bool,
    /// Links, where the terminal shows them.
    pub links: Option<Links>,
}

impl Region {
    /// No rows yet.
    pub(super) fn new(look: Look) -> Self {
        Self { look, ..Self::default() }
    }

    /// Prints a piece below which nothing stands.
    pub(super) fn print(&self, out: &mut impl Write, piece: &Piece) -> io::Result<()> {
        print(out, piece, &self.look)
    }

    /// Rows above the cursor that belong to it.
    pub(super) fn above(&self) -> u16 {
        self.above
    }

    /// Prints `pieces` above the rows, which become those of `frame`.
    pub(super) fn paint(
        &mut self,
        out: &mut impl Write,
        pieces: &[Piece],
        frame: &Buffer,
        cursor: Option<Point>,
    ) -> io::Result<()> {
        let rows = rows_of(frame);
        let last = u16::try_from(rows.len().saturating_sub(1)).unwrap_or_default();
        let at = cursor.map_or((last, 0), |at| (at.y.min(last), at.x));
        let is_same = !self.is_stale && pieces.is_empty() && rows.len() == self.rows.len();
        if is_same && rows == self.rows {
            if at != self.at {
                self.go(out, at)?;
            }
            return self.show(out, cursor.is_none());
        }
        self.show(out, true)?;
        if is_same {
            out.write_all(WRAP_OFF)?;
            for (index, row) in rows.iter().enumerate() {
                if self.rows[index] == *row {
                    continue;
                }
                self.go(out, (u16::try_from(index).unwrap_or_default(), 0))?;
                write_row(out, row, self.look.links.as_ref())?;
                // Behind a row that is full the cursor still stands on its last cell.
                if columns(row) < usize::from(frame.area.width) {
                    queue!(out, Clear(ClearType::UntilNewLine))?;
                }
                self.at.1 = u16::MAX;
            }
        } else {
            self.clear(out)?;
            for piece in pieces {
                print(out, piece, &self.look)?;
            }
            out.write_all(WRAP_OFF)?;
            for (index, row) in rows.iter().enumerate() {
                out.write_all(if index > 0 { b"\r\n" } else { b"" })?;
                write_row(out, row, self.look.links.as_ref())?;
            }
            self.at = (last, u16::MAX);
        }
        out.write_all(WRAP_ON)?;
        self.rows = rows;
        self.go(out, at)?;
        self.show(out, cursor.is_none())
    }

    /// Takes the rows away. What is printed next begins where they were.
    pub(super) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"\r")?;
        if self.above > 0 {
            queue!(out, MoveUp(self.above))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown))?;
        let look = std::mem::take(&mut self.look);
        *self = Self { look, is_hidden: self.is_hidden, ..Self::default() };
        Ok(())
    }

    /// There are no rows: another program had the terminal.
    pub(super) fn forget(&mut self) {
        *self = Self::new(std::mem::take(&mut self.look));
    }

    /// What stands there may not be what was drawn.
    pub(super) fn distrust(&mut self) {
        self.is_stale = true;
    }

    /// The terminal has `width` columns now. One that breaks lines anew (`reflows`) has made several
    /// rows of those that were wider, and the cursor has moved down with them.
    pub(super) fn resized(&mut self, width: u16, reflows: bool) {
        self.is_stale = true;
        self.above = self.at.0;
        if reflows && width > 0 {
            let above = self.rows.iter().take(usize::from(self.at.0));
            let rows: usize = above.map(|row| broken(row, width)).sum();
            let before = usize::from(self.at.1 / width);
            self.above = u16::try_from(rows + before).unwrap_or(u16::MAX);
        }
    }

    fn go(&mut self, out: &mut impl Write, (row, column): (u16, u16)) -> io::Result<()> {
        out.write_all(b"\r")?;
        match row.cmp(&self.at.0) {
            std::cmp::Ordering::Less => queue!(out, MoveUp(self.at.0 - row))?,
            std::cmp::Ordering::Greater => queue!(out, MoveDown(row - self.at.0))?,
            std::cmp::Ordering::Equal => {}
        }
        if column > 0 {
            queue!(out, MoveRight(column))?;
        }
        self.at = (row, column);
        self.above = row;
        Ok(())
    }

    fn show(&mut self, out: &mut impl Write, hidden: bool) -> io::Result<()> {
        match (self.is_hidden.replace(hidden), hidden) {
            (was, hidden) if was == Some(hidden) => Ok(()),
            (_, true) => queue!(out, Hide),
            (_, false) => queue!(out, Show),
        }
    }
}

/// Prints a piece for good.
fn print(out: &mut impl Write, piece: &Piece, look: &Look) -> io::Result<()> {
    let (marks, links) = (look.marks, look.links.as_ref());
    match piece {
        Piece::Line(line) => write_line(out, line, links)?,
        Piece::Prompt(line) if marks => {
            // The terminal is not to take the prompt away at a resize: nobody would draw it again.
            out.write_all(b"\x1b]133;A;redraw=0\x1b\\")?;
            let parts = line.spans.split_at(1.min(line.spans.len()));
            write_line(out, &Line::from(parts.0.to_vec()).style(line.style), links)?;
            out.write_all(b"\x1b]133;B\x1b\\")?;
            write_line(out, &Line::from(parts.1.to_vec()).style(line.style), links)?;
        }
        Piece::Prompt(line) => write_line(out, line, links)?,
        Piece::Answer if marks => return out.write_all(b"\x1b]133;C\x1b\\"),
        Piece::Over if marks => return out.write_all(b"\x1b]133;D;0\x1b\\"),
        Piece::Answer | Piece::Over => return Ok(()),
    }
    out.write_all(b"\r\n")
}

fn rows_of(frame: &Buffer) -> Vec<Row> {
    let row = |y| {
        let cells = (frame.area.x..frame.area.right()).map(|x| frame[(x, y)].clone());
        let mut cells: Row = cells.collect();
        while cells.last().is_some_and(is_blank) {
            cells.pop();
        }
        cells
    };
    (frame.area.y..frame.area.bottom()).map(row).collect()
}

fn is_blank(cell: &Cell) -> bool {
    let seen = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    let has_ground = cell.bg != Color::Reset;
    cell.symbol() == " " && !has_ground && !cell.modifier.intersects(seen)
}

/// The cells of a row without those that wide characters cover.
fn drawn(row: &[Cell]) -> impl Iterator<Item = (&Cell, usize)> {
    let mut covered = 0;
    row.iter().filter_map(move |cell| {
        if covered > 0 {
            covered -= 1;
            return None;
        }
        let width = grapheme_width(cell.symbol());
        covered = width.saturating_sub(1);
        Some((cell, width))
    })
}

fn columns(row: &[Cell]) -> usize {
    drawn(row).map(|(_, width)| width).sum()
}

/// Rows of `width` columns that this one takes when it is broken.
fn broken(row: &[Cell], width: u16) -> usize {
    let width = usize::from(width);
    let (mut rows, mut column) = (1, 0);
    for (_, wide) in drawn(row) {
        if column + wide > width {
            rows += 1;
            column = 0;
        }
        column += wide;
    }
    rows
}

fn write_row(out: &mut impl Write, row: &[Cell], links: Option<&Links>) -> io::Result<()> {
    let mut spans: Vec<(Style, String)> = Vec::new();
    for (cell, _) in drawn(row) {
        let style = style_of(cell);
        match spans.last_mut() {
            Some((last, text)) if *last == style => text.push_str(cell.symbol()),
            _ => spans.push((style, cell.symbol().to_owned())),
        }
    }
    let spans = spans.into_iter().map(|(style, text)| Span::styled(text, style));
    write_line(out, &Line::from_iter(spans), links)
}

/// The style of a cell without what the terminal has anyway.
fn style_of(cell: &Cell) -> Style {
    let own = |color| Some(color).filter(|color| *color != Color::Reset);
    Style {
        fg: own(cell.fg),
        bg: own(cell.bg),
        underline_color: own(cell.underline_color),
        ..Style::new().add_modifier(cell.modifier)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use ratatui::layout::Rect;

    use super::*;

    struct Terminal {
        parser: vt100::Parser,
        region: Region,
        width: u16,
    }

    impl Terminal {
        fn new(width: u16, height: u16) -> Self {
            let size = |n| NonZeroU16::new(n).expect("a size");
            let parser = vt100::Parser::new(size(height), size(width), 100);
            Self { parser, region: Region::default(), width }
        }

        /// Paints rows of text; gives what was written.
        fn paint(&mut self, printed: &[&str], rows: &[&str], cursor: (u16, u16)) -> String {
            let count = |n| u16::try_from(n).expect("a few");
            let mut frame = Buffer::empty(Rect::new(0, 0, self.width, count(rows.len())));
            for (y, row) in rows.iter().enumerate() {
                frame.set_string(0, count(y), row, Style::new());
            }
            let line = |text: &&str| Piece::Line(Line::raw((*text).to_owned()));
            let pieces: Vec<Piece> = printed.iter().map(line).collect();
            let mut out = Vec::new();
            let cursor = Some(Point { x: cursor.0, y: cursor.1 });
            self.region.paint(&mut out, &pieces, &frame, cursor).expect("painted");
            self.parser.process(&out);
            String::from_utf8(out).expect("UTF-8")
        }

        fn rows(&self) -> Vec<String> {
            let rows = self.parser.screen().rows(0, self.width);
            let mut rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
            while rows.last().is_some_and(String::is_empty) {
                rows.pop();
            }
            rows
        }
    }

    #[test]
    fn what_is_printed_stands_above_and_the_rows_below_it() {
        let mut t = Terminal::new(20, 6);
        t.parser.process(b"$ kimi-tui\r\n");
        t.paint(&[], &["rule", "> ", "status"], (2, 1));
        assert_eq!(t.rows(), ["$ kimi-tui", "rule", ">", "status"]);
        assert_eq!(t.parser.screen().cursor_position(), (2, 2));
        t.paint(&["one", "two"], &["rule", "> x", "status"], (3, 1));
        assert_eq!(t.rows(), ["$ kimi-tui", "one", "two", "rule", "> x", "status"]);
        // At the end of the screen what was printed scrolls away.
        t.paint(&["three"], &["a panel", "rule", "> x", "status"], (3, 2));
        assert_eq!(t.rows(), ["two", "three", "a panel", "rule", "> x", "status"]);
        t.paint(&[], &["rule", "> ", "status"], (2, 1));
        assert_eq!(t.rows(), ["two", "three", "rule", ">", "status"]);
        assert_eq!(t.parser.screen().cursor_position(), (3, 2));
    }

    #[test]
    fn only_rows_that_changed_are_written_and_nothing_when_none_did() {
        let mut t = Terminal::new(20, 6);
        t.paint(&[], &["日本 rule", "> ", "status 1"], (2, 1));
        assert_eq!(t.paint(&[], &["日本 rule", "> ", "status 1"], (2, 1)), "");
        let written = t.paint(&[], &["日本 rule", "> ", "st 2"], (2, 1));
        assert!(written.contains("st 2") && !written.contains("rule"), "{written:?}");
        assert_eq!(t.rows(), ["日本 rule", ">", "st 2"]);
        let full = "x".repeat(20);
        t.paint(&[], &["日本 rule", "> ", &full], (2, 1));
        assert_eq!(t.rows()[2], full, "the last column is not wiped");
        assert_eq!(t.parser.screen().cursor_position(), (1, 2));
    }

    #[test]
    fn broken_rows_are_counted() {
        let mut t = Terminal::new(20, 6);
        t.paint(&[], &[&"a".repeat(20), "> ", "status"], (2, 1));
        t.region.resized(10, false);
        assert_eq!(t.region.above(), 1);
        t.region.resized(10, true);
        assert_eq!(t.region.above(), 2);
        t.paint(&[], &["日本日本日", "> ", "status"], (2, 1));
        t.region.resized(5, true);
        assert_eq!(t.region.above(), 3, "a wide character is not broken in two");
    }
}
