//! Lines that were drawn before, by everything they depend on. May be dropped at any moment: it only
//! costs time.

use std::collections::HashMap;
use std::rc::Rc;

use ratatui::text::Line;

use super::highlight::HighlightCache;

/// Lines that are kept unless said otherwise.
const MAX_LINES: usize = 50_000;
/// Bytes of text that are kept unless said otherwise.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What the lines of a cell depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineKey {
    /// The cell.
    pub id: u64,
    /// Raised by every change of it.
    pub version: u32,
    /// The width it is drawn in, in cells.
    pub width: u16,
    /// `Theme::revision`.
    pub theme: u64,
    /// Is it folded?
    pub folded: bool,
    /// Are changes shown side by side where there is room?
    pub beside: bool,
}

/// The lines of cells, those seen longest ago dropped first.
///
/// One entry a cell: what it looked like before a change is of no use.
#[derive(Debug)]
pub struct LineCache {
    entries: HashMap<u64, Entry>,
    clock: u64,
    lines: usize,
    bytes: usize,
    max_lines: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    key: LineKey,
    lines: Rc<[Line<'static>]>,
    bytes: usize,
    used: u64,
    /// Code in it had no colours yet when the highlighter had this generation.
    plain_at: Option<u64>,
}

impl Default for LineCache {
    fn default() -> Self {
        Self::with_limits(MAX_LINES, MAX_BYTES)
    }
}

impl LineCache {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one that keeps at most so many lines and bytes of text, but always the newest entry.
    #[must_use]
    pub fn with_limits(max_lines: usize, max_bytes: usize) -> Self {
        Self { entries: HashMap::new(), clock: 0, lines: 0, bytes: 0, max_lines, max_bytes }
    }

    /// The lines of `key`, from `render` unless they are kept. Lines drawn while code still waited for
    /// its colours are drawn again once `hl` has more.
    pub fn lines(
        &mut self,
        key: LineKey,
        hl: &HighlightCache,
        render: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Rc<[Line<'static>]> {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&key.id) {
            let coloured = entry.plain_at.is_none_or(|generation| generation == hl.generation());
            if entry.key == key && coloured {
                entry.used = self.clock;
                return entry.lines.clone();
            }
        }
        let misses = hl.misses();
        let lines: Rc<[Line<'static>]> = render().into();
        let plain_at = (hl.misses() != misses).then(|| hl.generation());
        let bytes = text_bytes(&lines);
        self.remove(key.id);
        self.lines += lines.len();
        self.bytes += bytes;
        let entry = Entry { key, lines: lines.clone(), bytes, used: self.clock, plain_at };
        self.entries.insert(key.id, entry);
        self.shrink();
        lines
    }

    /// How many lines `key` has, if that is known without drawing it.
    #[must_use]
    pub fn known_height(&self, key: &LineKey) -> Option<usize> {
        self.entries.get(&key.id).filter(|entry| entry.key == *key).map(|entry| entry.lines.len())
    }

    /// Drops the lines of a cell.
    pub fn remove(&mut self, id: u64) {
        if let Some(entry) = self.entries.remove(&id) {
            self.lines -= entry.lines.len();
            self.bytes -= entry.bytes;
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.lines = 0;
        self.bytes = 0;
    }

    /// Drops an eighth of the entries at a time, so that a full cache does not look for its oldest
    /// entry at every frame.
    fn shrink(&mut self) {
        while self.entries.len() > 1 && (self.lines > self.max_lines || self.bytes > self.max_bytes)
        {
            let mut by_use: Vec<(u64, u64)> =
                self.entries.iter().map(|(id, entry)| (entry.used, *id)).collect();
            by_use.sort_unstable();
            // The newest was asked for just now.
            by_use.pop();
            let many = by_use.len().div_ceil(8);
            for (_, id) in by_use.into_iter().take(many) {
                self.remove(id);
            }
        }
    }
}

fn text_bytes(lines: &[Line<'static>]) -> usize {
    let spans = lines.iter().flat_map(|line| &line.spans);
    spans.map(|span| span.content.len() + size_of_val(span)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::highlight::run;
    use super::super::markdown::markdown;
    use super::*;
    use crate::ui::theme::Theme;

    fn key(id: u64) -> LineKey {
        LineKey { id, version: 1, width: 80, theme: 7, folded: false, beside: false }
    }

    fn draw(text: &str) -> Vec<Line<'static>> {
        text.lines().map(|line| Line::raw(line.to_owned())).collect()
    }

    #[test]
    fn lines_are_drawn_once_until_something_changes() {
        let (mut cache, hl) = (LineCache::new(), HighlightCache::new());
        let first = cache.lines(key(1), &hl, || draw("a\nb"));
        let again = cache.lines(key(1), &hl, || panic!("drawn again"));
        assert!(Rc::ptr_eq(&first, &again));
        assert_eq!(cache.known_height(&key(1)), Some(2));
        let changed = [
            LineKey { version: 2, ..key(1) },
            LineKey { width: 81, ..key(1) },
            LineKey { theme: 8, ..key(1) },
            LineKey { folded: true, ..key(1) },
            LineKey { beside: true, ..key(1) },
        ];
        for key in changed {
            assert_eq!(cache.known_height(&key), None);
            assert_eq!(cache.lines(key, &hl, || draw("c")).len(), 1);
        }
        assert_eq!(cache.lines, 1, "one entry a cell");
        cache.clear();
        assert_eq!((cache.lines, cache.bytes), (0, 0));
        assert_eq!(cache.lines(key(1), &hl, || draw("a\nb"))[..], first[..]);
    }

    #[test]
    fn it_has_an_end() {
        let (mut cache, hl) = (LineCache::with_limits(100, usize::MAX), HighlightCache::new());
        for id in 0..1000 {
            cache.lines(key(id), &hl, || draw("x\ny"));
            cache.lines(key(0), &hl, || draw("x\ny"));
            assert!(cache.lines <= 100);
        }
        assert!(cache.known_height(&key(0)).is_some(), "what is looked at stays");
        assert!(cache.known_height(&key(999)).is_some());
        assert!(cache.known_height(&key(1)).is_none());
        let sum: usize = cache.entries.values().map(|entry| entry.lines.len()).sum();
        assert_eq!(cache.lines, sum);
        let mut tiny = LineCache::with_limits(1, 1);
        assert_eq!(tiny.lines(key(1), &hl, || draw("a\nb\nc")).len(), 3);
    }

    #[test]
    fn colours_that_come_later_are_shown() {
        let (mut cache, hl, theme) = (LineCache::new(), HighlightCache::new(), Theme::dark());
        let source = format!("```rust\n{}```", "let x = 1;\n".repeat(60));
        let plain = cache.lines(key(1), &hl, || markdown(&source, 80, &theme, &hl));
        cache.lines(key(1), &hl, || panic!("nothing new yet"));
        for job in hl.take_wanted() {
            hl.insert(run(&job));
        }
        let coloured = cache.lines(key(1), &hl, || markdown(&source, 80, &theme, &hl));
        assert_ne!(plain, coloured);
        hl.insert(run(&super::super::highlight::HighlightJob {
            language: "rust".to_owned(),
            code: "other".into(),
        }));
        cache.lines(key(1), &hl, || panic!("has its colours"));
    }
}
