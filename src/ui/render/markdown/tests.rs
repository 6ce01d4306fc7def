use proptest::prelude::*;
use ratatui::style::{Modifier, Style};

use super::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::ui::render::width::{grapheme_width, line_width};

/// Text, and below it the styles: a letter for each meaning, `.` for plain text.
fn picture(source: &str, width: u16) -> String {
    let theme = Theme::dark();
    let lines = markdown(source, width, &theme, &HighlightCache::inline());
    let mut text = String::new();
    let mut plane = String::new();
    for line in &lines {
        assert!(line_width(line) <= usize::from(width), "too wide: {line}");
        text.push_str(line.to_string().trim_end());
        text.push('\n');
        for span in &line.spans {
            let letter = letter(span.style, &theme);
            plane.extend(std::iter::repeat_n(
                letter,
                crate::ui::render::width::width(&span.content),
            ));
        }
        plane.truncate(plane.trim_end().len());
        plane.push('\n');
    }
    format!("{text}{}\n{plane}", "=".repeat(usize::from(width)))
}

fn letter(style: Style, theme: &Theme) -> char {
    let known = [
        (theme.inline_code, 'c'),
        (theme.link, 'l'),
        (theme.muted, 'm'),
        (theme.rule, 'r'),
        (theme.bullet, 'b'),
        (theme.quote, 'q'),
        (theme.heading, 'h'),
        (theme.heading.underlined(), 'H'),
        (theme.heading.italic(), 'i'),
        (theme.success, 'g'),
        (theme.syntax.keyword, 'k'),
        (theme.syntax.function, 'f'),
        (theme.syntax.number, 'n'),
        (theme.strong, 'S'),
        (theme.emphasis, 'E'),
        (theme.strong.patch(theme.emphasis), 'B'),
        (Style::new().crossed_out(), 'x'),
        (Style::new(), '.'),
    ];
    let found = known.iter().find(|(known, _)| *known == style).map(|(_, letter)| *letter);
    found.unwrap_or(if style.add_modifier.contains(Modifier::BOLD) { '#' } else { '?' })
}

const PROSE: &str = "# A title\n\nSome *emphasis*, **strong**, ***both***, ~~gone~~ and `inline code` in a \
    paragraph that is long enough to be wrapped at forty and at eighty columns.\nA soft break.  \nA hard one.\n\n\
    ## Smaller\n\n> A quote that goes on for a while so that it must be wrapped as well.\n>\n> > Nested.\n\n\
    ### Smallest\n\nSee [the docs](https://example.org/docs), <https://example.org> and \
    [https://example.org/](https://example.org). ![a picture](cat.png)\n\n---\n\nA note[^1] and <kbd>html</kbd>.\n\n\
    [^1]: What the note says.\n";

const LISTS: &str = "- one\n- two, which is long enough to be wrapped when there are only forty columns\n  - deep\n    - deeper\n\
    \n      ```sh\n      ls -la\n      ```\n- [x] done\n- [ ] open\n\n9. nine\n10. ten\n    1. inner\n\n\
    Loose:\n\n* first paragraph\n\n  second paragraph\n\n* next\n\n-\n- after an empty one\n";

const CODE: &str = "```rust,ignore\nfn main() {\n\tlet answer = 42; // a comment that is long enough to be wrapped at forty columns\n}\n```\n\n\
    ```\nno language\n\n  indent kept\n```\n\n    indented\n\n~~~python\ndef f(x): return x\n~~~\n";

const TABLES: &str = "| Name | What it does | Size |\n|:-----|:------------:|-----:|\n| `read` | Reads a file from the disk and \
    returns its **lines**, numbered | 12 |\n| write | Writes | 3456 |\n| 日本語 | 宽度是两个单元格，所以要换行 | 7 |\n| short |\n\n\
    | a | b |\n|---|---|\n| one<br>two | x \\| y |\n";

const CJK: &str = "# 标题\n\n今天天气很好，我们去公园散步吧。这是一个很长的段落，用来测试中文换行。\n下一行接着写。\n\n- 列表项目一：`cargo build`构建项目\n\
    - 👩‍👩‍👧‍👦 family 👍🏽 flag 🇩🇪 heart ❤️ end\n\n| 名称 | 值 |\n|---|---|\n| 👍 | 好 |\n| e\u{301} | ok |\n";

#[test]
fn pictures() {
    for width in [120, 80, 40] {
        insta::assert_snapshot!(format!("prose_{width}"), picture(PROSE, width));
        insta::assert_snapshot!(format!("lists_{width}"), picture(LISTS, width));
        insta::assert_snapshot!(format!("code_{width}"), picture(CODE, width));
        insta::assert_snapshot!(format!("tables_{width}"), picture(TABLES, width));
        insta::assert_snapshot!(format!("cjk_{width}"), picture(CJK, width));
    }
    insta::assert_snapshot!("tables_24", picture(TABLES, 24));
    insta::assert_snapshot!("lists_20", picture(LISTS, 20));
}

fn plain(source: &str, width: u16) -> Vec<String> {
    let lines = markdown(source, width, &Theme::dark(), &HighlightCache::inline());
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn entities_and_raw_html_are_safe() {
    assert_eq!(plain("a&#27;[2J b", 40), ["a␛[2J b"]);
    assert_eq!(plain("<b\x1b>\n", 40), ["<b␛>"]);
    assert_eq!(plain("[x](http://a&#x202e;b)", 40), ["x (http://a<U+202E>b)"]);
    assert_eq!(plain("```a\x1bb\nx\n```", 40), ["  a␛b", "  x"]);
}

#[test]
fn nothing_in_means_nothing_out() {
    assert!(plain("", 40).is_empty());
    assert!(plain("\n\n", 40).is_empty());
    assert_eq!(plain("****", 40).len(), 1);
}

#[test]
fn deep_nesting_ends() {
    let deep = format!("{}end", "> ".repeat(5000));
    let lines = plain(&deep, 40);
    assert!(lines.last().is_some_and(|line| line.ends_with("end")), "{lines:?}");
    let mut list = String::new();
    for depth in 0..200 {
        list.push_str(&format!("{}- {depth}\n", "  ".repeat(depth)));
    }
    let lines = plain(&list, 40);
    for depth in [0, 5, 20, 199] {
        let said = lines.iter().any(|line| line.trim_end().ends_with(&depth.to_string()));
        assert!(said, "{depth} in {lines:?}");
    }
}

#[test]
fn half_a_closing_fence_is_not_code() {
    let theme = Theme::dark();
    let open = |source: &str| {
        let lines = markdown_open(source, 40, &theme, &HighlightCache::inline());
        lines.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for end in ["", "`", "``", "```", "```\n"] {
        assert_eq!(open(&format!("```rust\nlet x;\n{end}")), ["  rust", "  let x;"], "{end:?}");
    }
}

proptest! {
    #[test]
    fn any_source_fits_and_is_safe(
        source in prop_oneof![any::<String>(), "[-a-z0-9 \n`*_#>|\\[\\]()!~<&;:日\t\x1b]{0,200}"],
        width in 1_u16..60,
    ) {
        let theme = Theme::dark();
        for line in markdown(&source, width, &theme, &HighlightCache::new()) {
            let text = line.to_string();
            prop_assert!(!text.contains(char::is_control));
            // A grapheme cannot be narrower than it is, and has at most the code's indent before it.
            let widest = text.graphemes(true).map(grapheme_width).max().unwrap_or(0);
            let room = usize::from(width).max(if widest > 1 { widest + 2 } else { 0 });
            prop_assert!(line_width(&line) <= room, "{:?}", line);
        }
    }
}
