//! Mermaid flowcharts, as far as flows need them: boxes of every shape, arrows of every kind, chains
//! and `&`. Styling is skipped.

use super::{Drawing, FlowError};

/// First words of statements that draw nothing.
const SKIPPED: [&str; 10] = [
    "classDef",
    "class",
    "style",
    "linkStyle",
    "click",
    "subgraph",
    "end",
    "direction",
    "accTitle",
    "accDescr",
];

/// Openings of boxes and what closes them, longer ones first.
const SHAPES: [(&str, &str); 13] = [
    ("(((", ")))"),
    ("([", "])"),
    ("((", "))"),
    ("[[", "]]"),
    ("[(", ")]"),
    ("[/", "/]"),
    ("[\\", "\\]"),
    ("{{", "}}"),
    ("[", "]"),
    ("(", ")"),
    ("{", "}"),
    (">", "]"),
    ("[/", "\\]"),
];

pub(super) fn read(text: &str) -> Result<Drawing, FlowError> {
    let mut drawing = Drawing::default();
    let mut has_head = false;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.split("%%").next().unwrap_or_default().trim();
        if line.is_empty() || line == "---" {
            continue;
        }
        let word = line.split([' ', '\t', ';']).next().unwrap_or_default();
        if !has_head {
            if !["flowchart", "graph", "flowchart-elk"].contains(&word) {
                return Err(FlowError::at(number, "a flow begins with \"flowchart TD\""));
            }
            has_head = true;
            if let Some((_, rest)) = line.split_once(';') {
                statement(&mut drawing, number, rest)?;
            }
            continue;
        }
        if !SKIPPED.contains(&word) {
            statement(&mut drawing, number, line)?;
        }
    }
    Ok(drawing)
}

/// Statements of one line, separated by `;`.
fn statement(drawing: &mut Drawing, line: usize, text: &str) -> Result<(), FlowError> {
    let mut cursor = Cursor { rest: text.trim(), line };
    while !cursor.rest.is_empty() {
        let mut from = cursor.group(drawing)?;
        while let Some(label) = cursor.link() {
            let to = cursor.group(drawing)?;
            for &source in &from {
                for &target in &to {
                    drawing.arrow(line, source, target, &label)?;
                }
            }
            from = to;
        }
        cursor.skip();
        match cursor.rest.strip_prefix(';') {
            Some(rest) => cursor.rest = rest.trim_start(),
            None if cursor.rest.is_empty() => {}
            None => return Err(cursor.fault("this cannot be read")),
        }
    }
    Ok(())
}

struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn fault(&self, what: &str) -> FlowError {
        let place: String = self.rest.chars().take(30).collect();
        FlowError::at(self.line, format!("{what}: {place}"))
    }

    /// Boxes joined by `&`.
    fn group(&mut self, drawing: &mut Drawing) -> Result<Vec<usize>, FlowError> {
        let mut nodes = vec![self.node(drawing)?];
        loop {
            self.skip();
            let Some(rest) = self.rest.strip_prefix('&') else { return Ok(nodes) };
            self.rest = rest;
            nodes.push(self.node(drawing)?);
        }
    }

    fn node(&mut self, drawing: &mut Drawing) -> Result<usize, FlowError> {
        self.skip();
        let id_end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let mut end = id_end.unwrap_or(self.rest.len());
        // A dash inside a name, but not the beginning of an arrow.
        while let Some(tail) = self.rest.get(end..).and_then(|tail| tail.strip_prefix('-'))
            && tail.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let more = tail.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
            end += 1 + more.unwrap_or(tail.len());
        }
        if end == 0 {
            return Err(self.fault("a box was expected"));
        }
        let (id, rest) = self.rest.split_at(end);
        self.rest = rest;
        let label = self.shape()?;
        if let Some(rest) = self.rest.strip_prefix(":::") {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            self.rest = rest.get(end.unwrap_or(rest.len())..).unwrap_or_default();
        }
        drawing.node(self.line, id, label.as_deref())
    }

    /// The text of a box; none when only its name stands there.
    fn shape(&mut self) -> Result<Option<String>, FlowError> {
        let Some((open, close)) = SHAPES.iter().find(|(open, _)| self.rest.starts_with(open))
        else {
            return Ok(None);
        };
        let inner = self.rest.get(open.len()..).unwrap_or_default();
        let trimmed = inner.trim_start();
        if let Some(quoted) = trimmed.strip_prefix('"') {
            let Some((text, after)) = quoted.split_once('"') else {
                return Err(self.fault("the quote is not closed"));
            };
            let Some(after) = after.trim_start().strip_prefix(close) else {
                return Err(self.fault(&format!("the box is not closed by {close}")));
            };
            self.rest = after;
            return Ok(Some(plain(text)));
        }
        let Some((text, after)) = inner.split_once(close) else {
            return Err(self.fault(&format!("the box is not closed by {close}")));
        };
        self.rest = after;
        Ok(Some(plain(text)))
    }

    /// An arrow and its label; none when there is no arrow here.
    fn link(&mut self) -> Option<String> {
        self.skip();
        let text = self.rest.strip_prefix('<').unwrap_or(self.rest);
        let mark = text.chars().next().filter(|c| ['-', '='].contains(c))?;
        let solid = text.len() - text.trim_start_matches(mark).len();
        let after = text.get(solid..)?;
        let (label, rest) = if mark == '-' && solid == 1 {
            dotted(after)?
        } else if let Some(rest) = after.strip_prefix('>') {
            (None, rest)
        } else if solid >= 3 {
            (None, after)
        } else if solid == 2 {
            let pair = [mark, mark].iter().collect::<String>();
            let (label, rest) = after.split_once(&pair)?;
            let rest = rest.trim_start_matches(mark);
            (Some(label), rest.strip_prefix('>').unwrap_or(rest))
        } else {
            return None;
        };
        self.rest = rest.trim_start();
        if let Some(label) = label {
            return Some(plain(label));
        }
        let Some((label, rest)) =
            self.rest.strip_prefix('|').and_then(|inner| inner.split_once('|'))
        else {
            return Some(String::new());
        };
        self.rest = rest;
        Some(plain(label))
    }
}

/// What follows the first dash of `-.->` or `-. text .->`.
fn dotted(text: &str) -> Option<(Option<&str>, &str)> {
    let inner = text.strip_prefix('.')?;
    let bare = inner.trim_start_matches('.');
    if let Some(rest) = bare.strip_prefix('-') {
        return Some((None, rest.strip_prefix('>').unwrap_or(rest)));
    }
    let (label, rest) = inner.split_once(".-")?;
    Some((Some(label.trim_end_matches('.')), rest.strip_prefix('>').unwrap_or(rest)))
}

/// A label without quotes and line breaks of HTML.
fn plain(label: &str) -> String {
    let label = label.trim();
    let label = label.strip_prefix('"').and_then(|l| l.strip_suffix('"')).unwrap_or(label);
    let label = label.replace("<br/>", "\n").replace("<br>", "\n").replace("<br />", "\n");
    label.replace("#quot;", "\"").trim().to_owned()
}
