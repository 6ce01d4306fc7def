use std::fs;
use std::path::Path;

use ratatui::style::{Color, Modifier, Style};

use super::{BUILTIN, ColorDepth, Marks, Theme, contrast};
use crate::ui::render::width::width;

/// What text without a colour of its own looks like on terminals of this kind.
fn own(theme: &Theme) -> Color {
    if theme.is_dark { Color::Rgb(0xd4, 0xd4, 0xd4) } else { Color::Rgb(0x1f, 0x23, 0x28) }
}

fn ours() -> impl Iterator<Item = Theme> {
    let names = BUILTIN.iter().filter(|name| **name != "ansi");
    names.map(|name| Theme::load(name, Path::new("nowhere")).expect(name))
}

#[test]
fn every_style_can_be_read() {
    let lines = ["border", "rule", "table_border", "gauge_empty", "diff_line_number"];
    for theme in ours() {
        let mut grounds = vec![theme.background];
        if theme.name == "dark" {
            grounds.push(Color::Rgb(0, 0, 0));
        }
        let least = if theme.name == "contrast" { 7.0 } else { 4.5 };
        for ground in grounds {
            for (key, style) in theme.styles.iter().chain(theme.syntax.iter()) {
                let fg = style.fg.unwrap_or(own(&theme));
                let bg = style.bg.unwrap_or(ground);
                let needed = if lines.contains(&key) { 3.0 } else { least };
                let got = contrast(fg, bg).expect("fixed colours");
                assert!(got >= needed, "{} {key}: {got:.2} < {needed}", theme.name);
            }
            // What stands in panels and in the chosen row must be readable there too.
            for below in [theme.overlay, theme.selection] {
                let ground = below.bg.expect("a ground");
                for (key, style) in theme.styles.iter().filter(|(_, style)| style.bg.is_none()) {
                    let fg = style.fg.unwrap_or(own(&theme));
                    let needed = if lines.contains(&key) { 2.0 } else { 3.9 };
                    let got = contrast(fg, ground).expect("fixed colours");
                    assert!(got >= needed, "{} {key} in a panel: {got:.2}", theme.name);
                }
            }
        }
    }
}

/// What a person without red or without green cones sees, roughly (Viénot, Brettel, Mollon 1999).
fn dichromat(color: Color) -> (f64, f64) {
    let Color::Rgb(r, g, b) = color else { panic!("a fixed colour") };
    let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
    let (r, g, b) = (linear(r), linear(g), linear(b));
    // Red and green become one yellow; blue stays.
    (0.29 * r + 0.71 * g, b)
}

#[test]
fn colour_blind_eyes_tell_good_from_bad() {
    let clear = Theme::load("clear", Path::new("nowhere")).expect("theme");
    let far = |a: Style, b: Style| {
        let (a, b) = (dichromat(a.fg.expect("fg")), dichromat(b.fg.expect("fg")));
        (a.0 - b.0).abs().max((a.1 - b.1).abs())
    };
    assert!(far(clear.success, clear.danger) > 0.4);
    assert!(far(clear.success, clear.warning) > 0.4);
    let grounds = |style: Style| Style::new().fg(style.bg.expect("bg"));
    assert!(far(grounds(clear.diff_add_word), grounds(clear.diff_del_word)) > 0.2);
    // And it is this theme that does it, not the measure that finds everything far.
    assert!(
        far(Style::new().fg(Color::Rgb(200, 80, 40)), Style::new().fg(Color::Rgb(40, 118, 40)))
            < 0.1
    );
}

#[test]
fn only_a_few_styles_fill_their_ground() {
    for theme in [Theme::dark(), Theme::light()] {
        let filled: Vec<&str> = theme
            .styles
            .iter()
            .filter_map(|(key, style)| style.bg.is_some().then_some(key))
            .filter(|key| !key.starts_with("diff_"))
            .collect();
        assert_eq!(filled, ["selection", "badge", "overlay"]);
    }
}

#[test]
fn embedded_themes_differ_and_are_named() {
    let themes = [Theme::dark(), Theme::light(), Theme::ansi(), Theme::monochrome()];
    assert_eq!(themes.each_ref().map(|t| t.name.as_str()), ["dark", "light", "ansi", "monochrome"]);
    for (i, a) in themes.iter().enumerate() {
        for b in &themes[i + 1..] {
            assert_ne!(a.revision, b.revision);
        }
    }
    assert_eq!(Theme::dark().revision, Theme::dark().revision);
    assert!(!Theme::light().is_dark);
}

#[test]
fn a_theme_of_ones_own_changes_another() {
    let folder = tempfile::tempdir().expect("folder");
    let source = "extends = \"light\"\nmarks = \"ascii\"\n[palette]\nleaf = \"#336633\"\n\
                  [styles]\nsuccess = \"leaf bold on 17\"\n[syntax]\ntype = \"bright-blue\"\n";
    fs::write(folder.path().join("mine.toml"), source).expect("write");
    let theme = Theme::load("mine", folder.path()).expect("theme");
    let light = Theme::light();
    assert_eq!(theme.name, "mine");
    assert_eq!(
        theme.success,
        Style::new().fg(Color::Rgb(0x33, 0x66, 0x33)).bg(Color::Indexed(17)).bold()
    );
    assert_eq!(theme.syntax.type_name.fg, Some(Color::LightBlue));
    assert_eq!(theme.danger, light.danger);
    assert_eq!(theme.marks, Marks::ascii());
    assert!(!theme.is_dark);
    assert_ne!(theme.revision, light.revision);
    assert_eq!(Theme::known(folder.path()), [&BUILTIN[..], &["mine"]].concat());
}

#[test]
fn errors_say_where_and_what_to_write() {
    let wrong = |source: &str| Theme::parse("x", "x.toml", source).expect_err(source).to_string();
    let error = wrong("[palette]\nleaf = \"#fff000\"\n[styles]\nheading = \"bold blu\"\n");
    assert_eq!(
        error,
        "x.toml: styles.heading = \"bold blu\": unknown colour \"blu\". \
         Write #rrggbb, 0 to 255, a name like red or bright-red, or a name from [palette]: leaf."
    );
    assert!(wrong("[styles]\nhedding = \"red\"\n").starts_with("x.toml: styles.hedding"));
    assert!(wrong("[styles]\nheading = \"red blue\"\n").contains("a second colour \"blue\""));
    assert!(wrong("[styles]\nheading = 3\n").contains("not a string"));
    assert!(wrong("[styles]\nheading = \"on\"\n").contains("unknown colour \"\""));
    assert!(wrong("[styles]\nheading = \"#ggg\"\n").contains("unknown colour"));
    assert!(wrong("extends = \"mine\"\n").contains("Write one of: dark, light, ansi, contrast"));
    assert!(wrong("colours = {}\n").contains("unknown key"));
    assert!(wrong("[styles\n").starts_with("x.toml: TOML parse error at line 1"));
    let folder = tempfile::tempdir().expect("folder");
    let error = Theme::load("../etc", folder.path()).expect_err("a path").to_string();
    assert!(
        error.starts_with("unknown theme \"../etc\" (known: dark, light, ansi, contrast, "),
        "{error}"
    );
}

#[test]
fn the_environment_tells_the_depth() {
    let detect = |pairs: &[(&str, &str)]| {
        ColorDepth::detect(&|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(detect(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), ColorDepth::None);
    assert_eq!(detect(&[("TERM", "dumb")]), ColorDepth::None);
    assert_eq!(detect(&[("TERM", "xterm-256color"), ("NO_COLOR", "")]), ColorDepth::Ansi256);
    assert_eq!(
        detect(&[("TERM", "tmux-256color"), ("COLORTERM", "truecolor")]),
        ColorDepth::TrueColor
    );
    assert_eq!(detect(&[("TERM", "xterm-kitty")]), ColorDepth::TrueColor);
    assert_eq!(detect(&[("TERM", "linux")]), ColorDepth::Ansi16);
}

#[test]
fn colours_go_down_to_their_neighbours() {
    let c256 = |r, g, b| ColorDepth::Ansi256.color(Color::Rgb(r, g, b));
    assert_eq!(c256(255, 0, 0), Color::Indexed(196));
    assert_eq!(c256(0x1e, 0x1e, 0x1e), Color::Indexed(234));
    assert_eq!(c256(255, 255, 255), Color::Indexed(231));
    let c16 = |r, g, b| ColorDepth::Ansi16.color(Color::Rgb(r, g, b));
    assert_eq!(c16(0xf0, 0x8a, 0x86), Color::LightRed);
    assert_eq!(c16(0x2b, 0x74, 0x35), Color::Green);
    assert_eq!(c16(0x6c, 0x72, 0x7d), Color::DarkGray);
    assert_eq!(ColorDepth::Ansi16.color(Color::Indexed(9)), Color::LightRed);
    assert_eq!(ColorDepth::TrueColor.color(Color::Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
}

#[test]
fn no_colour_leaves_modifiers_only() {
    let theme = Theme::dark().at_depth(ColorDepth::None);
    assert_eq!(theme.name, "dark");
    for (key, style) in theme.styles.iter().chain(theme.syntax.iter()) {
        assert_eq!((style.fg, style.bg), (None, None), "{key}");
    }
    assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
}

#[test]
fn marks_are_one_cell_wide() {
    for marks in [Marks::unicode(), Marks::ascii()] {
        let mut all = vec![
            marks.dot,
            marks.ring,
            marks.folded,
            marks.unfolded,
            marks.bar,
            marks.heavy_bar,
            marks.line,
            marks.check,
            marks.cross,
            marks.ellipsis,
            marks.down,
            marks.up,
            marks.arrow,
            marks.separator,
            marks.task_open,
            marks.task_done,
            marks.wrapped,
            marks.gap,
            marks.gauge_full,
            marks.gauge_empty,
            marks.table_cross,
            marks.table_bar,
        ];
        all.extend(marks.bullets);
        all.extend(marks.spinner);
        for mark in all {
            assert_eq!(width(mark), 1, "{mark:?}");
        }
    }
    assert!(Marks::ascii().spinner.iter().all(|picture| picture.is_ascii()));
}
