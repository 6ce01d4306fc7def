//! Sessions as several versions of the Python program left them: nothing is lost, and what is not
//! known here survives.

use super::*;
use crate::message::{CheckpointId, ContentPart, Generation};
use crate::wire::record::read_story;

/// A session of today's version, with everything that can be in its folder.
fn today(dir: &Path) -> Vec<(&'static str, String)> {
    let files = [
        (
            "context.jsonl",
            r#"{"role": "_system_prompt", "content": "You are \u00e9 \ud83d\ude00"}
{"role": "_checkpoint", "id": 0}
{"role":"user","content":"run it"}
{"role": "_checkpoint", "id": 1}
{"role": "_usage", "token_count": 13}
{"role":"assistant","content":[{"type":"think","think":"pondering","encrypted":"sig=="},{"type":"text","text":"On it"}],"tool_calls":[{"type":"function","id":"tc1","function":{"name":"Shell","arguments":"{\"command\": \"echo hi\"}"},"extras":{"thought_signature":"x"}}]}
{"role": "_usage", "token_count": 15}
{"role":"tool","content":[{"type":"text","text":"<system>Command executed successfully.</system>"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","id":null}}],"tool_call_id":"tc1"}
{"role": "_future", "thing": {"a": [1]}}
{"role": "_checkpoint", "id": 2}
{"role":"assistant","content":[{"type":"hologram","data":{"x":1}},{"type":"text","text":"done"}],"partial":true}
"#,
        ),
        ("context_1.jsonl", "{\"role\":\"user\",\"content\":\"an earlier life\"}\n"),
        (
            "wire.jsonl",
            r#"{"type": "metadata", "protocol_version": "1.10"}
{"timestamp": 1795226925.4012866, "message": {"type": "TurnBegin", "payload": {"user_input": "run it"}}}
{"timestamp": 1795226925.5, "message": {"type": "StepBegin", "payload": {"n": 1}}}
{"timestamp": 1795226925.6, "message": {"type": "FutureEvent", "payload": {"x": [1, {"y": null}]}}}
{"timestamp": 1795226925.7, "message": {"type": "StepBegin", "payload": {"n": 2}}}
{"timestamp": 1795226925.8, "message": {"type": "TurnEnd", "payload": {}}}
"#,
        ),
        (
            "state.json",
            r#"{
  "version": 1,
  "approval": { "yolo": false, "afk": false, "auto_approve_actions": ["run command"], "new": 1 },
  "additional_dirs": [],
  "custom_title": "运行 it",
  "title_generated": false,
  "title_generate_attempts": 2,
  "plan_mode": false,
  "plan_session_id": "abc",
  "plan_slug": "miles-morales",
  "wire_mtime": 1795226925.25,
  "archived": false,
  "archived_at": null,
  "auto_archive_exempt": true,
  "todos": [ { "title": "one", "status": "done", "note": "kept" } ],
  "from_the_future": { "deep": [1, 2.5, null] }
}"#,
        ),
        ("subagents/ac5f45f5d/meta.json", "{\"agent_id\": \"ac5f45f5d\", \"status\": \"idle\"}"),
        ("subagents/ac5f45f5d/context.jsonl", "{\"role\":\"user\",\"content\":\"sub\"}\n"),
        ("tasks/bash-59kzvlms/spec.json", "{\"version\": 1}"),
        ("notifications/nef628f63/event.json", "{\"version\": 1}"),
        ("uploads/a.txt", "up"),
    ];
    for (name, content) in &files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("folder")).expect("folder");
        fs::write(path, content).expect(name);
    }
    files.map(|(name, content)| (name, content.to_owned())).into()
}

#[test]
fn everything_of_todays_version_is_read_and_unknown_things_survive_a_rewrite() {
    let place = place();
    let session = place.create("7c2e0f2e-0000-4000-8000-000000000000");
    let files = today(&session.dir);
    assert_eq!(place.store.list(&place.work).expect("list")[0].title, "运行 it");
    let (mut context, report) = Context::open(&session.dir).expect("open");
    assert_eq!(report, crate::context::OpenReport::default());
    assert_eq!(context.system_prompt(), Some("You are é 😀"));
    assert_eq!((context.history().len(), context.generation()), (4, Generation(1)));
    assert_eq!(context.history()[1].calls()[0].extras, Some(json!({"thought_signature": "x"})));
    let hologram = ContentPart::Unknown(json!({"type": "hologram", "data": {"x": 1}}));
    assert_eq!(context.history()[3].content[0], hologram);
    let story = read_story(&session.dir).expect("story");
    assert_eq!((story.events.len(), story.bad_lines), (5, 0));
    // Reading changed no byte.
    for (name, content) in &files {
        assert_eq!(&fs::read_to_string(session.dir.join(name)).expect(name), content, "{name}");
    }

    let mut state = SessionState::load(&session.dir);
    state.plan_mode = true;
    state.save(&session.dir).expect("save");
    place.store.rename(&session, "mine").expect("rename");
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("json");
    let mut expected = read(&files[3].1);
    expected["plan_mode"] = json!(true);
    expected["custom_title"] = json!("mine");
    expected["title_generated"] = json!(true);
    assert_eq!(read(&fs::read_to_string(session.dir.join("state.json")).expect("file")), expected);

    context.append(&[Message::user("on")]).expect("append");
    context.revert_to(CheckpointId(2)).expect("revert");
    let kept: String = files[0].1.split_inclusive('\n').take(9).collect();
    assert!(kept.contains("_future"));
    assert_eq!(fs::read_to_string(session.dir.join("context.jsonl")).expect("file"), kept);
    let ended = fs::read_to_string(session.dir.join("context_2.jsonl")).expect("file");
    assert!(ended.starts_with(&files[0].1));
    for (name, content) in
        files.iter().filter(|(name, _)| !["context.jsonl", "state.json"].contains(name))
    {
        assert_eq!(&fs::read_to_string(session.dir.join(name)).expect(name), content, "{name}");
    }
}

#[test]
fn older_versions_spaces_names_and_records_are_read() {
    let place = place();
    // No system prompt, spaces everywhere, an id field, nulls, a think part without `encrypted`.
    let context = "{\"role\": \"_checkpoint\", \"id\": 0}\n\
        {\"role\": \"user\", \"name\": null, \"content\": [{\"type\": \"text\", \"text\": \"hi\"}], \"tool_calls\": null}\n\
        {\"role\": \"assistant\", \"content\": [{\"type\": \"think\", \"think\": \"hm\"}, {\"text\": \"yes\", \"type\": \"text\"}], \"tool_calls\": []}\n\
        {\"content\": \"last\", \"role\": \"user\"}\n\
        {\"role\": \"assistant\", \"content\": \"\"}\n\
        {\"role\": \"assistant\", \"content\": null}\n\
        {\"role\": \"assistant\", \"content\": []}\n";
    for (version, header) in [
        ("1.1", ""),
        ("1.3", "{\"type\": \"metadata\", \"protocol_version\": \"1.3\"}\n"),
        ("1.9", "{\"type\":\"metadata\",\"protocol_version\":\"1.9\",\"extra\":true}\n"),
    ] {
        let session = place.create(&format!("v{version}"));
        fs::write(session.dir.join("context.jsonl"), context).expect("file");
        let wire = format!(
            "{header}{{\"timestamp\": 1, \"message\": {{\"type\": \"TurnBegin\", \"payload\": {{\"user_input\": [{{\"type\": \"text\", \"text\": \"hi\"}}]}}}}}}\n\
             {{\"timestamp\": 2.5, \"message\": {{\"type\": \"ApprovalRequestResolved\", \"payload\": {{\"request_id\": \"r\", \"response\": \"approve\"}}}}}}\n"
        );
        fs::write(session.dir.join("wire.jsonl"), wire).expect("file");
        let story = read_story(&session.dir).expect("story");
        assert_eq!((story.events.len(), story.bad_lines), (2, 0), "{version}");
        let (opened, report) = Context::open(&session.dir).expect("open");
        assert_eq!(report, crate::context::OpenReport::default());
        let texts: Vec<String> = opened.history().iter().map(Message::text).collect();
        assert_eq!(texts, ["hi", "yes", "last", "", "", ""], "{version}");
        assert_eq!(opened.history()[1].content[0], ContentPart::think("hm"));
        assert_eq!(opened.system_prompt(), None);
        assert_eq!(session.summary().title, "hi");
    }
}
