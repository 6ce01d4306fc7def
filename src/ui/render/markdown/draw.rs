//! Laying out blocks.

use ratatui::text::{Line, Span};

use super::Look;
use super::table;
use super::tree::{Block, Item, Styled};
use crate::ui::render::sanitize::{sanitize, sanitize_line};
use crate::ui::render::width::{spans_width, truncate, width};
use crate::ui::render::wrap::{wrap, wrap_hard};

/// Nested blocks are not indented further when less room than this would be left.
const LEAST_ROOM: usize = 16;
/// Cells before code.
const CODE_INDENT: &str = "  ";

/// What stands before the lines of a block: its first, and the others.
#[derive(Debug, Clone, Default)]
struct Indent {
    first: Vec<Span<'static>>,
    rest: Vec<Span<'static>>,
}

impl Indent {
    /// Cells that are left for the block.
    fn room(&self, look: &Look<'_>) -> u16 {
        let used = spans_width(&self.first).max(spans_width(&self.rest));
        let used = u16::try_from(used).unwrap_or(u16::MAX);
        look.width.saturating_sub(used).max(1)
    }

    /// The indent of what follows the first line.
    fn later(&self) -> Self {
        Self { first: self.rest.clone(), rest: self.rest.clone() }
    }

    /// With `first` and `rest` behind it, where there is room for that.
    fn with(&self, first: Span<'static>, rest: Span<'static>, look: &Look<'_>) -> Self {
        let mut deeper = self.clone();
        deeper.first.push(first);
        if spans_width(&self.rest) + width(&rest.content) + LEAST_ROOM <= usize::from(look.width) {
            deeper.rest.push(rest);
        }
        deeper
    }

    /// `line` behind the indent, unless there is no room for both.
    fn put(&self, line: Line<'static>, first: bool, look: &Look<'_>) -> Line<'static> {
        let mut spans = if first { self.first.clone() } else { self.rest.clone() };
        if spans_width(&spans) + spans_width(&line.spans) > usize::from(look.width) {
            spans.clear();
        }
        spans.extend(line.spans);
        Line { spans, ..line }
    }
}

/// The lines of `blocks`, with an empty one between two.
pub(super) fn blocks(blocks: &[Block], look: &Look<'_>) -> Vec<Line<'static>> {
    sequence(blocks, &Indent::default(), |_| true, look)
}

fn sequence(
    blocks: &[Block],
    indent: &Indent,
    gaps: impl Fn(usize) -> bool,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let mut out: Vec<Line<'static>> = Vec::new();
    for (nth, one) in blocks.iter().enumerate() {
        let lines = block(one, &if out.is_empty() { indent.clone() } else { indent.later() }, look);
        if gaps(nth) && !out.is_empty() && !lines.is_empty() {
            out.push(gap(indent));
        }
        out.extend(lines);
    }
    out
}

/// An empty line, which keeps the bar of a quote.
fn gap(indent: &Indent) -> Line<'static> {
    let mut spans = indent.rest.clone();
    while spans.last().is_some_and(|span| span.content.trim().is_empty()) {
        spans.pop();
    }
    Line::from(spans)
}

fn block(block: &Block, indent: &Indent, look: &Look<'_>) -> Vec<Line<'static>> {
    match block {
        Block::Paragraph(text) | Block::Heading(text) => styled(text, indent, look),
        Block::Code { language, code, open } => code_block(language, code, *open, indent, look),
        Block::Quote(inner) => {
            let bar = Span::styled(format!("{} ", look.theme.marks.bar), look.theme.rule);
            sequence(inner, &indent.with(bar.clone(), bar, look), |_| true, look)
        }
        Block::List { start, items } => list(*start, items, indent, look),
        Block::Table(table) => {
            let lines = table::lines(table, indent.room(look), look.theme);
            put_all(lines, indent, look)
        }
        Block::Rule => {
            let room = usize::from(indent.room(look));
            let rule = Line::styled(look.theme.marks.line.repeat(room), look.theme.rule);
            vec![indent.put(rule, true, look)]
        }
        Block::Html(html) => html_block(html, indent, look),
        Block::Footnote { label, blocks } => {
            let mark = Span::styled(format!("[^{}] ", sanitize_line(label, 0)), look.theme.muted);
            sequence(blocks, &indent.with(mark, Span::raw("  "), look), |_| true, look)
        }
    }
}

fn put_all(lines: Vec<Line<'static>>, indent: &Indent, look: &Look<'_>) -> Vec<Line<'static>> {
    lines.into_iter().enumerate().map(|(i, line)| indent.put(line, i == 0, look)).collect()
}

fn styled(text: &Styled, indent: &Indent, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    for spans in text {
        let first = if out.is_empty() { &indent.first } else { &indent.rest };
        out.extend(wrap(&Line::from(spans.clone()), look.width, first, &indent.rest));
    }
    out
}

fn html_block(html: &str, indent: &Indent, look: &Look<'_>) -> Vec<Line<'static>> {
    let safe = sanitize(html.trim_end());
    let style = look.theme.assistant.patch(look.theme.muted);
    let text = safe.lines().map(|line| vec![Span::styled(line.to_owned(), style)]).collect();
    styled(&text, indent, look)
}

fn code_block(
    info: &str,
    code: &str,
    open: bool,
    indent: &Indent,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let code = if open { without_half_a_fence(code) } else { code };
    let colored =
        if open { look.hl.open_lines(info, code, theme) } else { look.hl.lines(info, code, theme) };
    let base = code_indent(indent, look);
    let mut out: Vec<_> = label(info, &base, look).into_iter().collect();
    out.extend(rows(&colored, &base, out.is_empty(), look));
    out
}

/// The line above a block of code that stands in no other: what it is written in.
pub(in crate::ui::render) fn code_label(info: &str, look: &Look<'_>) -> Option<Line<'static>> {
    label(info, &code_indent(&Indent::default(), look), look)
}

/// Lines of a block of code that stands in no other.
pub(in crate::ui::render) fn code_rows(
    colored: &[Vec<Span<'static>>],
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    rows(colored, &code_indent(&Indent::default(), look), true, look)
}

fn code_indent(indent: &Indent, look: &Look<'_>) -> Indent {
    let base = indent.with(Span::raw(CODE_INDENT), Span::raw(CODE_INDENT), look);
    if base.rest.len() == indent.rest.len() { indent.clone() } else { base }
}

fn label(info: &str, base: &Indent, look: &Look<'_>) -> Option<Line<'static>> {
    let label = info.split([' ', ',', '{', '\t']).next().filter(|label| !label.is_empty())?;
    let label = sanitize_line(label, 0);
    let label = truncate(&label, usize::from(base.room(look))).into_owned();
    Some(base.put(Line::styled(label, look.theme.code_label), true, look))
}

fn rows(
    colored: &[Vec<Span<'static>>],
    base: &Indent,
    begins: bool,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let mark = Span::styled(format!("{} ", look.theme.marks.wrapped), look.theme.muted);
    let mut continued = base.rest.clone();
    continued.push(mark);
    let mut out = Vec::new();
    for spans in colored {
        let first = if begins && out.is_empty() { &base.first } else { &base.rest };
        out.extend(wrap_hard(&Line::from(spans.clone()), look.width, first, &continued));
    }
    out
}

/// A closing fence comes one backtick at a time; the first ones are not code, nor the spaces before.
pub(in crate::ui::render) fn without_half_a_fence(code: &str) -> &str {
    let last = code.rfind('\n').map_or(0, |end| end + 1);
    let half = code[last..].trim();
    let fence = half.chars().all(|c| c == '`') || half.chars().all(|c| c == '~');
    if fence { &code[..last] } else { code }
}

fn list(
    start: Option<u64>,
    items: &[Item],
    indent: &Indent,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let theme = look.theme;
    let depth = indent.rest.len() % theme.marks.bullets.len();
    let mut out: Vec<Line<'static>> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let (mark, style) = match (item.task, start) {
            (Some(true), _) => (theme.marks.task_done.to_owned(), theme.success),
            (Some(false), _) => (theme.marks.task_open.to_owned(), theme.bullet),
            (None, Some(start)) => {
                let number = start.saturating_add(index as u64);
                // Not in line with longer numbers below: it would move when they come.
                (format!("{number}."), theme.bullet)
            }
            (None, None) => (theme.marks.bullets[depth].to_owned(), theme.bullet),
        };
        let outer = if out.is_empty() { indent.clone() } else { indent.later() };
        let space = " ".repeat(width(&mark) + 1);
        let inner = outer.with(Span::styled(format!("{mark} "), style), Span::raw(space), look);
        let gaps = |nth| item.gaps.get(nth).is_some_and(|gap| *gap);
        let mut lines = sequence(&item.blocks, &inner, gaps, look);
        if lines.is_empty() {
            lines.push(inner.put(Line::default(), true, look));
        }
        if item.gap && !out.is_empty() {
            out.push(gap(indent));
        }
        out.extend(lines);
    }
    out
}
