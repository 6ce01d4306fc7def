//! D2 diagrams, as far as flows need them: boxes with labels, arrows in both directions, chains, text
//! blocks. Everything inside braces, and attributes, is skipped.

use super::{Drawing, FlowError};

/// Keys at the top that are settings, not boxes.
const SETTINGS: [&str; 8] =
    ["direction", "vars", "classes", "layers", "scenarios", "steps", "style", "title"];

pub(super) fn read(text: &str) -> Result<Drawing, FlowError> {
    let mut drawing = Drawing::default();
    let mut lines = text.lines().enumerate();
    let mut depth = 0_usize;
    while let Some((index, line)) = lines.next() {
        let number = index + 1;
        let line = without_comment(line);
        if depth > 0 {
            depth = nested(depth, line);
            continue;
        }
        let mut line = line.trim().to_owned();
        if let Some((head, fence)) = text_block(&line) {
            let mut label = Vec::new();
            loop {
                let Some((_, more)) = lines.next() else {
                    return Err(FlowError::at(number, "the text block is not closed"));
                };
                if more.trim() == fence {
                    break;
                }
                label.push(more.trim());
            }
            let label = label.join("\n").trim().to_owned();
            statement(&mut drawing, number, &head, Some(&label))?;
            continue;
        }
        if let Some(at) = brace(&line) {
            depth = nested(0, line.get(at..).unwrap_or_default());
            line.truncate(at);
        }
        for part in split_outside_quotes(&line, ";") {
            statement(&mut drawing, number, part, None)?;
        }
    }
    if depth > 0 {
        return Err(FlowError::new("a brace is not closed"));
    }
    Ok(drawing)
}

/// One statement; `block` is the label that stood in a text block.
fn statement(
    drawing: &mut Drawing,
    line: usize,
    text: &str,
    block: Option<&str>,
) -> Result<(), FlowError> {
    let text = text.trim();
    if text.is_empty() || text == "}" {
        return Ok(());
    }
    let parts = split_outside_quotes(text, ":");
    let keys = parts.first().copied().unwrap_or_default();
    let label = match block {
        Some(block) => Some(block.to_owned()),
        None => text.get(keys.len() + 1..).map(unquoted).filter(|label| !label.is_empty()),
    };
    let (ids, arrows) = chain(keys);
    if arrows.is_empty() {
        let id = unquoted(keys);
        let is_setting = SETTINGS.contains(&id.as_str()) || (is_bare(keys) && id.contains('.'));
        if id.is_empty() {
            return Err(FlowError::at(line, format!("a box was expected: {text}")));
        }
        if !is_setting {
            drawing.node(line, &id, label.as_deref())?;
        }
        return Ok(());
    }
    let mut nodes = Vec::new();
    for id in ids {
        let id = unquoted(id);
        if id.is_empty() {
            return Err(FlowError::at(line, format!("an arrow without a box: {text}")));
        }
        nodes.push(drawing.node(line, &id, None)?);
    }
    let label = label.unwrap_or_default();
    for (pair, arrow) in nodes.windows(2).zip(arrows) {
        match arrow {
            "->" | "--" => drawing.arrow(line, pair[0], pair[1], &label)?,
            "<-" => drawing.arrow(line, pair[1], pair[0], &label)?,
            _ => return Err(FlowError::at(line, "an arrow has one direction, -> or <-")),
        }
    }
    Ok(())
}

/// The boxes of `a -> b <- c` and the arrows between them.
fn chain(text: &str) -> (Vec<&str>, Vec<&'static str>) {
    let (mut ids, mut arrows) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let first = ["<->", "->", "<-", "--"]
            .into_iter()
            .filter_map(|arrow| Some((find_outside_quotes(rest, arrow)?, arrow)))
            .min_by_key(|(at, arrow)| (*at, std::cmp::Reverse(arrow.len())));
        let Some((at, arrow)) = first else {
            ids.push(rest);
            return (ids, arrows);
        };
        ids.push(rest.get(..at).unwrap_or_default());
        arrows.push(arrow);
        rest = rest.get(at + arrow.len()..).unwrap_or_default();
    }
}

fn is_bare(key: &str) -> bool {
    !key.trim().starts_with(['"', '\''])
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)));
    inner.unwrap_or(text).replace("\\n", "\n").replace("\\\"", "\"").trim().to_owned()
}

/// `key: |md` and what closes the block.
fn text_block(line: &str) -> Option<(String, String)> {
    let at = find_outside_quotes(line, ":")?;
    let value = line.get(at + 1..)?.trim();
    let bars = value.len() - value.trim_start_matches('|').len();
    let kind = value.get(bars..)?;
    let is_open = bars > 0 && kind.chars().all(|c| c.is_ascii_alphanumeric());
    is_open.then(|| (line.get(..at).unwrap_or_default().to_owned(), "|".repeat(bars)))
}

fn without_comment(line: &str) -> &str {
    find_outside_quotes(line, "#").and_then(|at| line.get(..at)).unwrap_or(line)
}

fn brace(line: &str) -> Option<usize> {
    find_outside_quotes(line, "{")
}

/// How deep in braces one is behind `text`.
fn nested(depth: usize, text: &str) -> usize {
    let mut depth = depth;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

/// Where `wanted` begins outside of quotes. An apostrophe inside a word is no quote.
fn find_outside_quotes(text: &str, wanted: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if text.get(at..).is_some_and(|rest| rest.starts_with(wanted)) => return Some(at),
            None if c == '"' || (c == '\'' && !before.is_alphanumeric()) => quote = Some(c),
            None => {}
        }
        before = c;
    }
    None
}

fn split_outside_quotes<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = find_outside_quotes(rest, separator) {
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after.get(separator.len()..).unwrap_or_default();
    }
    parts.push(rest);
    parts
}
