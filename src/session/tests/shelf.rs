//! All folders, titles, the archive, the trash, and layouts of old versions.

use super::*;

#[test]
fn all_folders_are_listed_known_elsewhere_and_unknown() {
    let place = place();
    place.said("here", "in the work folder", 100);
    let other = Path::new("/home/me/other");
    let far = place.store.create(other, Some(id("there"))).expect("create");
    Context::open(&far.dir).expect("open").0.append(&[Message::user("newer")]).expect("said");
    let sessions = place.paths.sessions();
    let row = "{\"role\":\"user\",\"content\":\"where am I\"}\n";
    let hash = crate::paths::work_dir_hash(Path::new("/srv/x"));
    for bucket in ["0123456789abcdef0123456789abcdef", &format!("ssh_{hash}")] {
        fs::create_dir_all(sessions.join(bucket).join("s")).expect("folder");
        fs::write(sessions.join(bucket).join("s/context.jsonl"), row).expect("file");
        age_by(&sessions.join(bucket).join("s/context.jsonl"), 500);
    }
    let mut metadata = place.metadata();
    let remote = json!({"path": "/srv/x", "kaos": "ssh", "last_session_id": null});
    metadata["work_dirs"].as_array_mut().expect("list").push(remote);
    fs::write(place.paths.metadata_file(), metadata.to_string()).expect("file");

    let all = place.store.list_all().expect("list");
    let labels: Vec<String> = all.iter().map(|folder| folder.place.label()).collect();
    assert_eq!(
        labels,
        ["/home/me/other", "/home/me/wörk", "ssh:/srv/x", "unknown folder (01234567)"]
    );
    let crate::session::Place::Unknown { bucket } = &all[3].place else { panic!("unknown") };
    assert_eq!(bucket.len(), 32);
    let lost = &all[3].sessions[0];
    assert_eq!((lost.title.as_str(), lost.work_dir.as_path()), ("where am I", Path::new("")));
    assert_eq!(Context::open_read_only(&lost.dir).expect("open").0.history().len(), 1);
    let error = place.store.fork(&lost.session(), None).expect_err("nowhere").to_string();
    assert!(error.contains("not known"), "{error}");
    let found = place.store.find_anywhere(&id("there")).expect("find").expect("session");
    assert_eq!(found.work_dir, other);
}

#[test]
fn an_archived_session_is_hidden_and_comes_back() {
    let place = place();
    let session = place.said("s", "hello", 5);
    place.store.set_archived(&session, true).expect("archive");
    assert_eq!(place.names(), [""; 0]);
    assert_eq!(place.store.list_archived(&place.work).expect("list")[0].title, "hello");
    let state: Value =
        serde_json::from_slice(&fs::read(session.dir.join("state.json")).expect("file"))
            .expect("json");
    assert!(state["archived"] == true && state["archived_at"].as_f64().expect("time") > 1e9);
    place.store.set_archived(&session, false).expect("unarchive");
    assert_eq!(place.names(), ["s"]);
    assert_eq!(SessionState::load(&session.dir).archived_at, None);
}

#[test]
fn a_title_is_one_short_line_and_a_blank_one_gives_the_old_back() {
    let place = place();
    let session = place.said("s", "hello there", 5);
    let title = place.store.rename(&session, "  My\n best  work ").expect("rename");
    assert_eq!(title.as_deref(), Some("My best work"));
    assert_eq!(session.summary().title, "My best work");
    let long = place.store.rename(&session, &"压".repeat(300)).expect("rename").expect("title");
    assert_eq!(long.chars().count(), 200);
    assert_eq!(place.store.rename(&session, " \n").expect("rename"), None);
    assert_eq!(session.summary().title, "hello there");
}

#[test]
fn a_deleted_session_is_in_the_trash_until_it_is_emptied() {
    let place = place();
    let session = place.said("s", "precious", 5);
    place.said("t", "junk", 5);
    let before = fs::read(session.dir.join("context.jsonl")).expect("file");
    let lock = session.lock().expect("lock");
    let error = place.store.delete(&session).expect_err("held");
    assert!(matches!(error, SessionError::InUse { .. }), "{error}");
    drop(lock);
    let trashed = place.store.delete(&session).expect("delete");
    assert_eq!((trashed.title.as_str(), place.names()), ("precious", vec!["t".to_owned()]));
    let listed = place.store.list_trash().expect("trash");
    assert_eq!((listed.len(), &listed[0].dir), (1, &trashed.dir));
    assert_eq!(listed[0].work_dir.as_deref(), Some(&*place.work));

    place.store.undelete(&listed[0]).expect("undelete");
    assert_eq!(fs::read(session.dir.join("context.jsonl")).expect("file"), before);
    assert_eq!(place.store.list_trash().expect("trash"), []);

    let trashed = place.store.delete(&session).expect("delete");
    place.said("s", "another of that name", 1);
    let error = place.store.undelete(&trashed).expect_err("taken");
    assert!(matches!(error, SessionError::Exists { .. }), "{error}");
    assert!(trashed.dir.join("context.jsonl").is_file());
    assert_eq!(place.store.empty_trash().expect("empty"), 1);
    assert_eq!(place.store.empty_trash().expect("empty"), 0);
    assert_eq!(place.names(), ["s", "t"]);
}

#[test]
fn layouts_of_the_seeds_are_brought_up_to_date() {
    let place = place();
    let dir = place.dir("old");
    fs::create_dir_all(&dir).expect("folder");
    let row = |text: &str| format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n");
    for (name, text) in
        [("history.jsonl", "now"), ("history.jsonl.1", "first"), ("context.jsonl.2", "second")]
    {
        fs::write(dir.join(name), row(text)).expect("file");
    }
    let old = json!({"session_id": "old", "title": "Old times", "archived": false, "x": 1});
    fs::write(dir.join("metadata.json"), old.to_string()).expect("file");
    let list = place.store.list(&place.work).expect("list");
    assert_eq!(list[0].title, "Old times");
    let (context, _) = Context::open(&dir).expect("open");
    assert_eq!(context.history(), [Message::user("now")]);
    let first = context.transcript(crate::message::Generation(0)).expect("first");
    assert_eq!(first.messages, [Message::user("first")]);
    assert_eq!(context.generations().len(), 3);
    let kept = fs::read_to_string(dir.join("metadata.json.old")).expect("kept");
    assert_eq!(kept, old.to_string());
}

#[test]
fn old_share_folders_are_found_and_a_session_of_theirs_is_copied() {
    let place = place();
    let home = place.paths.share.parent().expect("home").to_owned();
    let row = "{\"role\": \"user\", \"content\": \"long ago\"}\n";
    let s2 = home.join(".config/kimi/sessions/abc/uuid-1");
    let s0 = home.join(".kimi-cli/sessions/plain");
    for (dir, name) in [(&s2, "context.jsonl"), (&s0, "history.jsonl")] {
        fs::create_dir_all(dir.join("subagents/a1")).expect("folder");
        fs::write(dir.join(name), row).expect("file");
        fs::write(dir.join("subagents/a1/meta.json"), "{}").expect("file");
    }
    let legacy = place.store.list_legacy(&home).expect("list");
    let mut ids: Vec<&str> = legacy.iter().map(|session| session.id.0.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["plain", "uuid-1"]);
    assert!(legacy.iter().all(|session| session.title == "long ago"));
    for summary in &legacy {
        let session = place.store.adopt(summary, &place.work).expect("adopt");
        assert_eq!(session.id, summary.id);
        assert_eq!(fs::read_to_string(session.dir.join("context.jsonl")).expect("file"), row);
        assert!(session.dir.join("subagents/a1/meta.json").is_file());
        let again = place.store.adopt(summary, &place.work).expect("adopt");
        assert_ne!(again.id, summary.id);
    }
    assert_eq!(fs::read_to_string(s0.join("history.jsonl")).expect("untouched"), row);
}

#[test]
fn deleting_for_good_takes_one_session_and_what_only_its_snapshots_needed() {
    use crate::config::SnapshotConfig;
    use crate::message::{CheckpointId, CheckpointRef, Generation};
    use crate::snapshot::{self, Tracker};
    let place = place();
    let store = place.paths.snapshots().join("b");
    let work = place.paths.share.join("work");
    fs::create_dir_all(&work).expect("work");
    let changed = |name: &str, content: &str| {
        let session = place.said(name, "hello", 5);
        let at = snapshot::Place { session_dir: session.dir.clone(), store: store.clone() };
        let mut tracker =
            Tracker::open(at, vec![work.clone()], SnapshotConfig::default()).expect("tracker");
        tracker.mark(CheckpointRef { generation: Generation(0), id: CheckpointId(0) }, true);
        tracker.warm_up();
        let path = work.join(name);
        tracker.begin_write(&path);
        fs::write(&path, content).expect("file");
        tracker.end_write(&path);
        drop(tracker);
        fs::remove_file(&path).expect("file");
        session
    };
    let (kept, gone) = (changed("kept", "kept content"), changed("gone", "other content"));
    assert!(kept.snapshot_use() > 0 && gone.snapshot_use() > 0);
    let trashed = place.store.delete(&gone).expect("delete");
    let before = snapshot::disk_use(&trashed.dir);
    assert!(before > 0, "what may come back keeps its contents");
    let elsewhere = crate::session::Trashed { dir: kept.dir.clone(), ..trashed.clone() };
    assert!(place.store.purge(&elsewhere).is_err(), "only what is in the trash");
    let dots = trashed.dir.join("../../../../sessions");
    let elsewhere = crate::session::Trashed { dir: dots, ..trashed.clone() };
    assert!(place.store.purge(&elsewhere).is_err() && kept.dir.exists());

    let both = crate::session::disk_use(&store);
    place.store.purge(&trashed).expect("purge");
    assert!(!trashed.dir.exists() && place.store.list_trash().expect("list").is_empty());
    assert!(crate::session::disk_use(&store) < both, "what only it needed is gone");
    assert!(kept.snapshot_use() > 0, "what the other needs is there");
}
