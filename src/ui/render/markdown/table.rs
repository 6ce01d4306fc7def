//! Tables: columns as wide as their content where that fits, narrower with wrapped cells where it does
//! not, and one card a row where columns would be too narrow to read.

use pulldown_cmark::Alignment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::tree::{Styled, Table};
use crate::ui::render::width::{grapheme_width, line_width, spans_width, width};
use crate::ui::render::wrap::wrap;
use crate::ui::theme::Theme;

/// Cells between two columns: space, bar, space.
const BETWEEN: usize = 3;
/// A column is not made narrower than this, nor than its longest word up to [`LONG_WORD`].
const NARROWEST: usize = 6;
/// Nor one of sentences, which has a cell of [`SENTENCE`] cells or more, narrower than this.
const NARROWEST_OF_SENTENCES: usize = 16;
const SENTENCE: usize = 40;
/// Longer words are broken.
const LONG_WORD: usize = 14;

/// The lines of `table` in `room` cells.
pub(super) fn lines(table: &Table, room: u16, theme: &Theme) -> Vec<Line<'static>> {
    let columns = table.head.len();
    match widths(table, usize::from(room)) {
        Some(widths) => grid(table, &widths, theme),
        None if columns == 0 => Vec::new(),
        None => cards(table, room, theme),
    }
}

fn cells(table: &Table, column: usize) -> impl Iterator<Item = &Styled> {
    std::iter::once(&table.head).chain(&table.rows).filter_map(move |row| row.get(column))
}

/// The width of each column; none when they do not fit.
fn widths(table: &Table, room: usize) -> Option<Vec<usize>> {
    let columns = table.head.len();
    let room = room.checked_sub(BETWEEN * columns.checked_sub(1)?)?;
    let natural: Vec<usize> = (0..columns)
        .map(|column| {
            let lines = cells(table, column).flatten();
            lines.map(|spans| spans_width(spans)).max().unwrap_or(0).max(1)
        })
        .collect();
    let least: Vec<usize> = natural
        .iter()
        .enumerate()
        .map(|(column, natural)| {
            let words = cells(table, column).map(longest_word).max().unwrap_or(0);
            let narrowest = if *natural < SENTENCE { NARROWEST } else { NARROWEST_OF_SENTENCES };
            words.min(LONG_WORD).max(narrowest).min(*natural)
        })
        .collect();
    if least.iter().sum::<usize>() > room {
        return None;
    }
    // The widest columns give until all fit: the largest limit under which they do.
    let with = |limit: usize| -> Vec<usize> {
        natural
            .iter()
            .zip(&least)
            .map(|(natural, least)| (*natural).min(limit.max(*least)))
            .collect()
    };
    let widest = natural.iter().copied().max().unwrap_or(0);
    let (mut low, mut high) = (0, widest);
    while low < high {
        let limit = (low + high).div_ceil(2);
        if with(limit).iter().sum::<usize>() <= room { low = limit } else { high = limit - 1 }
    }
    let mut widths = with(low);
    // What the limit leaves over goes to the columns that were cut.
    let mut left = room - widths.iter().sum::<usize>();
    for (width, natural) in widths.iter_mut().zip(&natural) {
        if left > 0 && *width < *natural {
            *width += 1;
            left -= 1;
        }
    }
    Some(widths)
}

fn longest_word(cell: &Styled) -> usize {
    let words = cell.iter().flatten().flat_map(|span| span.content.split(' '));
    words.map(|word| if is_wide(word) { 2 } else { width(word) }).max().unwrap_or(0)
}

/// Text that may break anywhere.
fn is_wide(word: &str) -> bool {
    word.graphemes(true).any(|grapheme| grapheme_width(grapheme) == 2)
}

fn grid(table: &Table, widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
    let head = row(table, &table.head, widths, theme);
    let rows: Vec<Vec<Line<'static>>> =
        table.rows.iter().map(|cells| row(table, cells, widths, theme)).collect();
    // Where cells are wrapped, only lines show where a row ends.
    let ruled = rows.iter().any(|lines| lines.len() > 1);
    let mut out = head;
    out.push(rule(widths, theme));
    for (index, lines) in rows.into_iter().enumerate() {
        if ruled && index > 0 {
            out.push(rule(widths, theme));
        }
        out.extend(lines);
    }
    out
}

fn rule(widths: &[usize], theme: &Theme) -> Line<'static> {
    let line = theme.marks.line;
    let columns: Vec<String> = widths.iter().map(|width| line.repeat(*width)).collect();
    let cross = format!("{line}{}{line}", theme.marks.table_cross);
    Line::from(Span::styled(columns.join(&cross), theme.table_border))
}

fn row(table: &Table, cells: &[Styled], widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
    let columns: Vec<Vec<Line<'static>>> = widths
        .iter()
        .enumerate()
        .map(|(column, width)| wrapped(cells.get(column), *width))
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..height)
        .map(|y| {
            let mut spans = Vec::new();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    let bar = format!(" {} ", theme.marks.table_bar);
                    spans.push(Span::styled(bar, theme.table_border));
                }
                let alignment = table.alignments.get(column).copied().unwrap_or(Alignment::None);
                let line = columns[column].get(y).cloned().unwrap_or_default();
                let last = column + 1 == widths.len();
                aligned(line, *width, alignment, last, &mut spans);
            }
            Line::from(spans)
        })
        .collect()
}

fn wrapped(cell: Option<&Styled>, width: usize) -> Vec<Line<'static>> {
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    let lines = cell.into_iter().flatten();
    lines.flat_map(|spans| wrap(&Line::from(spans.clone()), width, &[], &[])).collect()
}

fn aligned(
    line: Line<'static>,
    width: usize,
    alignment: Alignment,
    last: bool,
    spans: &mut Vec<Span<'static>>,
) {
    let free = width.saturating_sub(line_width(&line));
    let before = match alignment {
        Alignment::Right => free,
        Alignment::Center => free / 2,
        Alignment::None | Alignment::Left => 0,
    };
    // Nothing is to be lined up behind the last column.
    let after = if last { 0 } else { free - before };
    let fill = |cells: usize| (cells > 0).then(|| Span::styled(" ".repeat(cells), Style::new()));
    spans.extend(fill(before));
    spans.extend(line.spans);
    spans.extend(fill(after));
}

/// Each row as lines of `head: cell`.
fn cards(table: &Table, room: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    if table.rows.is_empty() {
        return table.head.iter().flat_map(|head| wrapped(Some(head), room.into())).collect();
    }
    for row in &table.rows {
        if !out.is_empty() {
            out.push(Line::default());
        }
        for (head, cell) in table.head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            let mut spans: Vec<Span<'static>> = joined(head);
            spans.push(Span::styled(": ", theme.muted));
            spans.extend(joined(cell));
            out.extend(wrap(&Line::from(spans), room, &[], &[Span::raw("  ")]));
        }
    }
    out
}

/// All lines of a cell in one.
fn joined(cell: &Styled) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (index, line) in cell.iter().enumerate() {
        if index > 0 {
            spans.push(Span::raw(" "));
        }
        spans.extend(line.iter().cloned());
    }
    spans
}
