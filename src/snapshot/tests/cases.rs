//! The odd cases, one by one.

use std::collections::BTreeSet;
use std::fs;

use super::rig::{Rig, Thing};
use crate::config::SnapshotConfig;
use crate::message::{CheckpointId, CheckpointRef, Generation};
use crate::snapshot::{Conflict, RewindError, disk_use};

fn none() -> BTreeSet<std::path::PathBuf> {
    BTreeSet::new()
}

#[test]
#[cfg(unix)]
fn modes_links_empty_folders_renames_and_kinds_come_back_and_go_forth() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mut rig = Rig::new();
    rig.put("run.sh", "#!/bin/sh\r\n");
    rig.put("a/b/c.txt", "c");
    rig.put("swap", "a file");
    rig.put("bin.dat", "\0\u{1}x");
    fs::create_dir(rig.at("empty")).unwrap();
    symlink("a/b/c.txt", rig.at("link")).unwrap();
    fs::set_permissions(rig.at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = rig.picture();
    let to = rig.mark();
    rig.shell(|work| {
        fs::set_permissions(work.join("run.sh"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(work.join("a"), work.join("moved")).unwrap();
        fs::remove_dir(work.join("empty")).unwrap();
        fs::remove_file(work.join("link")).unwrap();
        symlink("/etc/passwd", work.join("link")).unwrap();
        fs::remove_file(work.join("swap")).unwrap();
        fs::create_dir(work.join("swap")).unwrap();
        fs::write(work.join("swap/inside"), "new").unwrap();
        fs::write(work.join("bin.dat"), b"\0\xff").unwrap();
    });
    let after = rig.picture();
    assert_ne!(before, after);
    let done = rig.tracker.rewind(to, &none(), false).expect("rewind");
    assert_eq!(done.left, []);
    assert_eq!(rig.picture(), before);
    rig.tracker.redo(&none()).expect("redo");
    assert_eq!(rig.picture(), after);
    assert!(matches!(rig.tracker.redo(&none()), Err(RewindError::NothingToRedo)));
}

#[test]
fn what_others_did_is_left_alone_unless_it_is_chosen() {
    let mut rig = Rig::new();
    rig.put("ours", "0");
    rig.put("both", "0");
    rig.put("between", "0");
    rig.put("theirs", "0");
    let to = rig.mark();
    rig.tool("ours", "1");
    rig.tool("both", "1");
    rig.tool("between", "1");
    rig.put("between", "somebody");
    rig.tool("between", "2");
    rig.put("both", "somebody");
    rig.put("theirs", "somebody");
    rig.put("new of theirs", "somebody");
    rig.shell(|work| fs::write(work.join("from the shell"), "x").unwrap());
    let preview = rig.tracker.preview(to).expect("preview");
    let told: Vec<(String, Option<Conflict>)> = preview
        .plan
        .items
        .iter()
        .map(|item| (item.path.file_name().unwrap().to_string_lossy().into_owned(), item.conflict))
        .collect();
    assert_eq!(
        told,
        [
            ("between".to_owned(), Some(Conflict::ChangedBetween)),
            ("both".to_owned(), Some(Conflict::ChangedSince)),
            ("from the shell".to_owned(), None),
            ("ours".to_owned(), None),
        ]
    );
    let chosen = BTreeSet::from([rig.at("both")]);
    let done = rig.tracker.rewind(to, &chosen, false).expect("rewind");
    assert_eq!(done.left.len(), 1);
    let read = |name: &str| fs::read_to_string(rig.at(name)).unwrap_or_default();
    assert_eq!(
        ["ours", "both", "between", "theirs", "new of theirs", "from the shell"].map(read),
        ["0", "0", "2", "somebody", "somebody", ""]
    );
}

#[test]
fn nobody_is_robbed_by_a_changed_ignore_file() {
    let mut rig = Rig::new();
    rig.put(".gitignore", "secret\nbuild/\n");
    rig.put("secret", "of the person");
    rig.put("build/out", "x");
    rig.put("seen", "s");
    let to = rig.mark();
    rig.shell(|work| {
        fs::write(work.join("secret"), "changed").unwrap();
        fs::write(work.join(".gitignore"), "seen\n").unwrap();
    });
    rig.tracker.rewind(to, &none(), false).expect("rewind");
    assert_eq!(fs::read_to_string(rig.at(".gitignore")).unwrap(), "secret\nbuild/\n");
    assert_eq!(fs::read_to_string(rig.at("secret")).unwrap(), "changed");
    assert!(rig.at("build/out").exists() && rig.at("seen").exists());
}

#[test]
fn nested_repositories_are_left_alone_and_told() {
    let mut rig = Rig::new();
    rig.put("vendor/lib/.git", "gitdir: elsewhere");
    rig.put("vendor/lib/x", "0");
    rig.put(".git/index", "0");
    rig.put("own", "0");
    let to = rig.mark();
    rig.shell(|work| {
        for name in ["vendor/lib/x", ".git/index", "own"] {
            fs::write(work.join(name), "1").unwrap();
        }
    });
    let told = rig.tracker.take_notices().join("\n");
    assert!(told.contains("vendor/lib"), "{told}");
    rig.tracker.rewind(to, &none(), false).expect("rewind");
    let read = |name: &str| fs::read_to_string(rig.at(name)).unwrap();
    assert_eq!(["vendor/lib/x", ".git/index", "own"].map(read), ["1", "1", "0"]);
}

#[test]
fn limits_are_told_and_never_in_the_way() {
    let limits = SnapshotConfig { max_file_bytes: 10, max_files: 3, ..SnapshotConfig::default() };
    let mut rig = Rig::with(limits);
    rig.put("large", "more than ten bytes");
    let to = rig.mark();
    rig.shell(|work| fs::write(work.join("large"), "other, but just as large").unwrap());
    let preview = rig.tracker.preview(to).expect("preview");
    assert!(matches!(preview.plan.items[0].conflict, Some(Conflict::NotKept(_))));
    assert!(!preview.plan.items[0].conflict.unwrap().can_be_chosen());
    for name in ["b", "c", "d", "e"] {
        rig.put(name, name);
    }
    rig.shell(|work| fs::write(work.join("b"), "changed").unwrap());
    let told = rig.tracker.take_notices().join("\n");
    assert!(told.contains("snapshots.max_files"), "{told}");
    assert!(rig.tracker.preview(to).expect("preview").gaps[0].contains("more than 3 files"));
    // A tool's writes need no scan.
    let to = rig.mark();
    rig.tool("c", "tool");
    rig.tracker.rewind(to, &none(), false).expect("rewind");
    assert_eq!(fs::read_to_string(rig.at("c")).unwrap(), "c");
}

#[test]
fn the_root_and_the_home_folder_are_not_scanned() {
    let home = directories::BaseDirs::new().expect("home").home_dir().to_owned();
    let home = fs::canonicalize(&home).unwrap_or(home);
    for root in [std::path::PathBuf::from("/"), home] {
        let mut tree = crate::snapshot::scan::Tree::default();
        let folder = tempfile::tempdir().unwrap();
        let mut store = crate::snapshot::store::Store::new(folder.path());
        let told = tree.scan(&[root], &SnapshotConfig::default(), &mut store).unwrap_err();
        assert!(told.to_string().contains("not a workspace"), "{told}");
    }
}

#[test]
#[cfg(unix)]
fn a_restoration_never_leaves_through_a_link() {
    let mut rig = Rig::new();
    rig.put("d/file", "0");
    let to = rig.mark();
    rig.tool("d/file", "1");
    let outside = rig.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "1").unwrap();
    fs::remove_dir_all(rig.at("d")).unwrap();
    std::os::unix::fs::symlink(&outside, rig.at("d")).unwrap();
    let chosen = BTreeSet::from([rig.at("d/file")]);
    let _ = rig.tracker.rewind(to, &chosen, false);
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "1");
}

#[test]
#[cfg(unix)]
fn holes_stay_holes_and_crlf_stays_crlf() {
    use std::os::unix::fs::MetadataExt;
    let mut rig = Rig::new();
    let file = fs::File::create(rig.at("sparse")).unwrap();
    file.set_len(8 << 20).unwrap();
    rig.put("crlf", "a\r\nb\r\n");
    let before = rig.picture();
    let to = rig.mark();
    rig.shell(|work| {
        fs::write(work.join("sparse"), "small").unwrap();
        fs::write(work.join("crlf"), "a\nb\n").unwrap();
    });
    rig.tracker.rewind(to, &none(), false).expect("rewind");
    assert_eq!(rig.picture(), before);
    assert!(fs::metadata(rig.at("sparse")).unwrap().blocks() < 1000);
}

#[test]
fn a_damaged_store_or_journal_changes_nothing_and_opens() {
    let mut rig = Rig::new();
    rig.put("f", "0");
    let to = rig.mark();
    rig.tool("f", "1");
    let objects = rig.home.path().join("store/objects");
    for folder in fs::read_dir(&objects).unwrap() {
        for blob in fs::read_dir(folder.unwrap().path()).unwrap() {
            fs::write(blob.unwrap().path(), "rubbish").unwrap();
        }
    }
    rig.reopen();
    let failed = rig.tracker.rewind(to, &none(), false).unwrap_err();
    assert!(failed.to_string().starts_with("Nothing was changed"), "{failed}");
    assert_eq!(rig.picture()[&rig.at("f")], Thing::File(b"1".to_vec(), mode(&rig)));
    let journal = rig.home.path().join("session/snapshots.jsonl");
    fs::write(&journal, b"\xff not JSON\n{\"type\":").unwrap();
    rig.reopen();
    assert!(rig.tracker.take_notices()[0].contains("damaged"));
}

fn mode(rig: &Rig) -> u32 {
    crate::snapshot::node::mode_of(&fs::metadata(rig.at("f")).unwrap())
}

#[test]
fn checkpoints_keep_their_moments_across_generations_and_restarts() {
    let mut rig = Rig::new();
    rig.put("f", "0");
    let first = rig.mark();
    rig.tool("f", "1");
    let second = rig.mark();
    rig.tool("f", "2");
    rig.tracker.carry(Generation(0), Generation(1), Some(CheckpointId(1)));
    rig.reopen();
    let carried = CheckpointRef { generation: Generation(1), id: first.id };
    let gone = CheckpointRef { generation: Generation(1), id: second.id };
    assert!(matches!(rig.tracker.preview(gone), Err(RewindError::Unknown(_))));
    rig.tracker.rewind(second, &none(), false).expect("rewind");
    assert_eq!(fs::read_to_string(rig.at("f")).unwrap(), "1");
    rig.tracker.rewind(carried, &none(), false).expect("rewind");
    assert_eq!(fs::read_to_string(rig.at("f")).unwrap(), "0");
    rig.reopen();
    rig.tracker.redo(&none()).expect("redo");
    assert_eq!(fs::read_to_string(rig.at("f")).unwrap(), "1");
}

#[test]
fn old_turns_are_forgotten_and_what_nobody_names_is_collected() {
    let mut rig = Rig::new();
    rig.put("f", "0");
    let old = rig.mark();
    rig.tool("f", "1");
    rig.mark();
    let new = rig.mark();
    rig.tool("f", "2");
    let session = rig.home.path().join("session");
    assert!(disk_use(&session) > 0);
    let mut journal =
        crate::snapshot::journal::Journal::open(&session, &rig.home.path().join("store")).unwrap();
    assert!(journal.forget(1, 0).unwrap());
    let store = rig.home.path().join("store");
    let collect = |session: &std::path::Path| {
        let sessions = || Ok(vec![session.to_owned()]);
        crate::snapshot::gc::collect(&store, sessions, std::time::Duration::ZERO)
    };
    assert_eq!(collect(&session).unwrap(), None, "the tracker uses it");
    rig.reopen();
    assert!(matches!(rig.tracker.preview(old), Err(RewindError::Forgotten(_))));
    rig.tracker.rewind(new, &none(), false).expect("rewind");
    assert_eq!(fs::read_to_string(rig.at("f")).unwrap(), "1");
    let home = rig.home;
    drop(rig.tracker);
    let done = collect(&session).unwrap().expect("nobody uses it");
    assert_eq!((done.removed, done.kept), (1, 2), "0 is gone; 1 and 2 are needed");
    fs::remove_file(session.join("snapshots.jsonl")).unwrap();
    assert_eq!(collect(&session).unwrap().expect("free").kept, 0);
    drop(home);
}

#[test]
fn a_session_that_changes_nothing_writes_nothing() {
    let mut rig = Rig::new();
    rig.put("f", "0");
    let to = rig.mark();
    rig.shell(|_| ());
    rig.put("f", "somebody");
    rig.shell(|_| ());
    assert!(!rig.home.path().join("session/snapshots.jsonl").exists());
    assert_eq!(rig.tracker.preview(to).expect("preview").plan.items, []);
}
