//! Files as other programs and other times left them.

use super::super::{BadLine, OpenReport};
use super::*;
use crate::message::{CheckpointId, ContentPart, Generation, Message, ToolReturn};
use crate::wire::ContextSize;

/// A first turn, as the Python program records it.
pub(super) const FIRST_TURN: &str = r#"{"role": "_system_prompt", "content": "You are \u00e9"}
{"role": "_checkpoint", "id": 0}
{"role":"user","content":"run it"}
{"role": "_checkpoint", "id": 1}
{"role": "_usage", "token_count": 13}
{"role":"assistant","content":[{"type":"think","think":"pondering","encrypted":null},{"type":"text","text":"On it"}],"tool_calls":[{"type":"function","id":"tc1","function":{"name":"Shell","arguments":"{\"command\": \"echo hi\"}"}}]}
{"role": "_usage", "token_count": 15}
{"role":"tool","content":[{"type":"text","text":"<system>Command executed successfully.</system>"},{"type":"text","text":"hi\n"}],"tool_call_id":"tc1"}
{"role": "_checkpoint", "id": 2}
{"role":"assistant","content":"done"}
"#;

fn folder_with(content: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join(CONTEXT_FILE), content).expect("file");
    folder
}

#[test]
fn what_is_written_is_what_the_python_program_writes() {
    let folder = tempfile::tempdir().expect("folder");
    let mut context = open(folder.path());
    context.freeze_system_prompt("You are é").expect("prompt");
    context.freeze_system_prompt("ignored").expect("prompt");
    context.checkpoint(false).expect("0");
    context.append(&[Message::user("run it")]).expect("user");
    context.checkpoint(false).expect("1");
    let mut answer = calling(&["tc1"]);
    answer.content = vec![ContentPart::think("pondering"), ContentPart::text("On it")];
    let call = &mut answer.tool_calls.as_mut().expect("calls")[0].function;
    call.name = "Shell".into();
    call.arguments = Some("{\"command\": \"echo hi\"}".into());
    let result =
        Message::tool_result("tc1", &ToolReturn::ok("hi\n", "Command executed successfully."));
    context.grow(Some(13), &answer, Some(15), &[result]).expect("step");
    context.checkpoint(false).expect("2");
    context.grow(None, &Message::assistant("done"), None, &[]).expect("step");
    assert_eq!(text(folder.path()), FIRST_TURN);
}

#[test]
fn what_the_python_program_wrote_is_read() {
    let folder = folder_with(FIRST_TURN);
    let mut context = open(folder.path());
    assert_eq!(context.system_prompt(), Some("You are é"));
    assert_eq!(context.history().len(), 4);
    assert_eq!(context.token_count(), 15);
    let after = context.history()[2..].iter().map(crate::message::message_hundredths);
    let tokens = 15 + after.sum::<u64>() / 100;
    assert_eq!(context.size(), ContextSize { messages: 4, tokens });
    assert_eq!(context.next_checkpoint(), CheckpointId(3));
    let change = context.revert_to(CheckpointId(1)).expect("revert");
    assert_eq!(change.after, ContextSize { messages: 1, tokens: 1 });
    assert_eq!(change.next_checkpoint, CheckpointId(1));
    assert_eq!(read(folder.path(), "context_1.jsonl"), FIRST_TURN);
    let first_three: String = FIRST_TURN.split_inclusive('\n').take(3).collect();
    assert_eq!(text(folder.path()), first_three);
    let error = context.revert_to(CheckpointId(1)).expect_err("gone").to_string();
    assert_eq!(error, "there is no checkpoint 1; there are 0 to 0");
}

#[test]
fn a_cleared_and_a_compacted_file_look_as_upstreams() {
    let folder = folder_with(FIRST_TURN);
    let mut context = open(folder.path());
    let summary = Message::new(
        crate::message::Role::User,
        vec![ContentPart::text("note"), ContentPart::text("SUMMARY")],
    );
    context.replace(&[summary, Message::user("q3")], 17).expect("replace");
    assert_eq!(
        text(folder.path()),
        r#"{"role": "_system_prompt", "content": "You are \u00e9"}
{"role": "_checkpoint", "id": 0}
{"role":"user","content":[{"type":"text","text":"note"},{"type":"text","text":"SUMMARY"}]}
{"role":"user","content":"q3"}
{"role": "_usage", "token_count": 17}
"#
    );
    let change = context.clear().expect("clear");
    assert_eq!(change.before, ContextSize { messages: 2, tokens: 17 });
    assert_eq!((change.old_generation, change.new_generation), (Generation(1), Generation(2)));
    assert_eq!(
        text(folder.path()),
        "{\"role\": \"_system_prompt\", \"content\": \"You are \\u00e9\"}\n"
    );
    assert_eq!(open(folder.path()).generation(), Generation(2));
}

#[test]
fn an_old_file_without_a_prompt_gets_one_and_keeps_its_lines() {
    // Spaces everywhere, names, a marker from the future, a blank line.
    let old = "{\"role\": \"_checkpoint\", \"id\": 0}\n\n\
        {\"role\": \"user\", \"name\": \"me\", \"content\": [{\"type\": \"text\", \"text\": \"hi\"}]}\n\
        {\"role\": \"_mark\", \"of\": [1, 2]}\n{\"role\": \"_checkpoint\", \"id\": 1}\n\
        {\"role\": \"assistant\", \"content\": \"yes\", \"tool_calls\": null}\n";
    let folder = folder_with(old);
    let mut context = open(folder.path());
    assert_eq!(context.system_prompt(), None);
    assert_eq!(context.history()[0].name.as_deref(), Some("me"));
    context.freeze_system_prompt("P").expect("prompt");
    let prompt = "{\"role\": \"_system_prompt\", \"content\": \"P\"}\n";
    assert_eq!(text(folder.path()), format!("{prompt}{old}"));
    assert_eq!(context.generation(), Generation(0));
    context.revert_to(CheckpointId(1)).expect("revert");
    let kept: String = old.split_inclusive('\n').take(4).collect();
    assert_eq!(text(folder.path()), format!("{prompt}{kept}"));
}

#[test]
fn bad_lines_are_told_and_stay_in_the_file() {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(b"{\"role\":\"user\",\"content\":\"a\"}\n");
    bytes.extend_from_slice(b"garbage\n[1]\n{\"content\":\"x\"}\n{\"role\":\"elf\"}\n");
    bytes.extend_from_slice(b"{\"role\": \"_checkpoint\", \"id\": 4}\n");
    bytes.extend_from_slice(b"{\"role\":\"user\",\"content\":\"b\xff\"}\n\0\0\0\n");
    let folder = folder_with(&bytes);
    let (mut context, report) = Context::open(folder.path()).expect("open");
    let lines: Vec<usize> = report.bad_lines.iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 8]);
    assert_eq!(report.bad_lines[2], BadLine { line: 4, reason: "no role".into() });
    assert_eq!(context.history(), [Message::user("a"), Message::user("b\u{fffd}")]);
    assert_eq!(context.next_checkpoint(), CheckpointId(5));
    context.append(&[Message::user("c")]).expect("append");
    let now = std::fs::read(folder.path().join(CONTEXT_FILE)).expect("file");
    assert!(now.starts_with(&bytes));
    context.revert_to(CheckpointId(4)).expect("revert");
    let (_, report) = Context::open(folder.path()).expect("open");
    assert_eq!(report.bad_lines.len(), 4);
}

#[test]
fn calls_without_results_are_found_only_at_the_end() {
    let folder = tempfile::tempdir().expect("folder");
    let mut context = open(folder.path());
    assert!(context.dangling_calls().is_empty());
    context.append(&[calling(&["a", "b", "c"])]).expect("calls");
    let result = |id: &str| Message::tool_result(id, &ToolReturn::ok("x", ""));
    context.append(&[result("b")]).expect("result");
    let ids: Vec<String> = context.dangling_calls().into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["a", "c"]);
    context.append(&[result("a"), result("c")]).expect("results");
    assert!(context.dangling_calls().is_empty());
    context.append(&[calling(&["d"]), Message::user("never mind")]).expect("more");
    assert!(context.dangling_calls().is_empty());
}

#[test]
fn a_prompt_that_stands_behind_a_checkpoint_is_not_reverted() {
    let folder = folder_with(
        "{\"role\": \"_checkpoint\", \"id\": 0}\n{\"role\": \"_system_prompt\", \"content\": \"P\"}\n\
         {\"role\":\"user\",\"content\":\"a\"}\n",
    );
    let mut context = open(folder.path());
    context.revert_to(CheckpointId(0)).expect("revert");
    assert_eq!(context.system_prompt(), Some("P"));
    assert_eq!(open(folder.path()).system_prompt(), Some("P"));
}

#[test]
fn an_empty_file_and_a_missing_folder_are_empty_contexts() {
    let folder = folder_with("");
    assert_eq!(open(folder.path()).history(), []);
    let missing = folder.path().join("not/yet");
    let (mut context, report) = Context::open(&missing).expect("open");
    assert_eq!(report, OpenReport::default());
    assert!(context.is_empty() && !missing.exists());
    let change = context.clear().expect("nothing to clear");
    assert_eq!(change.new_generation, Generation(0));
    context.append(&[Message::user("a")]).expect("append");
    assert_eq!(open(&missing).history(), [Message::user("a")]);
}
