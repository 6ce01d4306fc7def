//! Tests of the store as a whole, on folders made by hand.

mod faults;
mod forks;
mod papers;
mod python;
mod shelf;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::*;
use crate::context::Context;
use crate::message::{Message, SessionId};
use crate::paths::Paths;

struct Place {
    _folder: tempfile::TempDir,
    paths: Paths,
    work: PathBuf,
    store: SessionStore,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path().join("share"));
    let work = PathBuf::from("/home/me/wörk");
    Place { store: SessionStore::new(paths.clone()), _folder: folder, paths, work }
}

fn id(text: &str) -> SessionId {
    SessionId(text.to_owned())
}

impl Place {
    fn create(&self, name: &str) -> Session {
        self.store.create(&self.work, Some(id(name))).expect("create")
    }

    /// A session in which `text` was said, `age` seconds ago.
    fn said(&self, name: &str, text: &str, age: u64) -> Session {
        let session = self.create(name);
        let (mut context, _) = Context::open(&session.dir).expect("context");
        context.freeze_system_prompt(&"prompt ".repeat(3000)).expect("prompt");
        context.checkpoint(true).expect("checkpoint");
        context.append(&[Message::user(text)]).expect("said");
        age_by(&session.dir.join("context.jsonl"), age);
        session
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.paths.session_bucket(&self.work).join(name)
    }

    fn names(&self) -> Vec<String> {
        self.store.list(&self.work).expect("list").into_iter().map(|s| s.id.0).collect()
    }

    fn latest(&self) -> Option<String> {
        self.store.latest(&self.work).expect("latest").map(|session| session.id.0)
    }

    fn metadata(&self) -> Value {
        serde_json::from_slice(&fs::read(self.paths.metadata_file()).expect("file")).expect("json")
    }
}

fn age_by(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).expect("file").set_modified(time).expect("time");
}

#[test]
fn a_session_is_made_known_and_found_by_its_id_or_its_beginning() {
    let place = place();
    let made = place.store.create(&place.work, None).expect("create");
    assert!(made.dir.is_dir());
    assert_eq!(made.id.0.len(), 36);
    let find = |text: &str| place.store.find(&place.work, &id(text)).expect("find");
    assert_eq!(find(&made.id.0), Some(made.clone()));
    assert_eq!(find(made.id.short()), Some(made.clone()));
    assert_eq!(find(&made.id.0[..3]), None);
    assert_eq!(find("not there"), None);
    assert_eq!(place.store.find(Path::new("/elsewhere"), &made.id).expect("find"), None);
    assert_eq!(
        place.metadata(),
        json!({"work_dirs": [{"path": "/home/me/wörk", "kaos": "local", "last_session_id": null}]})
    );
    place.create("demo-22");
    assert_eq!(find("demo-2"), None, "a chosen id is not a beginning of another");
    let error = place.store.create(&place.work, Some(id("demo-22"))).expect_err("taken");
    assert!(matches!(error, SessionError::Exists { .. }), "{error}");
}

#[test]
fn a_beginning_that_fits_two_is_told() {
    let place = place();
    place.create("aaaaaaaa-0000-4000-8000-000000000001");
    place.create("aaaaaaaa-0000-4000-8000-000000000002");
    let error = place.store.find(&place.work, &id("aaaaaaaa")).expect_err("two");
    assert!(matches!(&error, SessionError::Ambiguous { matches, .. } if matches.len() == 2));
    assert!(error.to_string().contains("000000000002. Give more"), "{error}");
}

#[test]
fn an_id_is_never_a_path() {
    let place = place();
    for bad in ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\nb", &"x".repeat(300)] {
        let found = place.store.find(&place.work, &id(bad)).expect_err("bad id");
        assert!(matches!(found, SessionError::BadId { .. }), "{found}");
        place.store.create(&place.work, Some(id(bad))).expect_err("bad id");
    }
    assert!(!place.paths.share.exists());
}

#[test]
fn the_list_is_newest_first_without_the_empty_and_the_archived() {
    let place = place();
    assert_eq!(place.names(), [""; 0]);
    place.said("old", "an old question", 500);
    place.said("new", "  a\nnew question that is too long to be shown as a whole ", 5);
    place.said("hidden", "x", 1);
    let mut state = SessionState::load(&place.dir("hidden"));
    state.archived = true;
    state.save(&place.dir("hidden")).expect("save");
    let empty = place.create("empty");
    Context::open(&empty.dir).expect("open").0.freeze_system_prompt("only this").expect("prompt");
    fs::write(
        empty.dir.join("wire.jsonl"),
        "{\"type\": \"metadata\", \"protocol_version\": \"1.10\"}\n",
    )
    .expect("wire");
    let list = place.store.list(&place.work).expect("list");
    let shown: Vec<_> = list.iter().map(|s| (s.id.0.as_str(), s.title.as_str())).collect();
    assert_eq!(
        shown,
        [("new", "a new question that is too long to be shown as a…"), ("old", "an old question")]
    );
    assert!(list[0].bytes > 20_000);
    let age = SystemTime::now().duration_since(list[1].updated_at).expect("past");
    assert!(age >= Duration::from_secs(500));
}

#[test]
fn a_title_is_the_persons_then_the_first_turns_then_the_first_messages() {
    let place = place();
    let session = place.said("s", "from the context", 0);
    let title = || session.summary().title;
    assert_eq!(title(), "from the context");
    let wire = "{\"type\": \"metadata\", \"protocol_version\": \"1.10\"}\nhalf\n\
        {\"timestamp\": 1.0, \"message\": {\"type\": \"TurnBegin\", \"payload\": {\"user_input\": \" \"}}}\n\
        {\"timestamp\": 2.0, \"message\": {\"type\": \"TurnBegin\", \"payload\": {\"user_input\": [{\"type\": \"text\", \"text\": \"from\"}, {\"type\": \"text\", \"text\": \"the wire\"}]}}}\n";
    fs::write(session.dir.join("wire.jsonl"), wire).expect("wire");
    assert_eq!(title(), "from the wire");
    let mut state = SessionState::load(&session.dir);
    state.custom_title =
        Some("the\tperson's own, and as long as the person likes it to be, no less".into());
    state.save(&session.dir).expect("save");
    assert_eq!(title(), "the person's own, and as long as the person likes it to be, no less");
}

#[test]
fn damaged_sessions_are_listed() {
    let place = place();
    for (name, file, content) in [
        ("context", "context.jsonl", &b"\0\0\0garbage"[..]),
        ("wire", "wire.jsonl", b"{\"timestamp\": 1.0, \"mess"),
        ("state", "context.jsonl", b"{\"role\":\"user\",\"content\":\"said\"}\n"),
    ] {
        fs::write(place.create(name).dir.join(file), content).expect("file");
    }
    fs::write(place.dir("state").join("state.json"), "{").expect("state");
    fs::create_dir(place.create("folder").dir.join("context.jsonl")).expect("folder");
    let mut list: Vec<_> = place
        .store
        .list(&place.work)
        .expect("list")
        .into_iter()
        .map(|s| (s.id.0, s.title))
        .collect();
    list.sort();
    let expected =
        [("context", "Untitled"), ("folder", "Untitled"), ("state", "said"), ("wire", "Untitled")];
    assert_eq!(list, expected.map(|(id, title)| (id.to_owned(), title.to_owned())));
}

#[test]
fn the_latest_is_the_marked_one_unless_a_newer_one_was_killed() {
    let place = place();
    assert_eq!(place.latest(), None);
    let old = place.said("old", "x", 900);
    place.said("new", "y", 600);
    assert_eq!(place.latest().as_deref(), Some("new"), "nothing was marked");
    place.store.mark_last(&old).expect("mark");
    age_by(&place.paths.metadata_file(), 300);
    assert_eq!(place.latest().as_deref(), Some("old"), "what was ended last goes on");
    let killed = place.said("killed", "z", 100);
    age_by(&place.paths.metadata_file(), 300);
    assert_eq!(place.latest().as_deref(), Some("killed"));
    let running = killed.lock().expect("lock");
    assert_eq!(place.latest().as_deref(), Some("old"), "it was not killed, it runs");
    drop(running);
    fs::remove_dir_all(&killed.dir).expect("remove");
    fs::remove_dir_all(&old.dir).expect("remove");
    assert_eq!(place.latest().as_deref(), Some("new"), "the marked one is gone");
}

#[test]
fn what_others_keep_in_kimi_json_stays() {
    let place = place();
    let theirs = json!({
        "theme": "blue",
        "work_dirs": [
            {"path": "/home/me/wörk", "kaos": "ssh", "last_session_id": "far"},
            {"path": "/other", "kaos": "local", "last_session_id": null, "note": 1},
            7,
        ],
    });
    fs::create_dir_all(&place.paths.share).expect("folder");
    fs::write(place.paths.metadata_file(), theirs.to_string()).expect("file");
    let session = place.said("s", "x", 0);
    place.store.mark_last(&session).expect("mark");
    let mut expected = theirs;
    expected["work_dirs"]
        .as_array_mut()
        .expect("list")
        .push(json!({"path": "/home/me/wörk", "kaos": "local", "last_session_id": "s"}));
    assert_eq!(place.metadata(), expected);
    let text = fs::read_to_string(place.paths.metadata_file()).expect("file");
    assert!(text.starts_with("{\n  \"theme\": \"blue\",\n  \"work_dirs\": [\n    {\n"), "{text}");
}

#[test]
fn a_damaged_kimi_json_is_told_and_not_overwritten() {
    let place = place();
    fs::create_dir_all(&place.paths.share).expect("folder");
    for damaged in ["{\"work_dirs\": [", "[]", "{\"work_dirs\": {}}"] {
        fs::write(place.paths.metadata_file(), damaged).expect("file");
        let error = place.store.create(&place.work, None).expect_err("damaged");
        assert!(error.to_string().contains("kimi.json: "), "{error}");
        assert_eq!(fs::read_to_string(place.paths.metadata_file()).expect("file"), damaged);
        assert_eq!(place.latest(), None);
    }
}

#[test]
fn one_program_holds_a_session() {
    let place = place();
    let session = place.create("s");
    let lock = session.lock().expect("free");
    let error = session.lock().expect_err("taken");
    let me = std::process::id();
    assert!(matches!(error, SessionError::InUse { holder: Some(pid), .. } if pid == me), "{error}");
    assert!(error.to_string().contains("fork it to go on from here"), "{error}");
    assert_eq!(session.holder(), Some(Holder { pid: Some(me) }));
    // Who cannot write may read.
    Context::open_read_only(&session.dir).expect("open");
    drop(lock);
    assert_eq!(session.holder(), None);
    session.lock().expect("free again");
}

#[test]
fn only_sessions_with_nothing_in_them_are_removed() {
    let place = place();
    let remove = |session: &Session| place.store.remove_if_empty(session).expect("remove");
    let empty = place.create("empty");
    let _lock = empty.lock().expect("lock");
    Context::open(&empty.dir).expect("open").0.freeze_system_prompt("p").expect("prompt");
    SessionState::load(&empty.dir).save(&empty.dir).expect("state");
    assert!(remove(&empty) && !empty.dir.exists());
    assert!(!remove(&empty));

    assert!(!remove(&place.said("said", "x", 0)));
    let cleared = place.said("cleared", "x", 0);
    Context::open(&cleared.dir).expect("open").0.clear().expect("clear");
    assert!(!remove(&cleared), "the earlier context is in there");
    let named = place.create("named");
    let mut state = SessionState::load(&named.dir);
    state.custom_title = Some("mine".into());
    state.save(&named.dir).expect("save");
    assert!(!remove(&named));
    let damaged = place.create("damaged");
    fs::write(damaged.dir.join("context.jsonl"), "{\"ro").expect("file");
    assert!(!remove(&damaged));
    let uploads = place.create("uploads");
    fs::create_dir(uploads.dir.join("uploads")).expect("folder");
    assert!(!remove(&uploads));
}

#[test]
fn a_session_of_an_old_version_is_moved_to_its_folder() {
    let place = place();
    let bucket = place.paths.session_bucket(&place.work);
    fs::create_dir_all(&bucket).expect("bucket");
    let row = "{\"role\": \"user\", \"content\": \"long ago\"}\n";
    for name in ["one", "two"] {
        fs::write(bucket.join(format!("{name}.jsonl")), row).expect("file");
    }
    place.store.create(&place.work, Some(id("one"))).expect_err("it is there");
    let found = place.store.find(&place.work, &id("one")).expect("find").expect("session");
    assert_eq!(fs::read_to_string(found.dir.join("context.jsonl")).expect("file"), row);
    assert!(!bucket.join("one.jsonl").exists());
    let list = place.store.list(&place.work).expect("list");
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|s| s.title == "long ago" && s.dir.join("context.jsonl").is_file()));
    let long = "aaaaaaaa-0000-4000-8000-000000000001";
    fs::write(bucket.join(format!("{long}.jsonl")), row).expect("file");
    let found = place.store.find(&place.work, &id("aaaaaaaa")).expect("find").expect("session");
    assert!(found.id.0 == long && found.dir.join("context.jsonl").is_file());
    // One that has a new context too stays where it is: neither may be lost.
    fs::write(bucket.join("one.jsonl"), "other").expect("file");
    place.store.find(&place.work, &id("one")).expect("find").expect("session");
    assert_eq!(fs::read_to_string(bucket.join("one.jsonl")).expect("file"), "other");
}

#[test]
fn a_thousand_sessions_are_listed_by_their_heads() {
    let place = place();
    let bucket = place.paths.session_bucket(&place.work);
    place.create("big");
    for n in 0..1000 {
        let dir = bucket.join(format!("{n:04}"));
        fs::create_dir_all(&dir).expect("folder");
        fs::write(dir.join("context.jsonl"), "{\"role\":\"user\",\"content\":\"q\"}\n")
            .expect("file");
    }
    // Sparse, so it costs no disk; read whole it would take minutes.
    let big = fs::File::create(bucket.join("big/context.jsonl")).expect("file");
    big.set_len(50 << 30).expect("length");
    let list = place.store.list(&place.work).expect("list");
    assert_eq!(list.len(), 1001);
    assert_eq!(list.iter().find(|s| s.id.0 == "big").map(|s| s.bytes), Some(50 << 30));
}

#[cfg(unix)]
#[test]
fn what_is_made_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    let session = place.said("s", "x", 0);
    let _lock = session.lock().expect("lock");
    SessionState::load(&session.dir).save(&session.dir).expect("state");
    InputHistory::load(&place.paths.input_history(&place.work)).append("x").expect("history");
    let mut pending = vec![place.paths.share.clone()];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        let metadata = fs::metadata(&path).expect("metadata");
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode, if metadata.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        seen += 1;
        if metadata.is_dir() {
            pending.extend(fs::read_dir(&path).expect("list").map(|e| e.expect("entry").path()));
        }
    }
    assert!(seen >= 9, "{seen}");
}

#[cfg(unix)]
#[test]
fn a_share_folder_that_cannot_be_written_is_told_with_its_path() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("share");
    fs::write(&file, "a file").expect("file");
    let store = SessionStore::new(Paths::new(&file));
    let error = store.create(Path::new("/w"), None).expect_err("no folder").to_string();
    assert!(error.contains("share") && error.contains("KIMI_SHARE_DIR"), "{error}");
}
