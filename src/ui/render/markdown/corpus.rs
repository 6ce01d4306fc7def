//! Examples of every construct of CommonMark and GFM, drawn whole and as they stream.

use std::collections::BTreeMap;

use super::super::stream::MarkdownStream;
use super::*;
use crate::ui::render::width::{grapheme_width, line_width};
use unicode_segmentation::UnicodeSegmentation;

fn examples() -> Vec<String> {
    let sections: BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("examples.json")).expect("examples");
    let examples: Vec<String> = sections.into_values().flatten().collect();
    assert!(examples.len() > 250, "{}", examples.len());
    examples
}

#[test]
fn every_split_ends_in_the_picture_of_the_whole() {
    let (theme, hl) = (Theme::dark(), HighlightCache::inline());
    for (first, second) in pairs() {
        let source = format!("{first}\n\n{second}");
        for width in [16, 80] {
            let whole = markdown(&source, width, &theme, &hl);
            let last = markdown_open(&source, width, &theme, &hl);
            for cut in (0..=source.len()).filter(|cut| source.is_char_boundary(*cut)) {
                let mut stream = MarkdownStream::new();
                stream.update(&source[..cut], width, &theme, &hl);
                let streamed = stream.update(&source, width, &theme, &hl);
                assert_eq!(streamed, last, "{source:?} cut at {cut}");
                let closed = stream.close(&source, width, &theme, &hl);
                assert_eq!(closed, whole, "{source:?} cut at {cut}");
            }
        }
    }
}

/// Each example, followed by another one.
fn pairs() -> Vec<(String, String)> {
    let all = examples();
    let next = all.iter().cycle().skip(7).cloned();
    all.iter().cloned().zip(next).collect()
}

#[test]
fn every_example_fits_into_every_width() {
    let (theme, hl) = (Theme::dark(), HighlightCache::new());
    for source in examples() {
        for width in 1..50 {
            for line in markdown(&source, width, &theme, &hl) {
                let text = line.to_string();
                let widest = text.graphemes(true).map(grapheme_width).max().unwrap_or(0);
                let room = usize::from(width).max(if widest > 1 { widest + 2 } else { 0 });
                assert!(line_width(&line) <= room, "{source:?} at {width}: {text:?}");
                assert!(!text.contains(char::is_control), "{text:?}");
            }
        }
    }
}
