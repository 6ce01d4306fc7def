//! What a skill's file says about itself: the YAML between two lines of `---` at its top.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Kind;

/// Characters of the first body line that stand in for a missing description.
const LONGEST_DESCRIPTION: usize = 240;
const NO_DESCRIPTION: &str = "No description provided.";

/// A skill's file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: Option<String>,
    pub(super) description: String,
    pub(super) kind: Kind,
    pub(super) body: String,
    /// Why the frontmatter could not be read; it is then as if there were none.
    pub(super) problem: Option<String>,
}

/// Reads `text`. Never fails: a file without frontmatter is all body.
pub(super) fn read(text: &str) -> Head {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, body) = split(text).unwrap_or(("", text));
    let (fields, problem) = match fields(yaml) {
        Ok(fields) => (fields, None),
        Err(problem) => (BTreeMap::new(), Some(problem)),
    };
    let field = |key: &str| {
        let text = match fields.get(key)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => return None,
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(line)
    };
    let is_flow = field("type").is_some_and(|kind| kind.eq_ignore_ascii_case("flow"));
    Head {
        name: field("name"),
        description: field("description").unwrap_or_else(|| first_line(body)),
        kind: if is_flow { Kind::Flow } else { Kind::Standard },
        body: body.to_owned(),
        problem,
    }
}

/// The YAML and what follows it; none when there is no frontmatter.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((text.get(first.len()..at)?, text.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

fn fields(yaml: &str) -> Result<BTreeMap<String, Value>, String> {
    if yaml.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    serde_saphyr::from_str(yaml).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().to_owned()
    })
}

fn first_line(body: &str) -> String {
    let line = body.lines().map(|line| line.trim().trim_start_matches('#').trim());
    match line.into_iter().find(|line| !line.is_empty()) {
        Some(line) => line.chars().take(LONGEST_DESCRIPTION).collect(),
        None => NO_DESCRIPTION.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_head_is_read_and_missing_parts_are_made_up() {
        let table = [
            ("---\nname: a\ndescription: does a\n---\nBody\n", Some("a"), "does a", "Body\n"),
            (
                "---\r\nname: a\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\nB",
                Some("a"),
                "two lines",
                "B",
            ),
            (
                "---\nname: 7\nextra: [1, {a: b}]\n---\n\n# Title\n",
                Some("7"),
                "Title",
                "\n# Title\n",
            ),
            ("just text\nmore", None, "just text", "just text\nmore"),
            ("---\nnever: closed\n", None, "---", "---\nnever: closed\n"),
            ("---\n---\n", None, NO_DESCRIPTION, ""),
            ("", None, NO_DESCRIPTION, ""),
        ];
        for (text, name, description, body) in table {
            let head = read(text);
            assert_eq!(head.name.as_deref(), name, "{text:?}");
            assert_eq!(head.description, description, "{text:?}");
            assert_eq!((head.body.as_str(), head.problem), (body, None), "{text:?}");
        }
        assert_eq!(read("---\ntype: Flow\n---\n").kind, Kind::Flow);
        assert_eq!(read("---\ntype: standard\n---\n").kind, Kind::Standard);
    }

    #[test]
    fn broken_yaml_is_told_and_the_text_still_serves() {
        let head = read("---\nname: [unclosed\n---\nDo it.\n");
        assert!(head.problem.is_some());
        assert_eq!((head.name, head.description.as_str()), (None, "Do it."));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(?s).{0,300}", yaml in "(?s)[-:a-z \\[\\]{}&*!|>\n\"']{0,120}") {
            read(&text);
            let head = read(&format!("---\n{yaml}\n---\nbody"));
            prop_assert!(!head.description.is_empty());
        }
    }
}
