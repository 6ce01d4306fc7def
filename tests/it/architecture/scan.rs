//! Finds out which modules and crates a source file names. A scanner, not a parser: it knows
//! comments, text, braces and paths, which is what the rules are about.

use std::ops::Range;

/// A path that is named in a file: `crate::wire::Event` or `tokio::sync`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The line, counted from 1.
    pub line: usize,
    /// The path's parts; `crate` first when it is one of ours.
    pub path: Vec<String>,
    /// Inside an inline `mod tests`.
    pub in_tests: bool,
}

/// The paths `text` names. `module` is where the file stands, such as `["ui", "view", "chat"]`:
/// `super` and `self` are resolved from there.
pub fn names(module: &[&str], text: &str) -> Vec<Named> {
    let tokens = tokens(text);
    let mut scanner = Scanner { tokens: &tokens, module, inline: Vec::new(), depth: 0 };
    scanner.run()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    PathSep,
    Sign(char),
}

struct Scanner<'a> {
    tokens: &'a [(usize, Token)],
    module: &'a [&'a str],
    /// Inline modules we are in, with the brace depth of each body.
    inline: Vec<(String, usize)>,
    depth: usize,
}

impl Scanner<'_> {
    fn run(&mut self) -> Vec<Named> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.step(at, &mut found);
        }
        found
    }

    fn step(&mut self, at: usize, found: &mut Vec<Named>) -> usize {
        match (self.sign(at), self.word(at)) {
            (Some('{'), _) => self.depth += 1,
            (Some('}'), _) => {
                self.depth = self.depth.saturating_sub(1);
                let depth = self.depth;
                self.inline.retain(|(_, body)| *body <= depth);
            }
            (_, Some("mod")) if self.sign(at + 2) == Some('{') => {
                if let Some(name) = self.word(at + 1) {
                    self.inline.push((name.to_owned(), self.depth + 1));
                }
                self.depth += 1;
                return at + 3;
            }
            (_, Some("use")) => return self.tree(at + 1, &[], found),
            // A path begins at a word no `::` stands before; `::name` is the crate of that name.
            (_, Some(_)) if self.is_sep(at + 1) => return self.path(at, found),
            _ => {}
        }
        at + 1
    }

    /// One path in an expression or type; generics in it are scanned on their own.
    fn path(&self, mut at: usize, found: &mut Vec<Named>) -> usize {
        let start = at;
        let mut path = Vec::new();
        while let Some(word) = self.word(at) {
            path.push(word.to_owned());
            at += 1;
            if !self.is_sep(at) || self.word(at + 1).is_none() {
                break;
            }
            at += 1;
        }
        self.note(start, path, found);
        at
    }

    /// One `use` tree below `stem`: a path, then perhaps braces with more of them.
    fn tree(&self, mut at: usize, stem: &[String], found: &mut Vec<Named>) -> usize {
        let start = at;
        let mut path = stem.to_vec();
        loop {
            match (self.word(at), self.sign(at)) {
                (Some("as"), _) => {
                    self.note(start, path, found);
                    return at + 2;
                }
                (Some("self"), _) if !path.is_empty() => {}
                (Some(word), _) => path.push(word.to_owned()),
                (_, Some('{')) => return self.group(at + 1, &path, found),
                (_, Some('*')) => {}
                _ if self.is_sep(at) => {}
                _ => {
                    self.note(start, path, found);
                    return at;
                }
            }
            at += 1;
        }
    }

    fn group(&self, mut at: usize, stem: &[String], found: &mut Vec<Named>) -> usize {
        while at < self.tokens.len() {
            match self.sign(at) {
                Some('}') => return at + 1,
                Some(',') => at += 1,
                _ => {
                    let next = self.tree(at, stem, found);
                    // Broken source must not hold the scanner.
                    at = next.max(at + 1);
                }
            }
        }
        at
    }

    fn note(&self, at: usize, path: Vec<String>, found: &mut Vec<Named>) {
        let Some(path) = self.resolve(path) else { return };
        let line = self.tokens.get(at).map_or(0, |(line, _)| *line);
        let in_tests = self.inline.iter().any(|(name, _)| name == "tests");
        found.push(Named { line, path, in_tests });
    }

    /// `super::x` and `self::x` from the crate's root.
    fn resolve(&self, path: Vec<String>) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let is_self = path.first().is_some_and(|part| part == "self");
        if ups == 0 && !is_self {
            return (!path.is_empty()).then_some(path);
        }
        let here: Vec<&str> = self
            .module
            .iter()
            .copied()
            .chain(self.inline.iter().map(|(name, _)| name.as_str()))
            .collect();
        let stem = &here[..here.len().saturating_sub(ups)];
        let rest = &path[ups + usize::from(is_self)..];
        let parts = stem.iter().map(|part| (*part).to_owned()).chain(rest.iter().cloned());
        Some(std::iter::once("crate".to_owned()).chain(parts).collect())
    }

    fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some((_, Token::Word(word))) => Some(word),
            _ => None,
        }
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at) {
            Some((_, Token::Sign(sign))) => Some(*sign),
            _ => None,
        }
    }

    fn is_sep(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some((_, Token::PathSep)))
    }
}

/// Words and signs with their lines; comments, text and characters are left out.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let skipped = skip(bytes, at);
        if skipped > at {
            line += bytes[at..skipped].iter().filter(|byte| **byte == b'\n').count();
            at = skipped;
            continue;
        }
        let byte = bytes[at];
        if is_word(byte) {
            let word = word_at(bytes, at);
            found.push((line, Token::Word(text[word.clone()].to_owned())));
            at = word.end;
        } else if bytes[at..].starts_with(b"::") {
            found.push((line, Token::PathSep));
            at += 2;
        } else {
            if !byte.is_ascii_whitespace() {
                found.push((line, Token::Sign(byte as char)));
            }
            line += usize::from(byte == b'\n');
            at += 1;
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn word_at(bytes: &[u8], at: usize) -> Range<usize> {
    let end = bytes[at..].iter().position(|byte| !is_word(*byte)).map_or(bytes.len(), |n| at + n);
    at..end
}

/// The end of the comment, text or character that begins at `at`, or `at`.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return rest.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| at + n);
    }
    if rest.starts_with(b"/*") {
        return block_comment(bytes, at);
    }
    let starts_word = at == 0 || !is_word(bytes[at - 1]);
    if starts_word && let Some(end) = raw_text(bytes, at) {
        return end;
    }
    match rest {
        [b'"', ..] => quoted(bytes, at + 1, b'"'),
        [b'b' | b'c', b'"', ..] if starts_word => quoted(bytes, at + 2, b'"'),
        // 'a' and '\n' are characters; 'a without an end is a lifetime.
        [b'\'', b'\\', ..] => quoted(bytes, at + 1, b'\''),
        [b'\'', first, ..] => {
            let end = at + 1 + width(*first);
            if bytes.get(end) == Some(&b'\'') { end + 1 } else { at }
        }
        _ => at,
    }
}

fn width(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

fn block_comment(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut at) = (0, at);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if bytes[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn raw_text(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let prefix = [&b"br"[..], b"cr", b"r"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let after = &rest[prefix.len()..];
    let hashes = after.iter().take_while(|byte| **byte == b'#').count();
    if after.get(hashes) != Some(&b'"') {
        return None;
    }
    let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = at + prefix.len() + hashes + 1;
    let found = bytes[body..].windows(end.len()).position(|window| window == end);
    Some(found.map_or(bytes.len(), |n| body + n + end.len()))
}

fn quoted(bytes: &[u8], mut at: usize, end: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == end => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(module: &[&str], text: &str) -> Vec<String> {
        names(module, text).into_iter().map(|named| named.path.join("::")).collect()
    }

    #[test]
    fn use_trees_are_unfolded() {
        let text =
            "use crate::{wire::{self, Event as E}, message::*};\npub(crate) use tokio::sync;";
        assert_eq!(
            paths(&["ui"], text),
            ["crate::wire", "crate::wire::Event", "crate::message", "tokio::sync"]
        );
    }

    #[test]
    fn paths_in_code_are_found_and_text_and_comments_are_not() {
        let text = r##"
            // crate::soul::a
            /* crate::soul::b /* crate::soul::c */ crate::soul::d */
            fn f<'a>(x: &'a crate::wire::Event, c: char) -> Vec<crate::message::Role> {
                let _ = ("crate::soul::e \" crate::soul::f", r#"crate::soul::g " "#, '"', '\'');
                crate::config::load::<crate::paths::Paths>(b"crate::soul::h")
            }
        "##;
        assert_eq!(
            paths(&["ui"], text),
            [
                "crate::wire::Event",
                "crate::message::Role",
                "crate::config::load",
                "crate::paths::Paths"
            ]
        );
        assert_eq!(names(&[], text)[0].line, 4);
    }

    #[test]
    fn super_is_followed_through_inline_modules() {
        let text = "use super::super::soul;\nuse self::own;\nmod tests {\n use super::super::msg;\n}\nfn f() { super::model::x() }";
        let found = names(&["ui", "view"], text);
        let paths: Vec<_> = found.iter().map(|named| named.path.join("::")).collect();
        assert_eq!(
            paths,
            ["crate::soul", "crate::ui::view::own", "crate::ui::msg", "crate::ui::model::x"]
        );
        let in_tests: Vec<_> = found.iter().map(|named| named.in_tests).collect();
        assert_eq!(in_tests, [false, false, true, false]);
    }

    #[test]
    fn broken_source_ends() {
        for text in
            ["use crate::{a, ", "use {{{", "\"open", "r#\"open", "'", "/* open", "use ;", "b\""]
        {
            names(&["x"], text);
        }
    }
}
