//! What there is to know about the marked row of the timeline.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::Line;

use super::super::super::model::Model;
use super::super::super::model::timeline::{CheckpointEntry, EntryKind, Jump, JumpNotes};
use super::super::super::render::format;
use super::super::super::render::sanitize::sanitize;
use super::super::super::render::wrap::wrap;
use super::super::super::theme::Theme;
use super::{change, previous_tokens, to_usize, tools};
use crate::message::Generation;

/// Rows a long text gets.
const TEXT_ROWS: usize = 3;

/// The lines about row `index`.
pub(super) fn lines(
    model: &Model,
    index: usize,
    theme: &Theme,
    width: u16,
    now: f64,
) -> Vec<Line<'static>> {
    let Some(entry) = model.timeline.entries.get(index) else { return Vec::new() };
    let mut out = Lines { theme, width, lines: Vec::new() };
    let age = age(entry.time, now);
    match &entry.kind {
        EntryKind::Turn { .. } => {}
        EntryKind::Checkpoint(checkpoint) => {
            checkpoint_lines(checkpoint, previous_tokens(model, index), &age, &mut out);
        }
        EntryKind::Jump { jump, tokens, ended, notes } => {
            jump_lines(*jump, *tokens, *ended, notes, &age, &mut out);
        }
    }
    out.lines
}

struct Lines<'a> {
    theme: &'a Theme,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Lines<'_> {
    fn add(&mut self, text: &str, style: Style) {
        let line = Line::styled(sanitize(text).replace('\n', " "), style);
        self.lines.extend(wrap(&line, self.width, &[], &[]).into_iter().take(2));
    }

    /// A text that may take a few rows.
    fn text(&mut self, text: &str, style: Style) {
        let line = Line::styled(sanitize(text).replace('\n', " "), style);
        self.lines.extend(wrap(&line, self.width, &[], &[]).into_iter().take(TEXT_ROWS));
    }
}

/// How long ago, or nothing where it is not known.
fn age(time: f64, now: f64) -> String {
    if time <= 0.0 {
        return String::new();
    }
    let age = Duration::try_from_secs_f64((now - time).max(0.0)).unwrap_or_default();
    format!(" · {}", format::ago(age))
}

fn checkpoint_lines(
    checkpoint: &CheckpointEntry,
    before: Option<u64>,
    age: &str,
    out: &mut Lines<'_>,
) {
    let theme = out.theme;
    let place = match checkpoint.step {
        Some(step) => format!("before step {step}"),
        None => "before a prompt".to_owned(),
    };
    out.add(&format!("Checkpoint {} {place}{age}", checkpoint.at), theme.strong);
    let tokens = checkpoint.size.tokens;
    let more = before.filter(|before| tokens > *before).map_or(String::new(), |before| {
        format!(", {} more than the row above", format::tokens(tokens - before))
    });
    let messages = format::count(to_usize(checkpoint.size.messages), "message", "messages");
    out.add(&format!("{} tokens in {messages}{more}", format::tokens(tokens)), theme.muted);
    if !checkpoint.tools.is_empty() {
        let failed = match checkpoint.failures {
            0 => String::new(),
            failures => format!(" ({failures} failed)"),
        };
        out.add(&format!("Then ran {}{failed}", tools(checkpoint)), theme.muted);
    }
    if !checkpoint.files.is_empty() {
        out.text(&format!("Wrote {}", checkpoint.files.join(", ")), theme.muted);
    }
    if !checkpoint.is_live {
        out.text("The model no longer has it: v reads that context, R restores it", theme.warning);
    }
}

fn jump_lines(
    jump: Jump,
    tokens: (u64, u64),
    ended: Generation,
    notes: &JumpNotes,
    age: &str,
    out: &mut Lines<'_>,
) {
    let theme = out.theme;
    let what = match jump {
        Jump::DMail(to) => format!("The model sent itself a D-Mail to checkpoint {to}"),
        Jump::Revert(to) if notes.mail.is_some() => format!("Your D-Mail to checkpoint {to}"),
        Jump::Revert(to) => format!("You went back to checkpoint {to}"),
        Jump::Clear => "The context was emptied".to_owned(),
        Jump::Compaction => "The context was summarised".to_owned(),
        Jump::Restore(from) => format!("Context {from} is the context again"),
        Jump::Hidden(_) => "You hid tool results from the model".to_owned(),
        Jump::Pinned(_) => format!("You pinned back messages of context {ended}"),
        Jump::Unknown => "Another context began; no record says why".to_owned(),
    };
    out.text(&format!("{what}{age}"), theme.strong);
    out.add(&format!("{} tokens", change(tokens, theme)), theme.muted);
    if let Some(mail) = &notes.mail {
        out.text(&format!("\u{201c}{}\u{201d}", mail.trim()), theme.text);
    }
    if let Some(rewritten) = &notes.rewritten {
        let all: u64 = rewritten.messages.iter().map(|message| message.tokens).sum();
        let count = format::count(rewritten.messages.len(), "message", "messages");
        let text = format!(
            "{count} of {} tokens taken out ({}): p shows them",
            format::tokens(all),
            rewritten.strategy
        );
        out.text(&text, theme.warning);
    }
    if !matches!(jump, Jump::Pinned(_)) {
        out.text(&format!("Context {ended} is kept: v reads it, R restores it"), theme.muted);
    }
}
