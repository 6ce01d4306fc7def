//! What an empty transcript says: what this is, and what to do.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;

/// Draws it.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let lines = lines(model, theme, area.width.saturating_sub(4));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let top = area.y + area.height.saturating_sub(height) / 3;
    for (row, line) in lines.into_iter().enumerate() {
        let y = top + u16::try_from(row).unwrap_or_default();
        if y < area.bottom() {
            let x = area.x + 2.min(area.width);
            line.render(Rect { x, y, width: area.width.saturating_sub(2), height: 1 }, buffer);
        }
    }
}

pub(super) fn lines(model: &Model, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let info = &model.status.info;
    let folder =
        format::folder(&info.work_dir.display().to_string(), model.program.home.as_deref());
    let mut lines = vec![
        Line::from(vec![
            Span::styled("kimi-tui", theme.heading),
            Span::styled(format!("  {}", env!("CARGO_PKG_VERSION")), theme.muted),
        ]),
        Line::styled(sanitize(&folder).into_owned(), theme.muted),
        Line::default(),
    ];
    if info.is_demo {
        let text = "No model is configured, so the built-in demo model answers: offline, scripted, \
                    but with real tools, approvals, checkpoints and D-Mail. Try:";
        lines.extend(wrap(&Line::styled(text, theme.text), width, &[], &[]));
        lines.push(Line::default());
        for example in ["hello", "list files", "run echo hi", "make a plan", "go back"] {
            lines.push(Line::from(vec![
                Span::styled(format!("{} ", theme.marks.folded), theme.accent),
                Span::styled(example, theme.text),
            ]));
        }
        lines.push(Line::default());
        let text = "To connect a real model type /login: Kimi, OpenAI, Anthropic, Gemini, Ollama, or any \
                    compatible server.";
        lines.extend(wrap(&Line::styled(text, theme.muted), width, &[], &[]));
        lines.push(Line::default());
    }
    for (action, words) in [
        (Action::FocusTimeline, "checkpoints: look back, go back, send a D-Mail"),
        (Action::Sessions, "earlier conversations: search, read, go on with one"),
        (Action::Help, "all keys and commands"),
        (Action::Quit, "leave; the conversation is kept"),
    ] {
        if let Some(key) = model.keymap.key_for(Context::Global, action) {
            lines.push(Line::from(vec![
                Span::styled(format!("{key:<8}"), theme.key),
                Span::styled(words, theme.muted),
            ]));
        }
    }
    lines
}
