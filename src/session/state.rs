//! `state.json`: a session's title, approvals, plan mode and todos (`kimi-facts` B.6).
//!
//! Other programs write the file too (the Python program's web interface sets titles, newer versions
//! add keys), so saving changes what this program changed and leaves the rest as it is on disk.

use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::files;
use crate::message::TodoItem;
use crate::permission::Rule;

const STATE_FILE: &str = "state.json";

/// What a session remembers beside its conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionState {
    /// Everything is approved. The command line's `--yolo` is not kept here.
    pub yolo: bool,
    /// The person is away: approvals are given, questions dismissed.
    pub afk: bool,
    /// Actions that were approved for the whole session.
    pub auto_approve_actions: Vec<String>,
    /// Folders outside the work folder that tools may use.
    pub additional_dirs: Vec<String>,
    /// The title, made from the first prompt or given by the person.
    pub custom_title: Option<String>,
    /// A model made the title.
    pub title_generated: bool,
    /// Plan mode is on.
    pub plan_mode: bool,
    /// Name of the plan's file in the plans folder, without its ending.
    pub plan_slug: Option<String>,
    /// The session the plan was begun in.
    pub plan_session_id: Option<String>,
    /// Hidden from lists.
    pub archived: bool,
    /// When it was hidden, in seconds since 1970.
    pub archived_at: Option<f64>,
    /// The agent's todo list.
    pub todos: Vec<TodoItem>,
    /// Permission rules of this session.
    pub permission_rules: Vec<Rule>,
    /// The values as they were loaded or saved last: what differs is this program's change.
    known: Vec<Value>,
}

/// Where each value of [`SessionState::values`] stands in the document.
const PLACES: [&[&str]; 13] = [
    &["approval", "yolo"],
    &["approval", "afk"],
    &["approval", "auto_approve_actions"],
    &["additional_dirs"],
    &["custom_title"],
    &["title_generated"],
    &["plan_mode"],
    &["plan_slug"],
    &["plan_session_id"],
    &["archived"],
    &["archived_at"],
    &["todos"],
    // Under a key of our own: other programs leave it alone.
    &["kimi_tui", "permission_rules"],
];

impl SessionState {
    /// Reads the state of the session in `dir`. A missing or damaged file gives defaults, as does a
    /// damaged value.
    #[must_use]
    pub fn load(dir: &Path) -> Self {
        let path = dir.join(STATE_FILE);
        let document = match read(&path) {
            Ok(Some(document)) => document,
            Ok(None) => Map::new(),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the session's state is not readable");
                Map::new()
            }
        };
        let mut state = Self {
            yolo: value(&document, PLACES[0]),
            afk: value(&document, PLACES[1]),
            auto_approve_actions: value(&document, PLACES[2]),
            additional_dirs: value(&document, PLACES[3]),
            custom_title: value(&document, PLACES[4]),
            title_generated: value(&document, PLACES[5]),
            plan_mode: value(&document, PLACES[6]),
            plan_slug: value(&document, PLACES[7]),
            plan_session_id: value(&document, PLACES[8]),
            archived: value(&document, PLACES[9]),
            archived_at: value(&document, PLACES[10]),
            todos: value(&document, PLACES[11]),
            permission_rules: value(&document, PLACES[12]),
            known: Vec::new(),
        };
        state.known = state.values().into();
        state
    }

    /// Writes what was changed here since it was loaded or saved. Everything else in the file stays
    /// as it is there now. A damaged file is kept as `state.json.broken`.
    ///
    /// # Errors
    /// When the file cannot be written; the old one is then untouched.
    pub fn save(&mut self, dir: &Path) -> io::Result<()> {
        let path = dir.join(STATE_FILE);
        let (mut document, is_new) = match read(&path) {
            Ok(Some(document)) => (document, false),
            Ok(None) => (default_document(), true),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                fs::copy(&path, dir.join("state.json.broken"))?;
                (default_document(), true)
            }
            Err(error) => return Err(error),
        };
        let values = self.values();
        for (index, (place, value)) in PLACES.iter().zip(&values).enumerate() {
            if is_new || self.known.get(index) != Some(value) {
                put(&mut document, place, value.clone());
            }
        }
        files::write_atomic(&path, &serde_json::to_vec_pretty(&document)?)?;
        self.known = values.into();
        Ok(())
    }

    /// In the order of [`PLACES`].
    fn values(&self) -> [Value; PLACES.len()] {
        [
            json!(self.yolo),
            json!(self.afk),
            json!(self.auto_approve_actions),
            json!(self.additional_dirs),
            json!(self.custom_title),
            json!(self.title_generated),
            json!(self.plan_mode),
            json!(self.plan_slug),
            json!(self.plan_session_id),
            json!(self.archived),
            json!(self.archived_at),
            json!(self.todos),
            json!(self.permission_rules),
        ]
    }
}

/// A new file as the Python program writes one.
fn default_document() -> Map<String, Value> {
    let document = json!({
        "version": 1,
        "approval": { "yolo": false, "afk": false, "auto_approve_actions": [] },
        "additional_dirs": [],
        "custom_title": null,
        "title_generated": false,
        "title_generate_attempts": 0,
        "plan_mode": false,
        "plan_session_id": null,
        "plan_slug": null,
        "wire_mtime": null,
        "archived": false,
        "archived_at": null,
        "auto_archive_exempt": false,
        "todos": [],
    });
    match document {
        Value::Object(document) => document,
        _ => Map::new(),
    }
}

/// `None` is a missing file, `InvalidData` a damaged one.
fn read(path: &Path) -> io::Result<Option<Map<String, Value>>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn value<T: DeserializeOwned + Default>(document: &Map<String, Value>, place: &[&str]) -> T {
    let mut places = place.iter();
    let first = places.next().and_then(|key| document.get(*key));
    let found = places.fold(first, |value, key| value.and_then(|value| value.get(*key)));
    found.and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

fn put(document: &mut Map<String, Value>, place: &[&str], value: Value) {
    match place {
        [key] => {
            document.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let inner = document.entry(*key).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
        [] => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::TodoStatus;

    fn document(dir: &Path) -> Value {
        serde_json::from_slice(&fs::read(dir.join(STATE_FILE)).expect("file")).expect("json")
    }

    #[test]
    fn a_new_file_has_everything_the_python_program_writes() {
        let dir = tempfile::tempdir().expect("folder");
        let mut state = SessionState::load(dir.path());
        state.auto_approve_actions.push("run command".into());
        state.custom_title = Some("运行 it".into());
        state.todos.push(TodoItem { title: "one".into(), status: TodoStatus::Done });
        state.save(dir.path()).expect("save");
        let text = fs::read_to_string(dir.path().join(STATE_FILE)).expect("file");
        assert!(text.starts_with("{\n  \"version\": 1,\n  \"approval\": {\n    \"yolo\": false,"));
        assert!(text.contains("\"custom_title\": \"运行 it\""));
        assert!(text.contains("\"status\": \"done\""));
        let again = SessionState::load(dir.path());
        assert_eq!(again, state);
    }

    #[test]
    fn what_others_wrote_meanwhile_stays() {
        let dir = tempfile::tempdir().expect("folder");
        let mut state = SessionState::load(dir.path());
        state.custom_title = Some("mine".into());
        state.save(dir.path()).expect("save");
        let mut theirs = document(dir.path());
        theirs["custom_title"] = json!("theirs");
        theirs["approval"]["new"] = json!([1]);
        theirs["colour"] = json!("blue");
        fs::write(dir.path().join(STATE_FILE), theirs.to_string()).expect("file");
        state.plan_mode = true;
        state.save(dir.path()).expect("save");
        theirs["plan_mode"] = json!(true);
        assert_eq!(document(dir.path()), theirs);
        // A title that is changed here is this program's to write, also back to what it was.
        state.custom_title = None;
        state.save(dir.path()).expect("save");
        assert_eq!(document(dir.path())["custom_title"], Value::Null);
        state.custom_title = Some("mine".into());
        state.save(dir.path()).expect("save");
        assert_eq!(document(dir.path())["custom_title"], json!("mine"));
    }

    #[test]
    fn a_damaged_file_gives_defaults_and_is_kept() {
        let dir = tempfile::tempdir().expect("folder");
        for damaged in ["{\"version\": 1, \"appr", "[]", "\u{fffd}", ""] {
            fs::write(dir.path().join(STATE_FILE), damaged).expect("file");
            let mut state = SessionState::load(dir.path());
            assert_eq!((state.custom_title.clone(), state.yolo), (None, false));
            state.yolo = true;
            state.save(dir.path()).expect("save");
            let broken = fs::read_to_string(dir.path().join("state.json.broken")).expect("kept");
            assert_eq!(broken, damaged);
            assert!(SessionState::load(dir.path()).yolo);
        }
    }

    #[test]
    fn one_damaged_value_costs_only_itself_and_is_not_overwritten() {
        let dir = tempfile::tempdir().expect("folder");
        let text = r#"{"approval": {"yolo": true}, "todos": [{"title": 1}], "custom_title": "t"}"#;
        fs::write(dir.path().join(STATE_FILE), text).expect("file");
        let mut state = SessionState::load(dir.path());
        assert!(state.yolo && state.todos.is_empty());
        state.yolo = false;
        state.save(dir.path()).expect("save");
        let expected =
            json!({"approval": {"yolo": false}, "todos": [{"title": 1}], "custom_title": "t"});
        assert_eq!(document(dir.path()), expected);
    }
}
