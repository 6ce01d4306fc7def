//! Slash commands of the screen's own: what they do, what is offered while they are typed.

use super::*;
use crate::ui::update::completions;

fn names(h: &Harness) -> Vec<String> {
    completions(&h.model).into_iter().map(|(name, _)| name).collect()
}

fn clear(h: &mut Harness) {
    h.model.composer.editor.take();
    h.model.composer.completion = 0;
}

#[test]
fn what_is_typed_finds_names_then_other_names_then_letters() {
    let mut h = Harness::new(100, 30);
    h.keys("/co");
    assert_eq!(names(&h), ["compact", "context", "copy"]);
    clear(&mut h);
    h.keys("/resu");
    assert_eq!(names(&h), ["sessions"]);
    assert!(completions(&h.model)[0].1.ends_with("(/resume)"));
    clear(&mut h);
    h.keys("/q");
    assert_eq!(names(&h), ["exit"], "another name that is whole");
    clear(&mut h);
    h.keys("/chlg");
    assert_eq!(names(&h), ["changelog"]);
    clear(&mut h);
    h.keys("/zzz");
    assert_eq!(names(&h), [""; 0]);
}

#[test]
fn arguments_are_offered_behind_a_command_and_enter_alone_sends_it_bare() {
    let mut h = Harness::new(100, 30);
    h.model.known_models = vec!["fast".into(), "slow".into()];
    h.keys("/model ");
    assert_eq!(names(&h), ["model", "model fast", "model slow"]);
    h.keys("sl<tab>");
    assert_eq!(h.model.composer.editor.text(), "/model slow ");
    assert_eq!(names(&h), [""; 0]);
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::SetModel { key: Some("slow".into()), thinking: None }]);
    h.keys("/copy ");
    assert_eq!(names(&h)[0], "copy");
    h.keys("<enter>");
    assert!(h.picture().contains("There is no answer yet"), "{}", h.picture());
    h.keys("/export s<down><enter>");
    let asked = h.take_effects();
    assert!(
        asked.iter().any(|effect| matches!(effect, Effect::Sessions { task, .. }
            if matches!(&**task, crate::ui::model::sessions::SessionTask::Export { path: Some(path), .. }
                if path.as_os_str() == "session.html"))),
        "{asked:?}"
    );
    for (typed, offered) in [
        ("/plan o", vec!["plan on", "plan off"]),
        ("/redo b", vec!["redo both"]),
        ("/debug m", vec!["debug messages"]),
        ("/editor n", vec!["editor nvim", "editor nano"]),
        ("/btw x", vec![]),
    ] {
        clear(&mut h);
        h.keys(typed);
        assert_eq!(names(&h), offered, "{typed}");
    }
}

#[test]
fn checkpoints_and_earlier_contexts_are_offered_where_one_can_go_back() {
    let mut h = Harness::new(100, 30);
    h.checkpoint(3, None, 10).begin_turn("one").checkpoint(4, Some(1), 20).end_turn();
    h.keys("/rewind 3 f");
    assert_eq!(names(&h), ["rewind 3 files"]);
    clear(&mut h);
    h.keys("/rewind 4");
    assert_eq!(names(&h), [""; 0], "a step's checkpoint is within a turn");
    clear(&mut h);
    h.model.timeline.generation = crate::message::Generation(2);
    h.keys("/restore ");
    assert_eq!(names(&h), ["restore", "restore 1", "restore 0"]);
}

#[test]
fn a_file_is_offered_to_import_without_an_at_sign() {
    let mut h = Harness::new(80, 24);
    h.keys("/import ");
    let Some(Effect::ListFiles { id }) = h.take_effects().pop() else {
        panic!("no files asked for")
    };
    h.send(Msg::Files { id, files: ["notes.md", "src/"].map(String::from).into() });
    h.keys("no<tab>");
    assert_eq!(h.model.composer.editor.text(), "/import notes.md ");
}

#[test]
fn the_palette_writes_a_command_that_needs_words_and_keeps_the_draft() {
    let mut h = Harness::new(80, 24);
    h.keys("half a thought<ctrl-p>/btw<enter>");
    assert_eq!(h.model.composer.editor.text(), "/btw ");
    assert_eq!(h.model.composer.stash, ["half a thought"]);
    assert_eq!(sent(&mut h), []);
}

#[test]
fn every_command_is_in_the_palette_with_a_description() {
    let h = Harness::new(100, 30);
    let all = crate::ui::update::commands(&h.model, "");
    for wanted in [
        "help",
        "exit",
        "version",
        "model",
        "editor",
        "theme",
        "changelog",
        "clear",
        "new",
        "title",
        "sessions",
        "undo",
        "fork",
        "tasks",
        "mcp",
        "hooks",
        "btw",
        "usage",
        "login",
        "logout",
        "reload",
        "debug",
        "export",
        "import",
        "copy",
    ] {
        let found = all.iter().filter(|(name, _)| name == wanted).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{wanted}");
        assert!(found[0].1.len() > 3, "{wanted}");
    }
}

fn chosen(h: &mut Harness) -> Option<String> {
    h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::KeepEditor(command) => Some(command),
        _ => None,
    })
}

#[test]
fn the_editor_is_chosen_from_a_list_or_named() {
    let mut h = Harness::new(100, 30);
    h.model.program.external_editor = "micro".into();
    h.keys("/editor<enter>");
    let picture = h.picture();
    assert!(picture.contains("micro") && picture.contains("code --wait (VS Code)"), "{picture}");
    h.keys("nano<enter>");
    assert_eq!(chosen(&mut h).as_deref(), Some("nano"));
    assert_eq!(h.model.program.external_editor, "nano");
    h.keys("/editor emacsclient -t<enter>");
    assert_eq!(chosen(&mut h).as_deref(), Some("emacsclient -t"));
    h.keys("/editor<enter>VISUAL<enter>");
    assert_eq!(chosen(&mut h).as_deref(), Some(""), "the environment's again");
}

#[test]
fn a_theme_is_taken_by_its_name() {
    let mut h = Harness::new(100, 30);
    h.model.themes.known = vec!["dark".into(), "light".into()];
    h.keys("/theme light<enter>");
    assert!(h.take_effects().contains(&Effect::KeepTheme("light".into())));
    h.keys("/theme pink<enter>");
    assert!(h.picture().contains("There is no theme pink"), "{}", h.picture());
    assert_eq!(sent(&mut h), [], "the engine is not asked");
}

fn copied(h: &mut Harness) -> Option<(String, String)> {
    h.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Copy { text, what } => Some((text, what)),
        _ => None,
    })
}

#[test]
fn copy_takes_answers_blocks_of_code_and_the_whole_conversation() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("first?").step(1).text("One:\n\n```sh\nmake\n```\n\n```\nls\n```\n").end_turn();
    h.begin_turn("second?").step(1).call("c", "Bash", r#"{"command":"make test"}"#);
    h.result("c", ToolReturn::ok("```\nok\n", "")).text("**Two**").end_turn();
    h.keys("/copy<enter>");
    assert_eq!(copied(&mut h), Some(("**Two**".into(), "Answer, 1 line".into())));
    h.keys("/copy 2<enter>");
    assert!(copied(&mut h).is_some_and(|(text, _)| text.starts_with("One:")));
    h.keys("/copy 3<enter>");
    assert_eq!(copied(&mut h), None);
    h.keys("/copy code 2<enter>");
    let (text, what) = copied(&mut h).expect("a block");
    assert_eq!((text.trim(), what.as_str()), ("ls", "Block of code 2 of 2, 1 line"));
    h.keys("/copy code 3<enter>");
    assert!(h.picture().contains("It has 2 blocks of code only"), "{}", h.picture());
    h.keys("/copy all<enter>");
    let (text, _) = copied(&mut h).expect("all of it");
    assert!(text.starts_with("## You\n\nfirst?\n\nOne:"), "{text}");
    let call = "### Bash make test\n\n````\n```\nok\n````\n\n**Two**";
    assert!(text.ends_with(call), "{text}");
    h.keys("/copy nonsense<enter>");
    assert_eq!(copied(&mut h), None);
    assert!(h.picture().contains("/copy code 1"), "{}", h.picture());
}

#[test]
fn debug_reads_every_message_of_the_context() {
    let mut h = Harness::new(100, 30);
    h.keys("/debug messages<enter>");
    assert!(h.take_effects().iter().any(|e| matches!(e, Effect::ReadGeneration { .. })));
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Generation(_))));
}
