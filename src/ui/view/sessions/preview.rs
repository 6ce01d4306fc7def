//! A closer look at the marked session: what is wrong with it, tokens, todos, the last words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::super::model::sessions::SessionList;
use super::super::super::render::format;
use super::super::super::render::sanitize::sanitize;
use super::super::super::render::width::truncate_line;
use super::super::super::render::wrap::wrap;
use super::super::super::theme::Theme;
use super::super::put::put;
use crate::message::{Role, TodoStatus};
use crate::session::Preview;

/// Heights of a column of the curve.
const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Todos shown.
const TODOS: usize = 5;
/// Lines of one message shown.
const LINES: usize = 6;

/// Draws the preview, and says how far up it is scrolled: no further than there is something.
pub(super) fn draw(list: &SessionList, theme: &Theme, area: Rect, buffer: &mut Buffer) -> usize {
    let Some(row) = list.marked_row() else { return 0 };
    let Some((dir, preview)) = &list.preview else { return 0 };
    // While another session is being looked at, the last look stands rather than nothing.
    if *dir != row.session.dir && list.previewing.is_none() {
        return 0;
    }
    let mut y = area.y;
    for line in head(preview, theme, area.width) {
        if y < area.bottom() {
            line.render(Rect { y, height: 1, ..area }, buffer);
            y += 1;
        }
    }
    // The last words are what it was about in the end: they get the room from the bottom up.
    let room = usize::from(area.bottom().saturating_sub(y + 1));
    let said = last_words(preview, theme, area.width);
    let scroll = list.preview_scroll.min(said.len().saturating_sub(room));
    let from = said.len().saturating_sub(room + scroll);
    for (line, y) in said.into_iter().skip(from).zip(y + 1..area.bottom()) {
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
    if scroll > 0 && y < area.bottom() {
        let below = format!("{} below, alt-down", format::count(scroll, "line", "lines"));
        put(buffer, (area.x, y), area.width, below, theme.muted);
    }
    scroll
}

fn head(preview: &Preview, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(problem) = &preview.problem {
        lines.extend(wrapped(problem, theme.warning, "", width));
    }
    if let Some(holder) = preview.holder {
        let who = holder.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        lines.push(Line::styled(format!("Open in a kimi-tui{who}"), theme.accent));
    }
    let mut facts = vec![
        format::count(preview.messages, "message", "messages"),
        format::count(preview.checkpoints, "checkpoint", "checkpoints"),
    ];
    if preview.generations > 1 {
        facts.push(format!("{} contexts", preview.generations));
    }
    facts.push(format!("{} on disk", format::size(preview.disk)));
    if preview.snapshots > 0 {
        facts.push(format!("{} of snapshots", format::size(preview.snapshots)));
    }
    lines.extend(wrapped(&facts.join(" · "), theme.muted, "", width));
    let most = preview.curve.iter().max().copied().unwrap_or(0);
    if most > 0 {
        let columns = usize::from(width).saturating_sub(16).min(60);
        lines.push(Line::from(vec![
            Span::styled("tokens ", theme.muted),
            Span::styled(sparkline(&preview.curve, columns), theme.accent),
            Span::styled(format!(" {}", format::tokens(most)), theme.muted),
        ]));
    }
    for todo in preview.todos.iter().take(TODOS) {
        let (mark, style) = match todo.status {
            TodoStatus::Done => (theme.marks.check, theme.success),
            TodoStatus::InProgress => (theme.marks.dot, theme.accent),
            TodoStatus::Pending => (theme.marks.ring, theme.muted),
        };
        let title = sanitize(&todo.title).replace('\n', " ");
        let spans = vec![Span::styled(format!("{mark} "), style), Span::styled(title, theme.text)];
        lines.push(truncate_line(Line::from(spans), usize::from(width)));
    }
    if preview.todos.len() > TODOS {
        let more = format!("  and {} more to do", preview.todos.len() - TODOS);
        lines.push(Line::styled(more, theme.muted));
    }
    lines
}

/// `values` as columns, the highest of those that share one.
fn sparkline(values: &[u64], columns: usize) -> String {
    let most = values.iter().max().copied().unwrap_or(0).max(1);
    let columns = columns.min(values.len()).max(1);
    (0..columns)
        .map(|column| {
            let (from, to) =
                (column * values.len() / columns, (column + 1) * values.len() / columns);
            let value = values[from..to.max(from + 1).min(values.len())].iter().max().copied();
            let level = value.unwrap_or(0).saturating_mul(LEVELS.len() as u64 - 1) / most;
            LEVELS[usize::try_from(level).unwrap_or(0).min(LEVELS.len() - 1)]
        })
        .collect()
}

fn last_words(preview: &Preview, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for said in &preview.last {
        let (style, indent) = match said.role {
            Role::User => (theme.user, "> "),
            Role::Assistant => (theme.text, ""),
            Role::Tool | Role::System => (theme.muted, "  "),
        };
        let most = if said.role == Role::Tool { 2 } else { LINES };
        let all = wrapped(&said.text, style, indent, width);
        let is_cut = all.len() > most;
        lines.extend(all.into_iter().take(most));
        if is_cut {
            lines.push(Line::styled(format!("{indent}…"), theme.muted));
        }
    }
    lines
}

fn wrapped(
    text: &str,
    style: ratatui::style::Style,
    indent: &'static str,
    width: u16,
) -> Vec<Line<'static>> {
    let indent = [Span::styled(indent, style)];
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .take(LINES + 1)
        .flat_map(|line| {
            wrap(&Line::styled(sanitize(line).into_owned(), style), width, &indent, &indent)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_a_column_a_value_until_there_is_no_room() {
        assert_eq!(sparkline(&[0, 50, 100], 10), "▁▄█");
        assert_eq!(sparkline(&[0, 100, 0, 100], 2), "██");
        assert_eq!(sparkline(&[], 5), "▁");
    }
}
