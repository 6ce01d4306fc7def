//! JSON with lone surrogates: `"\ud83d"` alone, or a pair split over two strings.
//!
//! Some servers cut text between UTF-16 units and escape the halves. That is legal JSON and no legal
//! Rust string, so `serde_json` refuses it. Here a lone half becomes a marker character, and a
//! [`Mender`] puts the halves of one text together again, or writes U+FFFD where the other is missing.

use serde_json::Value;

/// Markers are the first 2048 characters of the last private plane, which nobody uses.
const MARKERS: u32 = 0x10_0000;
const FIRST_HALF: u32 = 0xD800;
const LAST_HALF: u32 = 0xDFFF;

/// Parses JSON; the flag tells that halves were found and are marked.
///
/// # Errors
/// When it is no JSON for another reason.
pub(crate) fn parse(json: &str) -> serde_json::Result<(Value, bool)> {
    match serde_json::from_str(json) {
        Ok(value) => Ok((value, false)),
        Err(error) => match mark(json) {
            Some(marked) => Ok((serde_json::from_str(&marked)?, true)),
            None => Err(error),
        },
    }
}

/// `json` with its lone halves marked; `None` when it has none.
fn mark(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match escaped_unit(rest) {
            Some(unit) if is_first(unit) && escaped_unit(&rest[6..]).is_some_and(is_second) => 12,
            Some(unit) if is_first(unit) || is_second(unit) => {
                out.extend(char::from_u32(MARKERS + unit - FIRST_HALF));
                found = true;
                rest = &rest[6..];
                continue;
            }
            // The escaped character belongs to the backslash, another backslash above all.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The unit of a `\uXXXX` at the beginning of `text`.
fn escaped_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn is_first(unit: u32) -> bool {
    (FIRST_HALF..0xDC00).contains(&unit)
}

fn is_second(unit: u32) -> bool {
    (0xDC00..=LAST_HALF).contains(&unit)
}

/// Puts the marked halves of one text together, over its pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mender {
    first: Option<u32>,
}

impl Mender {
    /// The next piece of the text. `marked` is what [`parse`] told of the JSON it came in.
    pub(crate) fn mend(&mut self, piece: &str, marked: bool) -> String {
        if !marked && self.first.is_none() {
            return piece.to_owned();
        }
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            let half = (u32::from(c).checked_sub(MARKERS))
                .map(|offset| offset + FIRST_HALF)
                .filter(|half| marked && *half <= LAST_HALF);
            match (self.first.take(), half) {
                (Some(first), Some(second)) if is_second(second) => {
                    let code = 0x10000 + ((first - FIRST_HALF) << 10) + (second - 0xDC00);
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    continue;
                }
                (Some(_), _) => out.push(char::REPLACEMENT_CHARACTER),
                (None, _) => {}
            }
            match half {
                Some(half) if is_first(half) => self.first = Some(half),
                Some(_) => out.push(char::REPLACEMENT_CHARACTER),
                None => out.push(c),
            }
        }
        out
    }

    /// The text is over: U+FFFD when a half is still alone.
    pub(crate) fn finish(&mut self) -> Option<char> {
        self.first.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mended(pieces: &[&str]) -> String {
        let mut mender = Mender::default();
        let mut out = String::new();
        for json in pieces {
            let (value, marked) = parse(json).expect("json");
            out.push_str(&mender.mend(value.as_str().expect("text"), marked));
        }
        out.extend(mender.finish());
        out
    }

    #[test]
    fn a_lone_half_is_replaced_and_the_rest_stays() {
        assert_eq!(mended(&[r#""a\ud83db""#]), "a\u{fffd}b");
        assert_eq!(mended(&[r#""a\uDE00""#]), "a\u{fffd}");
        assert_eq!(mended(&[r#""\ud83d\ud83d\ude00""#]), "\u{fffd}😀");
        assert_eq!(mended(&[r#""a\ud83d""#]), "a\u{fffd}");
    }

    #[test]
    fn a_pair_split_over_two_pieces_is_one_character() {
        assert_eq!(mended(&[r#""a\ud83d""#, r#""""#, r#""\ude00b""#]), "a😀b");
        assert_eq!(mended(&[r#""a\ud83d""#, r#""b""#]), "a\u{fffd}b");
    }

    #[test]
    fn an_escaped_backslash_is_not_an_escape() {
        assert_eq!(mended(&[r#""\\ud83d \ud83d""#]), "\\ud83d \u{fffd}");
        assert_eq!(mended(&[r#""\\\ud83d""#]), "\\\u{fffd}");
    }

    #[test]
    fn other_faults_stay_faults() {
        for json in [r#"{"a":"#, r#""\ud83"#, r#""\ud83d"#, "\"\\", r#""\ud8é""#] {
            assert!(parse(json).is_err(), "{json}");
        }
        assert!(!parse(r#""\ud83d\ude00""#).expect("a pair is fine").1);
    }

    proptest! {
        #[test]
        fn text_survives_escaping_cut_anywhere(text in "[a\\\\\"é终😀🦀]{0,12}", cut in 0_usize..30) {
            // As a server would that writes UTF-16 units and cuts between them.
            let units: Vec<u16> = text.encode_utf16().collect();
            let (one, other) = units.split_at(cut.min(units.len()));
            let escape = |units: &[u16]| {
                let body: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{body}\"")
            };
            prop_assert_eq!(mended(&[&escape(one), &escape(other)]), text);
        }

        #[test]
        fn anything_is_parsed_or_refused(json in "(\\\\|u|d83d|de00|\"|é|a)*") {
            let _ = parse(&json);
        }
    }
}
