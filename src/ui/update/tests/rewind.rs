//! Going back with files, from the timeline.

use super::*;
use crate::wire::{Command, RewindDeed, RewindFile, RewindPreview, RewindScope};

fn at(id: u64) -> CheckpointRef {
    CheckpointRef { generation: Generation(0), id: CheckpointId(id) }
}

fn file(path: &str, deed: RewindDeed, conflict: Option<&str>) -> RewindFile {
    RewindFile {
        path: format!("/proj/{path}"),
        deed,
        conflict: conflict.map(str::to_owned),
        can_choose: conflict.is_some(),
        added: 2,
        removed: 1,
        diff: Some(format!("@@ -1 +1,2 @@\n-now of {path}\n+then of {path}\n+more\n")),
    }
}

pub(super) fn preview() -> Event {
    Event::Extension(Extension::RewindPreview(RewindPreview {
        to: Some(at(1)),
        scope: RewindScope::Both,
        files: vec![
            file("src/a.rs", RewindDeed::Restore, None),
            file("src/b.rs", RewindDeed::Restore, Some("changed since by somebody else")),
            file("new.txt", RewindDeed::Remove, None),
        ],
        notes: vec![],
    }))
}

fn sent(h: &mut Harness) -> Vec<Command> {
    let effects = h.take_effects().into_iter();
    effects
        .filter_map(|effect| match effect {
            Effect::Send(command) => Some(command),
            _ => None,
        })
        .collect()
}

pub(super) fn stage() -> Harness {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100).text("a");
    h.end_turn();
    h.take_effects();
    h
}

#[test]
fn the_dry_run_is_asked_for_looked_at_and_carried_out_with_what_was_chosen() {
    let mut h = stage();
    h.keys("<ctrl-t>b");
    assert_eq!(
        sent(&mut h),
        [Command::PreviewRewind { to: Some(at(1)), scope: RewindScope::Both }]
    );
    h.event(preview());
    insta::assert_snapshot!(h.picture());
    h.keys("<down><space>");
    let picture = h.picture();
    assert!(picture.contains("chosen, though changed since"), "{picture}");
    assert!(picture.contains("then of src/b.rs"), "{picture}");
    h.keys("<enter>");
    assert_eq!(
        sent(&mut h),
        [Command::Rewind {
            to: at(1),
            scope: RewindScope::Both,
            chosen: vec!["/proj/src/b.rs".to_owned()],
        }]
    );
    assert!(h.model.overlays.is_empty());
}

#[test]
fn esc_does_nothing_and_u_asks_for_the_way_forth() {
    let mut h = stage();
    h.event(preview()).keys("<space><esc>");
    assert_eq!(sent(&mut h), []);
    assert!(h.model.overlays.is_empty());
    h.keys("<ctrl-t>u");
    assert_eq!(sent(&mut h), [Command::PreviewRewind { to: None, scope: RewindScope::Both }]);
    h.begin_turn("runs").keys("f");
    assert_eq!(sent(&mut h), [], "a turn runs");
}

#[test]
fn what_was_done_and_how_to_undo_it_stands_in_the_transcript() {
    let mut h = stage();
    h.event(Event::Extension(Extension::FilesRewound(crate::wire::FilesRewound {
        to: Some(at(1)),
        restored: vec!["/proj/a".to_owned()],
        removed: vec!["/proj/b".to_owned(), "/proj/c".to_owned()],
        left: vec![("/proj/d".to_owned(), "changed since by somebody else".to_owned())],
    })));
    let picture = h.picture();
    for told in ["1 path restored, 2 paths", "1 path left alone", "/proj/d", "/redo files"] {
        assert!(picture.contains(told), "{told}: {picture}");
    }
}
