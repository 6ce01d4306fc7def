//! Pieces of requests that more than one dialect needs. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

/// Ids of tool calls as a server takes them. Ours come from any provider, and repeat: they are
/// unique in one message only.
///
/// What is sent depends on what came before it only, so that requests keep their beginning.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    /// Are only letters, digits, `_` and `-` allowed?
    plain: bool,
    used: HashSet<String>,
    /// What the ids of the latest message with calls were sent as.
    latest: HashMap<String, String>,
}

impl CallIds {
    /// Ids for one request.
    pub(super) fn new(plain: bool) -> Self {
        Self { plain, ..Self::default() }
    }

    /// The next message with calls begins.
    pub(super) fn next_message(&mut self) {
        self.latest.clear();
    }

    /// The id to send for a call.
    pub(super) fn add(&mut self, id: &str) -> String {
        let allowed = |c: char| !self.plain || c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let mut base: String = id.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
        if base.is_empty() {
            base.push_str("call");
        }
        let mut sent = base.clone();
        let mut number = 2_u64;
        while self.used.contains(&sent) {
            sent = format!("{base}_{number}");
            number += 1;
        }
        self.used.insert(sent.clone());
        self.latest.insert(id.to_owned(), sent.clone());
        sent
    }

    /// The id that the call `id` of the latest message was sent with.
    pub(super) fn sent<'a>(&'a self, id: &'a str) -> &'a str {
        self.latest.get(id).map_or(id, String::as_str)
    }
}

/// Arguments as the object that they must be. A call with broken ones must not make every later
/// request invalid.
pub(super) fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        _ if arguments.trim().is_empty() => json!({}),
        _ => json!({"invalid_arguments": arguments}),
    }
}

/// The content of a `data:` address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Media<'a> {
    /// Its media type.
    pub(super) kind: &'a str,
    /// It, in base64.
    pub(super) data: &'a str,
}

/// The content of `url` if it is a `data:` address in base64.
pub(super) fn data_url(url: &str) -> Option<Media<'_>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let kind = head.strip_suffix(";base64")?;
    Some(Media { kind: kind.split(';').next().unwrap_or(kind), data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_allowed_and_their_own() {
        let mut ids = CallIds::new(true);
        assert_eq!(ids.add("functions.Bash:0"), "functions_Bash_0");
        assert_eq!(ids.sent("functions.Bash:0"), "functions_Bash_0");
        ids.next_message();
        assert_eq!(ids.add("functions.Bash:0"), "functions_Bash_0_2");
        assert_eq!(ids.sent("functions.Bash:0"), "functions_Bash_0_2");
        assert_eq!((ids.add(""), ids.add("")), ("call".to_owned(), "call_2".to_owned()));
        assert_eq!(CallIds::new(false).add("a.b:0"), "a.b:0");
    }

    #[test]
    fn data_addresses_are_taken_apart() {
        let media = data_url("data:image/png;charset=x;base64,AAAA").expect("media");
        assert_eq!((media.kind, media.data), ("image/png", "AAAA"));
        for other in ["https://h/a.png", "data:text/plain,hi", "data:"] {
            assert_eq!(data_url(other), None, "{other}");
        }
    }
}
