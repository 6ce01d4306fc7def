//! A tool call as an editor shows it: its title, its kind, the files it is about, what came of it.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use super::content;
use crate::message::{
    ContentPart, DiffBlock, DisplayBlock, TodoItem, TodoStatus, ToolOutput, ToolReturn,
    key_argument,
};

/// Characters of a result an editor is told.
const LONGEST_RESULT: usize = 50_000;

/// `Name: key argument`, as far as the arguments have come.
pub(super) fn title(name: &str, arguments: &str) -> String {
    match key_argument(name, arguments) {
        Some(key) => format!("{name}: {key}"),
        None => name.to_owned(),
    }
}

/// What kind of thing a tool does.
pub(super) fn kind(name: &str) -> acp::ToolKind {
    match name {
        "ReadFile" | "ReadMediaFile" => acp::ToolKind::Read,
        "WriteFile" | "EditFile" | "StrReplaceFile" | "PatchFile" => acp::ToolKind::Edit,
        "Bash" | "Shell" | "CMD" => acp::ToolKind::Execute,
        "Grep" | "Glob" | "LS" => acp::ToolKind::Search,
        "FetchURL" | "SearchWeb" => acp::ToolKind::Fetch,
        "Think" | "Todo" | "SetTodoList" => acp::ToolKind::Think,
        "EnterPlanMode" | "ExitPlanMode" => acp::ToolKind::SwitchMode,
        _ => acp::ToolKind::Other,
    }
}

/// The files complete arguments are about, and the line.
pub(super) fn locations(name: &str, input: &Value, work_dir: &Path) -> Vec<acp::ToolCallLocation> {
    if !matches!(kind(name), acp::ToolKind::Read | acp::ToolKind::Edit | acp::ToolKind::Search) {
        return Vec::new();
    }
    let named = input.get("path").or_else(|| input.get("file_path")).and_then(Value::as_str);
    let Some(path) = named.filter(|path| !path.is_empty()) else { return Vec::new() };
    let line = input.get("line_offset").and_then(Value::as_u64);
    let line = line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    vec![acp::ToolCallLocation::new(work_dir.join(path)).line(line)]
}

/// A difference as a block.
fn difference(diff: &DiffBlock) -> acp::ToolCallContent {
    let old = (!diff.old_text.is_empty()).then(|| diff.old_text.clone());
    acp::Diff::new(PathBuf::from(&diff.path), diff.new_text.clone()).old_text(old).into()
}

/// Blocks for the screen as an editor shows them.
pub(super) fn shown(display: &[DisplayBlock]) -> Vec<acp::ToolCallContent> {
    let block = |block: &DisplayBlock| match block {
        DisplayBlock::Diff(diff) if !diff.is_summary => Some(difference(diff)),
        DisplayBlock::Shell { language, command } => {
            Some(format!("```{language}\n{command}\n```").into())
        }
        _ => None,
    };
    display.iter().filter_map(block).collect()
}

/// What came of a call. Where a difference is shown, the sentence to the model is left out.
pub(super) fn outcome(result: &ToolReturn) -> Vec<acp::ToolCallContent> {
    let mut content: Vec<acp::ToolCallContent> = shown(&result.display)
        .into_iter()
        .filter(|block| matches!(block, acp::ToolCallContent::Diff(_)))
        .collect();
    if result.is_error && !result.message.is_empty() {
        content.push(result.message.clone().into());
    }
    match &result.output {
        ToolOutput::Text(text) if text.is_empty() => {}
        ToolOutput::Text(text) => content.push(clipped(text).into()),
        ToolOutput::Parts(parts) => content.extend(parts.iter().filter_map(|part| match part {
            ContentPart::Text { text } => Some(clipped(text).into()),
            part => Some(acp::ToolCallContent::Content(acp::Content::new(content::block(part)?))),
        })),
    }
    if content.is_empty() && !result.message.is_empty() {
        content.push(result.message.clone().into());
    }
    content
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_RESULT) {
        Some((end, _)) => format!("{}\n[...truncated]", &text[..end]),
        None => text.to_owned(),
    }
}

/// The todo list, where a result has one, as a plan.
pub(super) fn plan(display: &[DisplayBlock]) -> Option<acp::Plan> {
    let items = display.iter().find_map(|block| match block {
        DisplayBlock::Todo { items } => Some(items),
        _ => None,
    })?;
    let entry = |item: &TodoItem| {
        let status = match item.status {
            TodoStatus::Pending => acp::PlanEntryStatus::Pending,
            TodoStatus::InProgress => acp::PlanEntryStatus::InProgress,
            TodoStatus::Done => acp::PlanEntryStatus::Completed,
        };
        acp::PlanEntry::new(item.title.clone(), acp::PlanEntryPriority::Medium, status)
    };
    Some(acp::Plan::new(items.iter().map(entry).collect()))
}
