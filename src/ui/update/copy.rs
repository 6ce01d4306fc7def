//! Copying: always what something was made from, never the padded and wrapped picture of it.

use super::super::effect::Effect;
use super::super::model::Model;
use super::super::model::cell::{Cell, CellKind, Group, Mark, ToolCell};
use super::super::model::overlay::Overlay;
use super::super::render::format;
use super::super::render::markdown::code_blocks;
use super::toast;
use crate::message::DisplayBlock;

fn subject(model: &Model) -> Option<&Cell> {
    let id = match model.overlays.last() {
        Some(Overlay::Pager(pager)) => pager.cell,
        _ => model.transcript.selected?,
    };
    model.transcript.cells().get(model.transcript.index_of(id)?)
}

/// Copies the selected cell.
pub(super) fn cell(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(cell) = subject(model) else { return Vec::new() };
    let (what, text) = match &cell.kind {
        CellKind::User { text, .. } => ("Prompt", text.clone()),
        CellKind::Assistant { text } => ("Answer", text.to_string()),
        CellKind::Thinking { text, .. } => ("Thinking", text.to_string()),
        CellKind::Notice { text, .. } => ("Message", text.clone()),
        CellKind::Plan { text } => ("Plan", text.clone()),
        CellKind::Mark(Mark::Reverted { mail: Some(mail), .. }) => ("D-Mail", mail.clone()),
        CellKind::Mark(_) => ("", String::new()),
        CellKind::Tool(_)
            if matches!(cell.group, Group::Leader { .. }) && cell.open != Some(true) =>
        {
            ("What was looked at", group_text(model, cell))
        }
        CellKind::Tool(tool) => tool_text(tool),
    };
    send(model, what, text, now)
}

fn group_text(model: &Model, leader: &Cell) -> String {
    let from = model.transcript.index_of(leader.id).unwrap_or_default();
    let Group::Leader { count } = leader.group else { return String::new() };
    let arguments = model.transcript.cells().iter().skip(from).take(count).filter_map(|cell| {
        match &cell.kind {
            CellKind::Tool(tool) => Some(format!("{}\n", tool.key_argument.as_deref()?)),
            _ => None,
        }
    });
    arguments.collect()
}

fn tool_text(tool: &ToolCell) -> (&'static str, String) {
    let Some(result) = &tool.result else {
        let live: Vec<&str> = tool.live.lines().collect();
        return ("Output so far", live.join("\n"));
    };
    let changed: Vec<&str> = result
        .display
        .iter()
        .filter_map(|block| match block {
            DisplayBlock::Diff(diff) if !diff.is_summary => Some(diff.new_text.as_str()),
            _ => None,
        })
        .collect();
    if !changed.is_empty() {
        return ("New text", changed.join("\n"));
    }
    let output = result.output.text();
    if output.is_empty() { ("Message", result.message.clone()) } else { ("Output", output) }
}

/// Copies a block of code of the selected cell, each time another one, or what its tool was called
/// with.
pub(super) fn code(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(cell) = subject(model) else { return Vec::new() };
    let id = cell.id;
    match &cell.kind {
        CellKind::Tool(tool) => {
            let text = tool.key_argument.clone().unwrap_or_else(|| tool.arguments.to_string());
            let is_command = matches!(tool.name.as_str(), "Bash" | "Shell");
            send(model, if is_command { "Command" } else { "Argument" }, text, now)
        }
        CellKind::Assistant { .. } | CellKind::Plan { .. } => {
            let blocks = match &cell.kind {
                CellKind::Assistant { text } => code_blocks(text),
                CellKind::Plan { text } => code_blocks(text),
                _ => Vec::new(),
            };
            if blocks.is_empty() {
                toast(model, "There is no block of code in this answer; y copies all of it", now);
                return Vec::new();
            }
            let at = match model.transcript.copied {
                Some((cell, at)) if cell == id => (at + 1) % blocks.len(),
                _ => 0,
            };
            model.transcript.copied = Some((id, at));
            let what = format!("Block of code {} of {}", at + 1, blocks.len());
            let text = blocks.into_iter().nth(at).unwrap_or_default();
            send(model, &what, text, now)
        }
        _ => self::cell(model, now),
    }
}

fn send(model: &mut Model, what: &str, text: String, now: f64) -> Vec<Effect> {
    if text.trim().is_empty() {
        toast(model, "There is nothing to copy here", now);
        return Vec::new();
    }
    let what = format!("{what}, {}", format::count(text.lines().count(), "line", "lines"));
    vec![Effect::Copy { text, what }]
}
