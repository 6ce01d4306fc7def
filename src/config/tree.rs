//! TOML and JSON as one tree of values that know their lines, so that both are checked alike.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigErrorKind};

/// One value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) line: Option<usize>,
    pub(super) value: Value,
}

/// A value of either format. JSON's `null` is an absent entry, as upstream reads it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Table),
    /// A date, or a number that fits nowhere.
    Other,
}

impl Value {
    /// What it is, in a sentence.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a decimal number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other => "a value of another type",
        }
    }
}

/// Entries in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table(pub(super) Vec<Entry>);

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: Option<usize>,
    pub(super) node: Node,
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }
}

/// `text` as TOML.
pub(super) fn from_toml(text: &str) -> Result<Table, ConfigError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        syntax("TOML", error.message()).at(error.span().map(|span| lines.line(span.start)))
    })?;
    Ok(toml_table(table.get_ref(), &lines))
}

fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Table {
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(key, value)| {
            let start = key.span().start;
            let entry = Entry {
                key: key.get_ref().to_string(),
                line: Some(lines.line(start)),
                node: toml_node(value, lines),
            };
            (start, entry)
        })
        .collect();
    entries.sort_by_key(|(start, _)| *start);
    Table(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn toml_node(node: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other, Value::Integer),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Other, Value::Float),
        DeValue::Boolean(is) => Value::Bool(*is),
        DeValue::Datetime(_) => Value::Other,
        DeValue::Array(list) => {
            Value::List(list.iter().map(|node| toml_node(node, lines)).collect())
        }
        DeValue::Table(table) => Value::Table(toml_table(table, lines)),
    };
    Node { line: Some(lines.line(node.span().start)), value }
}

/// `text` as JSON. Values have no lines; syntax errors do.
pub(super) fn from_json(text: &str) -> Result<Table, ConfigError> {
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| syntax("JSON", &error.to_string()).at(Some(error.line().max(1))))?;
    match json_node(value) {
        Some(Node { value: Value::Table(table), .. }) => Ok(table),
        _ => Err(syntax("a configuration", "it must be one object").at(Some(1))),
    }
}

fn json_node(value: serde_json::Value) -> Option<Node> {
    use serde_json::Value as Json;
    let value = match value {
        Json::Null => return None,
        Json::Bool(is) => Value::Bool(is),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Integer(number),
            (None, Some(number)) => Value::Float(number),
            (None, None) => Value::Other,
        },
        Json::String(text) => Value::Text(text),
        Json::Array(list) => Value::List(list.into_iter().filter_map(json_node).collect()),
        Json::Object(map) => {
            let entry = |(key, value)| json_node(value).map(|node| Entry { key, line: None, node });
            Value::Table(Table(map.into_iter().filter_map(entry).collect()))
        }
    };
    Some(Node { line: None, value })
}

fn syntax(format: &str, detail: &str) -> ConfigError {
    let detail = detail.split_whitespace().collect::<Vec<_>>().join(" ");
    ConfigError::new(
        ConfigErrorKind::Syntax,
        format!("this is not {format}: {}", detail.trim_end_matches('.')),
        "Correct that line, or move the file away to start with the defaults.",
    )
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte).max(1)
    }
}
