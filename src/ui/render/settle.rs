//! Markdown that is printed while it is still being written: each block once, as soon as nothing that
//! follows can change it.
//!
//! What was printed is known by its place in the source, not by its lines: when the width changes,
//! what comes next goes on where the text stopped.

use ratatui::text::Line;

use super::highlight::HighlightCache;
use super::markdown::{Definitions, Look, part, scan};
use crate::ui::theme::Theme;

/// How much of a message that grows was printed.
#[derive(Debug, Default)]
pub struct Settled {
    /// Bytes of the source that were printed.
    bytes: usize,
    /// Bytes that were searched for finished blocks.
    scanned: usize,
    definitions: Definitions,
}

impl Settled {
    /// Was nothing printed yet?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The lines of the blocks that have settled since the last time. Costs what the last block costs.
    pub fn take(
        &mut self,
        source: &str,
        width: u16,
        theme: &Theme,
        hl: &HighlightCache,
    ) -> Vec<Line<'static>> {
        let whole = source.rfind('\n').map_or(0, |end| end + 1);
        if whole <= self.scanned.max(self.bytes) {
            return Vec::new();
        }
        self.scanned = whole;
        let Some(text) = source.get(self.bytes..whole) else { return Vec::new() };
        let (last, definitions) = scan(text);
        if last == 0 {
            return Vec::new();
        }
        self.definitions.extend(definitions);
        self.bytes += last;
        part(&text[..last], &Look { width, theme, hl, open: false }, &self.definitions).0
    }

    /// The lines of what was not printed; `open` while it may still grow.
    #[must_use]
    pub fn rest(
        &self,
        source: &str,
        width: u16,
        theme: &Theme,
        hl: &HighlightCache,
        open: bool,
    ) -> Vec<Line<'static>> {
        let text = source.get(self.bytes..).unwrap_or_default();
        part(text, &Look { width, theme, hl, open }, &self.definitions).0
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown::markdown;
    use super::*;

    const MESSAGE: &str = "# Title\n\nSome *text* with [a link][ref],\nand more.\n\n1. one\n\n2. two\n   - \
        deep\n\n| a | b |\n|---|--:|\n| x | 日本 |\n\n```rust\nfn main() {\n    \"s\n\";\n}\n```\n\n\
        > quote\nlazy\n\n    code\n\n      more\n\nlast";

    fn text(lines: &[Line<'_>]) -> Vec<String> {
        let lines = lines.iter().map(ToString::to_string);
        lines.filter(|line| !line.trim().is_empty()).collect()
    }

    #[test]
    fn all_is_printed_once_however_it_comes() {
        let (theme, hl) = (Theme::dark(), HighlightCache::inline());
        let whole = markdown(MESSAGE, 40, &theme, &hl);
        for step in [1, 3, 17, 80, MESSAGE.len()] {
            let mut settled = Settled::default();
            let mut printed = Vec::new();
            for end in (0..MESSAGE.len()).step_by(step) {
                let end = MESSAGE.floor_char_boundary(end);
                printed.extend(settled.take(&MESSAGE[..end], 40, &theme, &hl));
            }
            printed.extend(settled.rest(MESSAGE, 40, &theme, &hl, false));
            assert_eq!(text(&printed), text(&whole), "in steps of {step}");
        }
    }

    #[test]
    fn another_width_goes_on_where_the_text_stopped() {
        let (theme, hl) = (Theme::dark(), HighlightCache::inline());
        let words = |n: usize| (0..30).map(|i| format!("w{n}x{i} ")).collect::<String>();
        let source = format!("{}\n\n{}\n\n{}", words(1), words(2), words(3));
        let mut settled = Settled::default();
        let end = source.find("w3x9").expect("there");
        let mut printed = settled.take(&source[..end], 60, &theme, &hl);
        assert!(!settled.is_empty() && !printed.is_empty());
        printed.extend(settled.take(&source, 20, &theme, &hl));
        printed.extend(settled.rest(&source, 33, &theme, &hl, false));
        let printed = text(&printed).join(" ");
        let printed: Vec<&str> = printed.split_whitespace().collect();
        assert_eq!(printed, source.split_whitespace().collect::<Vec<_>>());
    }
}
