//! What a call prints while it runs: the end of it, since an editor is told a call's whole content
//! each time.

/// Bytes of it that are told.
const TAIL: usize = 8 << 10;

/// The end of a running call's output.
#[derive(Debug, Default)]
pub(super) struct Tail {
    text: String,
    is_cut: bool,
    is_news: bool,
}

impl Tail {
    /// Adds what was printed.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.is_news = true;
        if self.text.len() > 2 * TAIL {
            let end = self.text.ceil_char_boundary(self.text.len() - TAIL);
            // A cut line says little.
            let line = self.text[end..].find('\n').map_or(end, |line| end + line + 1);
            self.text.drain(..if line < self.text.len() { line } else { end });
            self.is_cut = true;
        }
    }

    /// The end, if there is something new in it.
    pub(super) fn news(&mut self) -> Option<String> {
        let cut = if self.is_cut { "[...]\n" } else { "" };
        std::mem::take(&mut self.is_news).then(|| format!("{cut}{}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_told_and_only_the_end() {
        let mut tail = Tail::default();
        assert_eq!(tail.news(), None);
        tail.push("a");
        tail.push("b\n");
        assert_eq!(tail.news().as_deref(), Some("ab\n"));
        assert_eq!(tail.news(), None);
        for line in 0..100_000 {
            tail.push(&format!("ö{line}\n"));
            assert!(tail.text.len() <= 2 * TAIL + 10);
        }
        let told = tail.news().expect("news");
        assert!(told.starts_with("[...]\nö") && told.ends_with("ö99999\n"), "{told}");
        assert!(told.len() < 2 * TAIL + 10);
    }

    #[test]
    fn a_line_without_end_is_cut_too() {
        let mut tail = Tail::default();
        tail.push(&"ö".repeat(50_000));
        let told = tail.news().expect("news");
        assert!(told.ends_with('ö') && told.len() < 2 * TAIL + 10, "{}", told.len());
    }
}
