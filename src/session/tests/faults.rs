//! Failing disks and kills under `state.json` and `kimi.json`: the old file or the new one, never
//! neither, and never another session's entry lost.

use super::*;
use crate::files::disk::plan::{self, Fault};

const ERRNOS: [i32; 3] = [28, 30, 5];

/// Has every deed of `work` fail in turn, once by itself and once with all that come after it, as
/// for a program that is killed. `check` is told whether `work` had said that it was done.
fn each_fault(
    prepare: impl Fn() -> Place,
    work: impl Fn(&Place) -> bool,
    check: impl Fn(&Place, bool, &str),
) {
    let mut faults = 0;
    for is_kill in [false, true] {
        for (errno, written) in ERRNOS.into_iter().flat_map(|errno| [(errno, 0), (errno, 11)]) {
            for at in 0.. {
                let place = prepare();
                let fail = move |n, _| {
                    (n == at || (is_kill && n > at)).then_some(Fault { errno, written })
                };
                let (done, deeds) = plan::during(fail, || work(&place));
                let what = format!("deed {at}, errno {errno}, {written} bytes, kill {is_kill}");
                check(&place, done, &what);
                if at >= deeds {
                    assert!(done, "{what}");
                    break;
                }
                faults += 1;
            }
        }
    }
    assert!(faults >= 12 * 4, "{faults} faults");
}

#[test]
fn a_state_is_the_old_one_or_the_new_one_and_can_be_saved_afterwards() {
    let prepare = || {
        let place = place();
        let dir = place.create("s").dir;
        let text = r#"{"version": 1, "custom_title": "old", "theirs": [1], "plan_mode": true}"#;
        fs::write(dir.join("state.json"), text).expect("file");
        place
    };
    let change = |state: &mut SessionState| {
        state.custom_title = Some("new".into());
        state.plan_mode = false;
    };
    each_fault(
        prepare,
        |place| {
            let mut state = SessionState::load(&place.dir("s"));
            change(&mut state);
            state.save(&place.dir("s")).is_ok()
        },
        |place, done, what| {
            let dir = place.dir("s");
            let mut state = SessionState::load(&dir);
            let is_new = state.custom_title.as_deref() == Some("new");
            assert_eq!(state.plan_mode, !is_new, "{what}");
            assert!(is_new || !done, "it was said to be stored: {what}");
            change(&mut state);
            state.save(&dir).expect(what);
            let document: Value =
                serde_json::from_slice(&fs::read(dir.join("state.json")).expect("file"))
                    .expect("json");
            assert_eq!(
                (&document["theirs"], &document["custom_title"]),
                (&json!([1]), &json!("new"))
            );
            assert_eq!(fs::read_dir(&dir).expect("dir").count(), 1, "{what}");
        },
    );
}

#[test]
fn a_change_that_could_not_be_stored_is_stored_with_the_next() {
    let place = place();
    let dir = place.create("s").dir;
    let mut state = SessionState::load(&dir);
    state.yolo = true;
    let full = |_, _| Some(Fault { errno: 28, written: 0 });
    plan::during(full, || state.save(&dir).expect_err("full"));
    state.plan_mode = true;
    state.save(&dir).expect("room again");
    let stored = SessionState::load(&dir);
    assert!(stored.yolo && stored.plan_mode);
}

#[test]
fn the_list_of_folders_is_the_old_one_or_the_new_one_and_no_session_is_lost() {
    each_fault(
        || {
            let place = place();
            place.said("one", "first", 9);
            place
                .store
                .mark_last(&place.store.find(&place.work, &id("one")).unwrap().unwrap())
                .expect("mark");
            place
        },
        |place| {
            let made = place.store.create(&place.work, Some(id("two")));
            made.and_then(|session| place.store.mark_last(&session)).is_ok()
        },
        |place, done, what| {
            let metadata = place.metadata();
            let entries = metadata["work_dirs"].as_array().expect(what);
            assert_eq!(entries.len(), 1, "{what}");
            let last = entries[0]["last_session_id"].as_str().expect(what);
            assert!(last == "two" || (last == "one" && !done), "{what}: {last}");
            assert_eq!(place.names(), ["one"], "{what}");
            assert!(place.store.find(&place.work, &id("one")).expect(what).is_some());
            let session = place.store.create(&place.work, Some(id("three"))).expect(what);
            place.store.mark_last(&session).expect(what);
            assert_eq!(place.metadata()["work_dirs"][0]["last_session_id"], "three");
        },
    );
}

#[test]
fn a_new_folder_that_cannot_be_entered_costs_no_session() {
    each_fault(
        || {
            let place = place();
            place.store.create(Path::new("/home/me/other"), Some(id("theirs"))).expect("create");
            place
        },
        |place| place.store.create(&place.work, Some(id("mine"))).is_ok(),
        |place, done, what| {
            let folders: Vec<String> = place.metadata()["work_dirs"]
                .as_array()
                .expect(what)
                .iter()
                .map(|entry| entry["path"].as_str().expect(what).to_owned())
                .collect();
            assert_eq!(folders[0], "/home/me/other", "{what}");
            assert!(folders.len() == 2 || !done, "{what}");
            // What was not acknowledged can be had by asking again.
            place.store.create(&place.work, Some(id("again"))).expect(what);
            assert_eq!(place.metadata()["work_dirs"].as_array().expect(what).len(), 2, "{what}");
        },
    );
}
