//! Keeps secrets out of what a person, a log or a model is told. Pure.

use super::LlmError;

/// Shorter words are no secrets, and replacing them would garble messages.
const SHORTEST: usize = 8;
/// What stands for a secret.
const MASK: &str = "[api key]";

/// Words that must not be told though a server may repeat them.
#[derive(Clone, Default)]
pub(crate) struct Masks {
    /// The longest first: one may hold another.
    words: Vec<String>,
}

// By hand: the words must not reach a log either.
impl std::fmt::Debug for Masks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Masks").field("words", &self.words.len()).finish()
    }
}

impl Masks {
    /// Hides `word` from now on.
    pub(crate) fn add(&mut self, word: &str) {
        let word = word.trim();
        if word.len() >= SHORTEST && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
            self.words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        }
    }

    /// Hides a header's value if the header's name says that it is a secret.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let secret = ["auth", "key", "token", "secret", "cookie", "password"];
        if secret.iter().any(|word| name.contains(word)) {
            self.add(value);
            // `Bearer sk-…`: the key alone may be repeated.
            self.add(value.rsplit(' ').next().unwrap_or_default());
        }
    }

    /// `text` without the secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        let hidden = |text: String, word: &String| match text.contains(word.as_str()) {
            true => text.replace(word.as_str(), MASK),
            false => text,
        };
        self.words.iter().fold(text.to_owned(), hidden)
    }

    /// `error` without the secrets.
    pub(crate) fn hide_in(&self, error: LlmError) -> LlmError {
        match error {
            LlmError::Connection { host, detail } => {
                LlmError::Connection { host, detail: self.hide(&detail) }
            }
            LlmError::Status { host, status, message, retry_after } => {
                LlmError::Status { host, status, message: self.hide(&message), retry_after }
            }
            LlmError::Protocol(text) => LlmError::Protocol(self.hide(&text)),
            other @ (LlmError::Timeout { .. } | LlmError::LoggedOut { .. } | LlmError::Empty) => {
                other
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let mut masks = Masks::default();
        masks.add("sk-secret-key");
        masks.add("short");
        masks.add_header("X-Api-Key", "sk-secret-key-2");
        masks.add_header("Authorization", "Bearer other-secret");
        masks.add_header("X-Title", "kimi-tui and more");
        let said =
            masks.hide("sk-secret-key-2 sk-secret-key; other-secret short kimi-tui and more");
        assert_eq!(said, "[api key] [api key]; [api key] short kimi-tui and more");
        assert_eq!(format!("{masks:?}"), "Masks { words: 4 }");
        let error = LlmError::Connection { host: "h".into(), detail: "bad sk-secret-key".into() };
        assert_eq!(masks.hide_in(error).to_string(), "could not talk to h: bad [api key]");
    }
}
