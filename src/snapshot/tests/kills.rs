//! A kill, and a failure, at every write of a restoration.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use super::rig::{Picture, Rig};

/// A workspace in which a restoration has everything to do.
fn stage() -> (Rig, crate::message::CheckpointRef, Picture, Picture) {
    let mut rig = Rig::new();
    rig.put("edited", "0");
    rig.put("deleted", "0");
    rig.put("was a file", "0");
    rig.put("was a folder/x", "0");
    rig.put("gone/deep/x", "0");
    let before = rig.picture();
    let to = rig.mark();
    rig.tool("edited", "1");
    rig.shell(|work| {
        fs::remove_file(work.join("deleted")).unwrap();
        fs::remove_file(work.join("was a file")).unwrap();
        fs::create_dir_all(work.join("was a file/sub")).unwrap();
        fs::write(work.join("was a file/sub/x"), "1").unwrap();
        fs::remove_dir_all(work.join("was a folder")).unwrap();
        fs::write(work.join("was a folder"), "1").unwrap();
        fs::remove_dir_all(work.join("gone")).unwrap();
        fs::create_dir_all(work.join("made/deep")).unwrap();
        fs::write(work.join("made/deep/x"), "1").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("edited", work.join("link")).unwrap();
    });
    let after = rig.picture();
    (rig, to, before, after)
}

/// Lets `at` writes pass, then fails with `kind`.
fn gate(at: usize, kind: io::ErrorKind, writes: &mut usize) -> impl FnMut(&str) -> io::Result<()> {
    move |what| {
        if *writes == at {
            return Err(io::Error::new(kind, what.to_owned()));
        }
        *writes += 1;
        Ok(())
    }
}

#[test]
fn a_kill_at_every_write_is_finished_at_the_next_start() {
    let mut boundaries = 0;
    for at in 0.. {
        let (mut rig, to, before, after) = stage();
        let mut writes = 0;
        let killed = rig
            .tracker
            .rewind_gated(
                to,
                &BTreeSet::new(),
                false,
                &mut gate(at, io::ErrorKind::Interrupted, &mut writes),
            )
            .is_err();
        let has_order = rig.home.path().join("session/snapshots.restore").exists();
        if killed && !has_order {
            assert_eq!(rig.picture(), after, "killed before write {at}");
        }
        rig.reopen();
        let wanted = if killed && !has_order { &after } else { &before };
        assert_eq!(&rig.picture(), wanted, "opened after a kill at write {at}");
        assert!(!rig.home.path().join("session/snapshots.restore").exists());
        if !killed {
            break;
        }
        if has_order {
            // Nothing is lost: what was taken back comes forth again.
            rig.tracker.redo(&BTreeSet::new()).expect("redo");
            assert_eq!(rig.picture(), after, "brought forth after a kill at write {at}");
        }
        boundaries = at + 1;
    }
    assert!(boundaries > 15, "only {boundaries} writes");
}

#[test]
fn a_kill_while_finishing_is_finished_too() {
    for at in 0..12 {
        let (mut rig, to, before, _) = stage();
        let (mut first, mut second) = (0, 0);
        let half = &mut gate(5, io::ErrorKind::Interrupted, &mut first);
        assert!(rig.tracker.rewind_gated(to, &BTreeSet::new(), false, half).is_err());
        rig.tracker.recover(&mut gate(at, io::ErrorKind::Interrupted, &mut second));
        rig.reopen();
        assert_eq!(rig.picture(), before, "second kill at write {at}");
    }
}

#[test]
fn a_failure_at_every_write_changes_nothing() {
    for at in 0.. {
        let (mut rig, to, before, after) = stage();
        let mut writes = 0;
        let failed = rig
            .tracker
            .rewind_gated(
                to,
                &BTreeSet::new(),
                false,
                &mut gate(at, io::ErrorKind::StorageFull, &mut writes),
            )
            .err();
        match failed {
            None => {
                assert_eq!(rig.picture(), before);
                break;
            }
            // All was done; only telling so failed. The next start does.
            Some(error)
                if error.to_string().contains("journal")
                    || error.to_string().contains("order") && at > 0 =>
            {
                rig.reopen();
                assert_eq!(rig.picture(), before);
            }
            Some(_) => {
                assert_eq!(rig.picture(), after, "failed at write {at}");
                assert!(!rig.home.path().join("session/snapshots.restore").exists());
            }
        }
    }
}
