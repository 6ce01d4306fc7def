//! Words of the demo model: its two languages, and how it quotes text in Markdown.

/// The language a request is in; answers are in the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Chinese,
}

impl Tongue {
    /// Chinese when there is a Chinese character in it.
    pub(super) fn of(text: &str) -> Self {
        let is_han = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
        if text.chars().any(is_han) { Self::Chinese } else { Self::English }
    }

    /// The one of two texts that is in it.
    pub(super) fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

/// `text` as code within a line.
pub(super) fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// `text` as a block of code, whatever backticks it holds.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().chars().take_while(|c| *c == '`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// `text` on one line and at most `limit` characters.
pub(super) fn short(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let cut: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_survives_its_own_backticks() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(fenced("md", "```rust\nx\n```\n"), "````md\n```rust\nx\n```\n````");
    }

    #[test]
    fn long_text_is_cut_at_characters() {
        assert_eq!(short("终端\n  终端", 5), "终端 终端");
        assert_eq!(short("终端终端终端", 4), "终端终…");
    }
}
