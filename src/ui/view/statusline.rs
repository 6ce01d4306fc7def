//! The last line: what runs and how to stop it, or the keys that help now; model and context use.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::keymap::{Action, Context};
use super::super::model::status::Activity;
use super::super::model::{LEAVE_SECONDS, Model, SPINNER_SECONDS};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{line_width, truncate, truncate_line};
use super::super::theme::Theme;

/// The spinner's picture at `now`.
pub(super) fn spinner(theme: &Theme, now: f64) -> &'static str {
    let pictures = theme.marks.spinner;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let index = (now.rem_euclid(3600.0) / SPINNER_SECONDS) as usize;
    pictures.get(index % pictures.len().max(1)).copied().unwrap_or(theme.marks.dot)
}

/// Draws the line.
pub(super) fn draw(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    if area.height == 0 {
        return;
    }
    let right = right(model, theme, area.width);
    let right_width = line_width(&right);
    let room = usize::from(area.width).saturating_sub(right_width + 1);
    let left = truncate_line(left(model, theme, now), room);
    left.render(area, buffer);
    let width = u16::try_from(right_width).unwrap_or(area.width).min(area.width);
    right.render(Rect { x: area.right() - width, width, ..area }, buffer);
}

fn left(model: &Model, theme: &Theme, now: f64) -> Line<'static> {
    if model.leave_armed.is_some_and(|armed| now < armed + LEAVE_SECONDS) {
        return Line::styled(" Press Ctrl-C again to leave", theme.warning);
    }
    if let Some(toast) = &model.status.toast {
        return Line::styled(format!(" {}", sanitize(&toast.text)), theme.accent);
    }
    let mut spans = vec![Span::raw(" ")];
    let context = model.context(now);
    match &model.status.activity {
        Activity::Opening => {
            spans.push(Span::styled(spinner(theme, now), theme.accent));
            spans.push(Span::styled(" opening ", theme.muted));
        }
        Activity::Running { since, step, cancelling } => {
            let elapsed = Duration::try_from_secs_f64((now - since).max(0.0)).unwrap_or_default();
            let state = if model.approvals.is_empty() {
                (spinner(theme, now), theme.accent)
            } else {
                ("?", theme.warning)
            };
            spans.push(Span::styled(state.0, state.1));
            spans.push(Span::styled(format!(" {}", format::seconds(elapsed)), theme.text));
            if *step > 0 {
                spans.push(Span::styled(
                    format!(" {} step {step}", theme.marks.separator),
                    theme.muted,
                ));
            }
            if *cancelling {
                spans.push(Span::styled(" stopping ", theme.warning));
            } else if context == Context::Composer {
                let key = model.keymap.key_for(Context::Composer, Action::Back).unwrap_or_default();
                spans.push(Span::raw("  "));
                spans.extend(hint(&key, "stop", theme));
            } else {
                spans.push(Span::raw("  "));
            }
        }
        Activity::Gone => spans.push(Span::styled("no session ", theme.danger)),
        Activity::Idle => {}
    }
    let hints = model.keymap.hints(context);
    let shown = if model.status.activity.is_running() && context == Context::Composer {
        Vec::new()
    } else {
        hints
    };
    for (key, word) in shown {
        spans.extend(hint(&key, word, theme));
    }
    if context == Context::Composer {
        for action in [Action::FocusTimeline, Action::Sessions, Action::Help] {
            if let Some(key) = model.keymap.key_for(Context::Global, action) {
                let word = match action {
                    Action::FocusTimeline => "timeline",
                    Action::Sessions => "sessions",
                    _ => "help",
                };
                spans.extend(hint(&key, word, theme));
            }
        }
    }
    Line::from(spans)
}

/// A key and the word for it.
pub(super) fn hint(key: &str, word: &str, theme: &Theme) -> [Span<'static>; 3] {
    [
        Span::styled(key.to_owned(), theme.key),
        Span::styled(format!(" {word}"), theme.muted),
        Span::raw("  "),
    ]
}

fn right(model: &Model, theme: &Theme, width: u16) -> Line<'static> {
    let mut spans = Vec::new();
    let info = &model.status.info;
    if let Some(name) = info.model.as_deref().filter(|_| width >= 50) {
        let name = sanitize(name).into_owned();
        let name = truncate(&name, 24).into_owned();
        let label = if info.is_demo { "demo model, offline".to_owned() } else { name };
        let style = if info.is_demo { theme.warning } else { theme.muted };
        spans.push(Span::styled(label, style));
        spans.push(Span::raw("  "));
    }
    if let Some(usage) = model.status.context_usage() {
        let style = gauge_style(model, usage, theme);
        let percent = format::percent(usage);
        if width >= 70 && !model.screen.has_sidebar() {
            let tokens = model.status.context_tokens.unwrap_or_default();
            let numbers = format!(
                "context {percent} ({}/{})",
                format::tokens(tokens),
                format::tokens(model.status.max_tokens())
            );
            spans.push(Span::styled(numbers, style));
        } else {
            spans.push(Span::styled(percent, style));
        }
    }
    spans.push(Span::raw(" "));
    Line::from(spans)
}

/// The colour of the gauge: how near the next compaction is.
pub(super) fn gauge_style(model: &Model, usage: f64, theme: &Theme) -> Style {
    let at = match model.status.info.compaction_at {
        at if at > 0.0 => at,
        _ => 1.0,
    };
    if usage >= at * 0.9 {
        theme.gauge_high
    } else if usage >= at * 0.65 {
        theme.gauge_mid
    } else {
        theme.gauge_low
    }
}
