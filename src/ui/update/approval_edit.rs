//! Approving a file change with another content, written in the external editor; and what an offered
//! rule would have covered.

use serde_json::{Map, Value};

use super::super::effect::Effect;
use super::super::model::cell::CellKind;
use super::super::model::{EditTarget, Model};
use super::{approval, toast};
use crate::permission;

/// Commands of the conversation that a rule is tried on.
const TRIED: usize = 40;

/// What the new text of an edit is called.
const NEW: [&str; 3] = ["new", "new_string", "new_str"];

/// The part of a call's arguments that a person changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    /// The argument it stands in.
    argument: String,
    /// The text.
    text: String,
    /// Is it one of the fields of the argument, or JSON for all of it?
    field: Option<&'static str>,
}

fn arguments(model: &Model) -> Option<(String, Map<String, Value>)> {
    let request = model.approvals.current()?;
    let tool = model.transcript.tool(&request.tool_call_id)?;
    match serde_json::from_str(&tool.arguments.peek()) {
        Ok(Value::Object(arguments)) => Some((tool.name.clone(), arguments)),
        _ => None,
    }
}

fn content(model: &Model) -> Option<Content> {
    let (tool, arguments) = arguments(model)?;
    match tool.as_str() {
        "WriteFile" => {
            let text = arguments.get("content")?.as_str()?.to_owned();
            Some(Content { argument: "content".to_owned(), text, field: None })
        }
        "EditFile" | "StrReplaceFile" => {
            let argument = if arguments.contains_key("edit") { "edit" } else { "edits" };
            let edit = arguments.get(argument)?;
            let new = NEW.iter().find_map(|name| Some((*name, edit.get(*name)?.as_str()?)));
            let (text, field) = match new {
                Some((name, new)) => (new.to_owned(), Some(name)),
                None => (serde_json::to_string_pretty(edit).ok()?, None),
            };
            Some(Content { argument: argument.to_owned(), text, field })
        }
        _ => None,
    }
}

/// The first request changed: looks up what can be said about it.
pub(super) fn refresh(model: &mut Model) {
    model.approvals.has_content = content(model).is_some();
    let preview = model.approvals.rule().map(|rule| {
        let commands = recent_commands(model);
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let work_dir = &model.status.info.work_dir;
        let found = permission::preview(rule, &commands, work_dir);
        format!("would have matched {} of the last {}", found.matched.len(), found.total)
    });
    model.approvals.preview =
        preview.filter(|_| !recent_commands(model).is_empty()).unwrap_or_default();
}

/// The last commands that ran in this conversation, latest first.
fn recent_commands(model: &Model) -> Vec<String> {
    let cells = model.transcript.cells().iter().rev();
    let command = |cell: &super::super::model::cell::Cell| match &cell.kind {
        CellKind::Tool(tool) if tool.name == "Bash" && tool.state.is_over() => {
            let arguments: Value = serde_json::from_str(&tool.arguments.peek()).ok()?;
            Some(arguments.get("command")?.as_str()?.to_owned())
        }
        _ => None,
    };
    cells.filter_map(command).take(TRIED).collect()
}

/// Writes the content of what is asked for in the external editor.
pub(super) fn begin(model: &mut Model, now: f64) -> Vec<Effect> {
    let found = content(model);
    let (Some(content), Some(request)) = (found, model.approvals.current()) else {
        toast(model, "Only the content of a file can be changed there", now);
        return Vec::new();
    };
    model.editing = EditTarget::Approval { request: request.id.clone() };
    vec![Effect::EditExternally(content.text)]
}

/// The editor ended with `text`: the call is approved with it, unless nothing was changed.
pub(super) fn edited(model: &mut Model, request: &str, text: &str, now: f64) -> Vec<Effect> {
    if model.approvals.current().is_none_or(|current| current.id != request) {
        toast(model, "What you changed is not asked for any more", now);
        return Vec::new();
    }
    let Some((content, (_, arguments))) = content(model).zip(arguments(model)) else {
        return Vec::new();
    };
    // A content without a line end at its end comes back with one from most editors.
    let is_same = |text: &str| text == content.text;
    if is_same(text) || is_same(text.strip_suffix('\n').unwrap_or(text)) {
        toast(model, "Nothing was changed; the question stands", now);
        return Vec::new();
    }
    let value = match (content.field, arguments.get(&content.argument)) {
        (Some(field), Some(Value::Object(edit))) => {
            let mut edit = edit.clone();
            // Lines that were replaced without a line end go on without one.
            let text = if content.text.ends_with('\n') {
                text
            } else {
                text.strip_suffix('\n').unwrap_or(text)
            };
            edit.insert(field.to_owned(), Value::String(text.to_owned()));
            Value::Object(edit)
        }
        _ if content.argument == "content" => Value::String(text.to_owned()),
        _ => match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                toast(
                    model,
                    format!("That is no list of edits ({error}); the question stands"),
                    now,
                );
                return Vec::new();
            }
        },
    };
    let changed = Map::from_iter([(content.argument, value)]);
    approval::approve_with(model, changed, now)
}
