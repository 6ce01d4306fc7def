//! The timeline: one row a checkpoint, turns as headings, reverts and compactions as arrows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::timeline::{CheckpointEntry, EntryKind, Jump};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{line_width, truncate_line};
use super::super::theme::Theme;
use super::put::put;

/// How many checkpoints one can go back to, in words.
pub(super) fn count(model: &Model) -> String {
    match model.timeline.live_count() {
        0 => String::new(),
        n => format!("{n}"),
    }
}

/// Draws the timeline: its end, or the part around the marked row.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, focused: bool) {
    let timeline = &model.timeline;
    if area.height == 0 || area.width == 0 {
        return;
    }
    if timeline.entries.is_empty() {
        let hint = "Each step leaves one here";
        put(buffer, (area.x, area.y), u16::MAX, hint, theme.muted);
        return;
    }
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
        let (left, right) = match &entry.kind {
            EntryKind::Turn { title } => {
                let title = sanitize(title).into_owned();
                (Line::styled(title, theme.strong), String::new())
            }
            EntryKind::Checkpoint(checkpoint) => {
                let before = previous_tokens(model, index);
                (checkpoint_line(checkpoint, theme), growth(checkpoint, before))
            }
            EntryKind::Jump { jump, tokens } => (
                jump_line(*jump, theme),
                format!(
                    "{}{}{}",
                    format::tokens(tokens.0),
                    theme.marks.arrow,
                    format::tokens(tokens.1)
                ),
            ),
        };
        let room = usize::from(area.width).saturating_sub(right.chars().count() + 1);
        truncate_line(left, room).render(line_area, buffer);
        let columns = u16::try_from(line_width(&Line::raw(right.as_str()))).unwrap_or(0);
        if columns <= area.width {
            put(buffer, (area.right() - columns, y), u16::MAX, right, theme.muted);
        }
        if is_selected {
            buffer.set_style(line_area, theme.selection);
        }
    }
}

fn checkpoint_line(checkpoint: &CheckpointEntry, theme: &Theme) -> Line<'static> {
    let (mark, style) = if checkpoint.is_live {
        (theme.marks.dot, theme.accent)
    } else {
        (theme.marks.ring, theme.muted)
    };
    let label = match (checkpoint.step, checkpoint.tools.is_empty()) {
        (None, _) => "prompt".to_owned(),
        (Some(step), true) => format!("step {step}"),
        (Some(_), false) => checkpoint
            .tools
            .iter()
            .map(|(name, count)| {
                let name = sanitize(name);
                if *count > 1 { format!("{name} ×{count}") } else { name.into_owned() }
            })
            .collect::<Vec<_>>()
            .join(", "),
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

fn jump_line(jump: Jump, theme: &Theme) -> Line<'static> {
    let text = match jump {
        Jump::DMail(to) => format!("D-Mail to {to}"),
        Jump::Revert(to) => format!("back to {to}"),
        Jump::Clear => "emptied".to_owned(),
        Jump::Compaction => "summarised".to_owned(),
        Jump::Restore(generation) => format!("context {generation} restored"),
    };
    Line::styled(format!("{} {text}", theme.marks.up), theme.warning)
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
