//! Failing disks and kills under the two record files: nothing that was recorded is lost.

use super::*;
use crate::files::disk::plan::{self, Fault};
use crate::message::{CheckpointId, CheckpointRef, ContentPart, Generation};
use crate::wire::{CheckpointCreated, ContextSize, Empty, Extension, StepBegin};

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EROFS: i32 = 30;

/// A short turn, with events for both files and text that is held back.
fn turn() -> Vec<Event> {
    let checkpoint = |id| {
        Event::Extension(Extension::CheckpointCreated(CheckpointCreated {
            at: CheckpointRef { generation: Generation(0), id: CheckpointId(id) },
            step: None,
            size: ContextSize::default(),
        }))
    };
    vec![
        Event::TurnBegin(crate::wire::TurnBegin { user_input: "run é".into() }),
        checkpoint(0),
        Event::StepBegin(StepBegin { n: 1 }),
        checkpoint(1),
        Event::ContentPart(ContentPart::text("压 said")),
        Event::TurnEnd(Empty {}),
    ]
}

fn told(folder: &Path) -> (Vec<Event>, usize) {
    let story = read_story(folder).expect("story");
    (story.events.into_iter().map(|recorded| recorded.message).collect(), story.bad_lines)
}

#[test]
fn whatever_fails_once_is_written_with_the_next_event() {
    let mut failures = 0;
    for errno in [ENOSPC, EROFS, EIO] {
        for written in [0, 7, 10_000] {
            for at in 0.. {
                let folder = tempfile::tempdir().expect("folder");
                let path = folder.path().to_owned();
                let fail = move |n, _| (n == at).then_some(Fault { errno, written });
                let (failed, deeds) = plan::during(fail, move || {
                    let mut recorder = Recorder::new(&path);
                    let failed: Vec<_> =
                        turn().iter().filter_map(|event| recorder.record(event).err()).collect();
                    let last = recorder.flush();
                    failed.len() + usize::from(last.is_err())
                });
                if at >= deeds {
                    assert_eq!(failed, 0);
                    break;
                }
                assert!(failed > 0, "deed {at} failed and nobody was told");
                failures += 1;
                assert_eq!(told(folder.path()), (turn(), 0), "errno {errno}, deed {at}");
            }
        }
    }
    assert!(failures > 9 * 5, "{failures}");
}

#[test]
fn a_full_disk_is_caught_up_with_when_there_is_room_again() {
    let folder = tempfile::tempdir().expect("folder");
    let mut recorder = Recorder::new(folder.path());
    let events = turn();
    recorder.record(&events[0]).expect("room");
    // Nothing works, not even cutting off what was half written.
    let full = |_, _| Some(Fault { errno: ENOSPC, written: 9 });
    let ((), _) = plan::during(full, || {
        for event in &events[1..4] {
            recorder.record(event).expect_err("full");
        }
    });
    assert_eq!(told(folder.path()).0, events[..1], "the half line is no event");
    for event in &events[4..] {
        recorder.record(event).expect("room again");
    }
    assert_eq!(told(folder.path()), (events, 0));
}

#[test]
fn a_kill_after_any_deed_leaves_what_was_acknowledged() {
    for at in 0.. {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().to_owned();
        let killed = move |n, _| (n >= at).then_some(Fault { errno: EIO, written: 3 });
        let (acknowledged, deeds) = plan::during(killed, move || {
            let mut recorder = Recorder::new(&path);
            let mut acknowledged = 0;
            for event in turn() {
                if recorder.record(&event).is_err() || recorder.flush().is_err() {
                    break;
                }
                acknowledged += 1;
            }
            acknowledged
        });
        let (events, _) = told(folder.path());
        let all = turn();
        assert!(events.len() >= acknowledged && all.starts_with(&events), "killed at deed {at}");
        // The next run goes on in the same files.
        let mut recorder = Recorder::new(folder.path());
        recorder.record(&Event::turn_end()).expect("room");
        drop(recorder);
        let (after, _) = told(folder.path());
        assert_eq!(after, [&events[..], &[Event::turn_end()]].concat(), "killed at deed {at}");
        if at >= deeds {
            assert_eq!(acknowledged, all.len());
            return;
        }
    }
}

#[test]
fn a_kill_at_any_byte_costs_one_line_at_most() {
    let folder = tempfile::tempdir().expect("folder");
    let mut recorder = Recorder::new(folder.path());
    for event in turn() {
        recorder.record(&event).expect("record");
    }
    drop(recorder);
    for name in [WIRE_FILE, TIMELINE_FILE] {
        let whole = std::fs::read(folder.path().join(name)).expect("file");
        for length in 0..=whole.len() {
            let copy = tempfile::tempdir().expect("folder");
            std::fs::write(copy.path().join(name), &whole[..length]).expect("file");
            let (before, bad) = told(copy.path());
            let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            let header = usize::from(name == WIRE_FILE && lines > 0);
            assert!(before.len() >= lines - header, "{name} cut at {length}");
            assert!(bad <= 1, "{name} cut at {length}");
            let event = if name == WIRE_FILE { Event::turn_end() } else { turn()[1].clone() };
            let mut recorder = Recorder::new(copy.path());
            recorder.record(&event).expect("record");
            drop(recorder);
            let (after, _) = told(copy.path());
            assert_eq!(after, [before, vec![event]].concat(), "{name} cut at {length}");
        }
    }
}
