//! The sessions overlay, papers and replay, key by key.

use std::path::PathBuf;

use crate::message::{CheckpointId, ContentPart, SessionId};
use crate::session::index::{Excerpt, Found, Speaker};
use crate::session::{ExportFormat, Preview, Session, Trashed};
use crate::ui::effect::{Effect, EffectId, OpenTarget};
use crate::ui::keymap::Context;
use crate::ui::model::cell::CellKind;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::sessions::{SessionDone, SessionList, SessionRow, SessionTask};
use crate::ui::model::status::Activity;
use crate::ui::msg::Msg;
use crate::ui::testing::Harness;
use crate::wire::record::Recorded;
use crate::wire::{Command, Event, StepBegin, TurnBegin};

pub(crate) fn row(id: &str, title: &str, folder: &str) -> SessionRow {
    let session = Session {
        id: SessionId(id.into()),
        work_dir: PathBuf::from(folder),
        dir: PathBuf::from(format!("/share/{id}")),
    };
    let is_here = folder == "/home/me/project";
    SessionRow {
        session,
        place: folder.into(),
        is_here,
        title: title.into(),
        updated: 0.0,
        bytes: 10,
    }
}

/// The last task that was asked for.
pub(super) fn task(h: &mut Harness) -> (EffectId, SessionTask) {
    let effects = h.take_effects();
    let found = effects.into_iter().rev().find_map(|effect| match effect {
        Effect::Sessions { id, task } => Some((id, *task)),
        _ => None,
    });
    found.expect("a task")
}

pub(super) fn done(h: &mut Harness, id: EffectId, done: SessionDone) {
    h.send(Msg::Session { id, done: Box::new(done) });
}

fn list(h: &Harness) -> &SessionList {
    match h.model.overlays.last() {
        Some(Overlay::Sessions(list)) => list,
        other => panic!("no list: {other:?}"),
    }
}

fn titles(h: &Harness) -> Vec<String> {
    list(h).shown().map(|row| row.title.clone()).collect()
}

/// A screen with three sessions listed.
pub(super) fn listed(width: u16) -> Harness {
    let mut h = Harness::new(width, 24);
    h.keys("half a draft<ctrl-g>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::List { archived: false });
    let rows = vec![
        row("aaaa", "Fix the parser", "/home/me/project"),
        row("bbbb", "写文档", "/home/me/project"),
        row("cccc", "Parser again", "/home/me/other"),
    ];
    done(&mut h, id, SessionDone::Listed(rows));
    h.take_effects();
    h
}

#[test]
fn a_session_is_found_by_its_title_and_opened_in_its_folder() {
    let mut h = listed(80);
    h.keys("parser");
    assert_eq!(titles(&h), ["Fix the parser", "Parser again"]);
    h.keys("<down><enter>");
    let effects = h.take_effects();
    let Some(Effect::Open { target, id }) = effects.last() else { panic!("not opened") };
    let OpenTarget::Session(session) = target else { panic!("{target:?}") };
    assert_eq!(
        (session.id.0.as_str(), session.work_dir.to_str()),
        ("cccc", Some("/home/me/other"))
    );
    h.open(*id, Vec::new());
    assert_eq!(h.model.composer.editor.text(), "half a draft", "the draft goes along");
}

#[test]
fn a_session_is_found_by_what_was_said_and_late_answers_are_dropped() {
    let mut h = listed(80);
    h.keys("n");
    let (late, _) = task(&mut h);
    h.keys("eedle");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Search { text: "needle".into(), here: false, archived: false });
    assert_eq!(titles(&h), Vec::<String>::new());
    let excerpt = Excerpt {
        speaker: Speaker::User,
        text: "the needle".into(),
        marks: std::iter::once(4..10).collect(),
    };
    let found = |dir: &str| Found {
        dir: dir.into(),
        id: SessionId("x".into()),
        title: String::new(),
        excerpts: vec![excerpt.clone()],
    };
    done(&mut h, late, SessionDone::Found(vec![found("/share/aaaa")]));
    assert_eq!(titles(&h), Vec::<String>::new(), "it answers another question");
    done(&mut h, id, SessionDone::Found(vec![found("/share/bbbb")]));
    assert_eq!(titles(&h), ["写文档"]);
    assert!(h.picture().contains("the needle"));
    h.keys("<tab>");
    let (_, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Search { text: "needle".into(), here: true, archived: false });
}

#[test]
fn the_mark_is_at_the_top_when_better_sessions_are_found() {
    let mut h = listed(80);
    let found = |dir: &str| Found {
        dir: dir.into(),
        id: SessionId("x".into()),
        title: String::new(),
        excerpts: Vec::new(),
    };
    h.keys("again");
    let (id, _) = task(&mut h);
    assert_eq!(list(&h).marked_row().map(|row| row.title.as_str()), Some("Parser again"));
    done(&mut h, id, SessionDone::Found(vec![found("/share/bbbb"), found("/share/cccc")]));
    assert_eq!(list(&h).marked_row().map(|row| row.title.as_str()), Some("写文档"));
}

#[test]
fn tab_narrows_to_this_folder_and_back() {
    let mut h = listed(80);
    h.keys("<tab>");
    assert_eq!(titles(&h), ["Fix the parser", "写文档"]);
    h.keys("<tab>");
    assert_eq!(titles(&h).len(), 3);
}

#[test]
fn a_session_is_renamed() {
    let mut h = listed(80);
    h.keys("<ctrl-r>!<enter>");
    let (id, asked) = task(&mut h);
    let SessionTask::Rename(session, title) = asked else { panic!("{asked:?}") };
    assert_eq!(title, "Fix the parser!");
    done(&mut h, id, SessionDone::Renamed(session, Some(title)));
    assert_eq!(titles(&h)[0], "Fix the parser!");
    h.keys("<ctrl-r>x<esc>");
    assert_eq!(titles(&h).len(), 3, "Esc gives the question up, not the list");
    assert!(list(&h).ask.is_none());
}

#[test]
fn a_deleted_session_comes_back() {
    let mut h = listed(80);
    h.keys("<ctrl-u>");
    assert_eq!(h.take_effects(), [], "nothing was deleted");
    h.keys("<down><ctrl-x>");
    let (id, asked) = task(&mut h);
    let SessionTask::Delete(session) = asked else { panic!("{asked:?}") };
    assert_eq!(session.id.0, "bbbb");
    let trashed = Trashed {
        id: session.id,
        title: "写文档".into(),
        work_dir: None,
        deleted_at: std::time::UNIX_EPOCH,
        dir: "/trash/bbbb".into(),
    };
    done(&mut h, id, SessionDone::Deleted(Box::new(trashed.clone())));
    assert_eq!(titles(&h), ["Fix the parser", "Parser again"]);
    h.keys("<ctrl-u>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Undelete(Box::new(trashed.clone())));
    done(&mut h, id, SessionDone::Undeleted(trashed.id));
    assert_eq!(task(&mut h).1, SessionTask::List { archived: false }, "the list is read again");
}

#[test]
fn the_open_session_is_not_deleted() {
    let mut h = listed(80);
    let open = {
        let info = std::sync::Arc::make_mut(&mut h.model.status.info);
        (info.id, info.session_dir) = (Some(SessionId("aaaa".into())), "/share/aaaa".into());
        h.keys("<ctrl-x>");
        h.take_effects()
    };
    assert_eq!(open, []);
    h.keys("<enter>");
    assert_eq!(h.take_effects(), [], "and opening it closes the list");
    assert!(h.model.overlays.is_empty());
}

#[test]
fn a_session_is_archived_exported_forked() {
    let mut h = listed(80);
    h.keys("<ctrl-e><down><enter>");
    let (id, asked) = task(&mut h);
    let SessionTask::Export { session, format, path: None } = asked else { panic!("{asked:?}") };
    assert_eq!((session.id.0.as_str(), format), ("aaaa", ExportFormat::Html));
    done(&mut h, id, SessionDone::Exported("out.html".into()));
    assert!(h.model.status.toast.as_ref().is_some_and(|toast| toast.text.contains("out.html")));
    h.keys("<ctrl-a>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Archive(session.clone(), true));
    done(&mut h, id, SessionDone::Archived(session, true));
    assert_eq!(titles(&h), ["写文档", "Parser again"]);
    h.keys("<alt-a>");
    assert_eq!(task(&mut h).1, SessionTask::List { archived: true });
    let mut h = listed(80);
    h.keys("<ctrl-f>");
    let (id, asked) = task(&mut h);
    let SessionTask::Fork { session, at: None } = asked else { panic!("{asked:?}") };
    done(&mut h, id, SessionDone::Forked(session.clone(), None));
    let effects = h.take_effects();
    let Some(Effect::Open { target, .. }) = effects.last() else { panic!("{effects:?}") };
    assert_eq!(*target, OpenTarget::Session(session));
}

#[test]
fn a_wide_screen_looks_closer_at_what_is_marked_once() {
    let mut h = listed(120);
    h.keys("<down>");
    let (late, asked) = task(&mut h);
    assert!(matches!(asked, SessionTask::Preview(session) if session.id.0 == "bbbb"));
    h.keys("<up>");
    let (id, asked) = task(&mut h);
    assert!(matches!(asked, SessionTask::Preview(session) if session.id.0 == "aaaa"));
    let preview = |messages| Box::new(Preview { messages, ..Preview::default() });
    done(&mut h, late, SessionDone::Preview(preview(77)));
    assert_eq!(list(&h).preview, None, "late");
    done(&mut h, id, SessionDone::Preview(preview(55)));
    assert!(h.picture().contains("55 messages"));
    assert_eq!(h.take_effects(), [], "it is not looked at again");
}

#[test]
fn commands_about_the_open_session() {
    let mut h = Harness::new(80, 24);
    h.keys("/title New words<enter>");
    assert!(h.take_effects().contains(&Effect::Send(Command::SetTitle("New words".into()))));
    h.keys("/export notes.html<enter>");
    let (_, asked) = task(&mut h);
    let SessionTask::Export { format, path, .. } = asked else { panic!("{asked:?}") };
    assert_eq!((format, path), (ExportFormat::Html, Some("notes.html".into())));
    h.keys("/import notes.txt<enter>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Import("notes.txt".into()));
    let message = crate::message::Message::user("the notes");
    let imported = |tokens| {
        let source = "file 'notes.txt'".to_owned();
        Box::new(crate::session::Imported { source, message: message.clone(), tokens })
    };
    done(&mut h, id, SessionDone::Imported(imported(9_000_000)));
    assert_eq!(h.take_effects(), [], "it does not fit");
    done(&mut h, id, SessionDone::Imported(imported(9)));
    assert!(matches!(h.take_effects().as_slice(), [Effect::Send(Command::Import { .. })]));
    h.keys("/fork<enter>");
    assert!(matches!(task(&mut h).1, SessionTask::Fork { at: None, .. }));
}

#[test]
fn undo_forks_before_a_prompt_and_gives_it_back() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("first").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 10).end_turn();
    h.begin_turn("second").checkpoint(2, None, 20).step(1).checkpoint(3, Some(1), 30).end_turn();
    h.keys("/undo<enter>");
    assert!(h.picture().contains("second"));
    h.take_effects();
    h.keys("<enter>");
    let (id, asked) = task(&mut h);
    let SessionTask::Fork { session, at: Some(at) } = asked else { panic!("{asked:?}") };
    assert_eq!(at.id, CheckpointId(2), "the last turn is marked");
    done(&mut h, id, SessionDone::Forked(session, Some("second".into())));
    assert_eq!(h.model.composer.editor.text(), "second");
    assert!(matches!(h.take_effects().last(), Some(Effect::Open { .. })));
}

fn story() -> Vec<Recorded> {
    let turn = |text: &str| Event::TurnBegin(TurnBegin { user_input: text.into() });
    let events = [
        (1000.0, turn("first")),
        (1000.1, Event::StepBegin(StepBegin { n: 1 })),
        (1000.2, Event::ContentPart(ContentPart::text("an answer"))),
        (1001.0, Event::turn_end()),
        // The person went to lunch.
        (5000.0, turn("second")),
        (5001.0, Event::ContentPart(ContentPart::text("another"))),
        (5002.0, Event::turn_end()),
    ];
    events.map(|(timestamp, message)| Recorded { timestamp, message }).into()
}

pub(super) fn playing() -> Harness {
    let mut h = listed(100);
    h.keys("<ctrl-y>");
    let (id, asked) = task(&mut h);
    let SessionTask::Replay(session) = asked else { panic!("{asked:?}") };
    done(&mut h, id, SessionDone::Story(session, "Fix the parser".into(), story().into()));
    h
}

pub(super) fn said(h: &Harness) -> Vec<String> {
    let cells = h.model.transcript.cells().iter();
    cells
        .filter_map(|cell| match &cell.kind {
            CellKind::User { text, .. } => Some(text.clone()),
            CellKind::Assistant { text } => Some(text.to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_recording_plays_in_its_time_and_long_gaps_are_short() {
    let mut h = playing();
    assert_eq!(h.model.context(h.now), Context::Replay);
    assert_eq!(said(&h), ["first"]);
    assert!(h.model.status.activity.is_running());
    h.wait(0.5);
    assert_eq!(said(&h), ["first", "an answer"]);
    h.wait(2.0);
    assert_eq!(said(&h).len(), 2);
    assert_eq!(h.model.status.activity, Activity::Idle);
    h.wait(0.6);
    assert_eq!(said(&h), ["first", "an answer", "second"]);
    h.wait(10.0);
    assert_eq!(said(&h).len(), 4);
    assert!(h.picture().contains("The end"));
    assert_eq!(h.model.next_change(h.now), None, "nothing is left to do");
}

#[test]
fn a_recording_stands_still_steps_and_jumps() {
    let mut h = playing();
    h.keys("<space>").wait(100.0);
    assert_eq!(said(&h), ["first"]);
    h.keys("<right><right>");
    assert_eq!(said(&h), ["first", "an answer"]);
    h.keys("n");
    assert_eq!(said(&h), ["first", "an answer", "second"]);
    h.wait(100.0);
    assert_eq!(said(&h).len(), 3, "it still stands");
    h.keys("p");
    assert_eq!(said(&h), ["first"], "played again up to there");
    h.keys("<space>++++").wait(0.2);
    assert_eq!(said(&h).len(), 3, "16 times as fast");
    h.keys("---------").wait(0.3);
    assert_eq!(said(&h).len(), 3, "half as fast");
}

#[test]
fn a_recording_carries_nothing_out_and_leads_back() {
    let mut h = playing();
    h.take_effects();
    h.keys("<f6><f8><shift-tab>hello<enter>");
    let sent = h.take_effects().into_iter().filter(|effect| matches!(effect, Effect::Send(_)));
    assert_eq!(sent.count(), 0);
    h.keys("<esc>");
    let effects = h.take_effects();
    let Some(Effect::Open { target: OpenTarget::Session(session), .. }) = effects.last() else {
        panic!("{effects:?}");
    };
    assert_eq!(session.id.0, "0a1b2c3d-0000-4000-8000-000000000000");
    let mut h = playing();
    h.model.replay.as_mut().expect("playing").is_all = true;
    h.take_effects();
    h.keys("q");
    assert_eq!(h.take_effects().last(), Some(&Effect::Quit));
}

fn deleted(id: &str, title: &str) -> (Trashed, u64) {
    let trashed = Trashed {
        id: SessionId(id.into()),
        title: title.into(),
        work_dir: Some("/home/me/project".into()),
        deleted_at: std::time::UNIX_EPOCH,
        dir: PathBuf::from(format!("/share/trash/1-a/b/{id}")),
    };
    (trashed, 2048)
}

/// The trash over the screen, with two sessions in it.
pub(super) fn trash(width: u16) -> Harness {
    let mut h = Harness::new(width, 24);
    h.keys("<ctrl-g>").take_effects();
    h.keys("<alt-x>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::ListTrash);
    let all = vec![deleted("s1", "Parser"), deleted("s2", "Notes")];
    done(&mut h, id, SessionDone::Trash(all));
    h.take_effects();
    h
}

#[test]
fn the_trash_is_listed_and_a_session_brought_back() {
    let mut h = trash(160);
    assert_eq!(h.model.context(h.now), Context::Trash);
    let picture = h.picture();
    for words in ["Deleted sessions", "Parser", "Notes", "enter bring back", "delete for good"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    h.keys("Not<ctrl-r>");
    assert_eq!(titles(&h), ["Notes"], "typing narrows it; it is not looked for in the index");
    assert!(list(&h).ask.is_none(), "what is deleted is not renamed");
    h.take_effects();
    h.keys("<enter>");
    let (id, asked) = task(&mut h);
    assert_eq!(asked, SessionTask::Undelete(Box::new(deleted("s2", "Notes").0)));
    done(&mut h, id, SessionDone::Undeleted(SessionId("s2".into())));
    assert_eq!(task(&mut h).1, SessionTask::ListTrash, "the trash is read again");
    h.keys("<backspace><backspace><backspace><alt-x>");
    assert_eq!(task(&mut h).1, SessionTask::List { archived: false });
    assert_eq!(h.model.context(h.now), Context::Sessions);
}

#[test]
fn deleting_for_good_asks_first() {
    let mut h = trash(100);
    h.keys("<ctrl-x>");
    assert!(h.picture().contains("Nothing brings it back then"), "{}", h.picture());
    h.take_effects();
    h.keys("<esc>");
    assert!(list(&h).ask.is_none() && list(&h).trash.is_some());
    assert!(h.take_effects().iter().all(|e| !matches!(e, Effect::Sessions { .. })));
    h.keys("<down><delete><enter>");
    let (id, asked) = task(&mut h);
    let gone = deleted("s2", "Notes").0;
    assert_eq!(asked, SessionTask::Purge(Box::new(gone.clone())));
    done(&mut h, id, SessionDone::Purged(gone.title, gone.dir));
    assert!(h.picture().contains("Deleted for good: Notes"), "{}", h.picture());
    assert_eq!(task(&mut h).1, SessionTask::ListTrash);
}

#[test]
fn the_closer_look_scrolls_and_has_the_panel_where_there_is_no_room_beside_the_list() {
    use crate::message::Role;
    use crate::session::Said;
    let mut h = trash(80);
    assert!(h.take_effects().is_empty(), "nothing is looked at: there is no room");
    h.keys("<right>");
    let (id, asked) = task(&mut h);
    assert!(matches!(&asked, SessionTask::Preview(session) if session.id.0 == "s1"), "{asked:?}");
    let said = |n: usize| Said { role: Role::User, text: format!("line {n} of it") };
    let preview =
        Preview { last: (0..60).map(said).collect(), snapshots: 3072, ..Preview::default() };
    done(&mut h, id, SessionDone::Preview(Box::new(preview)));
    let picture = h.picture();
    assert!(picture.contains("line 59 of it") && picture.contains("of snapshots"), "{picture}");
    h.keys("<alt-up><alt-up>");
    let picture = h.picture();
    assert!(!picture.contains("line 59 of it") && picture.contains("line 53 of it"), "{picture}");
    for _ in 0..60 {
        h.keys("<alt-up>");
    }
    assert!(h.picture().contains("line 0 of it"), "{}", h.picture());
    h.keys("<alt-down>");
    assert!(!h.picture().contains("line 0 of it"), "no further up than there is text");
    h.keys("<down>");
    assert_eq!(list(&h).preview_scroll, 0, "another session is looked at from its end");
    h.keys("<left>");
    assert!(!list(&h).looks);
}

#[test]
fn sizes_in_the_list_include_snapshots() {
    let mut h = Harness::new(100, 24);
    h.keys("<ctrl-g>");
    let (id, _) = task(&mut h);
    let listed = row("s1", "Parser", "/home/me/project");
    let dir = listed.session.dir.clone();
    done(&mut h, id, SessionDone::Listed(vec![listed]));
    done(&mut h, id, SessionDone::Snapshots([(dir, 5_000_000)].into()));
    let weighed = list(&h).weight(list(&h).all().first().expect("a row"));
    assert_eq!(weighed, 5_000_010);
    assert!(h.picture().contains(&crate::ui::render::format::size(5_000_010)), "{}", h.picture());
}
