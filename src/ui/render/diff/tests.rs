use proptest::prelude::*;

use super::beside::BESIDE_FROM;
use super::*;
use crate::ui::render::width::width as cells;

fn block(old: &str, new: &str) -> DiffBlock {
    DiffBlock {
        path: "/w/src/main.rs".to_owned(),
        old_text: old.to_owned(),
        new_text: new.to_owned(),
        old_start: 1,
        new_start: 1,
        is_summary: false,
    }
}

fn at(mut block: DiffBlock, old: u64, new: u64) -> DiffBlock {
    (block.old_start, block.new_start) = (old, new);
    block
}

fn lines(blocks: &[DiffBlock], width: u16) -> Vec<Line<'static>> {
    diff(blocks, width, &Theme::dark(), &HighlightCache::inline())
}

fn plain(blocks: &[DiffBlock], width: u16) -> Vec<String> {
    lines(blocks, width).iter().map(|line| line.to_string().trim_end().to_owned()).collect()
}

#[test]
fn hunks_have_numbers_and_signs() {
    let blocks = [
        at(block("a\nold text here\nc", "a\nnew text here\nmore\nc"), 8, 8),
        at(block("x\ny\nz", "x\nz"), 40, 41),
    ];
    assert_eq!(
        plain(&blocks, 40),
        [
            " 8   a",
            " 9 - old text here",
            " 9 + new text here",
            "10 + more",
            "11   c",
            " ⋯ 29 lines",
            "41   x",
            "41 - y",
            "42   z",
        ]
    );
    assert_eq!(stats(&blocks), (2, 2));
}

#[test]
fn words_that_changed_are_marked() {
    let theme = Theme::dark();
    let lines = lines(&[block("let a = old(1);", "let a = new(1, 2);")], 40);
    let marked = |line: &Line<'_>, style: Style| -> Vec<String> {
        line.spans.iter().filter(|s| s.style == style).map(|s| s.content.to_string()).collect()
    };
    assert_eq!(marked(&lines[0], theme.diff_del_word), ["old"]);
    assert_eq!(marked(&lines[1], theme.diff_add_word), ["new", ", 2"]);
    // The ground goes to the edge.
    for line in &lines {
        assert_eq!(line_width(line), 40);
        assert!(line.spans.iter().skip(1).all(|span| span.style.bg.is_some()));
    }
    // Lines that have nothing in common are not marked all over.
    let other = super::tests::lines(&[block("completely different", "fn main() {}")], 40);
    assert!(marked(&other[0], theme.diff_del_word).is_empty());
    // They have the colours of the language instead, on the ground of the row.
    let keyword = other[1].spans.iter().find(|span| span.content == "fn").expect("a keyword");
    assert_eq!(keyword.style.fg, theme.syntax.keyword.fg);
    assert_eq!(keyword.style.bg, theme.diff_add.bg);
}

#[test]
fn labels_say_what_no_line_can() {
    assert_eq!(plain(&[block("", "a\nb")], 40), ["new file", "1 + a", "2 + b"]);
    assert_eq!(plain(&[block("a", "")], 40), ["deleted file", "1 - a"]);
    assert_eq!(plain(&[block("", "")], 40), ["no changes"]);
    let long = DiffBlock { is_summary: true, ..block("(12000 lines)", "(12345 lines)") };
    assert_eq!(
        plain(std::slice::from_ref(&long), 40),
        ["too long to show", "  - (12000 lines)", "  + (12345 lines)"]
    );
    assert_eq!(stats(&[long]), (0, 0));
    let other = DiffBlock { path: "/w/other.rs".to_owned(), ..block("", "a") };
    assert_eq!(
        plain(&[block("a", "b"), other], 40),
        ["/w/src/main.rs", "1 - a", "1 + b", "/w/other.rs", "new file", "1 + a"]
    );
    assert!(lines(&[], 40).is_empty());
}

#[test]
fn what_cannot_be_read_and_what_moved_are_told() {
    let binary = block("\u{7f}ELF\0\0", "\u{7f}ELF\0\0\0\0more");
    assert_eq!(plain(&[binary], 60), ["binary file, 6 B → 12 B"]);
    let gone = DiffBlock { path: "/w/old.rs".to_owned(), ..block("a\nb", "") };
    let come = DiffBlock { path: "/w/new.rs".to_owned(), ..block("", "a\nb") };
    assert_eq!(plain(&[gone, come], 40), ["/w/new.rs", "renamed from /w/old.rs"]);
}

#[test]
fn what_stayed_far_from_a_change_is_left_out() {
    let old: Vec<String> = (1..=30).map(|n| format!("line {n}")).collect();
    let mut new = old.clone();
    new[0] = "first".to_owned();
    new[20] = "there".to_owned();
    let shown = plain(&[block(&old.join("\n"), &new.join("\n"))], 40);
    let gaps: Vec<&str> = shown.iter().filter(|l| l.contains('⋯')).map(String::as_str).collect();
    assert_eq!(gaps, [" ⋯ 13 lines", " ⋯ 6 lines"], "{shown:#?}");
    assert_eq!(shown.iter().filter(|line| line.contains("   line")).count(), 9);
}

#[test]
fn two_texts_stand_side_by_side() {
    let blocks = [at(block("same\nold text\ngone", "same\nnew text\nend"), 9, 12), {
        DiffBlock { path: "/w/b.rs".to_owned(), ..block("", "x\ny") }
    }];
    let diff = Diff::new(&blocks);
    let beside = Beside::new(&diff);
    let (theme, hl) = (Theme::dark(), HighlightCache::inline());
    let lines = beside.lines(0..beside.rows(), 81, &theme, &hl);
    let text: Vec<String> = lines.iter().map(|l| l.to_string().trim_end().to_owned()).collect();
    let row = |old: &str, new: &str| format!("{old:<40}│{new}");
    assert_eq!(
        text,
        [
            "/w/src/main.rs".to_owned(),
            row(" 9   same", "12   same"),
            row("10 - old text", "13 + new text"),
            row("11 - gone", "14 + end"),
            "/w/b.rs".to_owned(),
            "new file".to_owned(),
            row("", " 1 + x"),
            row("", " 2 + y"),
        ]
    );
    let marked = |style: Style| lines[2].spans.iter().any(|span| span.style == style);
    assert!(marked(theme.diff_del_word) && marked(theme.diff_add_word));
    for width in 0..90 {
        let lines = beside.lines(0..beside.rows(), width, &theme, &hl);
        assert!(width < 8 || lines.iter().all(|l| line_width(l) <= usize::from(width)), "{width}");
    }
}

#[test]
fn a_text_without_another_one_has_all_the_room() {
    let is_beside = |old: &str, new: &str| Diff::new(&[block(old, new)]).is_beside(true, 150);
    assert!(is_beside("a\nb", "a\nc") && is_beside("a", "a\nb") && is_beside("a", "b"));
    assert!(!is_beside("", "a\nb") && !is_beside("a\nb", ""));
    let both = [block("a", "b")];
    let diff = Diff::new(&both);
    assert!(!diff.is_beside(false, 150) && !diff.is_beside(true, BESIDE_FROM - 1));
}

#[test]
fn long_lines_are_wrapped_and_narrow_ones_lose_their_numbers() {
    let blocks = [block("", "abcdefghijklmnopqrstuvwxyz")];
    assert_eq!(plain(&blocks, 24)[1..], ["1 + abcdefghijklmnopqrst", "  ↪ uvwxyz"]);
    assert_eq!(plain(&blocks, 16)[1..], ["+ abcdefghijklmn", "↪ opqrstuvwxyz"]);
}

#[test]
fn line_ends_are_shown_where_they_change() {
    assert_eq!(plain(&[block("a\r\nb", "a\r\nc")], 40), ["1   a", "2 - b", "2 + c"]);
    assert_eq!(plain(&[block("a\nb", "a\r\nb")], 40), ["1 - a", "1 + a␍", "2   b"]);
    assert_eq!(plain(&[block("a\x1b[2J", "\tb")], 40), ["1 - a␛[2J", "1 +     b"]);
}

#[test]
fn a_long_diff_is_drawn_in_part() {
    let old: String = (0..20_000).map(|i| format!("line {i} of the old text\n")).collect();
    let new: String = (0..20_000).map(|i| format!("row {} of a new text\n", i * 7)).collect();
    let blocks = [block(&old, &new)];
    let diff = Diff::new(&blocks);
    assert_eq!(diff.rows(), 40_000);
    let (theme, hl) = (Theme::dark(), HighlightCache::new());
    let part = diff.lines(19_999..20_001, 80, &theme, &hl);
    assert_eq!(part.len(), 2);
    assert!(part[0].to_string().starts_with("20000 - line 19999"));
    assert!(part[1].to_string().starts_with("    1 + row 0"));
    assert!(diff.lines(39_999..50_000, 80, &theme, &hl).len() == 1);
    assert!(diff.lines(50_000..60_000, 80, &theme, &hl).is_empty());
}

#[test]
fn colours_of_a_language_can_be_read_on_the_grounds() {
    for theme in [Theme::dark(), Theme::light()] {
        for ground in [theme.diff_add.bg, theme.diff_del.bg] {
            let ground = ground.expect("a ground");
            for (key, style) in theme.syntax.iter() {
                let Some(fg) = style.fg else { continue };
                let contrast = crate::ui::theme::contrast(fg, ground).expect("fixed colours");
                assert!(contrast >= 4.0, "{} {key}: {contrast:.2}", theme.name);
            }
        }
    }
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    let piece = prop::sample::select(vec![
        "let x = 1;",
        "\t",
        "日本語",
        "👩\u{200d}💻",
        "e\u{301}",
        "☺\u{fe0f}",
        "long_word_without_a_space",
        " ",
        "\u{1b}[2J",
        "\u{200b}",
    ]);
    let line = prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.concat());
    prop::collection::vec(line, 0..9)
}

proptest! {
    #[test]
    fn any_lines_of_a_laid_out_diff_are_those_of_all(
        old in pieces(), new in pieces(), width in 1_u16..60, beside in any::<bool>(),
        from in 0_usize..20, count in 0_usize..20,
    ) {
        let width = if beside { BESIDE_FROM + width } else { width };
        let blocks = vec![block(&old.join("\n"), &new.join("\n")), {
            DiffBlock { path: "/w/other.rs".to_owned(), ..block("", "x") }
        }];
        let (theme, hl) = (Theme::dark(), HighlightCache::inline());
        let diff = Diff::new(&blocks);
        let all = if diff.is_beside(beside, width) {
            let beside = Beside::new(&diff);
            beside.lines(0..beside.rows(), width, &theme, &hl)
        } else {
            diff.lines(0..diff.rows(), width, &theme, &hl)
        };
        let laid = Laid::new(blocks.clone(), beside, width, &theme, &hl);
        prop_assert_eq!(laid.len(), all.len());
        let some: Vec<_> = all.into_iter().skip(from).take(count).collect();
        prop_assert_eq!(laid.lines(from..from + count, &theme, &hl), some);
    }

    #[test]
    fn both_texts_can_be_read_off(
        old in prop::collection::vec("[ab ]{0,3}", 0..12),
        new in prop::collection::vec("[ab ]{0,3}", 0..12),
        width in 4_u16..30,
    ) {
        let blocks = [block(&old.join("\n"), &new.join("\n"))];
        let diff = Diff::new(&blocks);
        let mut seen = (Vec::new(), Vec::new());
        for row in &diff.rows {
            match row {
                Row::Context { old, new, .. } => { seen.0.push(*old); seen.1.push(*new); }
                Row::Removed { old, .. } => seen.0.push(*old),
                Row::Added { new, .. } => seen.1.push(*new),
                Row::Label(_) | Row::Gap(_) => {}
            }
        }
        prop_assert_eq!(seen.0, (0..diff.texts[0].old.len()).collect::<Vec<_>>());
        prop_assert_eq!(seen.1, (0..diff.texts[0].new.len()).collect::<Vec<_>>());
        for line in lines(&blocks, width) {
            let label = !line.to_string().contains(['+', '-']);
            prop_assert!(cells(&line.to_string()) <= usize::from(width) || label);
        }
    }
}
