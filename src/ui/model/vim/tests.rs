use proptest::prelude::*;

use super::*;

/// What `text` (its cursor at `|`) becomes after `keys`, `^` for Esc and `~R` for Ctrl-R left out.
fn after(text: &str, keys: &str) -> String {
    let cursor = text.find('|').map_or(0, |at| text[..at].chars().count());
    let mut text = Text::new(&text.replace('|', ""), cursor);
    let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
    type_keys(&mut vim, &mut text, keys);
    let mut out = text.slice(0, text.cursor);
    out.push('|');
    out.push_str(&text.slice(text.cursor, text.chars.len()));
    out
}

fn type_keys(vim: &mut Vim, text: &mut Text, keys: &str) {
    for c in keys.chars() {
        let code = if c == '\u{1b}' { KeyCode::Esc } else { KeyCode::Char(c) };
        if vim.press(KeyPress::plain(code), text) == Pressed::Ignored && vim.mode == Mode::Insert {
            text.chars.insert(text.cursor, c);
            text.cursor += 1;
        }
    }
}

#[test]
fn motions_go_where_they_say() {
    for (text, keys, expected) in [
        ("|one two.three", "w", "one |two.three"),
        ("|one two.three", "ww", "one two|.three"),
        ("|one two.three four", "2W", "one two.three |four"),
        ("one two| three", "b", "one |two three"),
        ("|one two", "e", "on|e two"),
        ("one t|wo", "0", "|one two"),
        ("  o|ne", "^", "  |one"),
        ("|one", "$", "on|e"),
        ("a\nb|b\nc", "gg", "|a\nbb\nc"),
        ("|a\nbb\n  c", "G", "a\nbb\n  |c"),
        ("|a\nb\nc", "2G", "a\n|b\nc"),
        ("|a(b)c", "f)", "a(b|)c"),
        ("|abcb", "2fb", "abc|b"),
        ("|a.b.c", "t.", "|a.b.c"),
        ("|a.b.c", "f.;", "a.b|.c"),
        ("|a.b.c", "f.;,", "a|.b.c"),
        ("a(|b(c)d)", "%", "a(b(c|)d)"),
        ("|a\n\nb", "}", "a\n|\nb"),
        ("ab|c\nd", "j", "abc\n|d"),
        ("一|二 三", "w", "一二 |三"),
    ] {
        assert_eq!(after(text, keys), expected, "{keys} on {text:?}");
    }
}

#[test]
fn operators_take_what_the_motion_covers() {
    for (text, keys, expected) in [
        ("|one two three", "dw", "|two three"),
        ("|one two three", "2dw", "|three"),
        ("|one two three", "d2w", "|three"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("o|ne two", "d$", "|o"),
        ("one |two", "d0", "|two"),
        ("|one two", "cwuno", "uno| two"),
        ("|a b", "cwx", "x| b"),
        ("one (t|wo)", "ci(x", "one (x|)"),
        ("say \"h|i there\" now", "ci\"bye", "say \"bye|\" now"),
        ("say |\"hi\" now", "da\"", "say | now"),
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo three", "ciwzwei", "one zwei| three"),
        ("a\n|b\nc", "dd", "a\n|c"),
        ("a\nb\n|c", "dd", "a\n|b"),
        ("|a\nb\nc", "2dd", "|c"),
        ("|a\nb\nc", "dj", "|c"),
        ("a\nb|b\nc", "ccx", "a\nx|\nc"),
        ("|a\nb", "yyp", "a\n|a\nb"),
        ("a\n|b", "yyP", "a\n|b\nb"),
        ("|ab", "xp", "b|a"),
        ("|abc", "xu", "|abc"),
        ("one |two", "dwu", "one |two"),
        ("|one two", "vey", "|one two"),
        ("|one two", "veyP", "on|eone two"),
        ("|one two", "ved", "| two"),
        ("|a\nb\nc", "Vjd", "|c"),
        ("|abc def", "viwc", "| def"),
        ("|one", "rx", "|xne"),
        ("|one", "3rx", "xx|x"),
        ("a\n|  b", "kJ", "a| b"),
        ("|one", "~", "O|ne"),
        ("on|e", "A!", "one!|"),
        ("one|", "I>", ">|one"),
        ("|one", "otwo", "one\ntwo|"),
        ("|a.b", "dt.", "|.b"),
        ("f(a, [b|])", "di[", "f(a, [|])"),
    ] {
        assert_eq!(after(text, keys), expected, "{keys} on {text:?}");
    }
}

#[test]
fn an_insertion_is_taken_back_as_one() {
    assert_eq!(after("|a", "ihello \u{1b}u"), "|a");
    assert_eq!(after("|one two", "cwuno\u{1b}u"), "|one two");
    let mut text = Text::new("", 0);
    let mut vim = Vim::default();
    type_keys(&mut vim, &mut text, "typed first\u{1b}");
    assert_eq!((vim.mode, text.cursor), (Mode::Normal, 10));
    type_keys(&mut vim, &mut text, "u");
    assert_eq!(text.text(), "", "what was typed before the first Esc too");
    let ctrl_r = KeyPress { ctrl: true, ..KeyPress::plain(KeyCode::Char('r')) };
    assert_eq!(vim.press(ctrl_r, &mut text), Pressed::Took);
    assert_eq!(text.text(), "typed first");
}

#[test]
fn what_is_not_complete_is_shown_and_esc_forgets_it() {
    let mut text = Text::new("one two", 0);
    let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
    type_keys(&mut vim, &mut text, "2d3t");
    assert_eq!(vim.pending(), "2d3t");
    type_keys(&mut vim, &mut text, "\u{1b}w");
    assert_eq!((text.text().as_str(), text.cursor), ("one two", 4));
    let esc = KeyPress::plain(KeyCode::Esc);
    assert_eq!(vim.press(esc, &mut text), Pressed::Ignored, "nothing is left to leave");
}

#[test]
fn beyond_the_first_and_last_line_lies_the_history() {
    let mut text = Text::new("a\nb", 0);
    let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
    let key = |c| KeyPress::plain(KeyCode::Char(c));
    assert_eq!(vim.press(key('k'), &mut text), Pressed::Above);
    assert_eq!(vim.press(key('j'), &mut text), Pressed::Took);
    assert_eq!(vim.press(key('j'), &mut text), Pressed::Below);
}

const KEYS: &str = "hjklwbeWBE0^$ggGfFtT;,{}%dcyDCYxXsSpPuJ~rvVoOiaIA\u{1b}\u{1b}123 \"()wxü宽\n";

proptest! {
    #[test]
    fn no_keys_break_it(
        text in "[a-c .()\"宽\n]{0,40}",
        start in 0_usize..40,
        keys in prop::collection::vec(prop::sample::select(KEYS.chars().collect::<Vec<_>>()), 0..60),
    ) {
        let mut text = Text::new(&text, start);
        let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
        vim.keep_inside(&mut text);
        for c in keys {
            type_keys(&mut vim, &mut text, &c.to_string());
            prop_assert!(text.cursor <= text.chars.len());
            prop_assert!(vim.selection().is_none_or(|anchor| anchor <= text.chars.len()));
            if vim.mode != Mode::Insert {
                let (start, end) = (text.line_start(text.cursor), text.line_end(text.cursor));
                prop_assert!(text.cursor < end || start == end, "{:?} after {c:?}", text);
            }
        }
    }

    #[test]
    fn whatever_was_done_is_undone_step_by_step_and_redone(
        original in "[a-c .()\n]{0,30}",
        commands in prop::collection::vec(
            prop::sample::select(vec!["dw", "x", "dd", "p", "cwz\u{1b}", "ix y\u{1b}", "ok\u{1b}", "daw", "J", "~", "Vd"]),
            1..12,
        ),
    ) {
        let mut text = Text::new(&original, 0);
        let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
        for command in &commands {
            type_keys(&mut vim, &mut text, command);
        }
        let last = text.text();
        for _ in 0..commands.len() {
            type_keys(&mut vim, &mut text, "u");
        }
        prop_assert_eq!(text.text(), original);
        let ctrl_r = KeyPress { ctrl: true, ..KeyPress::plain(KeyCode::Char('r')) };
        for _ in 0..commands.len() {
            vim.press(ctrl_r, &mut text);
        }
        prop_assert_eq!(text.text(), last);
    }

    #[test]
    fn yanking_changes_nothing(text in "[a-c .()\n]{0,30}", at in 0_usize..30,
        motion in prop::sample::select(vec!["w", "b", "e", "$", "0", "y", "j", "k", "G", "iw", "a(", "f.", "}"]))
    {
        let mut text = Text::new(&text, at);
        let mut vim = Vim { mode: Mode::Normal, ..Vim::default() };
        vim.keep_inside(&mut text);
        let before = text.text();
        type_keys(&mut vim, &mut text, &format!("y{motion}"));
        prop_assert_eq!(text.text(), before);
        prop_assert_eq!(vim.mode, Mode::Normal);
    }
}
