//! The dry run of going back: paths above, the difference of the marked one below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::rewind::RewindView;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::theme::Theme;
use super::panel;
use super::put::put;
use super::statusline::hint;
use crate::wire::{RewindDeed, RewindFile, RewindScope};

/// Draws the dry run over `area`. Paths below `work_dir` are shown from there.
pub(super) fn draw(
    view: &RewindView,
    work_dir: &std::path::Path,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let height = if view.preview.files.is_empty() {
        // The frame, and a line between what is said and the keys.
        u16::try_from(head(view, theme).len()).unwrap_or(u16::MAX).saturating_add(3).max(6)
    } else {
        area.height.saturating_sub(2).max(8)
    };
    let area = panel::centred(area, 100, height);
    let inner = panel::draw(&title(view), theme, area, buffer);
    if inner.height < 3 {
        return;
    }
    let mut y = inner.y;
    for line in head(view, theme) {
        if y + 2 < inner.bottom() {
            truncate_line(line, usize::from(inner.width))
                .render(Rect { y, height: 1, ..inner }, buffer);
            y += 1;
        }
    }
    let keys = inner.bottom() - 1;
    let room = keys.saturating_sub(y + 1);
    let count = u16::try_from(view.preview.files.len()).unwrap_or(u16::MAX);
    let rows = count.min((room / 2).max(1)).min(room);
    let first = view.marked.saturating_sub(usize::from(rows.saturating_sub(1)));
    for (index, file) in view.preview.files.iter().enumerate().skip(first).take(usize::from(rows)) {
        let row = Rect { y, height: 1, ..inner };
        draw_file(view, file, work_dir, theme, row, buffer);
        if index == view.marked {
            buffer.set_style(row, theme.selection);
        }
        y += 1;
    }
    let diff = Rect { y: y + 1, height: keys.saturating_sub(y + 1), ..inner };
    draw_difference(view, theme, diff, buffer);
    let mut spans: Vec<Span<'static>> = Vec::new();
    let does = if view.preview.to.is_some() { "go back" } else { "bring forth" };
    spans.extend(hint("enter", does, theme));
    if view.preview.files.iter().any(|file| file.can_choose) {
        spans.extend(hint("space", "choose a conflict", theme));
    }
    if view.file().is_some_and(|file| file.diff.is_some()) {
        spans.extend(hint("pgdn", "scroll", theme));
    }
    spans.extend(hint("esc", "leave all as it is", theme));
    Line::from(spans).render(Rect { y: keys, height: 1, ..inner }, buffer);
}

fn title(view: &RewindView) -> String {
    let what = match view.preview.scope {
        RewindScope::Conversation => "the conversation",
        RewindScope::Files => "files",
        RewindScope::Both => "conversation and files",
    };
    match view.preview.to {
        Some(to) => format!("Take {what} back to checkpoint {to}?"),
        None => "Bring forth what was taken back?".to_owned(),
    }
}

fn head(view: &RewindView, theme: &Theme) -> Vec<Line<'static>> {
    let files = &view.preview.files;
    let done = files.iter().filter(|file| view.is_done(file));
    let removed = done.clone().filter(|file| file.deed == RewindDeed::Remove).count();
    let restored = done.count() - removed;
    let left = files.len() - restored - removed;
    let count = |n, what: &str| format!("{} {what}", format::count(n, "path", "paths"));
    let text = if files.is_empty() {
        "No file has to change.".to_owned()
    } else {
        let mut parts = vec![count(restored, "restored"), count(removed, "removed")];
        if left > 0 {
            parts.push(count(left, "left alone"));
        }
        format!("{}. What others changed stays.", parts.join(", "))
    };
    let mut lines = vec![Line::styled(text, theme.text)];
    for note in &view.preview.notes {
        let text = format!("Not known in full: {}", sanitize(note).replace('\n', " "));
        lines.push(Line::styled(text, theme.warning));
    }
    lines.push(Line::default());
    lines
}

fn draw_file(
    view: &RewindView,
    file: &RewindFile,
    work_dir: &std::path::Path,
    theme: &Theme,
    row: Rect,
    buffer: &mut Buffer,
) {
    let (word, style) = match (&file.conflict, file.deed) {
        (Some(_), _) if !view.is_done(file) => ("leave  ", theme.warning),
        (_, RewindDeed::Restore) => ("restore", theme.accent),
        (_, RewindDeed::Create) => ("create ", theme.success),
        (_, RewindDeed::Remove) => ("remove ", theme.danger),
    };
    let path = std::path::Path::new(&file.path);
    let shown = path.strip_prefix(work_dir).unwrap_or(path).display().to_string();
    let mut spans = vec![
        Span::styled(word, style),
        Span::raw("  "),
        Span::styled(sanitize(&shown).replace('\n', " "), theme.text),
    ];
    if file.added + file.removed > 0 {
        spans.push(Span::styled(format!("  +{}", file.added), theme.success));
        spans.push(Span::styled(format!(" -{}", file.removed), theme.danger));
    }
    if let Some(why) = &file.conflict {
        let chosen = if view.is_done(file) { "chosen, though " } else { "" };
        spans.push(Span::styled(format!("  {chosen}{}", sanitize(why)), theme.muted));
    }
    truncate_line(Line::from(spans), usize::from(row.width)).render(row, buffer);
}

fn draw_difference(view: &RewindView, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let Some(file) = view.file() else { return };
    let Some(diff) = file.diff.as_deref().filter(|diff| !diff.is_empty()) else {
        if area.height > 0 {
            let text = "No lines to show: the same text, no text, or long.";
            put(buffer, (area.x, area.y), area.width, text, theme.muted);
        }
        return;
    };
    for (line, y) in diff.lines().skip(view.top).zip(area.y..area.bottom()) {
        let style = match line.as_bytes().first() {
            Some(b'+') => theme.success,
            Some(b'-') => theme.danger,
            Some(b'@') => theme.muted,
            _ => theme.text,
        };
        let line = Line::styled(sanitize(line).replace('\t', "    "), style);
        truncate_line(line, usize::from(area.width)).render(Rect { y, height: 1, ..area }, buffer);
    }
}
