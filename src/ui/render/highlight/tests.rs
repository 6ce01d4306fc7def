use super::*;

fn text(lines: &[Vec<Span<'_>>]) -> Vec<String> {
    lines.iter().map(|line| line.iter().map(|span| span.content.as_ref()).collect()).collect()
}

fn style_of(lines: &[Vec<Span<'static>>], part: &str) -> ratatui::style::Style {
    let span = lines.iter().flatten().find(|span| span.content.trim() == part);
    span.unwrap_or_else(|| panic!("no span {part:?} in {lines:?}")).style
}

const RUST: &str = "// say it\nfn main() {\n    let x: Vec<u8> = 42;\n    print(\"hi\");\n}\n";

#[test]
fn parts_of_code_have_their_colours() {
    let theme = Theme::dark();
    let lines = HighlightCache::inline().lines("rust", RUST, &theme);
    assert_eq!(text(&lines).join("\n"), RUST.trim_end());
    assert_eq!(style_of(&lines, "// say it"), theme.syntax.comment);
    assert_eq!(style_of(&lines, "let"), theme.syntax.keyword);
    assert_eq!(style_of(&lines, "main"), theme.syntax.function);
    assert_eq!(style_of(&lines, "42"), theme.syntax.number);
    assert_eq!(style_of(&lines, "\"hi\""), theme.syntax.string);
    assert_eq!(style_of(&lines, "u8"), theme.syntax.keyword);
    let lines = HighlightCache::inline().lines("diff", "+new\n-old\n", &theme);
    assert_eq!(style_of(&lines, "+new"), theme.success);
    assert_eq!(style_of(&lines, "-old"), theme.danger);
}

#[test]
fn languages_go_by_many_names() {
    for name in [
        "rust",
        "Rust",
        "rs",
        "rust,ignore",
        "python3",
        "shell",
        "tsx",
        "golang",
        "dockerfile",
        "c++",
        "jsonc",
        "toml",
        "yaml",
    ] {
        assert!(LineParser::new(&syntax::language_token(name)).is_some(), "{name}");
    }
    assert!(LineParser::new("klingon").is_none());
    assert_eq!(language_of("/a/b/main.rs"), "rs");
    assert_eq!(language_of("/a.b/Makefile"), "makefile");
    assert!(LineParser::new(&language_of("x/Makefile")).is_some());
}

#[test]
fn long_code_is_drawn_plain_until_a_worker_was_there() {
    let theme = Theme::dark();
    let cache = HighlightCache::new();
    let code = "let x = 1;\n".repeat(100);
    let plain = cache.lines("rust", &code, &theme);
    assert!(plain.iter().flatten().all(|span| span.style == theme.code));
    assert_eq!(cache.misses(), 1);
    let _ = cache.lines("rust", &code, &theme);
    let jobs = cache.take_wanted();
    assert_eq!(jobs.len(), 1, "one job, however often it is drawn");
    assert!(cache.take_wanted().is_empty());
    cache.insert(run(&jobs[0]));
    assert_eq!(cache.generation(), 1);
    let misses = cache.misses();
    let coloured = cache.lines("rust", &code, &theme);
    assert_eq!(coloured, HighlightCache::inline().lines("rust", &code, &theme));
    assert_eq!(style_of(&coloured, "let"), theme.syntax.keyword);
    assert_eq!(cache.misses(), misses);
    // The same roles in other colours.
    let light = Theme::light();
    assert_eq!(style_of(&cache.lines("rust", &code, &light), "let"), light.syntax.keyword);
}

#[test]
fn short_code_is_coloured_at_once_and_plain_text_never_asks() {
    let theme = Theme::dark();
    let _ = run(&HighlightJob { language: "rust".to_owned(), code: "".into() });
    let cache = HighlightCache::new();
    assert_eq!(style_of(&cache.lines("rust", RUST, &theme), "let"), theme.syntax.keyword);
    let _ = cache.lines("", &"x\n".repeat(100), &theme);
    let _ = cache.lines("klingon", &"x\n".repeat(100), &theme);
    let _ = cache.lines("rust", &"x\n".repeat(MAX_LINES + 2), &theme);
    assert!(cache.take_wanted().is_empty());
}

#[test]
fn code_that_streams_looks_as_it_will() {
    let theme = Theme::dark();
    let cache = HighlightCache::new();
    let code = "/* a\n".to_owned() + &"b */ let s = \"x\ny\"; /*\n".repeat(30);
    let _ = run(&HighlightJob { language: "rust".to_owned(), code: "".into() });
    for end in (0..=code.len()).step_by(7).chain([code.len()]) {
        let streamed = cache.open_lines("rust", &code[..end], &theme);
        assert_eq!(streamed, HighlightCache::inline().lines("rust", &code[..end], &theme));
    }
    // It is longer than what is coloured at once, yet it does not turn plain when it closes.
    assert!(needs_worker(&code));
    let closed = cache.lines("rust", &code, &theme);
    assert_eq!(closed, HighlightCache::inline().lines("rust", &code, &theme));
    assert!(cache.take_wanted().is_empty());
}

#[test]
fn code_is_made_safe() {
    let lines = HighlightCache::inline().lines("rust", "a\x1b[2J\n\tb\n", &Theme::dark());
    assert_eq!(text(&lines), ["a␛[2J", "    b"]);
}

#[test]
fn what_is_kept_has_an_end() {
    let cache = HighlightCache::new();
    for key in 0..10 {
        cache.keep(key, Rc::from([]), KEPT_BYTES / 4);
    }
    assert_eq!(cache.kept.borrow().len(), 4);
    assert!(cache.kept.borrow().contains_key(&9));
    assert_eq!(cache.kept_bytes.get(), KEPT_BYTES);
}
