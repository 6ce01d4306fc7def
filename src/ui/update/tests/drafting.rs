//! The shell, what is put aside, pictures, vim, deleted pieces.

use super::*;
use crate::ui::model::image::Image;
use crate::ui::model::vim::Mode;
use crate::wire::SessionInfo;

fn shell_id(h: &mut Harness) -> (crate::ui::effect::EffectId, String) {
    let started = h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Shell { id, command } => Some((id, command)),
        _ => None,
    });
    started.expect("a command")
}

#[test]
fn an_exclamation_mark_runs_a_command_beside_the_conversation() {
    let mut h = Harness::new(80, 24);
    h.keys("!");
    assert!(h.model.composer.is_shell && h.model.composer.editor.is_empty());
    assert!(h.picture().contains("the model is not told"), "{}", h.picture());
    h.keys("ls -a<enter>");
    let (id, command) = shell_id(&mut h);
    assert_eq!(command, "ls -a");
    h.send(Msg::ShellOutput { id, text: "notes.txt\n".into() });
    assert!(h.picture().contains("notes.txt"), "{}", h.picture());
    // A prompt waits for it, and goes when it has ended.
    h.keys("<ctrl-x>and now<enter>");
    assert_eq!(sent(&mut h), []);
    h.send(Msg::ShellEnded { id, result: Ok(ToolReturn::ok("notes.txt\n", "")) });
    assert_eq!(sent(&mut h), [Command::Prompt("and now".into())]);
    assert!(h.picture().contains("notes.txt"));
}

#[test]
fn a_dollar_and_a_space_begin_a_command_too_and_it_shows() {
    let mut h = Harness::new(80, 24);
    h.keys("$");
    assert!(!h.model.composer.is_shell, "it may be a price");
    h.keys("<space>");
    assert!(h.model.composer.is_shell && h.model.composer.editor.is_empty());
    assert!(h.picture().contains("the model is not told"), "{}", h.picture());
    // Backspace is the way back, as after `!`.
    h.keys("<backspace>");
    assert!(!h.model.composer.is_shell);
    h.keys("$<space>ls<space>$<space>x<enter>");
    assert_eq!(shell_id(&mut h).1, "ls $ x");
    for (typed, prompt) in [("$5<space>is", "$5 is"), ("a<space>$<space>b", "a $ b")] {
        let mut h = Harness::new(80, 24);
        h.keys(typed).keys("<enter>");
        assert_eq!(sent(&mut h), [Command::Prompt(prompt.into())]);
    }
    let mut h = Harness::new(80, 24);
    h.send(Msg::Paste("$ rm -r x".into())).keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("$ rm -r x".into())]);
}

#[test]
fn a_command_is_recalled_as_one_and_never_sent_to_the_model() {
    let mut h = Harness::new(80, 24);
    h.keys("!make<enter>");
    let (id, _) = shell_id(&mut h);
    h.send(Msg::ShellEnded { id, result: Ok(ToolReturn::ok("", "")) });
    h.keys("<esc>").send(Msg::History(vec!["!make".into()]));
    assert!(!h.model.composer.is_shell);
    h.keys("<up>");
    assert!(h.model.composer.is_shell);
    assert_eq!(h.model.composer.editor.text(), "make");
    h.keys("<down>");
    assert!(!h.model.composer.is_shell);
    // A paste that begins like one is none.
    h.send(Msg::Paste("!rm -r x".into())).keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("!rm -r x".into())]);
}

#[test]
fn a_running_command_is_stopped_by_the_usual_keys_and_a_folder_change_is_refused() {
    let mut h = Harness::new(80, 24);
    h.keys("!cd /tmp<enter>");
    assert_eq!(h.take_effects(), []);
    assert!(h.picture().contains("would not outlast"));
    h.keys("<ctrl-u>sleep 9<enter>");
    let (id, _) = shell_id(&mut h);
    h.keys("<ctrl-c>");
    assert_eq!(h.take_effects(), [Effect::StopShell { id }]);
    h.keys("<backspace>").begin_turn("q");
    h.send(Msg::ShellEnded { id, result: Err("sh could not be started".into()) });
    assert!(h.picture().contains("could not be started"));
}

#[test]
fn a_draft_is_put_aside_and_comes_back_from_a_list() {
    let mut h = Harness::new(80, 24);
    h.keys("first<alt-s>");
    assert!(h.model.composer.editor.is_empty());
    assert!(h.picture().contains("1 put aside"), "{}", h.picture());
    h.keys("<alt-s>");
    assert_eq!(h.model.composer.editor.text(), "first");
    h.keys("<alt-s>second<alt-s><alt-s>");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Picker(_))));
    h.keys("<down><enter>");
    assert_eq!(h.model.composer.editor.text(), "first");
    assert_eq!(h.model.composer.stash, ["second"]);
}

#[test]
fn what_was_put_aside_survives_a_crash() {
    let mut h = Harness::new(80, 24);
    h.keys("later<alt-s>now").wait(1.0);
    let saved = h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::SaveDraft(draft) => Some(draft),
        _ => None,
    });
    let mut h = Harness::new(80, 24);
    h.send(Msg::Draft(saved.expect("saved")));
    assert_eq!(h.model.composer.editor.text(), "now");
    assert_eq!(h.model.composer.stash, ["later"]);
}

#[test]
fn deleted_pieces_come_back_and_changes_are_taken_back() {
    let mut h = Harness::new(80, 24);
    h.keys("one two three<ctrl-w><ctrl-w><ctrl-a><ctrl-y>");
    assert_eq!(h.model.composer.editor.text(), "two threeone ");
    h.keys("<ctrl-u>");
    h.keys("x<ctrl-y><alt-y>");
    assert!(h.model.composer.editor.text().contains("two three"));
    h.keys("<ctrl-c>abc def<alt-b><alt-d>");
    assert_eq!(h.model.composer.editor.text(), "abc ");
    h.keys("<alt-z>");
    assert_eq!(h.model.composer.editor.text(), "abc def");
    h.keys("<alt-Z>");
    assert_eq!(h.model.composer.editor.text(), "abc ");
}

fn picture() -> Image {
    Image { name: "a.png".into(), size: (7, 5), url: "data:image/png;base64,AAAA".into() }
}

#[test]
fn the_path_of_a_picture_becomes_the_picture_where_the_model_takes_it() {
    let mut h = Harness::new(80, 24);
    let info = SessionInfo { takes_images: true, ..crate::ui::testing::info() };
    h.model.status.info = std::sync::Arc::new(info);
    h.keys("look at ").send(Msg::Paste("'/home/me/a.png'".into()));
    let Some(Effect::ReadImage { id, path }) = h.take_effects().pop() else { panic!("not read") };
    assert_eq!(path.as_deref(), Some("/home/me/a.png"));
    h.send(Msg::Image { id, result: Ok(picture()) });
    assert_eq!(h.model.composer.editor.text(), "look at [image #1: a.png, 7x5]");
    h.keys("<enter>");
    let [Command::Prompt(crate::message::UserInput::Parts(parts))] = &sent(&mut h)[..] else {
        panic!("no parts")
    };
    assert!(
        matches!(&parts[1], ContentPart::ImageUrl { image_url } if image_url.url.contains("AAAA"))
    );
}

#[test]
fn a_model_that_takes_no_pictures_is_told_of_before_anything_is_sent() {
    let mut h = Harness::new(80, 24);
    h.keys("<ctrl-v>");
    let Some(Effect::ReadImage { id, path: None }) = h.take_effects().pop() else {
        panic!("not read")
    };
    h.send(Msg::Image { id, result: Ok(picture()) });
    assert!(h.picture().contains("kimi-k2 takes no pictures"), "{}", h.picture());
    assert!(h.model.composer.editor.is_empty());
}

#[test]
fn vim_keys_change_the_draft_and_enter_still_sends() {
    let mut h = Harness::new(80, 24);
    h.keys("/vim<enter>");
    assert!(h.model.composer.vim.is_some());
    h.keys("say hello wrld<esc>bcwworld<esc>0dwx");
    assert_eq!(h.model.composer.editor.text(), "ello world");
    assert!(h.picture().contains("normal"), "{}", h.picture());
    h.keys("u");
    assert_eq!(h.model.composer.editor.text(), "hello world");
    h.keys("!?/");
    assert_eq!(h.model.composer.editor.text(), "hello world", "commands write nothing");
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("hello world".into())]);
    assert_eq!(h.model.composer.vim.as_ref().map(|vim| vim.mode), Some(Mode::Insert));
}

#[test]
fn a_command_is_begun_from_vims_normal_mode_where_there_is_no_draft() {
    for (keys, text) in [(":vim", "/vim"), ("/vim", "/vim"), ("d:", ""), ("ione<esc>:", "one")] {
        let mut h = Harness::new(80, 24);
        h.keys("/vim<enter><esc>").keys(keys);
        assert_eq!(h.model.composer.editor.text(), text, "{keys}");
    }
    let mut h = Harness::new(80, 24);
    h.keys("/vim<enter><esc>:vim<enter>");
    assert!(h.model.composer.vim.is_none(), "it is carried out");
}

#[test]
fn esc_leaves_insert_mode_first_and_stops_the_turn_then() {
    let mut h = Harness::new(80, 24);
    h.keys("/vim<enter>").begin_turn("q").step(1);
    h.keys("go<enter>").take_effects();
    h.keys("draft<esc>");
    assert_eq!(sent(&mut h), []);
    h.keys("<esc>");
    assert_eq!(sent(&mut h), [Command::Cancel]);
}

#[test]
fn a_command_for_the_shell_stays_one_through_history_editor_and_stopping() {
    let mut h = Harness::new(80, 24);
    h.keys("!ls<enter>");
    let id = h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Shell { id, .. } => Some(id),
        _ => None,
    });
    h.send(Msg::ShellEnded { id: id.expect("it runs"), result: Ok(ToolReturn::ok("", "")) });
    h.keys("<up>");
    assert!(h.model.composer.is_shell, "what was run comes back as what it was");
    assert_eq!(h.model.composer.editor.text(), "ls");
    h.keys(" -l<ctrl-o>").send(Msg::Edited(Ok("ls -la\n".into())));
    assert!(h.model.composer.is_shell, "it is not sent to the model by mistake");
    h.take_effects();
    h.keys("<ctrl-c>");
    assert!(h.take_effects().contains(&Effect::Remember("!ls -la".into())));
    h.keys("<up>");
    assert!(h.model.composer.is_shell);

    let mut h = Harness::new(80, 24);
    h.begin_turn("go").step(1).keys("a prompt<enter>!make");
    h.keys("<ctrl-c>");
    assert!(!h.model.composer.is_shell, "a prompt does not become a command");
    assert_eq!(h.model.composer.editor.text(), "a prompt");
    assert_eq!(h.model.composer.stash, ["!make"]);
}

#[test]
fn an_earlier_prompt_does_not_cost_what_is_being_written() {
    let mut h = Harness::new(80, 24);
    h.send(Msg::History(vec!["fix the parser".into()]));
    h.keys("half a thought<ctrl-r>pars<enter>");
    assert_eq!(h.model.composer.editor.text(), "fix the parser");
    assert_eq!(h.model.composer.stash, ["half a thought"]);
}
