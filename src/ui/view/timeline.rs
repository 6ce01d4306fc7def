//! The timeline: one line from top to bottom, a row a checkpoint, turns as headings, changes of the
//! context as arrows. Under it what there is to know about the marked row.

mod details;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::timeline::{CheckpointEntry, EntryKind, Jump};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::theme::Theme;
use super::put::put;

/// Rows the list keeps beside the details.
const LIST_ROWS: u16 = 6;

/// Columns from which a row says more.
const WIDE: u16 = 44;

/// How many checkpoints one can go back to, in words.
pub(super) fn count(model: &Model) -> String {
    match model.timeline.live_count() {
        0 => String::new(),
        n => format!("{n}"),
    }
}

/// Draws the timeline: its end, or the part around the marked row, and what that row is.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    focused: bool,
    now: f64,
) {
    let timeline = &model.timeline;
    if area.height == 0 || area.width == 0 {
        return;
    }
    if timeline.entries.is_empty() {
        let hint = "Each step leaves one here";
        put(buffer, (area.x, area.y), u16::MAX, hint, theme.muted);
        return;
    }
    let mut area = area;
    if focused && let Some(selected) = timeline.selected {
        let lines = details::lines(model, selected, theme, area.width, now);
        let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let rows = rows.min(area.height.saturating_sub(LIST_ROWS + 1));
        if rows > 0 {
            area.height -= rows + 1;
            let line = theme.marks.line.repeat(usize::from(area.width));
            put(buffer, (area.x, area.bottom()), area.width, line, theme.border);
            for (line, y) in lines.into_iter().zip(area.bottom() + 1..=area.bottom() + rows) {
                line.render(Rect { y, height: 1, ..area }, buffer);
            }
        }
    }
    list(model, theme, area, buffer, focused);
}

fn list(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, focused: bool) {
    let timeline = &model.timeline;
    let rows = usize::from(area.height);
    let last = timeline.entries.len().saturating_sub(rows);
    let first = match timeline.selected.filter(|_| focused) {
        Some(selected) => selected.saturating_sub(rows / 2).min(last),
        None => last,
    };
    for (row, (index, entry)) in
        timeline.entries.iter().enumerate().skip(first).take(rows).enumerate()
    {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let line_area = Rect { y, height: 1, ..area };
        let is_selected = focused && timeline.selected == Some(index);
        let (left, right, style) = match &entry.kind {
            EntryKind::Turn { title } => (turn_line(title, theme), String::new(), theme.muted),
            EntryKind::Checkpoint(checkpoint) => {
                let before = previous_tokens(model, index);
                (checkpoint_line(checkpoint, theme), growth(checkpoint, before), theme.muted)
            }
            EntryKind::Jump { jump, tokens, .. } => {
                (jump_line(*jump, area.width, theme), change(*tokens, theme), theme.warning)
            }
        };
        draw_row(left, &right, style, line_area, buffer);
        if is_selected {
            buffer.set_style(line_area, theme.selection);
        }
    }
}

fn draw_row(left: Line<'static>, right: &str, style: Style, area: Rect, buffer: &mut Buffer) {
    let columns = text_width(right);
    let room = usize::from(area.width).saturating_sub(columns + 1);
    truncate_line(left, room).render(area, buffer);
    let columns = u16::try_from(columns).unwrap_or(0);
    if columns <= area.width {
        put(buffer, (area.right() - columns, area.y), u16::MAX, right, style);
    }
}

fn turn_line(title: &str, theme: &Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{} ", theme.marks.bar), theme.border),
        Span::styled(sanitize(title).into_owned(), theme.strong),
    ])
}

fn checkpoint_line(checkpoint: &CheckpointEntry, theme: &Theme) -> Line<'static> {
    let (mark, style) = if checkpoint.is_live {
        (theme.marks.dot, theme.accent)
    } else {
        (theme.marks.ring, theme.muted)
    };
    let label = match (checkpoint.step, checkpoint.tools.is_empty()) {
        (None, true) => "prompt".to_owned(),
        (Some(step), true) => format!("step {step}"),
        (_, false) => tools(checkpoint),
    };
    let text = if checkpoint.is_live { theme.text } else { theme.muted };
    let mut spans = vec![
        Span::styled(format!("{mark} "), style),
        Span::styled(format!("{:<3} ", checkpoint.at.id.0), theme.muted),
        Span::styled(label, text),
    ];
    if checkpoint.failures > 0 {
        spans.push(Span::styled(format!(" {}", theme.marks.cross), theme.danger));
    }
    Line::from(spans)
}

/// The tools that were called, with counts.
fn tools(checkpoint: &CheckpointEntry) -> String {
    let named = checkpoint.tools.iter().map(|(name, count)| {
        let name = sanitize(name);
        if *count > 1 { format!("{name} ×{count}") } else { name.into_owned() }
    });
    named.collect::<Vec<_>>().join(", ")
}

fn jump_line(jump: Jump, width: u16, theme: &Theme) -> Line<'static> {
    // In a narrow pane the details say whose it was.
    let whose = if width >= WIDE { "the model's " } else { "" };
    let (mark, text) = match jump {
        Jump::DMail(to) => (theme.marks.up, format!("{whose}D-Mail to {to}")),
        Jump::Revert(to) => (theme.marks.up, format!("back to {to}")),
        Jump::Clear => (theme.marks.cross, "emptied".to_owned()),
        Jump::Compaction => (theme.marks.folded, "summarised".to_owned()),
        Jump::Restore(generation) => (theme.marks.down, format!("context {generation} restored")),
        Jump::Hidden(count) => (
            theme.marks.folded,
            format!("{} hidden", format::count(to_usize(count), "result", "results")),
        ),
        Jump::Pinned(count) => (
            theme.marks.down,
            format!("{} pinned", format::count(to_usize(count), "message", "messages")),
        ),
        Jump::Unknown => (theme.marks.folded, "another context".to_owned()),
    };
    Line::styled(format!("{mark} {text}"), theme.warning)
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn change((before, after): (u64, u64), theme: &Theme) -> String {
    format!("{}{}{}", format::tokens(before), theme.marks.arrow, format::tokens(after))
}

fn previous_tokens(model: &Model, index: usize) -> Option<u64> {
    model.timeline.entries[..index].iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Checkpoint(checkpoint) => Some(checkpoint.size.tokens),
        EntryKind::Jump { tokens, .. } => Some(tokens.1),
        EntryKind::Turn { .. } => None,
    })
}

fn growth(checkpoint: &CheckpointEntry, before: Option<u64>) -> String {
    let tokens = checkpoint.size.tokens;
    match before {
        Some(before) if tokens > before => {
            format!("+{} {}", format::tokens(tokens - before), format::tokens(tokens))
        }
        _ => format::tokens(tokens),
    }
}
