//! The items of the last line, as text: each in one form, or in several from short to long.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::model::Model;
use super::super::model::layout::Pane;
use super::super::model::status::Activity;
use super::super::render::ansi::ansi;
use super::super::render::format;
use super::super::render::sanitize::sanitize_line;
use super::super::render::width::{line_width, truncate, truncate_line};
use super::super::theme::Theme;
use super::super::update::money;
use super::statusline::{gauge_style, spinner};
use crate::config::StatusItem;

/// Columns a name may have.
const NAME: usize = 24;

/// The forms of `item`, the shortest first; none when it has nothing to say. Hints are not made here.
pub(super) fn forms(
    item: StatusItem,
    model: &Model,
    theme: &Theme,
    width: usize,
    now: f64,
) -> Vec<Line<'static>> {
    let status = &model.status;
    let info = &status.info;
    let muted = |text: String| Some((text, theme.muted));
    let name = |text: &str| muted(truncate(&sanitize_line(text, 0), NAME).into_owned());
    let written = match item {
        StatusItem::Hints => None,
        StatusItem::Activity => return activity(model, theme, now),
        StatusItem::Context => return context(model, theme),
        StatusItem::Command => return command(model, theme, width),
        StatusItem::Tasks => {
            let running = model.tasks.running();
            (running > 0).then(|| (format::count(running, "task", "tasks"), theme.accent))
        }
        StatusItem::Queue => {
            let queued = model.composer.queue.len();
            (queued > 0).then(|| (format!("{queued} queued"), theme.accent))
        }
        StatusItem::Modes => {
            let modes = modes(model).join(&format!(" {} ", theme.marks.separator));
            (!modes.is_empty()).then_some((modes, theme.warning))
        }
        StatusItem::Model if info.is_demo => {
            Some(("demo model, offline".to_owned(), theme.warning))
        }
        StatusItem::Model => info.model.as_deref().and_then(name),
        StatusItem::Thinking => info
            .thinking
            .and_then(|thinks| muted(if thinks { "thinking" } else { "no thinking" }.to_owned())),
        StatusItem::Tokens => (status.requests > 0).then(|| {
            let (up, down) = (theme.marks.up, theme.marks.down);
            let (sent, got) = (status.total_usage.input(), status.total_usage.output);
            let text = format!("{up}{} {down}{}", format::tokens(sent), format::tokens(got));
            (text, theme.muted)
        }),
        StatusItem::Cache => {
            let (read, sent) = (status.total_usage.input_cache_read, status.total_usage.input());
            let share = (read * 100).checked_div(sent);
            share.and_then(|share| muted(format!("cache {share}%")))
        }
        StatusItem::Cost => status.cost.and_then(|cost| muted(money(cost))),
        StatusItem::Time => {
            let running = match status.activity {
                Activity::Running { since, .. } => Some((now - since).max(0.0)),
                _ => status.last_turn,
            };
            running.and_then(|time| muted(seconds(time)))
        }
        StatusItem::Session => name(&info.title),
        StatusItem::Folder => {
            let folder = info.work_dir.file_name();
            folder.and_then(|folder| name(&folder.to_string_lossy()))
        }
        StatusItem::Branch => status.branch.as_deref().and_then(name),
        StatusItem::Agent => name(&info.agent),
    };
    let written = written.filter(|(text, _)| !text.is_empty());
    written.into_iter().map(|(text, style)| Line::styled(text, style)).collect()
}

fn seconds(time: f64) -> String {
    format::seconds(Duration::try_from_secs_f64(time).unwrap_or_default())
}

/// What is not as usual.
fn modes(model: &Model) -> Vec<String> {
    let vim = model.composer.vim.as_ref().map(|vim| vim.mode.name().to_owned());
    let words = [
        (model.status.plan_mode, "plan"),
        (model.status.info.yolo, "yolo"),
        (model.is_away, "away"),
        (model.composer.is_shell, "shell"),
        (model.is_mouse_left, "mouse off"),
    ];
    let words = words.into_iter().filter(|(is_on, _)| *is_on).map(|(_, word)| word.to_owned());
    words.chain(vim).collect()
}

fn activity(model: &Model, theme: &Theme, now: f64) -> Vec<Line<'static>> {
    let short = match &model.status.activity {
        Activity::Opening => vec![
            Span::styled(spinner(theme, now), theme.accent),
            Span::styled(" opening", theme.muted),
        ],
        Activity::Running { since, cancelling, .. } => {
            let is_asked = model.questions.current().is_some();
            let (mark, style) = if model.approvals.is_empty() && !is_asked {
                (spinner(theme, now), theme.accent)
            } else {
                ("?", theme.warning)
            };
            let time = seconds((now - since).max(0.0));
            let mut spans =
                vec![Span::styled(mark, style), Span::styled(format!(" {time}"), theme.text)];
            if *cancelling {
                spans.push(Span::styled(" stopping", theme.warning));
            }
            spans
        }
        Activity::Gone => vec![Span::styled("no session", theme.danger)],
        Activity::Idle => return Vec::new(),
    };
    let mut forms = vec![Line::from(short.clone())];
    if let Activity::Running { step, .. } = model.status.activity
        && step > 0
    {
        let mut long = short;
        let text = format!(" {} step {step}", theme.marks.separator);
        long.insert(2, Span::styled(text, theme.muted));
        forms.push(Line::from(long));
    }
    forms
}

fn context(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let Some(usage) = model.status.context_usage() else { return Vec::new() };
    let style = gauge_style(model, usage, theme);
    let percent = format::percent(usage);
    let tokens = model.status.context_tokens.unwrap_or_default();
    let (used, window) = (format::tokens(tokens), format::tokens(model.status.max_tokens()));
    let mut forms = vec![percent.clone()];
    // The pane says the rest.
    if !model.screen.shows(Pane::Context) {
        forms.push(format!("context {percent}"));
        forms.push(format!("context {percent} ({used}/{window})"));
    }
    forms.into_iter().map(|text| Line::styled(text, style)).collect()
}

/// The line the person's command printed, its colours kept, cut to what room there may be.
fn command(model: &Model, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let Some(printed) = &model.status_command.line else { return Vec::new() };
    let base: Style = theme.muted;
    let Some(line) = ansi(printed, base, theme.depth).into_iter().next() else {
        return Vec::new();
    };
    let whole = line_width(&line);
    let shorter = [width / 6, width / 4, width / 3, width / 2, width * 2 / 3];
    let cuts = shorter.into_iter().filter(|columns| *columns >= 4 && *columns < whole);
    let mut forms: Vec<_> = cuts.map(|columns| truncate_line(line.clone(), columns)).collect();
    if whole > 0 {
        forms.push(line);
    }
    forms
}
