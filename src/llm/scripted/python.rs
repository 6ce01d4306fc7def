//! Values as Python writes them with `repr`: error texts of the scripted provider hold them.

use serde_json::Value;

/// `repr(text)`: single quotes unless the text has some and no double ones; escapes as Python's.
pub(super) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            // What is not printable: controls, separators but the space, formats and private use, of
            // which these are the ones a script may hold.
            c if c.is_control() || is_invisible(c) => {
                let code = u32::from(c);
                out.push_str(&match code {
                    0..=0xFF => format!("\\x{code:02x}"),
                    0x100..=0xFFFF => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn is_invisible(c: char) -> bool {
    (c != ' ' && c.is_whitespace())
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{f0000}'..)
}

/// `repr(value)` of what `json.loads` would have made of it.
pub(super) fn repr_value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr(text),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(repr_value).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(k, v)| format!("{}: {}", repr(k), repr_value(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// `type(value).__name__`.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Each expectation is what Python 3 prints.
    #[test]
    fn texts() {
        for (text, expected) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("\"q\" it's", "'\"q\" it\\'s'"),
            ("\"q\"", "'\"q\"'"),
            ("a\\b\tc\u{1b}", "'a\\\\b\\tc\\x1b'"),
            ("终端😀", "'终端😀'"),
            ("\u{a0}\u{200b}\u{feff}", "'\\xa0\\u200b\\ufeff'"),
        ] {
            assert_eq!(repr(text), expected);
        }
    }

    #[test]
    fn values() {
        let value = json!({"a": [1, 1.5, null, true, "x"], "b": {}});
        assert_eq!(repr_value(&value), "{'a': [1, 1.5, None, True, 'x'], 'b': {}}");
    }
}
