//! Tests of the context as a whole: against a simple model, with faults and kills, on old files.

mod deeds;
mod faults;
mod fixtures;
mod generations;
mod lives;
mod model;

use std::path::Path;

use super::{CONTEXT_FILE, Context};
use crate::message::{Message, ToolCall};

/// Opens a context that must have nothing wrong with it.
fn open(folder: &Path) -> Context {
    let (context, report) = Context::open(folder).expect("open");
    assert_eq!(report, super::OpenReport::default());
    context
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect(name)
}

fn text(folder: &Path) -> String {
    read(folder, CONTEXT_FILE)
}

fn calling(ids: &[&str]) -> Message {
    let mut message = Message::assistant("calling");
    let call = |id: &&str| ToolCall::new(*id, "Bash", Some("{\"command\": \"ls\"}".into()));
    message.tool_calls = Some(ids.iter().map(call).collect());
    message
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
