//! The one argument of a tool call that says most, for a line like `Used ReadFile (src/main.rs)`.
//!
//! Arguments arrive in pieces, so this reads JSON that may break off anywhere; it looks at strings
//! and numbers of the outermost object only.

/// Characters of the result at most.
const MAX_CHARS: usize = 50;
/// Names that usually tell most, for tools that are not in the table.
const USUAL: &[&str] = &[
    "path",
    "file_path",
    "command",
    "pattern",
    "query",
    "url",
    "description",
    "title",
    "name",
    "task_id",
    "id",
    "prompt",
    "message",
    "thought",
];

/// What `arguments`, complete or not, say in short: a path, a command, a pattern. At most 50
/// characters, the middle left out where there are more, without line breaks and control characters.
///
/// `None` when nothing of the kind has arrived, and for tools that need no more than their name.
///
/// ```
/// use kimi_tui::message::key_argument;
/// assert_eq!(key_argument("Bash", r#"{"command": "cargo te"#), Some("cargo te".to_owned()));
/// assert_eq!(key_argument("Todo", r#"{"todos": []}"#), None);
/// ```
#[must_use]
pub fn key_argument(tool: &str, arguments: &str) -> Option<String> {
    let names: &[&str] = match tool {
        "ReadFile" | "WriteFile" | "EditFile" | "StrReplaceFile" | "ReadMediaFile" => {
            &["path", "file_path"]
        }
        "LS" => &["path", "directory", "dir"],
        "Bash" | "Shell" | "CMD" => &["command"],
        "Grep" | "Glob" => &["pattern"],
        "SearchWeb" => &["query"],
        "FetchURL" => &["url"],
        "Think" => &["thought"],
        "SendDMail" => &["message"],
        "Task" | "Agent" | "CreateSubagent" => &["description", "name", "prompt"],
        "TaskOutput" | "TaskStop" => &["task_id"],
        "Todo" | "SetTodoList" | "TaskList" | "EnterPlanMode" | "ExitPlanMode"
        | "AskUserQuestion" => return None,
        _ => USUAL,
    };
    let value = one_line(&first_of(names, arguments)?);
    (!value.is_empty()).then(|| shorten_middle(&value, MAX_CHARS))
}

/// The value of the first of `names` that the outermost object has, as far as it has arrived. Other
/// strings are passed over, not copied: the content of a file streams by here again and again.
fn first_of(names: &[&str], json: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let mut reader = Reader { rest: json };
    reader.skip(char::is_whitespace);
    if reader.next() != Some('{') {
        return None;
    }
    while best.as_ref().is_none_or(|(rank, _)| *rank > 0) {
        match reader.field(names) {
            Some(Some(found)) if best.as_ref().is_none_or(|(rank, _)| found.0 < *rank) => {
                best = Some(found);
            }
            Some(_) => {}
            None => break,
        }
    }
    best.map(|(_, value)| value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Goes over one field. `None` at the end of the object; otherwise its place in `names` and its
    /// value, if it is one of them and a string or a number.
    fn field(&mut self, names: &[&str]) -> Option<Option<(usize, String)>> {
        self.skip(|c| c.is_whitespace() || c == ',');
        if self.next() != Some('"') {
            return None;
        }
        let key = self.string();
        let rank = names.iter().position(|name| *name == key);
        self.skip(char::is_whitespace);
        if self.next() != Some(':') {
            return None;
        }
        self.skip(char::is_whitespace);
        match (self.peek()?, rank) {
            ('"', Some(rank)) => {
                self.next();
                Some(Some((rank, self.string())))
            }
            ('"', None) => {
                self.next();
                self.skip_string();
                Some(None)
            }
            ('{' | '[', _) => {
                self.skip_nested();
                Some(None)
            }
            (first, rank) => {
                let word = self.skip(|c| !matches!(c, ',' | '}') && !c.is_whitespace());
                let is_number = first == '-' || first.is_ascii_digit();
                Some(rank.filter(|_| is_number).map(|rank| (rank, word.to_owned())))
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    fn skip(&mut self, what: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !what(c)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    /// The rest of a string whose opening quote was taken. An escape that has not arrived whole is
    /// left out.
    fn string(&mut self) -> String {
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('"') => return text,
                Some('\\') => match self.escape() {
                    Some(c) => text.push(c),
                    None => return text,
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn skip_string(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => {
                    self.next();
                }
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unicode(),
            other => other,
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let unit = self.unit()?;
        if !(0xD800..0xDC00).contains(&unit) {
            return Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let mut ahead = Reader { rest: self.rest };
        match (ahead.next(), ahead.next()) {
            (Some('\\'), Some('u')) => {}
            (None, _) | (Some('\\'), None) => return None,
            _ => return Some(char::REPLACEMENT_CHARACTER),
        }
        let low = ahead.unit()?;
        if !(0xDC00..0xE000).contains(&low) {
            return Some(char::REPLACEMENT_CHARACTER);
        }
        self.rest = ahead.rest;
        char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        self.rest = self.rest.get(4..)?;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Skips an object or a list. Not recursive: depth costs nothing.
    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                '"' => self.skip_string(),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

/// Runs of white space and control characters become one space.
fn one_line(text: &str) -> String {
    // Far more than is shown, so that a streaming file of megabytes is not copied for each piece.
    const LOOKED_AT: usize = 4000;
    let clip = text.char_indices().nth(LOOKED_AT).map_or(text, |(end, _)| &text[..end]);
    let words = clip.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `text` in at most `chars` characters: its beginning, `…` and its end.
fn shorten_middle(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let head = chars / 2;
    let tail = chars.saturating_sub(head + 1);
    let mut short: String = text.chars().take(head).collect();
    short.push('…');
    short.extend(text.chars().skip(count - tail));
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(tool: &str, arguments: &str) -> Option<String> {
        key_argument(tool, arguments)
    }

    #[test]
    fn each_tool_has_its_argument() {
        for (tool, arguments, expected) in [
            ("ReadFile", r#"{"n_lines": 5, "path": "src/a.rs"}"#, "src/a.rs"),
            ("StrReplaceFile", r#"{"edit": {"path": "no", "old": "}"}, "path": "b"}"#, "b"),
            ("Shell", r#"{"timeout":60,"command":"echo \"hi\""}"#, "echo \"hi\""),
            ("Grep", r#"{"path":"src","pattern":"fn \\w+"}"#, "fn \\w+"),
            ("TaskStop", r#"{"task_id":"bash-1"}"#, "bash-1"),
            ("mcp_tool", r#"{"verbose":true,"query":"rust"}"#, "rust"),
            ("other", r#"{"id": 42}"#, "42"),
            ("other", r#"{"name": "n", "x": [{"path": "no"}], "path": "p"}"#, "p"),
            ("WriteFile", r#"{"content": "\"path\": \"no\"", "path": "yes"}"#, "yes"),
        ] {
            assert_eq!(key(tool, arguments).as_deref(), Some(expected), "{tool}");
        }
        assert_eq!(key("Todo", r#"{"todos":[{"title":"x"}]}"#), None);
        assert_eq!(key("Bash", r#"{"timeout": 3}"#), None);
        assert_eq!(key("Bash", "not json"), None);
    }

    #[test]
    fn arguments_that_have_not_arrived_whole_say_what_they_can() {
        assert_eq!(key("Bash", ""), None);
        assert_eq!(key("Bash", r#"{"comm"#), None);
        assert_eq!(key("Bash", r#"{"command": "#), None);
        assert_eq!(key("Bash", r#"{"command": "ls -l"#).as_deref(), Some("ls -l"));
        assert_eq!(key("Bash", r#"{"command": "a\"#).as_deref(), Some("a"));
        assert_eq!(key("Bash", r#"{"command": "a\u00"#).as_deref(), Some("a"));
        assert_eq!(key("Bash", r#"{"command": "a\ud83d\ud"#).as_deref(), Some("a"));
        assert_eq!(key("Bash", r#"{"command": "a\ud83d\ude00b"#).as_deref(), Some("a😀b"));
        assert_eq!(key("Bash", r#"{"command": "\ud83d!"#).as_deref(), Some("\u{fffd}!"));
    }

    #[test]
    fn long_values_lose_their_middle_and_line_breaks() {
        let path = format!("/home/me/{}/main.rs", "deep/".repeat(30));
        let short = key("ReadFile", &format!(r#"{{"path": "{path}"}}"#)).expect("path");
        assert_eq!(short.chars().count(), 50);
        assert!(short.starts_with("/home/me/deep") && short.ends_with("/main.rs"));
        let command = key("Bash", "{\"command\": \"cd x &&\\n\\tmake\n \\u001b[2J\"}");
        assert_eq!(command.as_deref(), Some("cd x && make [2J"));
    }

    proptest! {
        #[test]
        fn no_input_panics_and_no_result_is_long(
            tool in "(Bash|Grep|x)", text in any::<String>(), json in r#"[{}\[\]"\\u0-9a-f:, ]{0,60}"#,
        ) {
            for arguments in [&text, &json, &format!("{{\"command\": \"{text}"), &format!("{{\"name\":{json}")] {
                if let Some(key) = key_argument(&tool, arguments) {
                    prop_assert!(!key.is_empty() && key.chars().count() <= 50);
                    prop_assert!(!key.contains('\n'));
                }
            }
        }

        #[test]
        fn a_growing_prefix_agrees_with_the_whole(command in "[ -~\n]{1,40}") {
            let json = serde_json::json!({"timeout": 5, "command": command}).to_string();
            let whole = key_argument("Bash", &json).unwrap_or_default();
            for end in (0..json.len()).filter(|end| json.is_char_boundary(*end)) {
                let part = key_argument("Bash", &json[..end]).unwrap_or_default();
                prop_assert!(whole.starts_with(&part), "{part:?} {whole:?}");
            }
        }
    }
}
