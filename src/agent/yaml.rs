//! YAML as a tree that knows its lines, so that an error can say where and what to write instead.
//!
//! The only user of serde-saphyr in this folder.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value and the line it stands in, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) value: Value,
}

/// What can stand in an agent file. Numbers are kept as text: nothing here calculates.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a map.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) line: u64,
    pub(super) key: String,
    pub(super) value: Node,
}

/// Why a text is no YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxFault {
    pub(super) line: u64,
    pub(super) reason: String,
}

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxFault> {
    let options = serde_saphyr::options! { with_snippet: false };
    match serde_saphyr::from_str_with_options::<Spanned<Value>>(text, options) {
        Ok(spanned) => Ok(spanned.into()),
        Err(error) => {
            let line = error.location().map_or(1, |place| place.line());
            let told = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
            let first = told.lines().next().unwrap_or_default();
            Err(SyntaxFault { line, reason: without_place(first).to_owned() })
        }
    }
}

/// Cuts the library's own ` at line 3, column 5`: the caller says the line in this program's way.
fn without_place(reason: &str) -> &str {
    let cut = reason.find(" at line ").unwrap_or(reason.len());
    let told = reason.get(..cut).unwrap_or(reason);
    told.strip_prefix("YAML parse error: ").unwrap_or(told).trim_end_matches([':', ' '])
}

impl Value {
    /// What it is, in a person's words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map of keys",
        }
    }

    /// The text of a scalar, whatever YAML took it for: `0.1`, `yes` and `null` are all fine words.
    pub(super) fn scalar(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(text) | Self::Text(text) => Some(text.clone()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        Self { line: spanned.referenced.line(), value: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, a list or a map with text keys")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        Value::deserialize(input)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Value>>()? {
            nodes.push(item.into());
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Spanned<Value>>()?;
            entries.push(Entry {
                line: key.referenced.line(),
                key: key.value,
                value: value.into(),
            });
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries(text: &str) -> Vec<Entry> {
        match parse(text).expect("yaml").value {
            Value::Map(entries) => entries,
            other => panic!("not a map: {other:?}"),
        }
    }

    #[test]
    fn every_node_knows_its_line() {
        let found = entries("name: a\n\nvars:\n  ONE: 1\n  TWO: \"2\"\ntools: [A,\n  B]\n");
        assert_eq!(found[0].line, 1);
        assert_eq!(found[1].line, 3);
        let Value::Map(vars) = &found[1].value.value else { panic!("vars") };
        assert_eq!((vars[0].line, vars[1].line), (4, 5));
        assert_eq!(vars[0].value.value, Value::Number("1".to_owned()));
        assert_eq!(vars[1].value.value, Value::Text("2".to_owned()));
        let Value::List(tools) = &found[2].value.value else { panic!("tools") };
        assert_eq!((tools[0].line, tools[1].line), (6, 7));
    }

    #[test]
    fn scalars_keep_what_was_written() {
        let found = entries("version: 0.1\non: true\nempty:\nminus: -3\n");
        assert_eq!(found[0].value.value.scalar().as_deref(), Some("0.1"));
        assert_eq!(found[1].value.value.scalar().as_deref(), Some("true"));
        assert_eq!(found[2].value.value, Value::Null);
        assert_eq!(found[3].value.value.scalar().as_deref(), Some("-3"));
    }

    #[test]
    fn a_fault_has_a_line_and_a_reason() {
        let fault = parse("name: a\ntools: [A, B\nvars: }\n").expect_err("broken");
        assert!((2..=3).contains(&fault.line), "{fault:?}");
        assert!(!fault.reason.contains(" at line "), "{fault:?}");
        let twice = parse("name: a\nname: b\n").expect_err("a key twice");
        assert_eq!(twice.line, 2, "{twice:?}");
        assert!(twice.reason.contains("name"), "{twice:?}");
    }

    #[test]
    fn aliases_cannot_blow_up_the_tree() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let parent = format!("*a{}", level - 1);
            let row = vec![parent; 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{row}]\n"));
        }
        assert!(parse(&bomb).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ \\n:\\[\\]{}&*!|>'\"#a-c0-9-]{0,120}") {
            let _ = parse(&text);
        }
    }
}
