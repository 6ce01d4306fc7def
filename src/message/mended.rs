//! Mends JSON that Python reads and serde_json does not.

/// `json` with raw control characters inside strings escaped and lone surrogate escapes replaced by
/// U+FFFD. `None` when there is nothing of that kind in it.
///
/// Upstream parses with `strict=False`, and some servers split a surrogate pair over two deltas.
#[must_use]
pub fn mended(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len() + 16);
    let mut rest = json;
    let mut in_string = false;
    let mut changed = false;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '\\' if in_string => match unit(rest) {
                None => {
                    // Any other escape: with the character it escapes, which may be a quote.
                    taken += rest[1..].chars().next().map_or(0, char::len_utf8);
                    out.push_str(&rest[..taken]);
                }
                Some(0xD800..0xDC00) => {
                    let low = rest.get(6..).and_then(unit);
                    if matches!(low, Some(0xDC00..0xE000)) {
                        taken = 12;
                        out.push_str(&rest[..12]);
                    } else {
                        taken = 6;
                        out.push('\u{fffd}');
                        changed = true;
                    }
                }
                Some(0xDC00..0xE000) => {
                    taken = 6;
                    out.push('\u{fffd}');
                    changed = true;
                }
                Some(_) => {
                    taken = 6;
                    out.push_str(&rest[..6]);
                }
            },
            c if in_string && u32::from(c) < 0x20 => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
                changed = true;
            }
            c => out.push(c),
        }
        rest = &rest[taken..];
    }
    changed.then_some(out)
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_strings_are_touched() {
        assert_eq!(mended("{\t\"a\": \"b\\\"\\u00e9\\ud83d\\ude00\"\n}"), None);
        assert_eq!(mended("\"a\nb\"").as_deref(), Some("\"a\\u000ab\""));
        assert_eq!(mended(r#""\\ud83d""#), None);
        assert_eq!(
            mended(r#""\udE00\ud83d\u0041""#).as_deref(),
            Some("\"\u{fffd}\u{fffd}\\u0041\"")
        );
        assert_eq!(mended(r#""\ud83"#), None);
    }

    proptest! {
        #[test]
        fn anything_is_survived_and_valid_json_left_alone(
            text in ".*", soup in "[\"\\\\ud8Ec0\n\u{1}é]{0,40}"
        ) {
            let valid = serde_json::to_string(&text).expect("json");
            prop_assert_eq!(mended(&valid), None);
            if let Some(once) = mended(&soup) {
                prop_assert_eq!(mended(&once), None);
            }
        }
    }
}
