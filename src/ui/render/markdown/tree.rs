//! The blocks of a Markdown source, and reading them.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{
    Alignment, BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};
use ratatui::style::Style;
use ratatui::text::Span;

use super::Look;
use super::inline::Inline;
use super::math;

/// Blocks in blocks deeper than this are drawn as if they were not nested.
const MAX_DEPTH: usize = 16;

/// Text with styles, in lines where the source has hard breaks.
pub(super) type Styled = Vec<Vec<Span<'static>>>;

/// One block.
#[derive(Debug)]
pub(super) enum Block {
    Paragraph(Styled),
    Heading(Styled),
    Code { language: String, code: String, open: bool },
    Quote(Vec<Block>),
    List { start: Option<u64>, items: Vec<Item> },
    Table(Table),
    Rule,
    Html(String),
    Footnote { label: String, blocks: Vec<Block> },
}

/// One item of a list.
///
/// Empty lines are drawn where they were written, not in the whole list as soon as there is one
/// anywhere: a list that is being written must not come apart when its next item does.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) task: Option<bool>,
    pub(super) blocks: Vec<Block>,
    /// Was there an empty line before it?
    pub(super) gap: bool,
    /// Was there one before each of its blocks?
    pub(super) gaps: Vec<bool>,
}

impl Item {
    fn push(&mut self, block: Block, gap: bool) {
        self.blocks.push(block);
        self.gaps.push(gap);
    }
}

/// A table. Rows may have fewer cells than the head.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) head: Vec<Styled>,
    pub(super) rows: Vec<Vec<Styled>>,
}

/// Link definitions (`[name]: url`) by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::ui::render) struct Definitions(HashMap<String, (String, String)>);

impl Definitions {
    fn get(&self, name: &str) -> Option<(CowStr<'static>, CowStr<'static>)> {
        let (url, title) = self.0.get(&folded(name))?;
        Some((url.clone().into(), title.clone().into()))
    }

    /// Adds those of `later`; the first of a name counts. The answer are the names that were not known.
    pub(in crate::ui::render) fn extend(&mut self, later: Self) -> Vec<String> {
        let is_new = |(name, _): &(String, _)| !self.0.contains_key(name);
        let new: Vec<(String, (String, String))> = later.0.into_iter().filter(is_new).collect();
        let names = new.iter().map(|(name, _)| name.clone()).collect();
        self.0.extend(new);
        names
    }
}

fn folded(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

pub(in crate::ui::render) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
}

/// Reads `source`; `known` are link definitions from elsewhere. Names that were looked for and are not
/// defined anywhere go into `missed`.
pub(super) fn parse(
    source: &str,
    look: &Look<'_>,
    known: &Definitions,
    missed: &mut Vec<String>,
) -> Vec<Block> {
    let resolve = |link: BrokenLink<'_>| {
        let found = known.get(&link.reference);
        if found.is_none() {
            missed.push(folded(&link.reference));
        }
        found
    };
    let parser = Parser::new_with_broken_link_callback(source, options(), Some(resolve));
    let mut reader = Reader::new(source, look);
    for (event, range) in parser.into_offset_iter() {
        reader.event(event, range);
    }
    reader.finish()
}

/// Where the last block of `source` that may go on begins, at a line start, and the link definitions in
/// `source`.
pub(in crate::ui::render) fn scan(source: &str) -> (usize, Definitions) {
    let parser = Parser::new_ext(source, options());
    let mut found = Definitions::default();
    for (name, definition) in parser.reference_definitions().iter() {
        let title = definition.title.as_deref().unwrap_or_default().to_owned();
        found.0.insert(folded(name), (definition.dest.to_string(), title));
    }
    let mut depth = 0_usize;
    let (mut before, mut last, mut end) = (0, 0, 0);
    let mut is_over = false;
    let text = source.trim_end().len();
    for (event, range) in parser.into_offset_iter() {
        if depth == 0 {
            (before, last, end) = (end, range.start, range.end);
            is_over = ends_with_blank_line(&event) || is_fenced(&event) && range.end <= text;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if is_over && source[text..].matches('\n').count() > 1 {
        return (source.len(), found);
    }
    let cut = line_start(source, last);
    // Directly below a definition a block is read as if it were below a paragraph.
    let is_below =
        cut > before && !source[before..cut].trim().is_empty() && !blank_before(source, cut);
    (if is_below { line_after(source, before) } else { cut }, found)
}

/// Is nothing below an empty line part of the block that begins so?
fn ends_with_blank_line(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Table(_)) | Event::Rule
    )
}

fn is_fenced(event: &Event<'_>) -> bool {
    matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))))
}

/// The beginning of the first line that does not begin before `at`.
fn line_after(source: &str, at: usize) -> usize {
    if at == 0 || source[..at].ends_with('\n') {
        return at;
    }
    source[at..].find('\n').map_or(at, |end| at + end + 1)
}

/// The parser's range of an indented block begins after the indent; a cut there would change it.
fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Is the line before the one `at` is in empty?
fn blank_before(source: &str, at: usize) -> bool {
    let before = &source[..line_start(source, at)];
    let Some(before) = before.strip_suffix('\n') else { return false };
    let before = before.strip_suffix('\r').unwrap_or(before);
    let line = &before[line_start(before, before.len())..];
    line.chars().all(|c| c.is_whitespace() || c == '>')
}

/// Does it begin a block, and end what has no end of its own?
fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::List(_)
            | Tag::Item
            | Tag::FootnoteDefinition(_)
            | Tag::Table(_)
            | Tag::HtmlBlock
    )
}

/// A container that is being filled.
#[derive(Debug)]
enum Frame {
    Quote(Vec<Block>),
    List { start: Option<u64>, items: Vec<Item> },
    Item(Item),
    Footnote { label: String, blocks: Vec<Block> },
}

struct Reader<'a> {
    source: &'a str,
    look: &'a Look<'a>,
    blocks: Vec<Block>,
    /// What is being filled, and where it began.
    frames: Vec<(Frame, usize)>,
    /// Where the block without blocks in it began that is being read.
    began: usize,
    /// Containers inside the deepest frame that are not drawn as such.
    flattened: usize,
    inline: Option<Inline<'a>>,
    code: Option<(String, String, bool)>,
    html: Option<String>,
    table: Option<Table>,
    heading: Option<HeadingLevel>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, look: &'a Look<'a>) -> Self {
        Self {
            source,
            look,
            blocks: Vec::new(),
            frames: Vec::new(),
            began: 0,
            flattened: 0,
            inline: None,
            code: None,
            html: None,
            table: None,
            heading: None,
        }
    }

    fn finish(mut self) -> Vec<Block> {
        self.flush();
        self.blocks
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        let is_block = match &event {
            Event::Start(tag) => is_block(tag),
            event => matches!(event, Event::Rule),
        };
        if is_block {
            self.flush();
        }
        let is_inside = self.inline.is_some() || self.html.is_some() || self.code.is_some();
        if is_block || !is_inside && self.table.is_none() {
            self.began = range.start;
        }
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => {
                if let Some((_, code, _)) = &mut self.code {
                    code.push_str(&text);
                } else if let Some(html) = &mut self.html {
                    html.push_str(&text);
                } else {
                    self.inline().text(&text);
                }
            }
            Event::Html(text) => self.html.get_or_insert_default().push_str(&text),
            Event::Code(text) => self.inline().code(&text),
            Event::InlineHtml(text) => self.inline().html(&text),
            Event::FootnoteReference(label) => self.inline().footnote(&label),
            Event::SoftBreak => self.inline().soft_break(),
            Event::HardBreak => self.inline().hard_break(),
            Event::Rule => self.push(Block::Rule, self.began),
            Event::TaskListMarker(done) => {
                if let Some((Frame::Item(item), _)) = self.frames.last_mut() {
                    item.task = Some(done);
                }
            }
            Event::InlineMath(text) => self.inline().math(&text),
            Event::DisplayMath(text) => {
                let inline = self.inline();
                inline.line_begins();
                for line in math::readable(text.trim()).lines().filter(|l| !l.trim().is_empty()) {
                    inline.math_line(line);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.begin_text(),
            Tag::Heading { level, .. } => {
                self.flush();
                self.heading = Some(level);
                self.begin_text();
            }
            Tag::BlockQuote(_) => self.enter(Frame::Quote(Vec::new())),
            Tag::CodeBlock(kind) => {
                self.flush();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let open = self.look.open && range.end >= self.source.trim_end().len();
                self.code = Some((info, String::new(), open));
            }
            Tag::List(start) => {
                self.enter(Frame::List { start, items: Vec::new() });
            }
            Tag::Item => {
                let gap = blank_before(self.source, range.start);
                self.enter(Frame::Item(Item { gap, ..Item::default() }));
            }
            Tag::FootnoteDefinition(label) => {
                self.enter(Frame::Footnote { label: label.into_string(), blocks: Vec::new() });
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table { alignments, ..Table::default() });
            }
            Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => self.begin_text(),
            Tag::HtmlBlock => {
                self.flush();
                self.html = Some(String::new());
            }
            Tag::Emphasis => self.styled(self.look.theme.emphasis),
            Tag::Strong => self.styled(self.look.theme.strong),
            Tag::Strikethrough => self.styled(Style::new().crossed_out()),
            Tag::Link { dest_url, .. } => self.inline().begin_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.inline().begin_link(&dest_url, true),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.heading = None;
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.leave();
            }
            TagEnd::CodeBlock => {
                if let Some((language, code, open)) = self.code.take() {
                    self.push(Block::Code { language, code, open }, self.began);
                }
            }
            TagEnd::HtmlBlock => self.flush(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.push(Block::Table(table), self.began);
                }
            }
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.inline().end_style();
            }
            TagEnd::Link | TagEnd::Image => self.inline().end_link(),
            _ => {}
        }
    }

    fn styled(&mut self, style: Style) {
        self.inline().begin_style(style);
    }

    fn begin_text(&mut self) {
        self.flush();
        self.inline();
    }

    /// The text that is being read; items of tight lists have text without a paragraph.
    fn inline(&mut self) -> &mut Inline<'a> {
        let theme = self.look.theme;
        let quoted = self.frames.iter().any(|(frame, _)| matches!(frame, Frame::Quote(_)));
        let in_head = self.table.as_ref().is_some_and(|table| table.rows.is_empty());
        let mut base = theme.assistant;
        if quoted {
            base = base.patch(theme.quote);
        }
        if let Some(level) = self.heading {
            base = base.patch(theme.heading);
            match level {
                HeadingLevel::H1 => base = base.underlined(),
                HeadingLevel::H2 => {}
                _ => base = base.italic(),
            }
        }
        if in_head {
            base = base.patch(theme.strong);
        }
        self.inline.get_or_insert_with(|| Inline::new(theme, base))
    }

    fn end_cell(&mut self) {
        let text = self.inline.take().map(Inline::finish).unwrap_or_default();
        if let Some(table) = &mut self.table {
            table.rows.last_mut().unwrap_or(&mut table.head).push(text);
        }
    }

    /// Ends what has no end of its own.
    fn flush(&mut self) {
        if let Some(html) = self.html.take() {
            self.push(Block::Html(html), self.began);
        }
        if let Some(inline) = self.inline.take() {
            let text = inline.finish();
            if !text.is_empty() {
                let heading = self.heading.is_some();
                let block = if heading { Block::Heading(text) } else { Block::Paragraph(text) };
                self.push(block, self.began);
            }
        }
    }

    fn push(&mut self, block: Block, began: usize) {
        match self.frames.last_mut().map(|(frame, _)| frame) {
            None => self.blocks.push(block),
            Some(Frame::Quote(blocks) | Frame::Footnote { blocks, .. }) => blocks.push(block),
            Some(Frame::Item(item)) => item.push(block, blank_before(self.source, began)),
            // Lists hold items only; what else comes is an item without a bullet of its own.
            Some(Frame::List { items, .. }) => {
                if items.is_empty() {
                    items.push(Item::default());
                }
                if let Some(item) = items.last_mut() {
                    item.push(block, blank_before(self.source, began));
                }
            }
        }
    }

    fn enter(&mut self, frame: Frame) {
        self.flush();
        // An item and its list must be cut off together.
        let full = self.frames.len() >= MAX_DEPTH && !matches!(frame, Frame::Item(_));
        if self.flattened > 0 || full {
            self.flattened += 1;
        } else {
            self.frames.push((frame, self.began));
        }
    }

    fn leave(&mut self) {
        self.flush();
        if self.flattened > 0 {
            self.flattened -= 1;
            return;
        }
        let Some((frame, began)) = self.frames.pop() else { return };
        let block = match frame {
            Frame::Quote(blocks) => Block::Quote(blocks),
            Frame::Footnote { label, blocks } => Block::Footnote { label, blocks },
            Frame::List { start, items } => Block::List { start, items },
            Frame::Item(item) => {
                if let Some((Frame::List { items, .. }, _)) = self.frames.last_mut() {
                    items.push(item);
                }
                return;
            }
        };
        self.push(block, began);
    }
}
