//! The composer, the line above it, and the slash commands it offers.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::widgets::{Clear, Widget};

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::status::Activity;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate, width as text_width};
use super::super::theme::Theme;
use super::super::update::completions;
use super::layout::PROMPT_COLUMNS;
use super::put::put;

/// Draws the composer and says where the cursor is.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Option<Point> {
    if area.height == 0 {
        return None;
    }
    let rows =
        model.composer.editor.rows(area.width.saturating_sub(PROMPT_COLUMNS + 1), area.height);
    let has_rule = area.height > 1 && area.height > rows.min(area.height - 1);
    if has_rule {
        draw_rule(model, theme, Rect { height: 1, ..area }, buffer);
    }
    let top = u16::from(has_rule);
    let text = Rect { y: area.y + top, height: area.height - top, ..area };
    let style = if model.composer.editor.is_empty() { theme.muted } else { theme.accent };
    let prompt = if model.composer.is_shell { "$" } else { theme.marks.folded };
    put(buffer, (text.x, text.y), PROMPT_COLUMNS, prompt, style);
    let inner = Rect {
        x: text.x + PROMPT_COLUMNS.min(text.width),
        width: text.width.saturating_sub(PROMPT_COLUMNS),
        ..text
    };
    if inner.width == 0 {
        return None;
    }
    if model.composer.editor.is_empty() {
        let hint = placeholder(model);
        put(
            buffer,
            (inner.x, inner.y),
            u16::MAX,
            truncate(hint, usize::from(inner.width)),
            theme.muted,
        );
        return Some(Point { x: inner.x, y: inner.y });
    }
    model.composer.editor.draw(theme.text, inner, buffer)
}

fn placeholder(model: &Model) -> &'static str {
    if model.composer.is_shell {
        return "A command for the shell; Esc for a prompt again";
    }
    match model.status.activity {
        Activity::Opening => "Opening the session; you can write already",
        Activity::Idle => "Ask something, or / for commands, ? for keys",
        Activity::Running { .. } => "Write on; Enter queues it for after this turn",
        Activity::Gone => "No session is open; /sessions or /new",
    }
}

fn draw_rule(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let line = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), u16::MAX, line, theme.border);
    let mut badges = Vec::new();
    let queued = model.composer.queue.len();
    if queued > 0 {
        let key = model.keymap.key_for(Context::Composer, Action::FocusQueue);
        let key = key
            .filter(|_| area.width >= 60)
            .map_or_else(String::new, |key| format!(" {} {key} changes", theme.marks.separator));
        badges.push(format!("{queued} queued {} takes it back{key}", theme.marks.up));
    }
    if model.composer.is_shell {
        badges.push(if model.program.engine_elsewhere {
            "shell: on this machine, not through the engine".to_owned()
        } else {
            "shell: runs here, the model is not told".to_owned()
        });
    }
    if let Some(vim) = &model.composer.vim {
        badges.push(format!("{} {}", vim.mode.name(), vim.pending()).trim_end().to_owned());
    }
    if !model.composer.stash.is_empty() {
        badges.push(format!("{} put aside", model.composer.stash.len()));
    }
    if model.status.plan_mode {
        badges.push("plan".to_owned());
    }
    if model.status.info.yolo {
        badges.push("yolo: nothing is asked".to_owned());
    }
    if model.is_mouse_left {
        badges.push("mouse off".to_owned());
    }
    let mut x = area.x + 2;
    for badge in badges {
        let text = format!(" {badge} ");
        let columns = u16::try_from(text_width(&text)).unwrap_or(u16::MAX);
        if x.saturating_add(columns) >= area.right() {
            break;
        }
        put(buffer, (x, area.y), u16::MAX, &text, theme.badge);
        x += columns + 1;
    }
}

/// Draws what may be completed, over the end of the transcript: slash commands or files.
pub(super) fn draw_completions(model: &Model, theme: &Theme, chat: Rect, buffer: &mut Buffer) {
    if !model.overlays.is_empty() {
        return;
    }
    let commands = completions(model);
    if !commands.is_empty() {
        let marked = model.composer.completion.min(commands.len() - 1);
        let widest = commands.iter().map(|(name, _)| text_width(name)).max().unwrap_or(0);
        let rows = commands.iter().map(|(name, description)| {
            let pad = " ".repeat(widest - text_width(name));
            format!(" /{}{pad}  {}", sanitize(name), sanitize(description))
        });
        draw_offers(&rows.collect::<Vec<_>>(), marked, theme, chat, buffer);
    } else if !model.mention.shown.is_empty() {
        let rows = model.mention.shown.iter().map(|file| format!(" @{}", sanitize(file)));
        draw_offers(&rows.collect::<Vec<_>>(), model.mention.marked, theme, chat, buffer);
    }
}

fn draw_offers(offers: &[String], marked: usize, theme: &Theme, chat: Rect, buffer: &mut Buffer) {
    let height = u16::try_from(offers.len()).unwrap_or(u16::MAX).min(chat.height).min(8);
    if height == 0 {
        return;
    }
    let area = Rect { y: chat.bottom() - height, height, ..chat };
    Clear.render(area, buffer);
    buffer.set_style(area, theme.overlay);
    let rows = usize::from(height);
    let first = marked.saturating_sub(rows - 1);
    for (row, (index, offer)) in offers.iter().enumerate().skip(first).take(rows).enumerate() {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        let style = if index == marked { theme.selection } else { theme.text };
        let row = Rect { y, height: 1, ..area };
        buffer.set_style(row, style);
        put(buffer, (row.x, y), area.width, truncate(offer, usize::from(area.width)), style);
    }
}
