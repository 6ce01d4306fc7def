//! The help page, made from the keymap.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::Context;
use super::super::model::Model;
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate_line;
use super::super::theme::Theme;
use super::super::update::commands;
use super::panel;

/// Draws the page from line `scroll` on.
pub(super) fn draw(model: &Model, scroll: u16, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let area = panel::centred(area, 90, area.height.saturating_sub(2).max(4));
    let inner = panel::draw("Help · esc closes", theme, area, buffer);
    let lines = lines(model, theme);
    let last = lines.len().saturating_sub(usize::from(inner.height));
    let first = usize::from(scroll).min(last);
    for (row, line) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        let y = inner.y + u16::try_from(row).unwrap_or_default();
        truncate_line(line, usize::from(inner.width))
            .render(Rect { y, height: 1, ..inner }, buffer);
    }
}

fn lines(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for context in Context::ALL {
        lines.push(Line::styled(context.title(), theme.heading));
        for binding in model.keymap.of(context) {
            let keys: Vec<_> = binding.keys.iter().map(ToString::to_string).collect();
            lines.push(Line::from(vec![
                Span::styled(format!("  {:<33}", keys.join("  ")), theme.key),
                Span::styled(binding.label, theme.text),
            ]));
        }
        lines.push(Line::default());
    }
    lines.push(Line::styled("Commands", theme.heading));
    for (name, description) in commands(model, "") {
        lines.push(Line::from(vec![
            Span::styled(format!("  /{:<32}", sanitize(&name)), theme.key),
            Span::styled(sanitize(&description).into_owned(), theme.text),
        ]));
    }
    lines
}
