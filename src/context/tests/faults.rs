//! Kills and failing disks.

use std::fs;

use super::super::disk::{Deed, plan, plan::Fault};
use super::super::{ContextError, OpenReport, rotation};
use super::*;
use crate::message::{CheckpointId, Generation, ToolReturn};

const ENOSPC: i32 = 28;

fn result(id: &str) -> Message {
    Message::tool_result(id, &ToolReturn::ok("some output\n", "done"))
}

/// A session with a few records, and the length of its file before the last write.
fn session(folder: &Path) -> (Context, u64) {
    let mut context = open(folder);
    context.freeze_system_prompt("You are 压").expect("prompt");
    context.checkpoint(true).expect("checkpoint");
    context.append(&[Message::user("run é")]).expect("user");
    let length = fs::metadata(folder.join(CONTEXT_FILE)).expect("file").len();
    context
        .grow(Some(5), &calling(&["a", "b"]), Some(9), &[result("a"), result("b")])
        .expect("grow");
    (context, length)
}

#[test]
fn a_kill_at_any_byte_of_the_last_write_loses_nothing_before_it() {
    let folder = tempfile::tempdir().expect("folder");
    let (context, before) = session(folder.path());
    let all = context.history().to_vec();
    drop(context);
    let whole = fs::read(folder.path().join(CONTEXT_FILE)).expect("file");
    let mut seen = std::collections::BTreeSet::new();
    for length in usize::try_from(before).expect("length")..=whole.len() {
        let copy = tempfile::tempdir().expect("folder");
        fs::write(copy.path().join(CONTEXT_FILE), &whole[..length]).expect("file");
        let (mut context, report) = Context::open(copy.path()).expect("open");
        assert_eq!(report.bad_lines, []);
        let got = context.history().to_vec();
        assert!(got.len() >= 2 && all.starts_with(&got), "at byte {length}");
        // Nothing of the torn line is thrown away.
        let torn = fs::read(copy.path().join("context.jsonl.torn")).unwrap_or_default();
        assert_eq!(report.torn_tail, !torn.is_empty());
        let mut kept = fs::read(copy.path().join(CONTEXT_FILE)).expect("file");
        assert_eq!(kept.last(), Some(&b'\n'));
        if report.torn_tail {
            kept.extend_from_slice(&torn[..torn.len() - 1]);
        }
        assert!(kept.starts_with(&whole[..length]), "at byte {length}");
        // And the session goes on as a valid one.
        let results: Vec<_> =
            context.dangling_calls().iter().map(|call| result(&call.id)).collect();
        seen.insert((got.len(), results.len()));
        context.append(&results).expect("close the calls");
        context.append(&[Message::user("next")]).expect("go on");
        let history = context.history().to_vec();
        assert_eq!(open(copy.path()).history(), history);
    }
    assert_eq!(Vec::from_iter(seen), [(2, 0), (3, 2), (4, 1), (5, 0)]);
}

#[test]
fn a_failed_write_changes_neither_memory_nor_file() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    let (file, size) = (text(folder.path()), context.size());
    for written in [0, 1, 40, 10_000] {
        let full = move |_, deed| (deed == Deed::Write).then_some(Fault { errno: ENOSPC, written });
        let (result, _) = plan::during(full, || context.append(&[Message::user("lost")]));
        let error = result.expect_err("full disk").to_string();
        assert!(error.contains("append to") && error.contains("context.jsonl"), "{error}");
        assert_eq!((text(folder.path()), context.size()), (file.clone(), size));
    }
    context.append(&[Message::user("kept")]).expect("room again");
    assert_eq!(open(folder.path()).history(), context.history());
}

#[test]
fn half_a_record_that_could_not_be_cut_off_is_cut_off_before_the_next() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    let broken = |_, deed| match deed {
        Deed::Write | Deed::Cut => Some(Fault { errno: ENOSPC, written: 7 }),
        _ => None,
    };
    let ((), _) = plan::during(broken, || {
        context.append(&[Message::user("lost")]).expect_err("full disk");
        context.append(&[Message::user("lost")]).expect_err("still");
        context.revert_to(CheckpointId(0)).expect_err("still");
    });
    let mut expected = context.history().to_vec();
    context.append(&[Message::user("kept")]).expect("room again");
    expected.push(Message::user("kept"));
    assert_eq!(open(folder.path()).history(), expected);
}

#[test]
fn a_kill_between_the_steps_of_a_rotation_leaves_the_old_generation() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    context.clear().expect("clear");
    context.append(&[Message::user("second life")]).expect("append");
    let history = context.history().to_vec();
    drop(context);
    let path = folder.path().join(CONTEXT_FILE);
    let check = |stage: &str| {
        let context = open(folder.path());
        assert_eq!(context.history(), history, "{stage}");
        assert_eq!(context.generation(), Generation(1), "{stage}");
        assert_eq!(names(folder.path()), [CONTEXT_FILE, "context_1.jsonl"], "{stage}");
    };
    fs::write(rotation::next_path(&path), "half a l").expect("next");
    check("writing");
    rotation::write_next(&path, &[rotation::Piece::Old(10)]).expect("next");
    check("written");
    rotation::write_next(&path, &[]).expect("next");
    assert_eq!(rotation::keep_old(&path, 1).expect("link"), rotation::Kept::Linked(2));
    check("linked");
    fs::hard_link(&path, folder.path().join("context_2.jsonl")).expect("link");
    check("linked, and .next lost by a power cut");
    rotation::write_next(&path, &[]).expect("next");
    fs::copy(&path, folder.path().join("context.jsonl.copy")).expect("copy");
    check("copying");
    rotation::write_next(&path, &[]).expect("next");
    rotation::copy_old(&path).expect("copy");
    check("copied");
    rotation::write_next(&path, &[rotation::Piece::Bytes(b"")]).expect("next");
    let kept = rotation::keep_old(&path, 1).expect("link");
    rotation::commit(&path, Some(kept)).expect("rename");
    let context = open(folder.path());
    assert_eq!((context.history().len(), context.generation()), (0, Generation(2)));
}

#[test]
fn without_links_the_old_file_is_copied_and_numbered_after_the_rename() {
    let folder = tempfile::tempdir().expect("folder");
    let (context, _) = session(folder.path());
    drop(context);
    let path = folder.path().join(CONTEXT_FILE);
    let old = text(folder.path());
    let copied = |new: &[u8]| {
        rotation::write_next(&path, &[rotation::Piece::Bytes(new)]).expect("next");
        rotation::copy_old(&path).expect("copy");
    };
    copied(b"{\"role\":\"user\",\"content\":\"new\"}\n");
    // Killed between the two renames.
    fs::rename(rotation::next_path(&path), &path).expect("rename");
    assert_eq!(open(folder.path()).generation(), Generation(1));
    assert_eq!(open(folder.path()).history(), [Message::user("new")]);
    assert_eq!(read(folder.path(), "context_1.jsonl"), old);
    copied(b"");
    let number = rotation::commit(&path, Some(rotation::Kept::Copied(2))).expect("commit");
    assert_eq!(number, Some(2));
    assert_eq!(open(folder.path()).generation(), Generation(2));
    assert_eq!(names(folder.path()), [CONTEXT_FILE, "context_1.jsonl", "context_2.jsonl"]);
}

#[test]
fn a_rotation_that_cannot_be_made_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    let (file, size) = (text(folder.path()), context.size());
    // A folder stands where the new file is to be made.
    let blocked = folder.path().join("context.jsonl.next");
    fs::create_dir_all(blocked.join("full")).expect("folder");
    for attempt in 0..3 {
        let failed = match attempt {
            0 => context.revert_to(CheckpointId(0)),
            1 => context.clear(),
            _ => context.replace(&[], 0),
        };
        let error = failed.expect_err("blocked");
        assert!(matches!(error, ContextError::Io { .. }), "{error}");
        assert_eq!((text(folder.path()), context.size()), (file.clone(), size));
        assert_eq!(context.generation(), Generation(0));
        assert_eq!(names(folder.path()), [CONTEXT_FILE, "context.jsonl.next"]);
    }
    fs::remove_dir_all(blocked).expect("unblock");
    context.clear().expect("clear");
}

#[test]
fn a_number_that_is_taken_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    fs::write(folder.path().join("context_1.jsonl"), "somebody's").expect("file");
    let change = context.clear().expect("clear");
    assert_eq!(change.new_generation, Generation(2));
    assert_eq!(read(folder.path(), "context_1.jsonl"), "somebody's");
}

#[test]
fn another_programs_change_is_noticed_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join(CONTEXT_FILE);
    let (mut context, _) = session(folder.path());
    let mut other = fs::OpenOptions::new().append(true).open(&path).expect("file");
    std::io::Write::write_all(&mut other, b"{\"role\": \"_usage\", \"token_count\": 3}\n")
        .expect("write");
    let before = text(folder.path());
    let error = context.append(&[Message::user("x")]).expect_err("changed");
    assert!(matches!(error, ContextError::Changed { .. }), "{error}");
    context.clear().expect_err("changed");
    assert_eq!(text(folder.path()), before);

    let mut context = open(folder.path());
    context.record_usage(4).expect("usage");
    fs::copy(&path, folder.path().join("copy")).expect("copy");
    fs::rename(folder.path().join("copy"), &path).expect("replace");
    assert!(matches!(context.append(&[Message::user("x")]), Err(ContextError::Changed { .. })));
    fs::remove_file(&path).expect("remove");
    assert!(matches!(context.append(&[Message::user("x")]), Err(ContextError::Changed { .. })));
}

#[test]
fn what_cannot_be_read_or_written_is_told_with_its_path() {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir(folder.path().join(CONTEXT_FILE)).expect("folder");
    let error = Context::open(folder.path()).expect_err("a folder").to_string();
    assert!(error.contains("cannot read") && error.contains(CONTEXT_FILE), "{error}");
    // The session's folder is a file, as it might be for a person who cannot write there.
    let file = folder.path().join("file");
    fs::write(&file, "").expect("file");
    match Context::open(&file) {
        Err(error) => assert!(error.to_string().contains("file"), "{error}"),
        Ok((mut context, _)) => {
            context.append(&[Message::user("x")]).expect_err("no folder");
            assert!(context.is_empty());
        }
    }
}

#[cfg(unix)]
#[test]
fn in_a_read_only_folder_a_session_can_be_read_but_not_changed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let (context, _) = session(folder.path());
    let history = context.history().to_vec();
    drop(context);
    let path = folder.path().join(CONTEXT_FILE);
    let mut torn = fs::read(&path).expect("file");
    torn.extend_from_slice(b"{\"role\":\"us");
    fs::write(&path, &torn).expect("file");
    let mode = |mode: u32, path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    };
    mode(0o400, &path);
    mode(0o500, folder.path());
    let opened = Context::open(folder.path());
    let writable = fs::write(folder.path().join("probe"), "").is_ok();
    if !writable {
        let (mut context, report) = opened.expect("open");
        assert_eq!(context.history(), history);
        assert!(report.torn_tail);
        context.append(&[Message::user("x")]).expect_err("read only");
        context.clear().expect_err("read only");
        assert_eq!(context.history(), history);
        assert_eq!(fs::read(&path).expect("file"), torn);
    } else {
        eprintln!("skipped: this user may write to read-only folders");
    }
    mode(0o700, folder.path());
    mode(0o600, &path);
    let (mut context, _) = Context::open(folder.path()).expect("open");
    context.append(&[Message::user("x")]).expect("writable again");
    let (_, report) = Context::open(folder.path()).expect("open");
    assert_eq!(report, OpenReport::default());
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = session(folder.path());
    context.clear().expect("clear");
    for name in [CONTEXT_FILE, "context_1.jsonl"] {
        let mode = fs::metadata(folder.path().join(name)).expect(name).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
