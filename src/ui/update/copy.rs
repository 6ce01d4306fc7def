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
    let (what, text) = named_source(model, cell);
    send(model, what, text, now)
}

/// What a cell was made from.
#[must_use]
pub fn source(model: &Model, cell: &Cell) -> String {
    named_source(model, cell).1
}

fn named_source(model: &Model, cell: &Cell) -> (&'static str, String) {
    match &cell.kind {
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
    }
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

/// `/copy`: the last answer, the nth from the end, a block of code of it, or all that was said.
pub(super) fn command(model: &mut Model, rest: &str, now: f64) -> Vec<Effect> {
    let mut words = rest.split_whitespace();
    let (first, second, more) = (words.next(), words.next(), words.next());
    let number = |word: Option<&str>| match word {
        None => Some(1),
        Some(word) => word.parse::<usize>().ok().filter(|number| *number > 0),
    };
    match (first, number(second), more) {
        (Some("all"), _, None) if second.is_none() => {
            let text = conversation(model);
            send(model, "The conversation", text, now)
        }
        (Some("code"), Some(nth), None) => nth_block(model, nth, now),
        (_, _, None) if second.is_none() && number(first).is_some() => {
            nth_answer(model, number(first).unwrap_or(1), now)
        }
        _ => {
            toast(model, "/copy, /copy 2 (the answer before), /copy code 1, /copy all", now);
            Vec::new()
        }
    }
}

/// The answers, latest first.
fn answers(model: &Model) -> impl Iterator<Item = String> + '_ {
    model.transcript.cells().iter().rev().filter_map(|cell| match &cell.kind {
        CellKind::Assistant { text } => Some(text.peek().into_owned()),
        _ => None,
    })
}

fn nth_answer(model: &mut Model, nth: usize, now: f64) -> Vec<Effect> {
    let Some(text) = answers(model).filter(|text| !text.trim().is_empty()).nth(nth - 1) else {
        let text =
            if nth == 1 { "There is no answer yet" } else { "There are not so many answers" };
        toast(model, text, now);
        return Vec::new();
    };
    let what = if nth == 1 { "Answer".to_owned() } else { format!("Answer {nth} from the end") };
    send(model, &what, text, now)
}

/// The nth block of code of the last answer that has any.
fn nth_block(model: &mut Model, nth: usize, now: f64) -> Vec<Effect> {
    let blocks = answers(model).map(|text| code_blocks(&text)).find(|blocks| !blocks.is_empty());
    let blocks = blocks.unwrap_or_default();
    let count = blocks.len();
    let Some(text) = blocks.into_iter().nth(nth - 1) else {
        let text = match count {
            0 => "No answer has a block of code".to_owned(),
            _ => format!("It has {} only", format::count(count, "block of code", "blocks of code")),
        };
        toast(model, text, now);
        return Vec::new();
    };
    send(model, &format!("Block of code {nth} of {count}"), text, now)
}

/// All that was said and done, as Markdown: thinking and the program's own words are left out.
fn conversation(model: &Model) -> String {
    let mut all = String::new();
    for cell in model.transcript.cells() {
        match &cell.kind {
            CellKind::User { text, .. } => all.push_str(&format!("## You\n\n{text}\n\n")),
            CellKind::Assistant { text } => all.push_str(&format!("{}\n\n", text.peek().trim())),
            CellKind::Plan { text } => all.push_str(&format!("## Plan\n\n{text}\n\n")),
            CellKind::Tool(tool) => {
                let argument = tool.key_argument.as_deref().unwrap_or_default();
                let output = tool_text(tool).1;
                let fence = fence_for(&output);
                all.push_str(format!("### {} {argument}", tool.name).trim_end());
                let output = output.trim_end_matches('\n');
                all.push_str(&format!("\n\n{fence}\n{output}\n{fence}\n\n"));
            }
            CellKind::Thinking { .. } | CellKind::Notice { .. } | CellKind::Mark(_) => {}
        }
    }
    all.truncate(all.trim_end().len());
    all
}

/// A fence that nothing in `text` ends.
fn fence_for(text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count())
        .max();
    "`".repeat(longest.unwrap_or(0).max(2) + 1)
}

fn send(model: &mut Model, what: &str, text: String, now: f64) -> Vec<Effect> {
    if text.trim().is_empty() {
        toast(model, "There is nothing to copy here", now);
        return Vec::new();
    }
    let what = format!("{what}, {}", format::count(text.lines().count(), "line", "lines"));
    vec![Effect::Copy { text, what }]
}
