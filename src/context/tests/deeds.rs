//! Every single deed on the disk fails in turn, or is the last one of a killed program.

use super::super::disk::{Deed, plan, plan::Fault};
use super::model::{Model, Work};
use super::*;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EROFS: i32 = 30;

/// What a session has gone through before the change that fails.
fn before() -> Vec<Work> {
    vec![
        Work::Freeze("You are 压".into()),
        Work::Checkpoint { note: true },
        Work::Append(vec!["first".into()]),
        Work::Checkpoint { note: false },
        Work::Grow { input: Some(5), total: Some(9), calls: 2, text: "out".into() },
        Work::Clear,
        Work::Checkpoint { note: false },
        Work::Append(vec!["second".into(), "third".into()]),
        Work::Usage(77),
    ]
}

/// Every change there is.
fn changes() -> Vec<Work> {
    vec![
        Work::Freeze("again".into()),
        Work::Append(vec!["new".into(), "newer".into()]),
        Work::Usage(99),
        Work::Grow { input: Some(1), total: Some(2), calls: 2, text: "x".into() },
        Work::Checkpoint { note: true },
        Work::Revert { pick: 0 },
        Work::Clear,
        Work::Replace { texts: vec!["summary".into()], tokens: 3 },
        Work::Restore { pick: 0 },
        Work::Sync,
    ]
}

fn session(folder: &Path, torn: bool) -> (Context, Model) {
    let mut model = Model::default();
    let mut context = open(folder);
    for work in before() {
        assert!(work.on_model(&mut model, folder));
        work.on(&mut context).expect("work");
    }
    if torn {
        // The end is mended by the change itself.
        drop(context);
        let path = folder.join(CONTEXT_FILE);
        let mut bytes = std::fs::read(&path).expect("file");
        bytes.extend_from_slice(b"{\"role\":\"us");
        std::fs::write(&path, bytes).expect("file");
        let dead = |_, _| Some(Fault { errno: EROFS, written: 0 });
        context = plan::during(dead, || Context::open(folder).expect("open").0).0;
    }
    (context, model)
}

/// A fault from deed `at` on (or only there), on a disk with or without hard links.
fn trouble(
    at: usize,
    only: bool,
    links: bool,
    fault: Fault,
) -> impl FnMut(usize, Deed) -> Option<Fault> + 'static {
    move |n, deed| {
        let no_link = !links && deed == Deed::Link;
        let now = if only { n == at } else { n >= at };
        // Only the first deed that fails has come to write anything.
        let written = if n == at { fault.written } else { 0 };
        (now || no_link).then_some(Fault { written, ..fault })
    }
}

/// Calls `check` with every change, every deed of it, links or none, a whole file or a torn one.
fn each(mut check: impl FnMut(&Work, usize, bool, bool)) -> usize {
    let mut cases = 0;
    for work in changes() {
        for (links, torn) in [(true, false), (true, true), (false, false)] {
            let folder = tempfile::tempdir().expect("folder");
            let (mut context, _) = session(folder.path(), torn);
            let fault = Fault { errno: EIO, written: 0 };
            let none = trouble(usize::MAX, true, links, fault);
            let (result, deeds) = plan::during(none, || work.on(&mut context));
            result.expect("without faults");
            for at in 0..deeds {
                check(&work, at, links, torn);
                cases += 1;
            }
        }
    }
    cases
}

/// The session in `folder` opens as one of `states`, and can go on.
fn opens_as(states: &[Model], folder: &Path, told: &str) {
    let (mut context, report) = Context::open(folder).expect("open");
    assert_eq!(report.bad_lines, [], "{told}");
    let now = states.iter().find(|model| model.difference(&context, folder).is_none());
    let mut now = now.unwrap_or_else(|| panic!("{told}: neither old nor new")).clone();
    let more = Work::Append(vec!["on".into()]);
    more.on(&mut context).expect("go on");
    assert!(more.on_model(&mut now, folder));
    assert_eq!(now.difference(&open(folder), folder), None, "{told}");
}

#[test]
fn a_kill_at_every_deed_leaves_the_old_or_the_new() {
    let cases = each(|work, at, links, torn| {
        for written in [0, 30, 10_000] {
            let folder = tempfile::tempdir().expect("folder");
            let (mut context, model) = session(folder.path(), torn);
            let told = format!("{work:?}, killed at {at}, {written} bytes, {links}, {torn}");
            let mut states = model.after_kill(work, folder.path());
            let dead = trouble(at, false, links, Fault { errno: EIO, written });
            if plan::during(dead, || work.on(&mut context)).0.is_ok() {
                // What was acknowledged is there.
                states = states.split_off(states.len() - 1);
            }
            opens_as(&states, folder.path(), &told);
        }
    });
    assert!(cases > 100, "{cases}");
}

#[test]
fn a_failure_of_every_deed_is_told_or_changes_nothing_and_the_session_goes_on() {
    each(|work, at, links, torn| {
        for (errno, written, only) in [
            (ENOSPC, 12, true),
            (EIO, 0, true),
            (EROFS, 0, true),
            (ENOSPC, 12, false),
            (EROFS, 0, false),
        ] {
            let folder = tempfile::tempdir().expect("folder");
            let (mut context, model) = session(folder.path(), torn);
            let told = format!("{work:?}, {errno} at {at}, only: {only}, {links}, {torn}");
            let mut new = model.clone();
            work.on_model(&mut new, folder.path());
            let bad = trouble(at, only, links, Fault { errno, written });
            let result = plan::during(bad, || work.on(&mut context)).0;
            // Syncing fails without a loss; anything else that fails has changed nothing.
            let mut now = if result.is_ok() { new } else { model };
            let memory = (context.history().to_vec(), context.generation(), context.size());
            // The disk is well again: the open session goes on as if nothing had been.
            let more = Work::Append(vec!["on".into()]);
            more.on(&mut context).unwrap_or_else(|error| panic!("{told}: {error}"));
            assert!(more.on_model(&mut now, folder.path()));
            assert!(context.history().starts_with(&memory.0), "{told}");
            assert_eq!(now.difference(&open(folder.path()), folder.path()), None, "{told}");
            drop(context);
            opens_as(&[now], folder.path(), &told);
        }
    });
}
