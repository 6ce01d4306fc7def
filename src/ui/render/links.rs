//! Addresses behind the text of links, for terminals that know them (OSC 8).
//!
//! An escape sequence has no place in a cell: it would be measured, cut and compared as text. So a
//! linked cell carries the number of its address in its underline colour, which no theme uses.
//! Wrapping, styling and comparing frames keep it as they keep any colour; only what writes to the
//! terminal turns it into a link and takes the colour off.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::style::Color;

/// Addresses that are kept. What comes after them is no link, but readable.
const MOST: usize = 50_000;
/// Bytes of an address: some terminals take no longer ones.
const LONGEST: usize = 2000;

/// The addresses that were drawn, and how.
#[derive(Debug, Clone)]
pub struct Links {
    table: Arc<Mutex<Table>>,
    /// Is the address left out where the text of the link stands for it?
    pub hides_addresses: bool,
}

#[derive(Debug, Default)]
struct Table {
    addresses: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl PartialEq for Links {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table) && self.hides_addresses == other.hides_addresses
    }
}

impl Eq for Links {}

impl Links {
    /// None drawn yet.
    #[must_use]
    pub fn new(hides_addresses: bool) -> Self {
        Self { table: Arc::default(), hides_addresses }
    }

    /// The colour that marks text as a link to `url`; none when it must not be one.
    #[must_use]
    pub fn mark(&self, url: &str) -> Option<Color> {
        let address = address(url)?;
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match table.numbers.get(address.as_str()) {
            Some(number) => *number,
            None if table.addresses.len() >= MOST => return None,
            None => {
                let address: Arc<str> = address.into();
                let number = u32::try_from(table.addresses.len()).ok()?;
                table.addresses.push(address.clone());
                table.numbers.insert(address, number);
                number
            }
        };
        let [_, high, middle, low] = number.to_be_bytes();
        Some(Color::Rgb(high, middle, low))
    }

    /// The sequence that begins the link marked so; none when the colour marks none.
    #[must_use]
    pub fn opening(&self, mark: Option<Color>) -> Option<String> {
        let Some(Color::Rgb(high, middle, low)) = mark else { return None };
        let number = u32::from_be_bytes([0, high, middle, low]);
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let address = table.addresses.get(usize::try_from(number).ok()?)?;
        // The same name on each row: a link that is wrapped is one link.
        Some(format!("\x1b]8;id=k{number};{address}\x1b\\"))
    }
}

/// The sequence that ends a link.
pub const CLOSING: &str = "\x1b]8;;\x1b\\";

/// `url` as it may be given to a terminal: of a known kind, in plain characters, not too long.
fn address(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    let known = ["http", "https", "mailto", "file"];
    if !known.iter().any(|known| scheme.eq_ignore_ascii_case(known)) || rest.is_empty() {
        return None;
    }
    // Whoever writes such characters into an address wants something else than a link.
    if url.chars().any(char::is_control) {
        return None;
    }
    let mut address = String::with_capacity(url.len());
    for byte in url.bytes() {
        let is_plain = byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte);
        if is_plain {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    (address.len() <= LONGEST).then_some(address)
}

/// Does the text of a link look like an address, so that it could pretend to lead elsewhere?
#[must_use]
pub fn looks_like_an_address(text: &str) -> bool {
    let has_dot = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner
            .split_once('.')
            .is_some_and(|(_, end)| end.chars().next().is_some_and(char::is_alphabetic))
    };
    text.contains("://") || text.contains('@') || text.split_whitespace().any(has_dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_kinds_in_plain_characters_are_links() {
        let links = Links::new(true);
        for url in
            ["https://a.example/x?y=1;z#t", "HTTP://a", "mailto:me@a.example", "file:///etc/motd"]
        {
            let opening = links.opening(links.mark(url)).expect(url);
            assert_eq!(
                opening.split(';').skip(2).collect::<Vec<_>>().join(";"),
                format!("{url}\x1b\\")
            );
        }
        for url in [
            "javascript:alert(1)",
            "data:text/html,x",
            "src/main.rs",
            "#top",
            "",
            "https:",
            "x://y",
        ] {
            assert_eq!(links.mark(url), None, "{url}");
        }
        assert_eq!(links.mark(&format!("https://a/{}", "x".repeat(3000))), None);
    }

    #[test]
    fn nothing_is_smuggled_through_an_address() {
        let links = Links::new(true);
        for evil in [
            "\x1b]52;c;aGFjaw==\x07",
            "\x1b\\\x1b[2J",
            "\u{9c}",
            "\u{9b}2J",
            "\n",
            "\0",
            "\x7f",
            "\t",
        ] {
            assert_eq!(links.mark(&format!("https://a/{evil}")), None, "{evil:?}");
        }
        for odd in ["\u{202e}gpj", "日本", "\u{200b}", "a b", "\\", "\"><", "`{|}^"] {
            let opening = links.opening(links.mark(&format!("https://a/{odd}"))).expect("a link");
            let inside = opening.strip_prefix("\x1b]8;").and_then(|s| s.strip_suffix("\x1b\\"));
            let inside = inside.expect("one sequence");
            assert!(inside.bytes().all(|byte| byte.is_ascii_graphic()), "{inside:?}");
        }
    }

    #[test]
    fn the_same_address_has_the_same_name_and_other_colours_are_no_links() {
        let links = Links::new(false);
        let (one, two) = (links.mark("https://one"), links.mark("https://two"));
        assert_ne!(one, two);
        assert_eq!(one, links.mark("https://one"));
        assert_eq!(links.opening(Some(Color::Rgb(200, 1, 1))), None);
        assert_eq!(links.opening(Some(Color::Red)).or(links.opening(None)), None);
    }

    #[test]
    fn what_looks_like_an_address_is_told_from_words() {
        for text in ["github.com", "see www.a.example now", "https://x", "me@host", "(docs.rs)"] {
            assert!(looks_like_an_address(text), "{text}");
        }
        for text in ["the guide", "Read this. Then that.", "version 1.2", "…", ""] {
            assert!(!looks_like_an_address(text), "{text}");
        }
    }
}
