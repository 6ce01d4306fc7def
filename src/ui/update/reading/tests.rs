use crate::message::ToolReturn;
use crate::ui::effect::Effect;
use crate::ui::model::Focus;
use crate::ui::model::cell::Group;
use crate::ui::model::search::Search;
use crate::ui::model::transcript::Position;
use crate::ui::testing::Harness;

fn output(lines: usize) -> String {
    (0..lines).map(|n| format!("output line {n}\n")).collect()
}

/// Three turns: a prompt, an answer with two blocks of code, a command with long output.
fn session(width: u16, height: u16) -> Harness {
    let mut h = Harness::new(width, height);
    for turn in 0..3 {
        h.begin_turn(&format!("prompt {turn}")).step(1);
        h.text(&format!(
            "answer {turn} with `code`\n\n```rust\nfn one() {{}}\n```\n\nthen\n\n```sh\nls -la\n```\n"
        ));
        let id = format!("t{turn}");
        h.call(&id, "Bash", &format!("{{\"command\": \"make {turn}\"}}"));
        h.result(&id, ToolReturn::ok(output(40), "Command executed successfully."));
        h.end_turn();
    }
    h.picture();
    h
}

/// The rows with the bar of the selection.
fn selected_rows(h: &mut Harness) -> Vec<String> {
    let bar = h.theme.marks.heavy_bar;
    h.picture()
        .lines()
        .filter_map(|line| Some(line.trim_start_matches('"').strip_prefix(bar)?.to_owned()))
        .collect()
}

fn copied(h: &mut Harness) -> String {
    match h.take_effects().pop() {
        Some(Effect::Copy { text, .. }) => text,
        other => panic!("nothing copied: {other:?}"),
    }
}

#[test]
fn tab_from_an_empty_composer_selects_and_esc_comes_back() {
    let mut h = session(80, 24);
    h.keys("<tab>");
    assert_eq!(h.model.focus, Focus::Transcript);
    assert!(selected_rows(&mut h)[0].contains("Bash"));
    h.keys("k");
    assert!(selected_rows(&mut h)[0].contains("answer 2"));
    h.keys("<esc>");
    assert_eq!(h.model.focus, Focus::Composer);
    assert_eq!(selected_rows(&mut h), [""; 0]);
    h.keys("draft<tab>");
    assert_eq!(h.model.focus, Focus::Composer, "with a draft it completes");
}

#[test]
fn jumps_go_from_prompt_to_prompt_and_from_call_to_call() {
    let mut h = session(80, 24);
    h.keys("<tab>K");
    assert!(selected_rows(&mut h)[0].contains("prompt 2"));
    h.keys("K");
    assert!(selected_rows(&mut h)[0].contains("prompt 1"));
    h.keys("}");
    assert!(selected_rows(&mut h)[0].contains("make 1"));
    h.keys("{");
    assert!(selected_rows(&mut h)[0].contains("make 0"));
    h.keys("JJ");
    assert!(selected_rows(&mut h)[0].contains("prompt 2"));
    h.keys("J");
    assert!(h.picture().contains("No prompt below"));
    h.keys("G");
    h.picture();
    assert_eq!(h.model.transcript.position, Position::Follow);
}

#[test]
fn every_cell_can_be_reached_and_is_shown_when_it_is() {
    for (width, height) in [(80, 24), (120, 40), (30, 8)] {
        let mut h = session(width, height);
        h.keys("<tab>");
        let mut seen = std::collections::HashSet::new();
        for _ in 0..200 {
            h.keys("k").picture();
            let selected = h.model.transcript.selected.expect("selected");
            let window = h.model.transcript.visible.expect("drawn");
            assert!((window.first..=window.last).contains(&selected), "{width}x{height}");
            seen.insert(selected);
        }
        assert!(seen.contains(&h.model.transcript.cells()[0].id), "{width}x{height}");
        // And back down, in as many steps as it takes.
        for _ in 0..200 {
            h.keys("j").picture();
        }
        let last = h.model.transcript.cells().last().expect("cells").id;
        assert_eq!(h.model.transcript.selected, Some(last));
    }
}

#[test]
fn one_cell_unfolds_and_folds() {
    let mut h = session(80, 30);
    h.keys("<tab>");
    assert!(!h.picture().contains("output line 12"));
    h.keys("<enter>");
    assert!(h.picture().contains("output line 12"));
    h.keys("<enter>");
    assert!(!h.picture().contains("output line 12"));
    // The key for all takes back what was done one by one.
    h.keys("<enter><ctrl-e><ctrl-e>");
    assert!(h.model.transcript.cells().iter().all(|cell| cell.open.is_none()));
}

#[test]
fn the_pager_shows_all_of_a_cell_and_searches_in_it() {
    let mut h = session(80, 20);
    h.keys("<tab>o");
    let picture = h.picture();
    assert!(picture.contains("Bash make 2") && picture.contains("\"command\""), "{picture}");
    h.keys("G");
    assert!(h.picture().contains("output line 39"));
    h.keys("g/line 2\\d<enter>");
    let picture = h.picture();
    assert!(picture.contains("output line 20"), "{picture}");
    h.keys("nn");
    h.picture();
    h.keys("<esc>");
    assert!(h.model.overlays.is_empty());
    assert_eq!(h.model.focus, Focus::Transcript);
}

#[test]
fn a_search_in_the_pager_ends_with_it_and_the_one_before_goes_on() {
    let mut h = session(80, 20);
    h.keys("<tab>/answer<enter>o");
    assert!(!h.picture().contains("/answer"), "it is not of the pager");
    h.keys("/zzz<enter>");
    h.picture();
    assert!(h.picture().contains("/zzz  nothing matches"));
    h.keys("/line<enter>/yyy<enter><esc>");
    let picture = h.picture();
    assert!(picture.contains("/answer  1/3") || picture.contains("/answer  3/3"), "{picture}");
    h.keys("<esc>o");
    h.keys("/zzz<enter><esc>");
    assert_eq!(h.model.search, Search::default());
}

#[test]
fn a_search_goes_to_matches_and_opens_what_hides_them() {
    let mut h = session(80, 24);
    h.keys("<tab>g");
    h.picture();
    h.keys("/ANSWER 1<enter>");
    assert!(h.picture().contains("Nothing matches ANSWER 1"), "a capital means capitals");
    h.keys("/answer \\d<enter>");
    assert!(h.picture().contains("1/3"), "{}", h.picture());
    h.keys("n");
    assert!(h.picture().contains("2/3"));
    assert!(selected_rows(&mut h)[0].contains("answer 1"));
    h.keys("nn");
    assert!(h.picture().contains("from the top"));
    h.keys("N");
    assert!(selected_rows(&mut h)[0].contains("answer 2"));
    h.keys("/line 7$<enter>");
    let picture = h.picture();
    assert!(picture.contains("output line 7 "), "{picture}");
    // What is found is marked.
    let buffer = h.draw().backend().buffer().clone();
    let marked: String = buffer
        .content()
        .iter()
        .filter(|cell| cell.bg == h.theme.badge.bg.expect("a ground"))
        .map(ratatui::buffer::Cell::symbol)
        .collect();
    assert!(marked.contains("line 7"), "{marked}");
    h.keys("<esc>");
    assert!(h.model.search.pattern.is_empty());
    assert_eq!(h.model.focus, Focus::Transcript, "the first Esc ends the search");
}

#[test]
fn a_copy_is_the_source() {
    let mut h = session(40, 24);
    h.keys("<tab>y");
    assert_eq!(copied(&mut h), output(40));
    h.keys("c");
    assert_eq!(copied(&mut h), "make 2");
    h.keys("ky");
    assert!(copied(&mut h).starts_with("answer 2 with `code`\n\n```rust\nfn one() {}\n```"));
    h.keys("c");
    assert_eq!(copied(&mut h), "fn one() {}\n");
    h.keys("c");
    assert_eq!(copied(&mut h), "ls -la\n");
    h.keys("c");
    assert_eq!(copied(&mut h), "fn one() {}\n");
    h.send(crate::ui::msg::Msg::Said("Output, 40 lines: copied with xclip".into()));
    assert!(h.picture().contains("copied with xclip"));
}

#[test]
fn reads_in_a_row_share_a_row() {
    let mut h = Harness::new(80, 30);
    h.begin_turn("look").step(1);
    for (id, name, argument) in [
        ("a", "ReadFile", r#"{"path": "one.rs"}"#),
        ("b", "ReadFile", r#"{"path": "two.rs"}"#),
        ("c", "Grep", r#"{"pattern": "fn main"}"#),
    ] {
        h.call(id, name, argument);
    }
    h.result("b", ToolReturn::ok("text", "2 lines read."));
    h.result("a", ToolReturn::ok("text", "1 line read."));
    h.result("c", ToolReturn::ok("x", "Found."));
    let picture = h.picture();
    assert!(picture.contains("ReadFile 2, Grep  one.rs, two.rs, fn main"), "{picture}");
    assert!(!picture.contains("lines read"), "{picture}");
    h.keys("<tab>");
    h.keys("<enter>");
    let picture = h.picture();
    assert!(picture.contains("2 lines read"), "{picture}");
    h.keys("<enter>y");
    assert_eq!(copied(&mut h), "one.rs\ntwo.rs\nfn main\n");
    // One that fails stands alone, and so do its neighbours.
    h.call("d", "ReadFile", r#"{"path": "four.rs"}"#);
    h.call("e", "ReadFile", r#"{"path": "five.rs"}"#);
    h.result("d", ToolReturn::error("No such file", "not found"));
    let groups: Vec<Group> = h.model.transcript.cells().iter().map(|cell| cell.group).collect();
    assert!(matches!(groups[1], Group::Leader { count: 3 }), "{groups:?}");
    assert_eq!(groups[4..], [Group::Alone, Group::Alone]);
}

#[test]
fn what_came_is_counted_in_lines() {
    let mut h = session(80, 24);
    h.keys("<pageup>").picture();
    h.begin_turn("more").step(1);
    h.text("one\n\ntwo\n\nthree");
    // A gap and the prompt, a gap and five lines.
    assert!(h.picture().contains(" 8 new lines ↓ "), "{}", h.picture());
    h.keys("<ctrl-end>");
    assert!(!h.picture().contains("new lines"));
}

#[test]
fn the_scroll_bar_stands_where_the_window_does() {
    let mut h = session(80, 24);
    let rows = |h: &mut Harness| -> Vec<usize> {
        let picture = h.picture();
        let bar = h.theme.marks.bar;
        let is_bar = |line: &str| line.trim_end_matches('"').ends_with(bar);
        picture.lines().enumerate().filter(|(_, line)| is_bar(line)).map(|(row, _)| row).collect()
    };
    assert_eq!(rows(&mut h), [0; 0], "none while following");
    h.keys("<ctrl-home>").picture();
    let top = rows(&mut h);
    assert_eq!(top.first(), Some(&0));
    h.keys("<pagedown>").picture();
    assert!(rows(&mut h).first() > top.first());
    h.keys("<tab>G").picture();
    assert!(rows(&mut h).last() >= Some(&19), "{:?}", rows(&mut h));
}

#[test]
fn themes_are_looked_at_while_they_are_marked() {
    let mut h = session(80, 24);
    h.model.themes = crate::ui::model::Themes {
        known: ["dark", "light", "ember"].map(String::from).to_vec(),
        chosen: "dark".into(),
        shown: "dark".into(),
    };
    h.take_effects();
    let shows = |h: &mut Harness| -> Vec<String> {
        let effects = h.take_effects().into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::ShowTheme(name) => Some(name),
                _ => None,
            })
            .collect()
    };
    h.keys("/theme<enter>");
    assert!(h.picture().contains("ember"));
    assert_eq!(shows(&mut h), [""; 0]);
    h.keys("<down><down>");
    assert_eq!(shows(&mut h), ["light", "ember"]);
    h.keys("<esc>");
    assert_eq!(shows(&mut h), ["dark"], "looking is not choosing");
    h.keys("/theme<enter>emb<enter>");
    assert_eq!(shows(&mut h), ["ember"]);
    assert_eq!(h.model.themes.chosen, "ember");
}
