//! Tool cards: a header with state, name, key argument and time, and as much of the result as helps.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::model::cell::{ToolCell, ToolState};
use super::super::render::ansi::ansi;
use super::super::render::diff::{Beside, Diff};
use super::super::render::format;
use super::super::render::highlight::HighlightCache;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{line_width, truncate, truncate_line, width as text_width};
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::nested;
use super::statusline::spinner;
use crate::message::{DiffBlock, DisplayBlock, TodoItem, TodoStatus, ToolReturn};

/// Lines of output a folded card shows.
const FOLDED: usize = 5;
/// Lines of a diff a folded card shows.
const FOLDED_DIFF: usize = 14;
/// Lines an unfolded card shows at most.
const UNFOLDED: usize = 400;
const INDENT: &str = "  ";

/// The lines of a tool card: all of its result, or little; changes side by side where there is room.
pub(super) fn lines(
    (details, beside): (bool, bool),
    tool: &ToolCell,
    theme: &Theme,
    highlight: &HighlightCache,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    let mut lines = vec![header(tool, theme, width, now)];
    lines.extend(nested::lines(tool, details, theme, width));
    match &tool.result {
        Some(result) => {
            lines.extend(result_lines(tool, result, (details, beside), theme, highlight, width));
        }
        None => lines.extend(live(tool, details, theme, width)),
    }
    lines
}

/// One row for several reads and searches: what was looked at, and how often.
pub(super) fn group_row(
    calls: &[&ToolCell],
    theme: &Theme,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    let open = calls.iter().find(|call| !call.state.is_over());
    let (mark, style) = state_mark(open.map_or(ToolState::Done, |call| call.state), theme, now);
    let mut spans = vec![Span::styled(format!("{mark} "), style)];
    let mut name = "";
    let mut names: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        match names.iter_mut().find(|(known, _)| *known == call.name) {
            Some((_, count)) => *count += 1,
            None => names.push((&call.name, 1)),
        }
    }
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (tool, count) in names {
        let before = if name.is_empty() { "" } else { ", " };
        spans.push(Span::styled(before, theme.muted));
        spans.push(Span::styled(sanitize(tool).into_owned(), theme.tool_name));
        if count > 1 {
            spans.push(Span::styled(format!(" {count}"), theme.muted));
        }
        name = tool;
    }
    let arguments: Vec<String> = calls
        .iter()
        .filter_map(|call| call.key_argument.as_deref())
        .map(|argument| sanitize(argument).replace('\n', " "))
        .collect();
    spans.push(Span::styled(format!("  {}", arguments.join(", ")), theme.tool_arg));
    vec![truncate_line(Line::from(spans), usize::from(width))]
}

/// The mark of a state, and its colour.
pub(super) fn state_mark(state: ToolState, theme: &Theme, now: f64) -> (&'static str, Style) {
    match state {
        ToolState::Streaming | ToolState::Running => (spinner(theme, now), theme.accent),
        ToolState::Waiting => ("?", theme.warning),
        ToolState::Done => (theme.marks.check, theme.success),
        ToolState::Failed => (theme.marks.cross, theme.danger),
        ToolState::Rejected | ToolState::Cancelled => (theme.marks.cross, theme.muted),
    }
}

pub(super) fn header(tool: &ToolCell, theme: &Theme, width: u16, now: f64) -> Line<'static> {
    let (mark, style) = state_mark(tool.state, theme, now);
    let note = match tool.state {
        ToolState::Streaming if tool.arguments.len() > 400 => {
            Some(format!("writing {}", format::size(tool.arguments.len() as u64)))
        }
        ToolState::Streaming => None,
        ToolState::Waiting => Some("waits for your answer".to_owned()),
        ToolState::Running => tool.started.map(|started| format::seconds(seconds(now - started))),
        ToolState::Rejected => Some("rejected".to_owned()),
        ToolState::Cancelled => Some("stopped".to_owned()),
        ToolState::Done | ToolState::Failed => {
            tool.seconds.filter(|time| *time >= 0.1).map(|time| format::duration(seconds(time)))
        }
    };
    let mut note = note.map(|note| format!(" {note}")).unwrap_or_default();
    let exit = exit_code(tool).map(|code| format!(" exit {code}")).unwrap_or_default();
    if tool.edited {
        note.push_str(" as you changed it");
    }
    let name = sanitize(&tool.name).into_owned();
    let taken = 2 + text_width(&name) + 1 + text_width(&exit) + text_width(&note);
    let room = usize::from(width).saturating_sub(taken);
    let argument = tool.key_argument.as_deref().map(sanitize).unwrap_or_default();
    let argument = truncate(&argument, room).into_owned();
    let line = Line::from(vec![
        Span::styled(format!("{mark} "), style),
        Span::styled(name, theme.tool_name),
        Span::styled(format!(" {argument}"), theme.tool_arg),
        Span::styled(exit, theme.danger),
        Span::styled(note, theme.muted),
    ]);
    truncate_line(line, usize::from(width))
}

/// What a failed command ended with; the tool says it in words.
pub(super) fn exit_code(tool: &ToolCell) -> Option<&str> {
    if tool.state != ToolState::Failed || !is_command(&tool.name) {
        return None;
    }
    let (_, code) = tool.result.as_ref()?.message.split_once("exit code: ")?;
    let end = code.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(code.len());
    (1..=4).contains(&end).then(|| &code[..end])
}

fn seconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time.max(0.0)).unwrap_or_default()
}

fn live(tool: &ToolCell, details: bool, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let most = if details { 30 } else { FOLDED };
    let shown = tool.live.lines().rev().take(most).collect::<Vec<_>>();
    let text = shown.into_iter().rev().collect::<Vec<_>>().join("\n");
    output(&text, theme.tool_output, theme, width)
}

fn result_lines(
    tool: &ToolCell,
    result: &ToolReturn,
    (details, beside): (bool, bool),
    theme: &Theme,
    highlight: &HighlightCache,
    width: u16,
) -> Vec<Line<'static>> {
    if result.is_error {
        return failure(tool, result, details, theme, width);
    }
    let diffs: Vec<DiffBlock> = result
        .display
        .iter()
        .filter_map(|block| match block {
            DisplayBlock::Diff(diff) => Some(diff.clone()),
            _ => None,
        })
        .collect();
    if !diffs.is_empty() {
        let most = if details { UNFOLDED } else { FOLDED_DIFF };
        let room = width.saturating_sub(2);
        let (lines, unseen) = diff_lines(&diffs, beside, most + 2, room, theme, highlight);
        return folded(indent(lines), most, unseen, theme);
    }
    for block in &result.display {
        if let DisplayBlock::Todo { items } = block {
            return todos(items, theme, width);
        }
    }
    let text = result.output.text();
    if is_command(&tool.name) {
        let most = if details { UNFOLDED } else { FOLDED };
        return tail(output(&text, theme.tool_output, theme, width), most, theme);
    }
    for block in &result.display {
        if let DisplayBlock::BackgroundTask { task_id, status, .. } = block {
            let text = format!("background task {task_id} {} {status}", theme.marks.separator);
            return if details {
                folded(
                    output(&result.output.text(), theme.tool_output, theme, width),
                    UNFOLDED,
                    0,
                    theme,
                )
            } else {
                output(&text, theme.muted, theme, width)
            };
        }
    }
    if matches!(tool.name.as_str(), "Task" | "Agent")
        && let Some((_, summary)) = text.split_once("[summary]\n")
    {
        let most = if details { UNFOLDED } else { FOLDED };
        return folded(output(summary, theme.tool_output, theme, width), most, 0, theme);
    }
    if details {
        return folded(output(&text, theme.tool_output, theme, width), UNFOLDED, 0, theme);
    }
    // What a search or a read found is for the model; a person wants to know how much it was.
    let summary = result.brief().unwrap_or(&result.message).lines().next().unwrap_or_default();
    let lines = text.lines().count();
    match (summary.is_empty(), lines) {
        (true, 0) => Vec::new(),
        (true, _) => output(&format::count(lines, "line", "lines"), theme.muted, theme, width),
        (false, _) => output(summary, theme.muted, theme, width),
    }
}

/// The first `most` rows of a change, and how many there are more: a change of ten thousand lines costs
/// what is shown of it.
pub(super) fn diff_lines(
    blocks: &[DiffBlock],
    beside: bool,
    most: usize,
    width: u16,
    theme: &Theme,
    highlight: &HighlightCache,
) -> (Vec<Line<'static>>, usize) {
    let diff = Diff::new(blocks);
    if diff.is_beside(beside, width) {
        let pairs = Beside::new(&diff);
        let end = pairs.rows().min(most);
        (pairs.lines(0..end, width, theme, highlight), pairs.rows() - end)
    } else {
        let end = diff.rows().min(most);
        (diff.lines(0..end, width, theme, highlight), diff.rows() - end)
    }
}

fn is_command(name: &str) -> bool {
    matches!(name, "Bash" | "Shell" | "CMD" | "Terminal")
}

fn failure(
    tool: &ToolCell,
    result: &ToolReturn,
    details: bool,
    theme: &Theme,
    width: u16,
) -> Vec<Line<'static>> {
    let over = matches!(tool.state, ToolState::Rejected | ToolState::Cancelled);
    let style = if over { theme.muted } else { theme.danger };
    // In short unless it is unfolded: the message to the model says more.
    let brief = result.brief().filter(|_| !details || result.message.is_empty());
    let reason = brief.unwrap_or(&result.message);
    let text = result.output.text();
    let mut lines = output(reason, style, theme, width);
    // The header has the code, or says the same; the output follows.
    let is_said = over && matches!(brief, Some("Rejected by user" | "Cancelled"));
    lines.truncate(if is_said || exit_code(tool).is_some() { 0 } else { 4 });
    if !text.is_empty() && (details || is_command(&tool.name)) {
        let most = if details { UNFOLDED } else { FOLDED };
        lines.extend(tail(output(&text, theme.tool_output, theme, width), most, theme));
    }
    lines
}

/// A todo list, one line an item.
pub(super) fn todos(items: &[TodoItem], theme: &Theme, width: u16) -> Vec<Line<'static>> {
    items
        .iter()
        .flat_map(|item| {
            let (mark, style) = todo_mark(item.status, theme);
            let first = [Span::styled(format!("{INDENT}{mark} "), style)];
            let rest = [Span::raw(" ".repeat(INDENT.len() + 2))];
            let style = match item.status {
                TodoStatus::Done => theme.muted,
                TodoStatus::InProgress => theme.strong,
                TodoStatus::Pending => theme.text,
            };
            let title = sanitize(&item.title).replace('\n', " ");
            wrap(&Line::styled(title, style), width, &first, &rest)
        })
        .collect()
}

/// The mark of a todo, and its colour.
pub(super) fn todo_mark(status: TodoStatus, theme: &Theme) -> (&'static str, Style) {
    match status {
        TodoStatus::Pending => (theme.marks.ring, theme.muted),
        TodoStatus::InProgress => (theme.marks.dot, theme.accent),
        TodoStatus::Done => (theme.marks.check, theme.success),
    }
}

fn output(text: &str, style: Style, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    // Lines that will not be shown are not drawn: a command may print a million.
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        return Vec::new();
    }
    indent(ansi(text, style, theme.depth))
        .into_iter()
        .flat_map(|line| {
            if line_width(&line) <= usize::from(width) {
                vec![line]
            } else {
                let indent = [Span::raw(INDENT)];
                let inner = Line::from(line.spans.into_iter().skip(1).collect::<Vec<_>>());
                wrap(&inner, width, &indent, &indent)
            }
        })
        .collect()
}

fn indent(lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    lines
        .into_iter()
        .map(|mut line| {
            line.spans.insert(0, Span::raw(INDENT));
            line
        })
        .collect()
}

/// The first lines, and how many there are more.
fn folded(
    mut lines: Vec<Line<'static>>,
    most: usize,
    unseen: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    if lines.len() + unseen > most + 1 {
        let more = lines.len() + unseen - most;
        lines.truncate(most);
        lines.push(Line::styled(
            format!("{INDENT}{} +{more} lines", theme.marks.ellipsis),
            theme.muted,
        ));
    }
    lines
}

/// The last lines, and how many there were before.
fn tail(mut lines: Vec<Line<'static>>, most: usize, theme: &Theme) -> Vec<Line<'static>> {
    if lines.len() > most + 1 {
        let more = lines.len() - most;
        lines.drain(..more);
        lines.insert(
            0,
            Line::styled(
                format!("{INDENT}{} {more} lines above", theme.marks.ellipsis),
                theme.muted,
            ),
        );
    }
    lines
}
