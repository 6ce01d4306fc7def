//! What is shown of a message that streams stays where it is.

use ratatui::text::Line;

use super::super::stream::MarkdownStream;
use super::*;

/// How it looks after each character.
fn pictures(source: &str, width: u16) -> Vec<(String, Vec<String>)> {
    let (theme, hl) = (Theme::dark(), HighlightCache::inline());
    let mut stream = MarkdownStream::new();
    let said = |lines: &[Line<'static>]| {
        lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect::<Vec<_>>()
    };
    let mut cuts: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
    cuts.push(source.len());
    let mut pictures: Vec<(String, Vec<String>)> = cuts
        .into_iter()
        .map(|cut| {
            let lines = stream.update(&source[..cut], width, &theme, &hl);
            (source[..cut].to_owned(), said(lines))
        })
        .collect();
    pictures.push((source.to_owned(), said(stream.close(source, width, &theme, &hl))));
    pictures
}

/// Lines of `before` that are not what they were, counted from the first that changed.
fn changed(before: &[String], after: &[String]) -> usize {
    before.len() - before.iter().zip(after).take_while(|(a, b)| a == b).count()
}

const LONG: &str =
    "a sentence that goes on for long enough to fill some lines of the window that it is drawn in";

fn samples() -> Vec<String> {
    let inline = [
        "Some **bold words that go on for a while, LONG** and *emphasis of LONG* end.",
        "An `inline code of LONG` and ``more ` of it`` and ~~gone LONG~~ end.",
        "***both LONG*** and **bold with *inner LONG* text** end, 2 * 3 * 4, snake_case_name and _it_.",
        "LONG [a link](https://example.org/a/long/path?with=query&and=more) and LONG",
        "LONG ![a picture](cat.png) and <https://example.org/some/where> and a &amp; b &lt; c < d.",
        "A formula $x^2 + y^2$ costs $5 and $6, LONG.\n\n$$\na^2 + b^2 = c^2\n$$\n\nend",
        "LONG  \nhard break\\\nanother **over\ntwo lines** end",
    ];
    let blocks = [
        "- one\n- two\n- three LONG\n\n- loose\n\n  with a paragraph\n- last\n",
        "1. **Head**\n   - x\n   - y\n\n2. **Next**\n   - z\n\nEnd\n",
        "8. a\n9. b\n10. c\n11. d\n",
        "text\n- item\n- [x] done\n- [ ] open\n* other\n+ more\n",
        "text\n* item **bold** end\n1) one\n2) two\n",
        "# Head\n\n## Head **bold** two\ntext\n\n---\n\n***\n\ntext\n",
        "> quote LONG\n> goes on\n>\n> - item\n> - item\n\ntext\n",
        "```rust\nfn main() {\n    let x = a * b; // **no**\n}\n```\n\ntext `x`\n\n    indented\n\nend\n",
        "- item\n\n  ```sh\n  ls - | grep [x]: *\n  ```\n- next\n",
        "<div>\n**html**\n</div>\n\ntext <b>bold</b> end<br>line\n",
        "A note[^1] and [^two].\n\n[^1]: The note LONG\n[^two]: Other\n\nend\n",
        "text\n2024 was a year\n\n42\n\n- a\n  - b\n    - c\n\n  back\n",
    ];
    let all = inline.iter().chain(&blocks);
    all.map(|sample| format!("First, {LONG}.\n\n{}", sample.replace("LONG", LONG))).collect()
}

#[test]
fn only_the_lines_that_are_written_change() {
    for source in samples() {
        for width in [30, 80] {
            for pair in pictures(&source, width).windows(2) {
                let ((_, before), (so_far, after)) = (&pair[0], &pair[1]);
                // The last line, and the one before it where a word moves between the two.
                let many = changed(before, after);
                assert!(many <= 2, "{many} at {width} after {so_far:?}\n{before:#?}\n{after:#?}");
                // Lines go where a word turns out shorter, and never more than that one.
                assert!(after.len() + 1 >= before.len(), "{so_far:?}\n{before:#?}\n{after:#?}");
            }
        }
    }
}

#[test]
fn a_heading_that_is_underlined_moves_no_text() {
    let source = format!("First.\n\nA title\n===\n\n{LONG}\n---\n\ntext\n");
    for pair in pictures(&source, 30).windows(2) {
        let ((_, before), (so_far, after)) = (&pair[0], &pair[1]);
        assert!(changed(before, after) <= 1, "after {so_far:?}\n{before:#?}\n{after:#?}");
        assert!(!after.iter().any(|line| line.contains('•') || line.contains('=')), "{after:#?}");
    }
}

#[test]
fn a_table_changes_when_a_row_is_whole() {
    let source = "First.\n\n| a | b |\n|---|--:|\n| x | 1 |\n| a longer cell | 20000 |\n\nEnd.\n";
    let pictures = pictures(source, 40);
    for pair in pictures.windows(2) {
        let ((_, before), (so_far, after)) = (&pair[0], &pair[1]);
        assert!(so_far.len() < 8 || before[0] == after[0], "{so_far:?} {after:#?}");
        assert!(!after.iter().any(|line| line.contains('|')), "raw: {so_far:?} {after:#?}");
        if !so_far.ends_with('\n') && so_far.contains("|---") && so_far != source {
            assert!(changed(before, after) <= 1, "after {so_far:?}\n{before:#?}\n{after:#?}");
        }
    }
}

#[test]
fn a_link_that_is_defined_late_changes_its_own_block() {
    let source = format!(
        "See [docs].\n\n{LONG}\n\nAnd [docs] again.\n\n[docs]: https://example.org/x\n\nEnd\n"
    );
    let pictures = pictures(&source, 40);
    let mut jumps = 0;
    for pair in pictures.windows(2) {
        let ((_, before), (so_far, after)) = (&pair[0], &pair[1]);
        if changed(before, after) > 2 {
            jumps += 1;
            assert!(so_far.ends_with("example.org/x\n"), "{so_far:?}");
            assert_eq!(before.len(), after.len());
            assert_eq!(before[1..5], after[1..5]);
        }
    }
    assert_eq!(jumps, 1, "once, when the line of the definition is whole");
}
