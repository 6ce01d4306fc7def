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
use super::super::render::width::{line_width, spans_width, truncate, truncate_line};
use super::super::theme::Theme;
use super::super::update::money;

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
    let mut left = state(model, theme, now);
    let mut used = line_width(&left);
    for (key, word) in hints(model, now) {
        let hint = hint(&key, word, theme);
        let columns = spans_width(&hint);
        // A hint that is cut off helps nobody.
        if used + columns > room + HINT_GAP {
            break;
        }
        used += columns;
        left.spans.extend(hint);
    }
    while left.spans.last().is_some_and(|span| span.content.trim().is_empty()) {
        left.spans.pop();
    }
    truncate_line(left, room).render(area, buffer);
    let width = u16::try_from(right_width).unwrap_or(area.width).min(area.width);
    right.render(Rect { x: area.right() - width, width, ..area }, buffer);
}

/// What is said, or what runs.
fn state(model: &Model, theme: &Theme, now: f64) -> Line<'static> {
    if model.leave_armed.is_some_and(|armed| now < armed + LEAVE_SECONDS) {
        return Line::styled(" Press Ctrl-C again to leave", theme.warning);
    }
    if let Some(chord) = &model.chord {
        let keys: Vec<_> = chord.keys.iter().map(ToString::to_string).collect();
        return Line::styled(format!(" {}  ", keys.join(" ")), theme.accent);
    }
    if let Some(toast) = &model.status.toast {
        return Line::styled(format!(" {}", sanitize(&toast.text)), theme.accent);
    }
    let mut spans = vec![Span::raw(" ")];
    match &model.status.activity {
        Activity::Opening => {
            spans.push(Span::styled(spinner(theme, now), theme.accent));
            spans.push(Span::styled(" opening  ", theme.muted));
        }
        Activity::Running { since, step, cancelling } => {
            let elapsed = Duration::try_from_secs_f64((now - since).max(0.0)).unwrap_or_default();
            let is_asked = model.questions.current().is_some();
            let (mark, style) = if model.approvals.is_empty() && !is_asked {
                (spinner(theme, now), theme.accent)
            } else {
                ("?", theme.warning)
            };
            spans.push(Span::styled(mark, style));
            spans.push(Span::styled(format!(" {}", format::seconds(elapsed)), theme.text));
            if *step > 0 {
                let text = format!(" {} step {step}", theme.marks.separator);
                spans.push(Span::styled(text, theme.muted));
            }
            if *cancelling {
                spans.push(Span::styled(" stopping", theme.warning));
            }
            spans.push(Span::raw("  "));
        }
        Activity::Gone => spans.push(Span::styled("no session  ", theme.danger)),
        Activity::Idle => {}
    }
    Line::from(spans)
}

/// The keys that help now, the most helpful first.
fn hints(model: &Model, now: f64) -> Vec<(String, &'static str)> {
    let is_saying = model.status.toast.is_some() || model.leave_armed.is_some();
    let context = model.context(now);
    let global = |action: Action, word: &'static str| {
        model.keymap.key_for(Context::Global, action).map(|key| (key, word))
    };
    let mut hints = Vec::new();
    if let Some(chord) = &model.chord {
        return model.keymap.followers(chord.context, &chord.keys);
    }
    if is_saying {
        return hints;
    }
    if context == Context::Approval && model.approvals.feedback.is_some() {
        let send = model.keymap.key_for(Context::Composer, Action::Submit);
        let word = if model.approvals.edits_command { "run it" } else { "reject and send" };
        hints.extend(send.map(|key| (key, word)));
        hints.extend(global(Action::Back, "back"));
        return hints;
    }
    if context == Context::Question
        && model.questions.current().is_some_and(|asking| asking.writing.is_some())
    {
        let send = model.keymap.key_for(Context::Composer, Action::Submit);
        hints.extend(send.map(|key| (key, "answer")));
        hints.extend(global(Action::Back, "back"));
        return hints;
    }
    if context != Context::Composer {
        hints.extend(model.keymap.hints(context));
        hints.extend(
            global(Action::Back, "back")
                .filter(|_| !matches!(context, Context::Approval | Context::Question)),
        );
        return hints;
    }
    match model.status.activity {
        Activity::Running { cancelling: false, .. } => hints.extend(global(Action::Back, "stop")),
        Activity::Running { .. } => {}
        _ => hints.extend(model.keymap.hints(context)),
    }
    hints.extend(global(Action::Help, "help"));
    hints.extend(global(Action::FocusTimeline, "timeline"));
    hints.extend(global(Action::Sessions, "sessions"));
    hints
}

/// Columns behind a hint that need not be there at the end of the line.
const HINT_GAP: usize = 2;

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
    let running = model.tasks.running();
    if running > 0 {
        let tasks = if running == 1 { "task" } else { "tasks" };
        spans.push(Span::styled(format!("{running} {tasks}"), theme.accent));
        spans.push(Span::raw("  "));
    }
    if let Some(name) = info.model.as_deref().filter(|_| width >= 50) {
        let name = sanitize(name).into_owned();
        let name = truncate(&name, 24).into_owned();
        let label = if info.is_demo { "demo model, offline".to_owned() } else { name };
        let style = if info.is_demo { theme.warning } else { theme.muted };
        spans.push(Span::styled(label, style));
        spans.push(Span::raw("  "));
    }
    if let Some(cost) = model.status.cost.filter(|_| width >= 60) {
        spans.push(Span::styled(format!("{}  ", money(cost)), theme.muted));
    }
    if let Some(usage) = model.status.context_usage() {
        let style = gauge_style(model, usage, theme);
        let percent = format::percent(usage);
        if width >= 70 && !model.has_panes() {
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
