//! How wide text is on the screen, and cutting it to a width. Nothing else measures or cuts text.
//!
//! Widths are in cells. The measure is ratatui's own for what it puts into its buffer, so that layout
//! and drawing cannot disagree: grapheme by grapheme, two cells for wide characters and emoji.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// Width of one grapheme; 0 for what cannot be drawn.
#[must_use]
pub fn grapheme_width(grapheme: &str) -> usize {
    if grapheme.len() == 1 {
        return usize::from(!grapheme.as_bytes()[0].is_ascii_control());
    }
    if grapheme.contains(char::is_control) {
        return 0;
    }
    usize::from(grapheme.cell_width())
}

/// Width of `text`.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Width of all `spans`, which are drawn one after the other.
#[must_use]
pub fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// Width of `line`.
#[must_use]
pub fn line_width(line: &Line<'_>) -> usize {
    spans_width(&line.spans)
}

/// The longest start of `text` that fits into `max`, and its width.
#[must_use]
pub fn fitting(text: &str, max: usize) -> (&str, usize) {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let next = used + grapheme_width(grapheme);
        if next > max {
            return (&text[..at], used);
        }
        used = next;
    }
    (text, used)
}

/// `text` in at most `max` cells, with `…` where it was cut.
#[must_use]
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    if width(text) <= max {
        return Cow::Borrowed(text);
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let (start, _) = fitting(text, max - 1);
    Cow::Owned(format!("{}…", start.trim_end()))
}

/// `text` in at most `max` cells, cut in the middle: for paths, whose ends matter.
#[must_use]
pub fn truncate_middle(text: &str, max: usize) -> Cow<'_, str> {
    if width(text) <= max {
        return Cow::Borrowed(text);
    }
    if max < 3 {
        return truncate(text, max);
    }
    // The end says more than the start.
    let (start, used) = fitting(text, (max - 1) / 2);
    let mut end = text.len();
    let mut left = max - 1 - used;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        let width = grapheme_width(grapheme);
        if width > left {
            break;
        }
        left -= width;
        end = at;
    }
    Cow::Owned(format!("{start}…{}", &text[end..]))
}

/// `text` in exactly `cells` cells: cut, or filled with spaces.
#[must_use]
pub fn pad(text: &str, cells: usize) -> String {
    let cut = truncate(text, cells);
    let fill = cells - width(&cut);
    format!("{cut}{}", " ".repeat(fill))
}

/// `line` in at most `max` cells, with `…` where it was cut; styles are kept.
#[must_use]
pub fn truncate_line(line: Line<'static>, max: usize) -> Line<'static> {
    if line_width(&line) <= max {
        return line;
    }
    let Line { spans, style, alignment } = line;
    let mut left = max;
    let mut kept = Vec::new();
    for span in spans {
        let wide = width(&span.content);
        // The last cell is the mark's.
        if wide < left {
            left -= wide;
            kept.push(span);
        } else {
            let (start, _) = fitting(&span.content, left.saturating_sub(1));
            let mark = if left == 0 { "" } else { "…" };
            kept.push(Span::styled(format!("{start}{mark}"), span.style));
            break;
        }
    }
    Line { spans: kept, style, alignment }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn wide_things_are_wide() {
        for (text, cells) in [
            ("", 0),
            ("abc", 3),
            ("日本語", 6),
            ("é", 1),
            ("e\u{301}", 1),
            ("👩‍👩‍👧‍👦", 2),
            ("🇩🇪", 2),
            ("❤️", 2),
            ("👍🏽", 2),
            ("한글", 4),
            ("，。", 4),
            ("─│●", 3),
        ] {
            assert_eq!(width(text), cells, "{text:?}");
        }
    }

    #[test]
    fn cuts_keep_to_the_width() {
        assert_eq!(truncate("hello", 5), "hello");
        assert_eq!(truncate("hello world", 7), "hello…");
        assert_eq!(truncate("日本語です", 6), "日本…");
        assert_eq!(truncate("日本", 0), "");
        assert_eq!(truncate("日本", 1), "…");
        assert_eq!(truncate_middle("src/ui/render/width.rs", 12), "src/u…dth.rs");
        assert_eq!(truncate_middle("日本語日本語", 7), "日…本語");
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(pad("日本語", 4), "日… ");
        let line = Line::from(vec![Span::raw("abc"), Span::raw("def"), Span::raw("ghi")]);
        assert_eq!(truncate_line(line.clone(), 9), line);
        assert_eq!(truncate_line(line.clone(), 4).to_string(), "abc…");
        assert_eq!(truncate_line(line.clone(), 3).to_string(), "ab…");
        assert_eq!(truncate_line(line, 0).to_string(), "");
    }

    proptest! {
        #[test]
        fn ratatui_agrees(text in "\\PC{0,40}") {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 1));
            let (x, _) = buffer.set_stringn(0, 0, &text, 200, Style::new());
            prop_assert_eq!(usize::from(x), width(&text));
        }

        #[test]
        fn nothing_is_wider_than_asked(text in "[a-z 日本👩\u{200d}🇩é，]{0,30}", max in 0_usize..20) {
            prop_assert!(width(&truncate(&text, max)) <= max);
            prop_assert!(width(&truncate_middle(&text, max)) <= max);
            prop_assert_eq!(width(&pad(&text, max)), max);
            let line = truncate_line(Line::raw(text), max);
            prop_assert!(line_width(&line) <= max);
        }
    }
}
