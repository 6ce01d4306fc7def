//! The text of a page: decoded, and without what stands around it.

use std::borrow::Cow;

use dom_smoothie::{Config, Readability, TextMode};
use encoding_rs::{Encoding, UTF_8};

use crate::llm::http::fetch::Fetched;

/// Elements within elements that a page may have: the library goes down by recursion.
const DEEPEST: usize = 256;
/// Elements a page may have for its main text to be looked for.
const MOST_ELEMENTS: usize = 50_000;
/// Characters of main text below which it is not believed.
const LEAST: usize = 80;

/// The body as text, in the encoding the server or the page names.
pub(super) fn decode(fetched: &Fetched) -> Cow<'_, str> {
    let named = fetched.charset.clone().or_else(|| named_in_page(&fetched.body));
    let encoding = named.and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(&fetched.body).0
}

/// `<meta charset=…>` or the same in an `http-equiv`.
fn named_in_page(body: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&body[..body.len().min(2048)]).to_ascii_lowercase();
    let (_, rest) = head.split_once("charset=")?;
    let name: String = rest
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Does it begin as UTF-8 does, wherever it was cut?
pub(super) fn is_utf8_begin(bytes: &[u8]) -> bool {
    match str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// The main text as Markdown, its title on top. `None` when there is none.
pub(super) fn main_text(html: &str, url: &str) -> Option<String> {
    if depth(html) > DEEPEST {
        return None;
    }
    let config = Config {
        text_mode: TextMode::Markdown,
        max_elements_to_parse: MOST_ELEMENTS,
        ..Config::default()
    };
    let article = Readability::new(html, Some(url), Some(config)).ok()?.parse().ok()?;
    let text = article.text_content.trim();
    if text.chars().count() < LEAST {
        return None;
    }
    let title = article.title.trim();
    let has_title = title.is_empty() || text.trim_start_matches(['#', ' ']).starts_with(title);
    Some(if has_title { text.to_owned() } else { format!("# {title}\n\n{text}") })
}

/// How deep elements may stand within each other, at most: tags that open less tags that close.
fn depth(html: &str) -> usize {
    const EMPTY: &[&str] = &[
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr",
    ];
    let (mut depth, mut deepest) = (0_usize, 0);
    for piece in html.split('<').skip(1) {
        if piece.starts_with('/') {
            depth = depth.saturating_sub(1);
            continue;
        }
        let name: String = piece
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase();
        // An open paragraph or item ends where the next begins.
        let is_counted = !name.is_empty()
            && !EMPTY.contains(&name.as_str())
            && !matches!(name.as_str(), "p" | "li" | "td" | "tr" | "th" | "dt" | "dd" | "option");
        if is_counted {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// All text of a page without its tags, scripts and styles: for pages without main text.
pub(super) fn all_text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push(&mut text, &rest[..at]);
        rest = &rest[at..];
        let name: String = rest[1..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '!' | '-'))
            .collect::<String>()
            .to_lowercase();
        let hidden = ["script", "style", "noscript", "svg", "template", "head"]
            .into_iter()
            .find(|hidden| name == *hidden);
        let end = match hidden {
            Some(hidden) => find_ignoring_case(rest, &format!("</{hidden}")),
            None if name.starts_with("!--") => rest.find("-->"),
            None => Some(0),
        };
        rest = end.map_or("", |end| &rest[end..]);
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
        const INLINE: &[&str] =
            &["a", "b", "i", "em", "strong", "span", "code", "small", "sup", "sub", "u"];
        if !INLINE.contains(&name.trim_start_matches('/')) && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    push(&mut text, rest);
    text.trim().to_owned()
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    text.as_bytes()
        .windows(wanted.len())
        .position(|piece| piece.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn push(text: &mut String, raw: &str) {
    let plain = raw
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() {
        return;
    }
    if plain.starts_with(char::is_whitespace) && !text.ends_with(['\n', ' ']) {
        text.push(' ');
    }
    text.push_str(&words);
    if plain.ends_with(char::is_whitespace) {
        text.push(' ');
    }
}
