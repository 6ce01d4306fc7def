//! Looking at earlier generations and bringing them back.

use std::fs;

use super::super::ContextError;
use super::super::generations::{self, Cause};
use super::*;
use crate::message::{CheckpointId, CheckpointRef, Generation, ToolReturn};
use crate::wire::record::Recorder;
use crate::wire::{
    CheckpointCreated, ContextChange, ContextReverted, Event, Extension, RevertCause,
};

fn tell(folder: &Path, news: Extension) {
    Recorder::new(folder).record(&Event::Extension(news)).expect("record");
}

fn mark(context: &mut Context, folder: &Path, step: Option<u64>) -> CheckpointId {
    let size = context.size();
    let id = context.checkpoint(true).expect("checkpoint");
    let at = CheckpointRef { generation: context.generation(), id };
    tell(folder, Extension::CheckpointCreated(CheckpointCreated { at, step, size }));
    id
}

fn writing(id: &str, path: &str) -> Message {
    let mut message = Message::assistant("writing");
    let arguments = format!("{{\"path\": \"{path}\", \"content\": \"x\"}}");
    message.tool_calls = Some(vec![ToolCall::new(id, "WriteFile", Some(arguments))]);
    message
}

/// A turn with two steps, then a revert to before the first step.
fn travelled(folder: &Path) -> (Context, ContextChange) {
    let mut context = open(folder);
    context.freeze_system_prompt("P").expect("prompt");
    mark(&mut context, folder, None);
    context.append(&[Message::user("make two files")]).expect("user");
    let to = mark(&mut context, folder, Some(1));
    let ok = |id: &str| Message::tool_result(id, &ToolReturn::ok("", "done"));
    context.grow(Some(10), &writing("a", "one.rs"), Some(40), &[ok("a")]).expect("step");
    mark(&mut context, folder, Some(2));
    let failed = Message::tool_result("b", &ToolReturn::error("no room", "no room"));
    context.grow(Some(50), &writing("b", "two.rs"), Some(90), &[failed]).expect("step");
    let change = context.revert_to(to).expect("revert");
    let reverted = ContextReverted {
        to: CheckpointRef { generation: Generation(0), id: to },
        cause: RevertCause::AgentDMail,
        mail: Some("one will do".into()),
        change,
    };
    tell(folder, Extension::ContextReverted(reverted));
    (context, change)
}

#[test]
fn every_generation_says_why_it_began_and_what_its_steps_did() {
    let folder = tempfile::tempdir().expect("folder");
    let (context, change) = travelled(folder.path());
    let [first, second] = &context.generations()[..] else { panic!("two generations") };
    assert_eq!((first.generation, first.is_current), (Generation(0), false));
    assert_eq!((first.began.clone(), first.size), (None, change.before));
    assert!(first.file.ends_with("context_1.jsonl") && first.bytes > 100);
    let steps: Vec<_> = first.steps.iter().map(|step| (step.at.id.0, step.step)).collect();
    assert_eq!(steps, [(0, None), (1, Some(1)), (2, Some(2))]);
    assert_eq!(first.steps[0].said.as_deref(), Some("make two files"));
    assert_eq!(
        (first.steps[1].files.as_slice(), first.steps[1].said.clone()),
        (&["one.rs".into()][..], None)
    );
    assert!(first.steps[1].made_at.expect("time") > 1e9);
    assert!(first.steps[2].files.is_empty() && first.steps[2].tools[0].failed);
    assert_eq!(first.steps[2].tools[0].key_argument.as_deref(), Some("two.rs"));
    assert_eq!(first.steps[2].tokens, first.size.tokens - first.steps[2].size.tokens);

    let began = second.began.as_ref().expect("known");
    let to = CheckpointRef { generation: Generation(0), id: CheckpointId(1) };
    let mail = Some("one will do".to_owned());
    assert_eq!(began.cause, Cause::Reverted { to, by: RevertCause::AgentDMail, mail });
    assert_eq!((began.before, began.after), (change.before, change.after));
    assert!(second.is_current && second.file.ends_with(CONTEXT_FILE));
    assert_eq!(second.size, change.after);

    // Without the sidecar all is there but reasons and times.
    fs::remove_file(folder.path().join("timeline.jsonl")).expect("remove");
    let [first, second] = &context.generations()[..] else { panic!("two generations") };
    assert_eq!((second.began.clone(), first.steps[1].made_at), (None, None));
    assert_eq!(
        (first.steps[1].files.as_slice(), first.size),
        (&["one.rs".into()][..], change.before)
    );
    assert_eq!(context.redo(), None);
    let told = context.transcript(Generation(0)).expect("transcript");
    assert_eq!((told.messages.len(), told.system_prompt.as_deref()), (8, Some("P")));
}

#[test]
fn a_preview_is_exactly_what_the_revert_does() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = travelled(folder.path());
    context.restore(Generation(0)).expect("restore");
    let history = context.history().to_vec();
    let files = text(folder.path());
    let preview = context.preview_revert(CheckpointId(1)).expect("preview");
    assert_eq!(text(folder.path()), files, "nothing is changed");
    assert_eq!(preview.files, ["one.rs"]);
    assert_eq!(preview.steps.len(), 2);
    let change = context.revert_to(CheckpointId(1)).expect("revert");
    assert_eq!((preview.before, preview.after), (change.before, change.after));
    assert_eq!([context.history(), &preview.dropped].concat(), history);
    let error = context.preview_revert(CheckpointId(9)).expect_err("unknown");
    assert!(matches!(error, ContextError::UnknownCheckpoint { .. }), "{error}");
}

#[test]
fn a_restored_generation_is_whole_and_restoring_is_undone_by_restoring() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, revert) = travelled(folder.path());
    let (short, marks) = (context.history().to_vec(), context.checkpoints().len());
    let redo = context.redo().expect("redo");
    assert_eq!((redo.generation, redo.is_clean), (Generation(0), true));
    let change = context.restore(redo.generation).expect("restore");
    assert_eq!((change.before, change.after), (revert.after, revert.before));
    assert_eq!((change.old_generation, change.new_generation), (Generation(1), Generation(2)));
    assert_eq!((context.history().len(), change.next_checkpoint), (8, CheckpointId(3)));
    assert_eq!(text(folder.path()), read(folder.path(), "context_1.jsonl"));
    // It lives: what is added does not touch the old file.
    context.append(&[Message::user("more")]).expect("append");
    assert_eq!(open(folder.path()).history(), context.history());
    assert_eq!(context.transcript(Generation(0)).expect("old").messages.len(), 8);
    context.restore(Generation(1)).expect("undo");
    assert_eq!((context.history(), context.checkpoints().len()), (&short[..], marks));
    assert_eq!(context.generation(), Generation(3));
}

#[test]
fn something_said_since_makes_a_redo_a_loss_and_a_clear_is_none() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = travelled(folder.path());
    context.append(&[Message::user("on")]).expect("append");
    assert!(!context.redo().expect("redo").is_clean);
    let change = context.clear().expect("clear");
    tell(folder.path(), Extension::ContextCleared(change));
    assert_eq!(context.redo(), None);
    let generations = context.generations();
    assert_eq!(generations[2].began.as_ref().expect("known").cause, Cause::Cleared);
}

#[test]
fn what_cannot_be_restored_is_told_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut context, _) = travelled(folder.path());
    let before = (text(folder.path()), names(folder.path()));
    let error = context.restore(Generation(1)).expect_err("current");
    assert!(matches!(error, ContextError::IsCurrent { .. }), "{error}");
    let error = context.restore(Generation(7)).expect_err("unknown").to_string();
    assert_eq!(error, "there is no generation 7 of this context; there are 0, 1");
    fs::remove_file(folder.path().join("context_1.jsonl")).expect("remove");
    fs::create_dir(folder.path().join("context_1.jsonl")).expect("folder");
    context.restore(Generation(0)).expect_err("unreadable");
    assert_eq!((text(folder.path()), names(folder.path())), before);
    assert!(context.generations()[0].problem.is_some());
}

#[test]
fn an_old_generation_without_prompt_or_newline_is_restored_as_a_valid_file() {
    let folder = tempfile::tempdir().expect("folder");
    let old = "{\"role\":\"user\",\"content\":\"a\"}\nnoise\n{\"role\":\"user\",\"content\":\"b\"}";
    fs::write(folder.path().join("context_1.jsonl"), old).expect("file");
    let mut context = open(folder.path());
    context.freeze_system_prompt("P").expect("prompt");
    context.restore(Generation(0)).expect("restore");
    let prompt = "{\"role\": \"_system_prompt\", \"content\": \"P\"}\n";
    assert_eq!(text(folder.path()), format!("{prompt}{old}\n"));
    context.append(&[Message::user("c")]).expect("append");
    let (again, report) = Context::open(folder.path()).expect("open");
    assert_eq!((again.history(), report.bad_lines.len()), (context.history(), 1));
    assert_eq!(again.history().len(), 3);
}

#[test]
fn a_context_opened_for_reading_touches_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let (mut writer, _) = travelled(folder.path());
    let path = folder.path().join(CONTEXT_FILE);
    let mut bytes = fs::read(&path).expect("file");
    bytes.extend_from_slice(b"{\"role\":\"us");
    fs::write(&path, &bytes).expect("half a line of the other program");
    fs::write(folder.path().join("context.jsonl.next"), "half").expect("its exchange");
    let before = names(folder.path());
    let (mut reader, report) = Context::open_read_only(folder.path()).expect("open");
    assert!(report.torn_tail);
    assert_eq!(reader.history(), writer.history());
    for refused in [
        reader.append(&[Message::user("x")]).expect_err("read only"),
        reader.clear().expect_err("read only"),
        reader
            .freeze_system_prompt("Q")
            .err()
            .unwrap_or_else(|| reader.restore(Generation(0)).expect_err("read only")),
    ] {
        assert!(matches!(refused, ContextError::ReadOnly { .. }), "{refused}");
    }
    assert_eq!((names(folder.path()), fs::read(&path).expect("file")), (before, bytes));
    assert_eq!(generations::list(folder.path()).expect("list").len(), 2);
    writer.append(&[Message::user("x")]).expect_err("the torn line is not its own");
}
