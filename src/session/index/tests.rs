//! The index against sessions on disk: found, kept up to date, made again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::paths::Paths;

struct Stage {
    _folder: TempDir,
    paths: Paths,
    work: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let paths = Paths::new(folder.path().join("share"));
        Self { paths, work: folder.path().join("work"), _folder: folder }
    }

    fn store(&self) -> SessionStore {
        SessionStore::new(self.paths.clone())
    }

    fn index(&self) -> SessionIndex {
        SessionIndex::new(self.store())
    }

    /// A session whose record says `turns`: person, model, command, output.
    fn session(&self, id: &str, turns: &[[&str; 4]]) -> PathBuf {
        let store = self.store();
        let session = store.create(&self.work, Some(crate::message::SessionId(id.into())));
        let dir = session.expect("session").dir;
        fs::write(dir.join("context.jsonl"), "{\"role\":\"user\",\"content\":\"x\"}\n").expect("c");
        say(&dir, turns);
        dir
    }

    fn ids(&self, index: &SessionIndex, query: &str) -> Vec<String> {
        let found = index.search(&Query::parse(query), &all(), &|| false);
        let mut ids: Vec<String> = found.into_iter().map(|found| found.id.0).collect();
        ids.sort();
        ids
    }
}

fn all() -> SearchOptions {
    SearchOptions { work_dir: None, limit: 200, archived: false }
}

fn say(dir: &Path, turns: &[[&str; 4]]) {
    let mut file = fs::File::options()
        .create(true)
        .append(true)
        .open(dir.join("wire.jsonl"))
        .expect("wire.jsonl");
    let mut line = |kind: &str, payload: serde_json::Value| {
        let record = json!({"timestamp": 1.0, "message": {"type": kind, "payload": payload}});
        writeln!(file, "{record}").expect("a line");
    };
    for [person, model, command, output] in turns {
        line("TurnBegin", json!({"user_input": person}));
        line("StatusUpdate", json!({"context_tokens": 5}));
        line("ContentPart", json!({"type": "text", "text": model}));
        let arguments = json!({"command": command}).to_string();
        let function = json!({"name": "Bash", "arguments": arguments});
        line("ToolCall", json!({"type": "function", "id": "t", "function": function}));
        let value = json!({"is_error": false, "output": output, "message": "", "display": []});
        line("ToolResult", json!({"tool_call_id": "t", "return_value": value}));
    }
}

fn refresh(index: &SessionIndex) -> usize {
    match index.refresh(&|| false, &mut |_| {}).expect("refreshed") {
        Refreshed::UpToDate { changed } => changed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_anybody_said_is_found_in_any_part_of_a_word_and_in_context() {
    let stage = Stage::new();
    stage.session(
        "one",
        &[[
            "Why does the Parser fail?",
            "Läuft nicht: 检查错误日志",
            "cargo test",
            "panicked at line 7",
        ]],
    );
    stage.session("two", &[["Write a poem", "About a parsnip", "ls", "poem.txt"]]);
    let index = stage.index();
    assert_eq!(stage.ids(&index, "parser"), Vec::<String>::new(), "nothing is read yet");
    assert_eq!(refresh(&index), 2);
    for (query, found) in [
        ("parser", vec!["one"]),
        ("pars", vec!["one", "two"]),
        ("Parser", vec!["one"]),
        ("PARSER", vec![]),
        ("错误", vec!["one"]),
        ("误日", vec!["one"]),
        ("错日", vec![]),
        ("läuft", vec!["one"]),
        ("cargo test", vec!["one"]),
        ("\"test cargo\"", vec![]),
        ("test cargo 日志", vec!["one"]),
        ("cargo poem", vec![]),
        ("anicke", vec!["one"]),
        ("t", vec!["one", "two"]),
        ("context_tokens", vec![]),
    ] {
        assert_eq!(stage.ids(&index, query), found, "{query}");
    }
    let found = index.search(&Query::parse("line panicked"), &all(), &|| false);
    let excerpt = &found[0].excerpts[0];
    assert_eq!((excerpt.speaker, excerpt.text.as_str()), (Speaker::Output, "panicked at line 7"));
    let marked: Vec<&str> = excerpt.marks.iter().map(|mark| &excerpt.text[mark.clone()]).collect();
    assert_eq!(marked, ["panicked", "line"]);
}

#[test]
fn capitals_beyond_ascii_are_found_by_small_letters_and_not_the_other_way_round() {
    let stage = Stage::new();
    stage.session("one", &[["ÄNDERUNG am ПАРСЕР", "ok", "", ""]]);
    let index = stage.index();
    refresh(&index);
    assert_eq!(stage.ids(&index, "änderung парсер"), ["one"]);
    assert_eq!(stage.ids(&index, "Änderung"), Vec::<String>::new());
}

#[test]
fn a_session_that_grew_is_read_on_and_one_that_was_rewritten_anew() {
    let stage = Stage::new();
    let dir = stage.session("one", &[["begin", "first words", "b", &"c".repeat(300)]]);
    let index = stage.index();
    assert_eq!(refresh(&index), 1);
    assert_eq!(refresh(&index), 0, "nothing changed");
    let wire = dir.join("wire.jsonl");
    // Bytes before the place where reading stopped are not read again, so this is not noticed …
    let text = fs::read_to_string(&wire).expect("wire").replace("first words", "FIRST WORDS");
    fs::write(&wire, text).expect("wire");
    say(&dir, &[["second words", "d", "e", "f"]]);
    assert_eq!(refresh(&index), 1);
    assert_eq!(stage.ids(&index, "first second"), ["one"], "both, though the first changed case");
    assert_eq!(stage.ids(&index, "FIRST"), Vec::<String>::new());
    // … and a file that does not go on where it stopped is another one.
    fs::write(&wire, "").expect("wire");
    say(&dir, &[["third words that are much longer than all that was said before", "d", "e", "f"]]);
    assert_eq!(refresh(&index), 1);
    assert_eq!(stage.ids(&index, "second"), Vec::<String>::new());
    assert_eq!(stage.ids(&index, "third"), ["one"]);
}

#[test]
fn half_a_line_is_read_when_it_is_whole() {
    let stage = Stage::new();
    let dir = stage.session("one", &[["begin", "a", "b", "c"]]);
    let wire = dir.join("wire.jsonl");
    let whole = fs::read(&wire).expect("wire");
    let mut more = whole.clone();
    more.extend_from_slice(b"{\"timestamp\": 2.0, \"message\": {\"type\": \"TurnBegin\", \"payload\": {\"user_input\": \"lat");
    fs::write(&wire, &more).expect("wire");
    let index = stage.index();
    refresh(&index);
    assert_eq!(stage.ids(&index, "lat"), Vec::<String>::new());
    more.extend_from_slice(b"er\"}}}\n");
    fs::write(&wire, &more).expect("wire");
    refresh(&index);
    assert_eq!(stage.ids(&index, "begin later"), ["one"]);
}

#[test]
fn a_missing_or_damaged_index_is_made_again() {
    let stage = Stage::new();
    stage.session("one", &[["find me", "a", "b", "c"]]);
    refresh(&stage.index());
    let folder = stage.paths.session_index();
    let data = || {
        let entries = fs::read_dir(&folder).expect("folder").flatten().map(|entry| entry.path());
        entries.filter(|path| path.extension().is_some_and(|e| e == "dat")).collect::<Vec<_>>()
    };
    let catalog = folder.join("catalog.json");
    let damages: [&dyn Fn(); 4] = [
        &|| fs::write(&catalog, "{\"version\":1,").expect("damage"),
        &|| fs::write(&data()[0], "short").expect("damage"),
        &|| fs::remove_file(&data()[0]).expect("damage"),
        &|| fs::remove_dir_all(&folder).expect("damage"),
    ];
    for (number, damage) in damages.iter().enumerate() {
        damage();
        let index = stage.index();
        assert_eq!(stage.ids(&index, "find"), Vec::<String>::new(), "{number}");
        assert_eq!(index.list(false).expect("list").len(), 1, "the list needs no index");
        refresh(&index);
        assert_eq!(stage.ids(&index, "find"), ["one"], "{number}");
        assert_eq!(data().len(), 1, "what is not used is removed");
    }
}

#[test]
fn a_list_is_the_same_with_and_without_an_index_and_sees_every_change() {
    let stage = Stage::new();
    let dir = stage.session("one", &[["first", "a", "b", "c"]]);
    stage.session("two", &[["second", "a", "b", "c"]]);
    let index = stage.index();
    let plain = stage.store().list_all().expect("list");
    assert_eq!(index.list(false).expect("list"), plain);
    refresh(&index);
    assert_eq!(index.list(false).expect("list"), plain);
    let session = plain[0].sessions.iter().find(|session| session.dir == dir).expect("one");
    stage.store().rename(&session.session(), "Another title").expect("renamed");
    assert_eq!(index.list(false).expect("list"), stage.store().list_all().expect("list"));
    stage.store().set_archived(&session.session(), true).expect("archived");
    assert_eq!(index.list(false).expect("list")[0].sessions.len(), 1);
    assert_eq!(index.list(true).expect("list")[0].sessions[0].title, "Another title");
    refresh(&index);
    assert_eq!(stage.ids(&index, "first"), Vec::<String>::new(), "archived");
    fs::remove_dir_all(&dir).expect("gone");
    assert_eq!(refresh(&index), 1);
    assert_eq!(index.list(true).expect("list"), []);
}

#[test]
fn two_processes_do_not_get_in_each_others_way() {
    let stage = Stage::new();
    stage.session("one", &[["first", "a", "b", "c"]]);
    let (here, there) = (stage.index(), stage.index());
    refresh(&here);
    assert_eq!(stage.ids(&there, "first"), ["one"]);
    stage.session("two", &[["second", "a", "b", "c"]]);
    refresh(&there);
    stage.session("three", &[["third", "a", "b", "c"]]);
    assert_eq!(refresh(&here), 1, "what the other has read is not read again");
    assert_eq!(stage.ids(&here, "a"), ["one", "three", "two"]);
    let lock = fs::File::open(stage.paths.session_index().join(".lock")).expect("lock");
    lock.lock().expect("held");
    stage.session("four", &[["fourth", "a", "b", "c"]]);
    assert_eq!(here.refresh(&|| false, &mut |_| {}).expect("busy"), Refreshed::Busy);
}

#[test]
fn a_refresh_that_is_stopped_goes_on_another_time() {
    let stage = Stage::new();
    for number in 0..40 {
        stage.session(&format!("s{number}"), &[["words", "a", "b", "c"]]);
    }
    let index = stage.index();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
    assert_eq!(index.refresh(&stop, &mut |_| {}).expect("stopped"), Refreshed::Stopped);
    let some = stage.ids(&index, "words").len();
    assert!(some > 0 && some < 40, "{some}");
    assert_eq!(refresh(&index), 40 - some);
    assert_eq!(stage.ids(&index, "words").len(), 40);
}

#[test]
fn long_sessions_have_several_segments_and_the_newest_hits_come_first() {
    let stage = Stage::new();
    let long = "lorem ipsum ".repeat(3000);
    let turns: Vec<[&str; 4]> = (0..8).map(|_| ["go on", long.as_str(), "", ""]).collect();
    let dir = stage.session("one", &turns);
    say(&dir, &[["the needle", "in the hay", "", ""]]);
    say(&dir, &turns[..2]);
    let index = stage.index();
    refresh(&index);
    assert!(index.snapshot().catalog.sessions[0].segments.len() > 2);
    let found = index.search(&Query::parse("needle"), &all(), &|| false);
    assert_eq!(found[0].excerpts[0].text, "the needle");
    for number in 0..5 {
        stage.session(&format!("late{number}"), &[["needle", "a", "b", "c"]]);
    }
    refresh(&index);
    let few = SearchOptions { limit: 2, ..all() };
    assert_eq!(index.search(&Query::parse("needle"), &few, &|| false).len(), 2);
    assert_eq!(index.search(&Query::parse("needle"), &all(), &|| true), []);
}

#[test]
fn a_session_without_a_record_is_found_by_its_context() {
    let stage = Stage::new();
    let dir = stage.session("one", &[]);
    fs::remove_file(dir.join("wire.jsonl")).expect("gone");
    let rows = [
        json!({"role": "_system_prompt", "content": "secret instructions"}),
        json!({"role": "user", "content": [{"type": "text", "text": "hello there"}]}),
        json!({"role": "user", "content": "<system>CHECKPOINT 1</system>"}),
        json!({"role": "assistant", "content": "a reply", "tool_calls": [{"type": "function",
            "id": "t", "function": {"name": "Bash", "arguments": "{\"command\": \"make it\"}"}}]}),
        json!({"role": "tool", "content": "it is made", "tool_call_id": "t"}),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(dir.join("context.jsonl"), text).expect("context");
    let index = stage.index();
    refresh(&index);
    assert_eq!(stage.ids(&index, "hello reply make made"), ["one"]);
    assert_eq!(stage.ids(&index, "secret"), Vec::<String>::new());
    assert_eq!(stage.ids(&index, "checkpoint"), Vec::<String>::new());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The signature never says no to what is there.
        #[test]
        fn every_part_of_what_was_said_is_found(
            text in "[a-cÄä错误 ]{1,60}",
            from in 0_usize..60,
            length in 1_usize..20,
        ) {
            let plain: Vec<char> = text.chars().collect();
            let part: String = plain.iter().skip(from % plain.len()).take(length).collect();
            prop_assume!(!part.trim().is_empty());
            let stage = Stage::new();
            stage.session("one", &[[&text, "x", "", ""]]);
            let index = stage.index();
            refresh(&index);
            prop_assert_eq!(stage.ids(&index, &part.to_lowercase()).len(), 1);
        }

        /// Words may be pieces apart, in other segments and other cases.
        #[test]
        fn sessions_are_found_that_say_every_word(
            said in prop::collection::vec("[a-dA-D ]{1,12}", 6),
            words in prop::collection::vec("[a-d]{1,4}", 1..4),
        ) {
            let stage = Stage::new();
            let filler = "lorem ipsum ".repeat(6000);
            for (id, said) in ["one", "two"].iter().zip(said.chunks(3)) {
                let [first, second, third] = said else { continue };
                let long = [filler.as_str(), second, "", ""];
                stage.session(id, &[["x", first, "", ""], long, ["x", third, "", ""]]);
            }
            let index = stage.index();
            refresh(&index);
            prop_assert!(index.snapshot().catalog.sessions.iter().all(|s| s.segments.len() > 1));
            let expected: Vec<&str> = ["one", "two"]
                .into_iter()
                .zip(said.chunks(3))
                .filter(|(_, said)| {
                    // The calls' name is found, too.
                    let said = format!("{filler}|Bash|{}", said.join("|")).to_lowercase();
                    words.iter().all(|word| said.contains(word.as_str()))
                })
                .map(|(id, _)| id)
                .collect();
            prop_assert_eq!(stage.ids(&index, &words.join(" ")), expected);
        }
    }
}
