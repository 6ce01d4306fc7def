//! Markdown that is still being written, made so that what is drawn of it stays.
//!
//! Its end may mean one thing now and another with the next character: `-` is a heading's line, a bullet
//! or a rule, `**bold` is two stars or strong text. What cannot be known yet is held back; what is open
//! is drawn as if it were closed, as it nearly always will be. So lines change where they are written
//! and hardly anywhere else.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::tree::options;

/// What is to be drawn of a source that goes on.
pub(in crate::ui::render) fn steady(source: &str) -> Cow<'_, str> {
    let last = Last::of(source);
    if last.kind == Kind::Raw {
        return Cow::Borrowed(source);
    }
    let kept = without_end(without_line(source, last.kind == Kind::Table));
    let last = if kept.len() == source.len() { last } else { Last::of(kept) };
    let ends = last.ends(kept);
    if ends.is_empty() {
        Cow::Borrowed(kept)
    } else {
        Cow::Owned(format!("{}{ends}", kept.trim_end()))
    }
}

/// What the last block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Running text.
    Text,
    Table,
    /// Code or HTML: it is what it is.
    Raw,
}

/// The last block that holds no others.
#[derive(Debug)]
struct Last {
    kind: Kind,
    is_heading: bool,
    start: usize,
    /// The parts of it that are text and nothing else.
    texts: Vec<Range<usize>>,
}

impl Last {
    fn of(source: &str) -> Self {
        let end = source.trim_end().len();
        let mut last = Self { kind: Kind::Text, is_heading: false, start: 0, texts: Vec::new() };
        for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
            let kind = match &event {
                Event::Text(text) if source.get(range.clone()) == Some(&**text) => {
                    last.texts.push(range);
                    continue;
                }
                Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) if range.end >= end => Kind::Raw,
                Event::Start(Tag::Table(_)) if range.end >= end => Kind::Table,
                Event::Start(Tag::TableHead | Tag::TableRow | Tag::TableCell) => continue,
                Event::Start(tag) if !is_inline(tag) => Kind::Text,
                Event::Rule => Kind::Text,
                _ => continue,
            };
            let is_heading = matches!(event, Event::Start(Tag::Heading { .. }));
            last = Self { kind, is_heading, start: range.start, texts: Vec::new() };
        }
        last
    }

    /// What closes everything that is open in it.
    fn ends(&self, source: &str) -> String {
        let blank = &source[source.trim_end().len()..];
        let breaks = blank.matches('\n').count();
        if self.kind != Kind::Text || breaks > usize::from(!self.is_heading) {
            return String::new();
        }
        let mut runs = self.runs(source);
        let mut ends = String::new();
        if let Some(address) = self.open_address(source) {
            ends.push(')');
            runs.retain(|run| run.start < address);
        }
        // Nothing means anything in code and formulas.
        if let Some(raw) = runs.iter().position(|run| matches!(run.mark, '`' | '$')) {
            runs.truncate(raw + 1);
        }
        for run in runs.iter().rev() {
            ends.extend(std::iter::repeat_n(run.mark, run.len));
        }
        ends
    }

    /// Marks that may begin something and have no end.
    fn runs(&self, source: &str) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for text in &self.texts {
            for (at, mark) in source[text.clone()].char_indices() {
                let at = text.start + at;
                if !matches!(mark, '*' | '_' | '~' | '`' | '$') || source[..at].ends_with('\\') {
                    continue;
                }
                match runs.last_mut() {
                    Some(run) if run.mark == mark && run.start + run.len == at => run.len += 1,
                    _ => runs.push(Run { mark, start: at, len: 1 }),
                }
            }
        }
        runs.retain(|run| run.opens(source));
        runs
    }

    /// Where the address of a link begins that has no end yet.
    fn open_address(&self, source: &str) -> Option<usize> {
        let at = self.start + source.get(self.start..)?.rfind("](")?;
        let is_text = self.texts.iter().any(|text| text.contains(&at));
        (is_text && !source[at..].trim_end().contains([')', ' ', '\t', '\n'])).then_some(at)
    }
}

/// The same mark, once or several times.
#[derive(Debug)]
struct Run {
    mark: char,
    start: usize,
    len: usize,
}

impl Run {
    fn opens(&self, source: &str) -> bool {
        let before = source[..self.start].chars().next_back();
        let after = source[self.start + self.len..].chars().next();
        let is_at_word = after.is_some_and(|c| !c.is_whitespace());
        match self.mark {
            '`' => after.is_some(),
            '$' => self.len == 2 && after.is_some(),
            '~' => self.len <= 2 && is_at_word && !before.is_some_and(char::is_alphanumeric),
            _ => self.len <= 3 && is_at_word && !before.is_some_and(char::is_alphanumeric),
        }
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// `source` without a last line of which nobody knows yet what it begins.
fn without_line(source: &str, is_table: bool) -> &str {
    let (before, line) = source.split_at(source.rfind('\n').map_or(0, |end| end + 1));
    let is_row = |line: &str| line.trim_start_matches([' ', '>']).starts_with('|');
    if line.is_empty() || is_table || is_row(line) {
        // A row is drawn when it is whole, and the first of a table when the second makes it one.
        let ended = before.strip_suffix('\n').unwrap_or(before);
        let start = ended.rfind('\n').map_or(0, |end| end + 1);
        let kept = if line.is_empty() { source } else { before };
        return if !is_table && is_row(&ended[start..]) { &before[..start] } else { kept };
    }
    let goes_on = before.lines().next_back().is_some_and(|line| !line.trim().is_empty());
    if is_open_question(line, goes_on) { before } else { source }
}

/// May a line that begins so become another block than it is?
fn is_open_question(line: &str, goes_on: bool) -> bool {
    let text = line.trim_start_matches([' ', '>', '\t']).trim_end();
    if text.is_empty() {
        return !line.trim().is_empty();
    }
    let is_marks = |text: &str| {
        text.chars().all(|c| {
            matches!(c, '-' | '*' | '_' | '=' | '+' | '#' | '>' | '|' | '`' | '~' | ':' | ' ')
        })
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = &text[digits..];
    let is_number = (1..=9).contains(&digits)
        && match after {
            "" => goes_on,
            "." | ")" => true,
            _ => false,
        };
    let item = match after.strip_prefix(['.', ')']).filter(|_| digits > 0) {
        Some(item) => Some(item),
        None => text.strip_prefix(['-', '*', '+']),
    };
    let is_box =
        item.is_some_and(|item| matches!(item.trim(), "[" | "[x" | "[X" | "[x]" | "[X]" | "[ ]"));
    let is_definition = text.starts_with('[') && !text.starts_with("[^") && text.contains("]:");
    is_marks(text) || is_number || is_box || is_definition
}

/// `source` without characters at its end that the next ones may turn into something else.
fn without_end(source: &str) -> &str {
    if source.ends_with('\n') {
        return source;
    }
    let source = source.trim_end_matches(['*', '_', '~', '`', '\\', '$']);
    let word = source.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    // An entity, a tag or an address in angle brackets.
    let begun = source[word..].rfind(['&', '<']).map(|at| word + at).filter(|at| {
        let rest = &source[at + 1..];
        let is_entity = source[*at..].starts_with('&');
        if is_entity {
            rest.len() <= 8 && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
        } else {
            !rest.contains('>')
        }
    });
    &source[..begun.unwrap_or(source.len())]
}
