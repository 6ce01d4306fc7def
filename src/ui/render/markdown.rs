//! Markdown to lines.
//!
//! [`tree`] reads the source into blocks, [`draw`] lays them out, [`table`] does tables. The source is
//! untrusted: every text of it is sanitised after parsing, because entities can spell control characters.

#[cfg(test)]
mod corpus;
mod draw;
mod inline;
#[cfg(test)]
mod jumps;
mod math;
mod steady;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use ratatui::text::Line;

use super::highlight::HighlightCache;
use crate::ui::theme::Theme;

pub(super) use draw::{code_label, code_rows, without_half_a_fence};
pub(super) use steady::steady;
pub(super) use tree::{Definitions, scan};

/// `source` drawn in lines of at most `width` cells.
#[must_use]
pub fn markdown(
    source: &str,
    width: u16,
    theme: &Theme,
    hl: &HighlightCache,
) -> Vec<Line<'static>> {
    part(source, &Look { width, theme, hl, open: false }, &Definitions::default()).0
}

/// As [`markdown`], for a source that is still being written: code at its end is coloured as it comes,
/// and what is not decided yet is drawn so that nothing jumps when it is.
/// [`MarkdownStream`](super::stream::MarkdownStream) gives the same lines for less.
#[must_use]
pub fn markdown_open(
    source: &str,
    width: u16,
    theme: &Theme,
    hl: &HighlightCache,
) -> Vec<Line<'static>> {
    let source = steady(source);
    part(&source, &Look { width, theme, hl, open: true }, &Definitions::default()).0
}

/// The blocks of code in `source`, as they were written.
#[must_use]
pub fn code_blocks(source: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open = false;
    for event in pulldown_cmark::Parser::new(source) {
        match event {
            pulldown_cmark::Event::Start(pulldown_cmark::Tag::CodeBlock(_)) => {
                blocks.push(String::new());
                open = true;
            }
            pulldown_cmark::Event::End(pulldown_cmark::TagEnd::CodeBlock) => open = false,
            pulldown_cmark::Event::Text(text) if open => {
                if let Some(block) = blocks.last_mut() {
                    block.push_str(&text);
                }
            }
            _ => {}
        }
    }
    blocks
}

/// What drawing depends on besides the source.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) width: u16,
    pub(super) theme: &'a Theme,
    pub(super) hl: &'a HighlightCache,
    /// May the source still grow?
    pub(super) open: bool,
}

/// Draws a source that begins at a block; `known` are link definitions from elsewhere. Also gives the
/// names that are defined neither there nor in it.
pub(super) fn part(
    source: &str,
    look: &Look<'_>,
    known: &Definitions,
) -> (Vec<Line<'static>>, Vec<String>) {
    let mut missed = Vec::new();
    let blocks = tree::parse(source, look, known, &mut missed);
    (draw::blocks(&blocks, look), missed)
}
