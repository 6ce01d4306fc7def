//! Questions that are asked before something is given up, with what it costs.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::overlay::{RestoreDialog, RevertDialog};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::panel;
use super::put::put;
use super::statusline::hint;

/// Asks before the context is emptied.
pub(super) fn draw_clear(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let tokens = model.status.context_tokens.unwrap_or_default();
    let text = [
        format!("The model forgets this conversation ({} tokens).", format::tokens(tokens)),
        "You can still read it here, and the old context stays on disk.".to_owned(),
        "Files are not touched.".to_owned(),
    ];
    let lines = body(&text, theme, area.width.min(66).saturating_sub(4));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4);
    let area = panel::centred(area, 66, height);
    let inner = panel::draw("Empty the context?", theme, area, buffer);
    let y = draw_lines(&lines, inner, buffer);
    draw_keys(&[("enter", "empty it"), ("esc", "keep it")], theme, inner, y + 1, buffer);
}

/// Asks before an earlier context comes back.
pub(super) fn draw_restore(dialog: &RestoreDialog, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let (before, after) = dialog.tokens;
    let price = match after {
        Some(after) => format!(
            "{} {} {} tokens",
            format::tokens(before),
            theme.marks.arrow,
            format::tokens(after)
        ),
        None => format!("{} tokens now", format::tokens(before)),
    };
    let text = [
        format!(
            "The model has again what it had when context {} ended: {price}.",
            dialog.generation
        ),
        "The present context is kept, so this can be undone the same way.".to_owned(),
        "Files are not touched.".to_owned(),
    ];
    let lines = body(&text, theme, area.width.min(66).saturating_sub(4));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4);
    let area = panel::centred(area, 66, height);
    let title = format!("Bring context {} back?", dialog.generation);
    let inner = panel::draw(&title, theme, area, buffer);
    let y = draw_lines(&lines, inner, buffer);
    draw_keys(&[("enter", "bring it back"), ("esc", "stay here")], theme, inner, y + 1, buffer);
}

/// Asks before time is turned back, and takes the message to the past.
pub(super) fn draw_revert(
    dialog: &RevertDialog,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Point> {
    let width = area.width.min(76);
    let lines = body(&price(dialog, theme), theme, width.saturating_sub(4));
    let mail_rows = dialog.mail.rows(width.saturating_sub(6), 5);
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(mail_rows + 6);
    let area = panel::centred(area, width, height);
    let (title, label) = if dialog.is_mail {
        let title = format!("Send a D-Mail to checkpoint {}?", dialog.to.id);
        (title, "What you tell the model there (Ctrl-J: a new line):")
    } else {
        let title = format!("Go back to checkpoint {}?", dialog.to.id);
        (title, "Message to the past (D-Mail), or leave it empty:")
    };
    let inner = panel::draw(&title, theme, area, buffer);
    let y = draw_lines(&lines, inner, buffer) + 1;
    let label = Line::styled(label, theme.muted);
    if y < inner.bottom() {
        label.render(Rect { y, height: 1, ..inner }, buffer);
    }
    let input = Rect {
        y: (y + 1).min(inner.bottom()),
        height: mail_rows.min(inner.bottom().saturating_sub(y + 1)),
        ..inner
    };
    let go = if dialog.mail.is_empty() { "go back" } else { "go back and send" };
    draw_keys(&[("enter", go), ("esc", "stay here")], theme, inner, input.bottom() + 1, buffer);
    if input.height == 0 || input.width < 3 {
        return None;
    }
    put(buffer, (input.x, input.y), u16::MAX, theme.marks.folded, theme.accent);
    let text = Rect { x: input.x + 2, width: input.width - 2, ..input };
    if dialog.mail.is_empty() {
        return Some(Point { x: text.x, y: text.y });
    }
    dialog.mail.draw(theme.text, text, buffer)
}

fn price(dialog: &RevertDialog, theme: &Theme) -> Vec<String> {
    let Some(price) = &dialog.price else {
        return vec!["Asking the engine what it costs…".to_owned()];
    };
    let (before, after) = price.tokens;
    let mut text = vec![format!(
        "Context {} {} {} tokens; the model forgets {}.",
        format::tokens(before),
        theme.marks.arrow,
        format::tokens(after),
        format::count(usize::try_from(price.messages).unwrap_or(usize::MAX), "message", "messages")
    )];
    match price.files.as_slice() {
        [] => text.push("No files were written since then.".to_owned()),
        files => {
            text.push("Files stay as they are. Written since then:".to_owned());
            text.extend(files.iter().take(5).map(|file| format!("  {file}")));
            if files.len() > 5 {
                text.push(format!("  and {} more", files.len() - 5));
            }
        }
    }
    text
}

fn body(text: &[String], theme: &Theme, width: u16) -> Vec<Line<'static>> {
    text.iter()
        .flat_map(|line| {
            let indent = [Span::raw(" ".repeat(line.len() - line.trim_start().len()))];
            let line = Line::styled(sanitize(line.trim_start()).into_owned(), theme.text);
            wrap(&line, width, &indent, &indent)
        })
        .collect()
}

fn draw_lines(lines: &[Line<'static>], area: Rect, buffer: &mut Buffer) -> u16 {
    let mut y = area.y;
    for line in lines {
        if y < area.bottom() {
            line.render(Rect { y, height: 1, ..area }, buffer);
            y += 1;
        }
    }
    y
}

fn draw_keys(keys: &[(&str, &str)], theme: &Theme, area: Rect, y: u16, buffer: &mut Buffer) {
    // On a screen too small for everything the keys come before the last line of text.
    let y = y.min(area.bottom().saturating_sub(1)).max(area.y);
    let spans: Vec<_> = keys.iter().flat_map(|(key, word)| hint(key, word, theme)).collect();
    let row = Rect { y, height: 1.min(area.height), ..area };
    Line::from(spans).render(row, buffer);
}
