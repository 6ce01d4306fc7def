//! Writing: lists to take texts from, pastes, drafts that outlive the program.

use super::*;
use crate::ui::model::composer::Draft;

#[test]
fn the_palette_carries_out_what_is_found_by_typing() {
    let mut h = Harness::new(80, 24);
    h.keys("<ctrl-p>hide the panes<enter>");
    assert!(!h.model.screen.layout().panes);
    h.keys("<ctrl-p>/compact<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("/compact".into())]);
}

#[test]
fn an_earlier_prompt_is_found_by_typing_and_can_be_changed() {
    let mut h = Harness::new(80, 24);
    h.send(Msg::History(vec!["fix the parser".into(), "写文档".into(), "fix the parser".into()]));
    h.keys("<ctrl-r>pars<enter>");
    assert_eq!(h.model.composer.editor.text(), "fix the parser");
    assert_eq!(sent(&mut h), [], "it is not sent yet");
}

#[test]
fn the_external_editor_gets_the_draft_and_gives_it_back() {
    let mut h = Harness::new(80, 24);
    h.keys("draft<ctrl-o>");
    assert_eq!(h.take_effects(), [Effect::EditExternally("draft".into())]);
    h.send(Msg::Edited(Ok("longer\ndraft\n".into())));
    assert_eq!(h.model.composer.editor.text(), "longer\ndraft");
    h.send(Msg::Edited(Err("vi could not be started".into())));
    assert!(h.picture().contains("vi could not be started"));
    assert_eq!(h.model.composer.editor.text(), "longer\ndraft");
}

#[test]
fn a_long_paste_is_one_mark_in_the_draft_and_sent_as_it_is() {
    let mut h = Harness::new(80, 24);
    let long = "a line\n".repeat(30);
    h.keys("see <left><right>").send(Msg::Paste(long.clone()));
    assert_eq!(h.model.composer.editor.text(), "see [Pasted text #1 +30 lines]");
    h.keys("<backspace>");
    assert_eq!(h.model.composer.editor.text(), "see ", "the mark goes as a whole");
    h.send(Msg::Paste(long.clone())).keys("!<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt(format!("see {long}!").into())]);
}

#[test]
fn a_draft_is_kept_when_typing_stops_and_once() {
    let mut h = Harness::new(80, 24);
    h.keys("half a thought").take_effects();
    let due = h.model.next_change(h.now).expect("something to save");
    h.now = due;
    h.send(Msg::Tick);
    let draft = Draft { text: "half a thought".into(), ..Draft::default() };
    assert_eq!(h.take_effects(), [Effect::SaveDraft(draft)]);
    assert_eq!(h.model.next_change(h.now), None);
    h.keys("<left>").wait(1.0);
    assert_eq!(h.take_effects(), [], "nothing new to keep");
    h.keys("<ctrl-c><ctrl-c>");
    let effects = h.take_effects();
    let kept = effects.iter().any(|effect| *effect == Effect::SaveDraft(Draft::default()));
    assert!(kept && effects.last() == Some(&Effect::Quit), "{effects:?}");
}

#[test]
fn what_a_crash_left_unsent_comes_back_but_is_not_sent() {
    let mut h = Harness::new(80, 24);
    let draft =
        Draft { text: "and this".into(), queue: vec!["first that".into()], ..Draft::default() };
    h.send(Msg::Draft(draft.clone()));
    assert_eq!(h.model.composer.editor.text(), "first that\nand this");
    assert_eq!(sent(&mut h), []);
    let mut h = Harness::new(80, 24);
    h.keys("already writing").send(Msg::Draft(draft));
    assert_eq!(h.model.composer.editor.text(), "already writing");
}

#[test]
fn an_at_sign_offers_files_and_enter_takes_one_before_it_sends() {
    let mut h = Harness::new(80, 24);
    h.keys("read @");
    let Some(Effect::ListFiles { id }) = h.take_effects().pop() else {
        panic!("no files asked for")
    };
    let files = ["src/", "src/main.rs", "src/map.rs"].map(String::from);
    h.send(Msg::Files { id, files: files.into() });
    h.keys("ma");
    assert_eq!(h.model.mention.shown, ["src/map.rs", "src/main.rs"]);
    h.keys("<down><enter>");
    assert_eq!(h.model.composer.editor.text(), "read @src/main.rs ");
    h.keys("please<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("read @src/main.rs please".into())]);
}
