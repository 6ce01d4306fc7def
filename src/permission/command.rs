//! A shell command taken apart far enough to judge it: its simple commands, word by word.
//!
//! This is no shell. What it does not understand for certain it marks as [`Script::is_opaque`], and
//! then no rule allows it. What may stand in front of a program without changing what it does
//! (`timeout 5`, `nice`, harmless variables) is looked through.

mod quoting;

use std::mem;

use self::quoting::{closing, unescape};

/// How deep scripts inside scripts are looked at.
const DEEPEST: usize = 4;

/// A command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// Its simple commands, those in substitutions and in `sh -c` included.
    pub parts: Vec<Part>,
    /// Is there something in it that cannot be judged from its words: a substitution, a
    /// redirection into a file, a function, an unclosed quote?
    pub is_opaque: bool,
    /// Files it writes to by `>`.
    pub writes: Vec<String>,
    /// Files it reads by `<`.
    pub reads: Vec<String>,
    /// Assignments in front of commands: `NAME=value`.
    pub variables: Vec<String>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The program and its arguments, quotes taken off, wrappers looked through.
    pub words: Vec<String>,
    /// Did something stand in front of it that may change what it does: `sudo`, an unknown
    /// variable? Then no rule allows it.
    pub is_altered: bool,
    /// Does it read what the command before it prints?
    pub is_piped: bool,
}

/// Variables that change nothing about what a program does.
const HARMLESS: &[&str] = &[
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];
/// Programs that run another one as it is.
const TRANSPARENT: &[&str] = &["command", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"];
/// Programs that run another one in another way: looked through to find what is denied.
const ALTERING: &[&str] = &["builtin", "chroot", "doas", "exec", "ionice", "su", "sudo", "xargs"];
/// Shells, whose `-c` is a script.
pub(super) const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];
/// Words of the shell that begin or end something; what follows them is a command.
const KEYWORDS: &[&str] =
    &["!", "do", "done", "elif", "else", "esac", "fi", "if", "then", "until", "while", "{", "}"];
/// Words of the shell whose lines are not taken apart.
const STRANGE: &[&str] =
    &["case", "coproc", "eval", "for", "function", "select", "source", ".", "[["];

/// Takes `text` apart.
#[must_use]
pub fn parse(text: &str) -> Script {
    let mut script = Script::default();
    parse_into(text, 0, &mut script);
    script
}

fn parse_into(text: &str, depth: usize, script: &mut Script) {
    if depth > DEEPEST {
        script.is_opaque = true;
        return;
    }
    let mut reader = Reader { script: mem::take(script), depth, ..Reader::default() };
    reader.read(text);
    *script = reader.script;
}

#[derive(Default)]
struct Reader {
    script: Script,
    words: Vec<String>,
    /// The word that is being read; `Some("")` is an empty quoted one.
    word: Option<String>,
    depth: usize,
    /// What the next word is when it is none of the command's.
    target: Option<Target>,
    /// Does the next command read from a pipe?
    is_piped: bool,
    /// Texts of `<<<` of the command that is being read.
    here_texts: Vec<String>,
    /// Here-documents whose text begins at the next line.
    here_documents: Vec<HereDocument>,
    /// Is one of this line's commands a shell, so that a here-document is a script?
    line_has_shell: bool,
}

/// What stands behind a redirection.
#[derive(Debug, Clone, Copy)]
enum Target {
    Written,
    Read,
    Text,
}

/// `<<EOF`, `<<-EOF`, `<<'EOF'`.
struct HereDocument {
    end: String,
    is_quoted: bool,
    is_indented: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            rest = match c {
                '\'' => self.single(rest),
                '"' => self.double(rest),
                '\\' => self.escaped(rest),
                '$' => self.dollar(rest, c),
                '`' => self.backticks(rest),
                '>' | '<' => self.redirection(c, rest),
                '#' if self.word.is_none() => rest.find('\n').map_or("", |end| &rest[end..]),
                ' ' | '\t' | '\r' => {
                    self.end_word();
                    rest
                }
                '|' => {
                    self.end_part();
                    let is_or = rest.starts_with('|');
                    self.is_piped = !is_or;
                    if is_or || rest.starts_with('&') { &rest[1..] } else { rest }
                }
                ';' | '&' => {
                    self.end_part();
                    self.is_piped = false;
                    rest
                }
                // A pipe goes on behind the line's end.
                '\n' => {
                    self.end_part();
                    self.end_line(rest)
                }
                '(' | ')' => {
                    // `name()` makes a function; a subshell is just more commands.
                    self.script.is_opaque |=
                        c == '(' && (self.word.is_some() || !self.words.is_empty());
                    self.end_part();
                    rest
                }
                c => {
                    self.word.get_or_insert_default().push(c);
                    rest
                }
            };
        }
        self.end_part();
    }

    fn single<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some((inside, after)) = rest.split_once('\'') else {
            self.script.is_opaque = true;
            return "";
        };
        self.word.get_or_insert_default().push_str(inside);
        after
    }

    fn double<'a>(&mut self, rest: &'a str) -> &'a str {
        self.word.get_or_insert_default();
        let mut rest = rest;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            rest = match c {
                '"' => return rest,
                '\\' => self.escaped(rest),
                '$' => self.dollar(rest, c),
                '`' => self.backticks(rest),
                c => {
                    self.word.get_or_insert_default().push(c);
                    rest
                }
            };
        }
        self.script.is_opaque = true;
        rest
    }

    fn escaped<'a>(&mut self, rest: &'a str) -> &'a str {
        match rest.chars().next() {
            Some('\n') => &rest[1..],
            Some(c) => {
                self.word.get_or_insert_default().push(c);
                &rest[c.len_utf8()..]
            }
            None => rest,
        }
    }

    /// `$(…)` runs commands; `$name` stands for something unknown, and `$'…'` for odd characters.
    fn dollar<'a>(&mut self, rest: &'a str, c: char) -> &'a str {
        self.word.get_or_insert_default().push(c);
        self.script.is_opaque = true;
        if let Some(inside) = rest.strip_prefix('(') {
            return self.nested(inside);
        }
        match rest.strip_prefix('\'') {
            Some(inside) => {
                let word = self.word.get_or_insert_default();
                word.pop();
                unescape(inside, word)
            }
            None => rest,
        }
    }

    /// A script in parentheses whose opening one was read.
    fn nested<'a>(&mut self, inside: &'a str) -> &'a str {
        let end = closing(inside);
        parse_into(&inside[..end], self.depth + 1, &mut self.script);
        inside.get(end + 1..).unwrap_or_default()
    }

    fn backticks<'a>(&mut self, rest: &'a str) -> &'a str {
        self.script.is_opaque = true;
        let (inside, after) = rest.split_once('`').unwrap_or((rest, ""));
        parse_into(inside, self.depth + 1, &mut self.script);
        after
    }

    /// Reading from a file, `2>&1` and `>/dev/null` are harmless; a here-document is not understood.
    fn redirection<'a>(&mut self, c: char, rest: &'a str) -> &'a str {
        // A number right before it is the stream's, not a word.
        if self.word.as_deref().is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if let Some(inside) = rest.strip_prefix('(') {
            self.script.is_opaque = true;
            self.words.push(format!("{c}("));
            return self.nested(inside);
        }
        if c == '<' && rest.starts_with("<<") {
            self.script.is_opaque = true;
            self.target = Some(Target::Text);
            return rest[2..].trim_start_matches([' ', '\t']);
        }
        if let Some(rest) = rest.strip_prefix('<').filter(|_| c == '<') {
            self.script.is_opaque = true;
            return self.here_document(rest);
        }
        let target = rest.trim_start_matches(['>', '|']).trim_start_matches([' ', '\t']);
        if let Some(stream) = target.strip_prefix('&') {
            let digits = stream.bytes().take_while(|b| b.is_ascii_digit() || *b == b'-').count();
            if digits == 0 {
                self.script.is_opaque = true;
                self.target = Some(Target::Written);
            }
            return &stream[digits..];
        }
        let null = "/dev/null";
        if target.starts_with(null)
            && target[null.len()..].chars().next().is_none_or(|c| " \t\n;&|)".contains(c))
        {
            return &target[null.len()..];
        }
        self.script.is_opaque |= c == '>' || rest.starts_with(['<', '>']);
        // What follows a `<` is a file that is read, not a word of the command.
        let end = target.find([' ', '\t', '\n', ';', '&', '|', ')']).unwrap_or(target.len());
        if c == '<' && !target[..end].contains(['\'', '"', '\\', '$', '`', '<', '>']) {
            self.script.reads.push(target[..end].to_owned());
            return &target[end..];
        }
        self.script.is_opaque = true;
        self.target = Some(if c == '<' { Target::Read } else { Target::Written });
        target
    }

    /// `rest` follows `<<`; the text itself comes with the next line.
    fn here_document<'a>(&mut self, rest: &'a str) -> &'a str {
        let is_indented = rest.starts_with('-');
        let rest = rest.trim_start_matches('-').trim_start_matches([' ', '\t']);
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', ')', '<', '>']).unwrap_or(rest.len());
        let word = &rest[..end];
        let plain = word.replace(['\'', '"', '\\'], "");
        let is_quoted = plain != word;
        self.here_documents.push(HereDocument { end: plain, is_quoted, is_indented });
        &rest[end..]
    }

    /// Takes the here-documents that begin with `rest` off it. They are text, not commands, unless
    /// a shell reads them.
    fn end_line<'a>(&mut self, rest: &'a str) -> &'a str {
        let has_shell = mem::take(&mut self.line_has_shell);
        let mut rest = rest;
        for document in mem::take(&mut self.here_documents) {
            let (mut text, mut at) = (String::new(), 0);
            for line in rest.split_inclusive('\n') {
                at += line.len();
                let bare = line.trim_end_matches(['\n', '\r']);
                let bare = if document.is_indented { bare.trim_start_matches('\t') } else { bare };
                if bare == document.end {
                    break;
                }
                text.push_str(line);
            }
            rest = &rest[at..];
            if has_shell {
                parse_into(&text, self.depth + 1, &mut self.script);
            } else if !document.is_quoted {
                self.substitutions(&text);
            }
        }
        rest
    }

    /// Adds the commands that run inside `text`, which is otherwise no command.
    fn substitutions(&mut self, text: &str) {
        let mut reader = Self { depth: self.depth, ..Self::default() };
        // Inside quotes only substitutions count.
        reader.double(&text.replace('"', " "));
        self.script.parts.append(&mut reader.script.parts);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            None => self.words.push(word),
            Some(Target::Written) => self.script.writes.push(word),
            Some(Target::Read) => self.script.reads.push(word),
            Some(Target::Text) => self.here_texts.push(word),
        }
    }

    fn end_part(&mut self) {
        self.end_word();
        self.target = None;
        let words = mem::take(&mut self.words);
        let texts = mem::take(&mut self.here_texts);
        if words.is_empty() {
            return;
        }
        let is_shell = words.iter().any(|word| SHELLS.contains(&base_name(word)));
        self.line_has_shell |= is_shell;
        for text in texts.iter().filter(|_| is_shell) {
            parse_into(text, self.depth + 1, &mut self.script);
        }
        let first = self.script.parts.len();
        self.add(words);
        let is_piped = mem::take(&mut self.is_piped);
        for part in &mut self.script.parts[first..] {
            part.is_piped |= is_piped;
        }
    }

    /// Adds a command, with what stands in front of it looked through.
    fn add(&mut self, mut words: Vec<String>) {
        let mut is_altered = false;
        loop {
            let Some(first) = words.first() else { return };
            let name = base_name(first).to_owned();
            if let Some((variable, _)) = assignment(first) {
                is_altered |= !(HARMLESS.contains(&variable) || variable.starts_with("LC_"));
                let assignment = words.remove(0);
                self.script.variables.push(assignment);
            } else if KEYWORDS.contains(&first.as_str()) {
                words.remove(0);
            } else if STRANGE.contains(&first.as_str()) {
                self.script.is_opaque = true;
                break;
            } else if TRANSPARENT.contains(&name.as_str()) || name == "env" {
                let Some(rest) = unwrapped(&name, &words) else {
                    // Options of the wrapper that are not known here: judged, but never allowed.
                    is_altered = true;
                    words = without_options(&words);
                    continue;
                };
                words = rest;
            } else if ALTERING.contains(&name.as_str()) && words.len() > 1 {
                self.script.parts.push(Part {
                    words: words.clone(),
                    is_altered: true,
                    is_piped: false,
                });
                is_altered = true;
                words = without_options(&words);
            } else {
                break;
            }
        }
        let is_shell = words.first().is_some_and(|first| SHELLS.contains(&base_name(first)));
        if is_shell
            && let Some(at) = words.iter().position(|word| is_script_option(word))
            && let Some(script) = words.get(at + 1)
        {
            self.script.is_opaque = true;
            parse_into(script, self.depth + 1, &mut self.script);
        }
        if !words.is_empty() {
            self.script.parts.push(Part { words, is_altered, is_piped: false });
        }
    }
}

/// `-c`, or letters with a `c` among them: `-lc`.
pub(super) fn is_script_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains('c'))
}

/// The last part of a program's path.
pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((name, value))
}

/// What a transparent wrapper runs, when all its own words are known. Variables of `env` stay, to
/// be judged like others.
fn unwrapped(name: &str, words: &[String]) -> Option<Vec<String>> {
    let mut rest = words.get(1..)?;
    let takes_value: &[&str] = match name {
        "nice" => &["-n"],
        "timeout" => &["-k", "-s"],
        "stdbuf" => &["-i", "-o", "-e"],
        _ => &[],
    };
    while let Some(word) = rest.first().filter(|word| word.starts_with('-')) {
        let value = takes_value.contains(&word.as_str());
        let attached = takes_value.iter().any(|option| word.starts_with(option));
        let known = attached || matches!((name, word.as_str()), ("time", "-p") | (_, "--"));
        if !known {
            return None;
        }
        rest = rest.get(if value { 2 } else { 1 }..)?;
    }
    if name == "timeout" {
        rest = rest.get(1..)?;
    }
    Some(rest.to_vec())
}

/// The words after the first, without options: a guess at what an unknown wrapper runs.
fn without_options(words: &[String]) -> Vec<String> {
    words.iter().skip(1).skip_while(|word| word.starts_with('-')).cloned().collect()
}
