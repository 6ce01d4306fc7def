//! Export and import.

use super::*;
use crate::message::{ContentPart, Role, ToolCall, ToolReturn};

fn talk(place: &super::Place) -> Session {
    let session = place.create("0123456789-talk");
    let (mut context, _) = Context::open(&session.dir).expect("open");
    context.freeze_system_prompt("secret prompt").expect("prompt");
    context.checkpoint(true).expect("checkpoint");
    let mut answer = Message::new(
        Role::Assistant,
        vec![ContentPart::think("let me see"), ContentPart::text("I look.")],
    );
    let arguments = Some("{\"command\":\"ls `x`\"}".to_owned());
    answer.tool_calls = Some(vec![ToolCall::new("a", "Bash", arguments)]);
    let result = Message::tool_result("a", &ToolReturn::ok("```\nfenced\n```", "done"));
    context
        .append(&[
            Message::user("what is\nhere?"),
            Message::user("<system-reminder>\nnot said\n</system-reminder>"),
            answer,
            result,
            Message::assistant("A folder."),
            Message::user("thanks"),
        ])
        .expect("said");
    session
}

#[test]
fn an_export_has_every_turn_and_nothing_the_program_put_in() {
    let place = place();
    let session = talk(&place);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let exported = export_markdown(&session, now).expect("export");
    assert!(exported.file_name.starts_with("kimi-export-01234567-2027011"), "{exported:?}");
    assert!(exported.file_name.ends_with(".md") && exported.file_name.len() == 39);
    let text = &exported.text;
    assert!(text.starts_with("---\nsession_id: \"0123456789-talk\"\nexported_at: 2027-01-1"));
    for there in [
        "message_count: 5\n",
        "work_dir: \"/home/me/wörk\"\n",
        "- **Topic**: what is here?\n",
        "- **Conversation**: 2 turns, 1 tool calls\n",
        "## Turn 1\n\n### User\n\nwhat is\nhere?\n\n### Assistant\n\n<details><summary>Thinking</summary>\n\nlet me see\n\n</details>\n\nI look.\n\n#### Tool call: Bash (`ls 'x'`)\n\n```json\n{\n  \"command\": \"ls `x`\"\n}\n```\n",
        "<details><summary>Result</summary>\n\n````\n<system>done</system>\n```\nfenced\n```\n````\n\n</details>\n\nA folder.\n",
        "## Turn 2\n\n### User\n\nthanks\n",
    ] {
        assert!(text.contains(there), "{there}\nis not in\n{text}");
    }
    for absent in ["not said", "CHECKPOINT", "secret prompt"] {
        assert!(!text.contains(absent), "{absent}");
    }
    assert_eq!(text.matches("### Assistant").count(), 1);
    let empty = place.create("empty");
    export_markdown(&empty, now).expect_err("nothing said");
}

#[test]
fn a_file_or_a_session_is_imported_as_context() {
    let place = place();
    let session = talk(&place);
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("no\"tes.md"), "remember the milk\n").expect("file");
    let file = import_text(&place.store, folder.path(), "no\"tes.md").expect("file");
    assert_eq!(
        file.message.text(),
        "<imported_context source=\"file 'no&quot;tes.md'\">\nremember the milk\n</imported_context>"
    );
    assert_eq!(file.tokens, crate::message::estimate_tokens(&file.message.text()));
    for what in [&*place.work, Path::new("/home/me/elsewhere")] {
        let said = import_text(&place.store, what, &session.id.0).expect("session").message.text();
        assert!(said.contains("[USER]\nwhat is\nhere?\n"), "{said}");
        assert!(said.contains("[ASSISTANT]\nI look.\nTool call: Bash({\"command\":\"ls `x`\"})"));
        assert!(!said.contains("let me see") && !said.contains("not said"), "{said}");
    }
    fs::write(folder.path().join("binary"), b"a\0b").expect("file");
    fs::write(folder.path().join("latin"), b"caf\xe9").expect("file");
    fs::write(folder.path().join("blank"), b" \n").expect("file");
    let large = fs::File::create(folder.path().join("large")).expect("file");
    large.set_len(11 << 20).expect("length");
    for (what, reason) in [
        ("binary", "no text"),
        ("latin", "no text"),
        ("blank", "nothing in it"),
        ("large", "10 MB"),
        ("nowhere", "no such file or session"),
        ("../nowhere", "no such file or session"),
    ] {
        let error = import_text(&place.store, folder.path(), what).expect_err(what).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_zip_has_every_file_and_replaces_none() {
    let place = place();
    let session = talk(&place);
    let _lock = session.lock().expect("open here");
    fs::create_dir(session.dir.join("uploads")).expect("folder");
    fs::write(session.dir.join("uploads/a.txt"), "up".repeat(5000)).expect("file");
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("out.zip");
    assert_eq!(export_zip(&session, &path).expect("zip"), 2);
    let mut zip = zip::ZipArchive::new(fs::File::open(&path).expect("file")).expect("zip");
    let names: Vec<String> =
        zip.file_names().map(|name| name.expect("name").into_owned()).collect();
    assert_eq!(names, ["manifest.json", "context.jsonl", "uploads/a.txt"]);
    for name in ["context.jsonl", "uploads/a.txt"] {
        let mut text = String::new();
        let mut file = zip.by_name(name).expect(name);
        std::io::Read::read_to_string(&mut file, &mut text).expect(name);
        assert_eq!(text, fs::read_to_string(session.dir.join(name)).expect(name));
    }
    assert!(fs::metadata(&path).expect("file").len() < 4000, "it is compressed");
    let error = export_zip(&session, &path).expect_err("taken").to_string();
    assert!(error.contains("file of that name"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("list").count(), 1);
}
