//! What a subagent does, within the card of the call that started it.

use ratatui::text::{Line, Span};

use super::super::model::cell::ToolCell;
use super::super::model::tasks::{Nested, NestedRow};
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::theme::Theme;

/// Rows of a subagent's work that a folded card shows while it works.
const FOLDED: usize = 6;
/// The columns in front of a row: the card's own indent and the bar.
const INDENT: &str = "  ";

/// Its rows: while it works the last ones; afterwards one that sums up, or all of them.
pub(super) fn lines(
    tool: &ToolCell,
    details: bool,
    theme: &Theme,
    width: u16,
) -> Vec<Line<'static>> {
    let nested = &tool.nested;
    if nested.kind.is_empty() && nested.rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![head(nested, theme, width)];
    let most = match (details, tool.state.is_over()) {
        (true, _) => usize::MAX,
        (false, true) => 0,
        (false, false) => FOLDED,
    };
    let skip = nested.rows.len().saturating_sub(most);
    let hidden = nested.dropped + skip;
    if hidden > 0 && most > 0 {
        let text = format!("{INDENT}{} {} {hidden} before", theme.marks.bar, theme.marks.ellipsis);
        lines.push(Line::styled(text, theme.muted));
    }
    lines.extend(nested.rows.iter().skip(skip).map(|line| row(line, theme, width)));
    lines
}

/// Which subagent, and how much it did.
fn head(nested: &Nested, theme: &Theme, width: u16) -> Line<'static> {
    let calls = if nested.calls == 1 { "call" } else { "calls" };
    let mut text = format!(
        "{INDENT}{} {} {} tool {calls}",
        sanitize(&nested.kind),
        theme.marks.separator,
        nested.calls
    );
    if nested.failed > 0 {
        text.push_str(&format!(", {} failed", nested.failed));
    }
    truncate_line(Line::styled(text, theme.muted), usize::from(width))
}

fn row(row: &NestedRow, theme: &Theme, width: u16) -> Line<'static> {
    let (mark, style) = match (&row.call_id, row.worked) {
        (Some(_), Some(true)) => (theme.marks.check, theme.success),
        (_, Some(false)) => (theme.marks.cross, theme.danger),
        (Some(_), None) => (theme.marks.ring, theme.accent),
        (None, _) => (" ", theme.muted),
    };
    let deeper = "  ".repeat(row.depth.min(4));
    let text = sanitize(&row.text).replace('\n', " ");
    let style_of_text = if row.call_id.is_some() { theme.tool_arg } else { theme.muted };
    let line = Line::from(vec![
        Span::styled(format!("{INDENT}{} {deeper}", theme.marks.bar), theme.border),
        Span::styled(format!("{mark} "), style),
        Span::styled(text, style_of_text),
    ]);
    truncate_line(line, usize::from(width))
}
