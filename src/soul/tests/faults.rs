//! Whole sessions on a failing disk: every deed of every file fails in turn. The turn ends, the
//! person is told, and what the session holds afterwards is what is read from the disk.

use super::*;
use crate::files::disk::plan::{self, Fault};
use crate::wire::record::{TIMELINE_FILE, read_story};

const ERRNOS: [i32; 3] = [28, 30, 5];

/// What a session went through.
struct Seen {
    /// Deeds on the disk there were.
    deeds: usize,
    /// Lines that tell a person of a failure.
    told: Vec<String>,
    /// The prompts that were said to be done.
    finished: usize,
    /// Was anything amiss with what was read back?
    warnings: usize,
}

/// A session of a prompt with a tool, a setting, a compaction and another prompt, on a disk where
/// deed `n` fails as `fails` says.
async fn session(fails: impl Fn(usize) -> Option<Fault> + 'static) -> Seen {
    let answers = [
        vec![text("I run it"), call("t1", "Sleep", &json!({"say": "out"})), usage(10, 5)],
        vec![text("one"), usage(20, 5)],
        vec![text("two")],
        vec![text("SUMMARY")],
        vec![text("three")],
        vec![text("four")],
    ];
    let mut world = Stage::default().start(answers);
    plan::begin(move |n, _| fails(n));
    let mut lines = Vec::new();
    for prompt in ["first", "/yolo", "second", "/compact", "/clear", "third"] {
        lines.extend(world.prompt(prompt).await);
    }
    world.send(Command::Shutdown);
    let soul = tokio::time::timeout(PATIENCE, world.task).await.expect("it ends").expect("soul");
    let deeds = plan::end();
    let held: Vec<String> = soul.context.history().iter().map(row).collect();
    let sizes = (soul.context.size().messages, soul.context.generation());
    drop(soul);
    let (context, report) = Context::open(world.folder.path()).expect("it opens");
    let read: Vec<String> = context.history().iter().map(row).collect();
    assert_eq!(read, held, "the session opens with what it held");
    assert_eq!((context.size().messages, context.generation()), sizes);
    assert!(context.dangling_calls().is_empty());
    let story = read_story(world.folder.path()).expect("story");
    let began = story.events.iter().filter(|e| matches!(e.message, Event::TurnBegin(_))).count();
    let ended = story.events.iter().filter(|e| matches!(e.message, Event::TurnEnd(_))).count();
    assert_eq!((began, ended), (6, 6), "no turn is missing from the record");
    assert!(world.folder.path().join(TIMELINE_FILE).exists());
    assert!(SessionState::load(world.folder.path()).yolo, "a setting is stored in the end");
    let told = only(&lines, &["Refused", "Done Failed", "Notification"]);
    Seen {
        deeds,
        told: told.into_iter().map(str::to_owned).collect(),
        finished: lines.iter().filter(|line| *line == "Done Finished").count(),
        warnings: report.bad_lines.len() + usize::from(report.torn_tail) + story.bad_lines,
    }
}

#[tokio::test(start_paused = true)]
async fn every_write_of_a_session_fails_in_turn_and_nothing_acknowledged_is_lost() {
    let whole = session(|_| None).await;
    assert_eq!((whole.finished, whole.told.len(), whole.warnings), (6, 0, 0));
    assert!(whole.deeds > 60, "{}", whole.deeds);
    for errno in ERRNOS {
        let mut silent = 0;
        for at in 0..whole.deeds {
            let seen = session(move |n| (n == at).then_some(Fault { errno, written: 5 })).await;
            assert_eq!(seen.warnings, 0, "deed {at}, errno {errno}");
            silent += usize::from(seen.told.is_empty());
        }
        // Clearing up behind a finished change may fail without anybody having to know.
        assert!(silent * 10 <= whole.deeds, "{silent} of {} failures were not told", whole.deeds);
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_for_a_while_is_told_once_and_caught_up_with() {
    for from in [0, 5, 11, 20] {
        let full =
            move |n| (from..from + 25).contains(&n).then_some(Fault { errno: 28, written: 3 });
        let seen = session(full).await;
        assert!(!seen.told.is_empty());
        let recorder = seen.told.iter().filter(|line| line.contains("history cannot")).count();
        assert!(recorder <= 2, "{:?}", seen.told);
    }
}

/// A kill: nothing reaches the disk from deed `at` on, not even what is written when things are
/// dropped. Tells how many deeds there were.
async fn killed(at: usize) -> usize {
    let answers = [
        vec![text("I run it"), call("t1", "Sleep", &json!({"say": "out"})), usage(10, 5)],
        vec![text("one"), usage(20, 5)],
        vec![text("two")],
        vec![text("SUMMARY")],
        vec![text("three")],
        vec![text("four")],
    ];
    let mut world = Stage::default().start(answers);
    plan::begin(move |n, _| (n >= at).then_some(Fault { errno: 5, written: 9 }));
    let mut told = Vec::new();
    for prompt in ["first", "/yolo", "second", "/compact"] {
        told.extend(world.prompt(prompt).await);
    }
    world.send(Command::Shutdown);
    let soul = tokio::time::timeout(PATIENCE, world.task).await.expect("it ends").expect("soul");
    let acknowledged: Vec<String> = soul.context.history().iter().map(row).collect();
    let generation = soul.context.generation();
    drop(soul);
    let deeds = plan::end();
    let (context, report) = Context::open(world.folder.path()).expect("it opens");
    assert_eq!(report.bad_lines, [], "killed at deed {at}");
    let read: Vec<String> = context.history().iter().map(row).collect();
    assert_eq!(read, acknowledged, "killed at deed {at}");
    assert_eq!(context.generation(), generation, "killed at deed {at}");
    let story = read_story(world.folder.path()).expect("story");
    assert!(story.bad_lines <= 2, "half a line in each file at most");
    let mut heard = told.iter().filter(|line| line.starts_with("TurnBegin"));
    for event in story.events {
        // What is on record was told, in the same order.
        if matches!(event.message, Event::TurnBegin(_)) {
            assert_eq!(heard.next(), Some(&event_line(&event.message)), "killed at deed {at}");
        }
    }
    deeds
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_every_write_of_a_session_leaves_what_was_acknowledged() {
    let deeds = killed(usize::MAX).await;
    assert!(deeds > 40, "{deeds}");
    for at in 0..deeds {
        killed(at).await;
    }
}
