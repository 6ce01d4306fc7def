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
    end: usize,
    /// The parts of it that are text and nothing else.
    texts: Vec<Range<usize>>,
}

impl Last {
    fn of(source: &str) -> Self {
        let end = source.trim_end().len();
        let mut last =
            Self { kind: Kind::Text, is_heading: false, start: 0, end, texts: Vec::new() };
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
            let Range { start, end } = range;
            last = Self { kind, is_heading, start, end, texts: Vec::new() };
        }
        last
    }

    /// What closes everything that is open in it.
    fn ends(&self, source: &str) -> String {
        let text = source.trim_end().len();
        let breaks = source[text..].matches('\n').count();
        // Below it may stand what is not drawn, the definition of a link.
        let is_over = self.end < text || breaks > usize::from(!self.is_heading);
        if self.kind != Kind::Text || is_over {
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
    let last = before.lines().next_back().unwrap_or_default();
    if !line.is_empty() && !is_table && !is_row(line) {
        return if is_open_question(line, last) { before } else { source };
    }
    // A row is drawn when it is whole, and the first of a table when the second makes it one.
    let is_headless = is_row(last) && Last::of(before).kind != Kind::Table;
    if is_headless { &before[..before.rfind(last).unwrap_or_default()] } else { before }
}

/// May a line that begins so, below `last`, become another block than it is?
fn is_open_question(line: &str, last: &str) -> bool {
    let text = line.trim_start_matches([' ', '>', '\t']).trim_end();
    if text.is_empty() {
        return !line.trim().is_empty();
    }
    let is_mark = |c: char| "-*_=+#>|`~: ".contains(c);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    // Below an empty line a number looks the same as the item it may begin.
    let is_number = (1..=9).contains(&digits)
        && matches!(&text[digits..], "" | "." | ")")
        && !last.trim().is_empty();
    let item = without_bullets(text);
    let is_box = item != text && matches!(item, "[" | "[x" | "[X" | "[x]" | "[X]" | "[ ]");
    text.chars().all(is_mark)
        || is_number
        || is_box
        || is_definition(item)
        || is_note(item)
        || is_definition(without_bullets(last)) && last.trim_end().ends_with("]:")
}

/// Does a link definition begin so?
fn is_definition(text: &str) -> bool {
    text.starts_with('[') && !text.starts_with("[^") && text.contains("]:")
}

/// Does a footnote begin so, of which nothing is there yet?
fn is_note(text: &str) -> bool {
    let name = text.strip_prefix("[^");
    let is_begun = |name: &str| name.find(']').is_none_or(|at| matches!(&name[at + 1..], "" | ":"));
    text == "[" || name.is_some_and(is_begun)
}

/// A line without the marks of the lists and quotes it is in.
fn without_bullets(line: &str) -> &str {
    let mut text = line;
    loop {
        text = text.trim_start_matches([' ', '>', '\t']);
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let after = match number.strip_prefix(['.', ')']).filter(|_| number.len() < text.len()) {
            Some(after) => Some(after),
            None => text.strip_prefix(['-', '*', '+']),
        };
        match after.filter(|after| after.starts_with([' ', '\t'])) {
            Some(after) => text = after,
            None => return text.trim_end(),
        }
    }
}

/// `source` without characters at its end that the next ones may turn into something else.
fn without_end(source: &str) -> &str {
    if source.ends_with('\n') {
        return source;
    }
    let source = source.trim_end_matches(['*', '_', '~', '`', '\\', '$']);
    let word =
        source.rsplit(char::is_whitespace).next().map_or(0, |word| source.len() - word.len());
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
