//! The approval panel: who asks, for what, and the answers. What is asked for is never folded away
//! without saying so.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::approval::Answer;
use super::super::render::diff::Laid;
use super::super::render::highlight::HighlightCache;
use super::super::render::sanitize::sanitize;
use super::super::render::sheet::Sheet;
use super::super::render::width::{truncate_line, width as text_width};
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::put::put;
use crate::message::{DiffBlock, DisplayBlock};
use crate::permission::Scope;
use crate::permission::danger;
use crate::wire::ApprovalRequest;

/// Rows of what is asked for, before it is expanded.
const SUBJECT: usize = 10;
/// Rows of the feedback while it is written.
const FEEDBACK: u16 = 4;

/// What is asked for, laid out once and kept while it is asked: a diff may have thousands of lines, of
/// which only those in the window are drawn.
#[derive(Debug, Default)]
pub(super) struct Subject {
    key: Option<(u64, u16, u64, bool)>,
    sheet: Sheet,
    /// Its first rows that say what is dangerous.
    dangers: usize,
}

impl Subject {
    /// Brings it up to date; says how many rows it has.
    pub(super) fn update(
        &mut self,
        model: &Model,
        theme: &Theme,
        highlight: &HighlightCache,
        width: u16,
    ) -> usize {
        let Some(request) = model.approvals.current() else {
            *self = Self::default();
            return 0;
        };
        let key = (model.approvals.shown, width, theme.revision, model.diffs_beside);
        if self.key != Some(key) {
            self.sheet = subject(request, model.diffs_beside, theme, highlight, width);
            self.dangers = dangers(request, theme, width).len();
            self.key = Some(key);
        }
        self.sheet.len()
    }
}

/// Rows of the answers; a rule has a second one, about how wide it is.
fn answer_rows(model: &Model) -> u16 {
    let answers = model.approvals.answers();
    let rows = answers.len() + usize::from(answers.contains(&Answer::Rule));
    u16::try_from(rows).unwrap_or(u16::MAX)
}

/// Rows the panel would like.
pub(super) fn height(model: &Model, width: u16, subject_rows: usize) -> u16 {
    let shown =
        if model.approvals.is_expanded { subject_rows } else { subject_rows.min(SUBJECT + 1) };
    let feedback =
        model.approvals.feedback.as_ref().map_or(0, |editor| editor.rows(width, FEEDBACK) + 1);
    u16::try_from(shown).unwrap_or(u16::MAX).saturating_add(2 + answer_rows(model) + feedback)
}

/// Draws the panel; says where the cursor is while something is written in it.
pub(super) fn draw(
    model: &Model,
    theme: &Theme,
    (subject, highlight): (&Subject, &HighlightCache),
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
    top: &mut Option<usize>,
) -> Option<Point> {
    let request = model.approvals.current()?;
    if area.height == 0 {
        return None;
    }
    Clear.render(area, buffer);
    buffer.set_style(area, theme.ground());
    title(model, request, theme, Rect { height: 1, ..area }, buffer);
    let rest = Rect { y: area.y + 1, height: area.height - 1, ..area };

    let feedback_rows = model
        .approvals
        .feedback
        .as_ref()
        .map_or(0, |editor| editor.rows(rest.width.saturating_sub(4), FEEDBACK));
    let answers = answer_rows(model);
    let answers_height = if rest.height > answers + 1 { answers } else { 1 };
    let bottom_height = (answers_height + feedback_rows).min(rest.height);
    let subject_height = rest.height - bottom_height;
    let subject_area = Rect { height: subject_height, ..rest };
    *top = draw_subject(model, subject, theme, highlight, subject_area, buffer);
    let answers = Rect { y: rest.y + subject_height, height: answers_height, ..rest };
    if answers_height == 1 {
        draw_short_answers(model, theme, answers, buffer, now);
    } else {
        draw_answers(model, request, theme, answers, buffer, now);
    }
    let editor = model.approvals.feedback.as_ref()?;
    let inner = Rect {
        x: rest.x + 4.min(rest.width),
        y: answers.bottom(),
        width: rest.width.saturating_sub(4),
        height: rest.bottom().saturating_sub(answers.bottom()),
    };
    if inner.height == 0 || inner.width == 0 {
        return None;
    }
    if editor.is_empty() {
        let hint = if model.approvals.edits_command {
            "The command; Enter runs it, Esc goes back"
        } else {
            "What should it do instead? Enter sends, Esc goes back"
        };
        put(buffer, (inner.x, inner.y), inner.width, hint, theme.muted);
        return Some(Point { x: inner.x, y: inner.y });
    }
    editor.draw(theme.text, inner, buffer)
}

fn title(model: &Model, request: &ApprovalRequest, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let line = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), u16::MAX, line, theme.warning);
    let mut text = format!(" {} asks: {} ", request.sender, request.action);
    if let Some(kind) = &request.subagent_type {
        let what = request.source_description.as_deref().unwrap_or_default();
        let what = if what.is_empty() { String::new() } else { format!(" ({what})") };
        text = format!(" {} of subagent {kind}{what} asks: {} ", request.sender, request.action);
    }
    let waiting = model.approvals.len();
    if waiting > 1 {
        text.push_str(&format!("{} 1 of {waiting} ", theme.marks.separator));
    }
    let text = sanitize(&text).into_owned();
    let line = Line::styled(text, theme.warning);
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    truncate_line(line, usize::from(inner.width)).render(inner, buffer);
}

fn draw_subject(
    model: &Model,
    subject: &Subject,
    theme: &Theme,
    highlight: &HighlightCache,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<usize> {
    let lines = &subject.sheet;
    let rows = usize::from(area.height);
    let fits = lines.len() <= rows;
    let shown = if fits { rows } else { rows.saturating_sub(1) };
    let top = if model.approvals.is_expanded {
        model.approvals.top.min(lines.len().saturating_sub(shown))
    } else if subject.dangers >= shown {
        // What is asked for must be seen, and that it is dangerous: a mark says it where words would
        // leave no room.
        subject.dangers.min(lines.len().saturating_sub(shown))
    } else {
        0
    };
    for (row, line) in lines.lines(top..top + shown, theme, highlight).iter().enumerate() {
        let y = area.y + u16::try_from(row).unwrap_or_default();
        line.render(Rect { y, height: 1, ..area }, buffer);
    }
    if top > 0 && !model.approvals.is_expanded && shown > 0 {
        put(buffer, (area.x, area.y), 1, "!", theme.danger);
    }
    if !fits && rows > 0 {
        let key =
            model.keymap.key_for(Context::Approval, Action::ToggleDetails).unwrap_or_default();
        let text = format!(
            "  {} {} more lines you have not seen, {key} shows them",
            theme.marks.ellipsis,
            lines.len() - shown
        );
        let short = format!("{} {} more, {key}", theme.marks.ellipsis, lines.len() - shown);
        let text = if text_width(&text) > usize::from(area.width) { short } else { text };
        let last = (top + shown).min(lines.len());
        let place = format!("  {}-{last} of {} lines, PageUp, PageDown", top + 1, lines.len());
        let text = if model.approvals.is_expanded { place } else { text };
        put(buffer, (area.x, area.bottom() - 1), area.width, text, theme.warning);
    }
    Some(top)
}

fn subject(
    request: &ApprovalRequest,
    beside: bool,
    theme: &Theme,
    highlight: &HighlightCache,
    width: u16,
) -> Sheet {
    let indent = [Span::raw("  ")];
    let inner = width.saturating_sub(2);
    // Dangers come first: nothing a long command has may fold them away.
    let mut lines = dangers(request, theme, width);
    let mut diffs: Vec<DiffBlock> = Vec::new();
    for block in &request.display {
        match block {
            DisplayBlock::Shell { command, .. } => {
                let first = [Span::styled("  $ ", theme.accent)];
                let rest = [Span::raw("    ")];
                for (index, line) in sanitize(command).lines().enumerate() {
                    let lead: &[Span<'static>] = if index == 0 { &first } else { &rest };
                    lines.extend(wrap(&styled(line, theme.strong), width, lead, &rest));
                }
            }
            DisplayBlock::Diff(block) => diffs.push(block.clone()),
            DisplayBlock::Brief { text } => {
                for line in sanitize(text).lines() {
                    lines.extend(wrap(&styled(line, theme.text), width, &indent, &indent));
                }
            }
            _ => {}
        }
    }
    if !diffs.is_empty() || lines.is_empty() {
        for line in sanitize(&request.description).lines() {
            lines.extend(wrap(&styled(line, theme.strong), width, &indent, &indent));
        }
    }
    let mut sheet = Sheet::from(lines);
    if !diffs.is_empty() {
        sheet.push_diff(Laid::new(diffs, beside, inner, theme, highlight), 2);
    }
    sheet
}

/// What is dangerous about the command, in words: it must be seen without colours too.
fn dangers(request: &ApprovalRequest, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let commands = request.display.iter().filter_map(|block| match block {
        DisplayBlock::Shell { command, .. } => Some(command.as_str()),
        _ => None,
    });
    let mut lines = Vec::new();
    for mark in commands.flat_map(danger::marks) {
        let lead = [Span::styled("  ! Danger: ", theme.danger)];
        let reason = styled(&sanitize(&mark.reason), theme.text);
        lines.extend(wrap(&reason, width, &lead, &[Span::raw("    ")]));
    }
    lines
}

fn styled(text: &str, style: Style) -> Line<'static> {
    Line::styled(text.to_owned(), style)
}

fn answer_words(model: &Model, answer: Answer, request: &ApprovalRequest) -> (Action, String) {
    match answer {
        Answer::Once => (Action::Approve, "Approve once".to_owned()),
        Answer::Session => (
            Action::ApproveForSession,
            format!(
                "Approve for this session: every \"{}\" from now on",
                sanitize(&request.action)
            ),
        ),
        Answer::Rule => {
            let begin = model.approvals.rule().and_then(|rule| rule.command.clone());
            let begin = begin.unwrap_or_default();
            let place = match model.approvals.scope {
                Scope::Session => "for this session",
                Scope::Project => "in this project",
                Scope::User => "everywhere",
            };
            let words = format!("Approve `{} …` {place}", sanitize(&begin));
            (Action::ApproveByRule, words)
        }
        Answer::Edit => (Action::EditCommand, "Change the command, then run it".to_owned()),
        Answer::EditContent => {
            (Action::EditContent, "Change the content in the editor, then write it".to_owned())
        }
        Answer::All => {
            let count = model.approvals.alike().len();
            let words = format!("Approve all {count} pending \"{}\"", sanitize(&request.action));
            (Action::ApproveAll, words)
        }
        Answer::RejectAll => {
            let count = model.approvals.alike().len();
            let words = format!("Reject all {count} pending \"{}\"", sanitize(&request.action));
            (Action::RejectAll, words)
        }
        Answer::Reject => (Action::Reject, "Reject".to_owned()),
        Answer::Feedback => {
            (Action::RejectWithFeedback, "Reject, and say what to do instead".to_owned())
        }
    }
}

/// How the offered rule is changed, and what it would have allowed.
fn rule_words(model: &Model) -> String {
    let key = |action| model.keymap.key_for(Context::Approval, action).unwrap_or_default();
    let keys = format!(
        "{} narrower, {} wider, {} where",
        key(Action::NarrowRule),
        key(Action::WidenRule),
        key(Action::RuleScope)
    );
    match model.approvals.preview.as_str() {
        "" => keys,
        preview => format!("{preview}; {keys}"),
    }
}

fn draw_answers(
    model: &Model,
    request: &ApprovalRequest,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
    now: f64,
) {
    let listens = model.approvals.is_listening(now);
    let mut y = area.y;
    for (index, answer) in model.approvals.answers().into_iter().enumerate() {
        let (action, words) = answer_words(model, answer, request);
        let key = model.keymap.key_for(Context::Approval, action).unwrap_or_default();
        let is_marked = listens && index == model.approvals.marked;
        let pointer = if is_marked { theme.marks.folded } else { " " };
        let style = match (listens, is_marked) {
            (false, _) => theme.muted,
            (true, true) => theme.accent,
            (true, false) => theme.text,
        };
        let key_style = if listens { theme.key } else { theme.muted };
        let line = Line::from(vec![
            Span::styled(format!("{pointer} "), theme.accent),
            Span::styled(key, key_style),
            Span::styled(format!("  {words}"), style),
        ]);
        let about = (answer == Answer::Rule)
            .then(|| styled(&format!("     {}", rule_words(model)), theme.muted));
        for line in std::iter::once(line).chain(about).take(usize::from(area.bottom() - y)) {
            truncate_line(line, usize::from(area.width))
                .render(Rect { y, height: 1, ..area }, buffer);
            y += 1;
        }
    }
}

fn draw_short_answers(model: &Model, theme: &Theme, area: Rect, buffer: &mut Buffer, now: f64) {
    let mut spans = Vec::new();
    let listens = model.approvals.is_listening(now);
    for (key, word) in model.keymap.hints(Context::Approval) {
        spans.push(Span::styled(key, if listens { theme.key } else { theme.muted }));
        spans.push(Span::styled(format!(" {word}  "), theme.muted));
    }
    truncate_line(Line::from(spans), usize::from(area.width)).render(area, buffer);
}
