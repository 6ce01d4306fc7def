//! Places in the transcript where the context changed.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::super::model::cell::{Compaction, Mark};
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::width as text_width;
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use crate::wire::RevertCause;

/// The lines of a mark.
pub(super) fn lines(
    mark: &Mark,
    is_open: bool,
    theme: &Theme,
    width: u16,
    began: f64,
    now: f64,
) -> Vec<Line<'static>> {
    let arrow = theme.marks.arrow;
    let price = |(before, after): (u64, u64)| {
        format!("{} {arrow} {} tokens", format::tokens(before), format::tokens(after))
    };
    match mark {
        Mark::Reverted { cause, checkpoint, mail, tokens } => {
            let who = match cause {
                RevertCause::AgentDMail => "The model sent a D-Mail to",
                RevertCause::User => "Back to",
            };
            let mut lines = vec![rule(
                &format!("{who} checkpoint {checkpoint} · {}", price(*tokens)),
                theme,
                width,
            )];
            if let Some(mail) = mail {
                lines.extend(indented(mail, theme, width));
            }
            lines.extend(indented("Files stay as they are.", theme, width));
            lines
        }
        Mark::Compacted { outcome: Compaction::Done(tokens), losses } => {
            let price = tokens.map(|tokens| format!(" · {}", price(tokens))).unwrap_or_default();
            let mut lines = vec![rule(&format!("Context summarised{price}"), theme, width)];
            if is_open {
                lines.extend(losses.iter().flat_map(|loss| indented(loss, theme, width)));
            } else if !losses.is_empty() {
                let text = format!(
                    "{} not in it as before; unfold to see, p in the timeline pins them back",
                    format::count(losses.len(), "message is", "messages are")
                );
                lines.extend(indented(&text, theme, width));
            }
            lines
        }
        Mark::Restored { generation, tokens } => {
            let text = format!("Context {generation} is back · {}", price(*tokens));
            vec![rule(&text, theme, width)]
        }
        Mark::Compacted { outcome: Compaction::Failed, .. } => {
            vec![rule("The context could not be summarised and is unchanged", theme, width)]
        }
        Mark::Compacted { outcome: Compaction::Running, .. } => {
            let elapsed = Duration::try_from_secs_f64((now - began).max(0.0)).unwrap_or_default();
            vec![rule(
                &format!("Summarising the context {}", format::seconds(elapsed)),
                theme,
                width,
            )]
        }
        Mark::Cleared { tokens } => {
            vec![rule(&format!("Context emptied · {}", price((*tokens, 0))), theme, width)]
        }
    }
}

fn rule(text: &str, theme: &Theme, width: u16) -> Line<'static> {
    let line = theme.marks.line;
    let text = super::super::render::width::truncate(text, usize::from(width).saturating_sub(6));
    let left = usize::from(width).saturating_sub(text_width(&text) + 5);
    Line::from(vec![
        Span::styled(format!("{line}{line} "), theme.border),
        Span::styled(text.into_owned(), theme.accent),
        Span::styled(format!(" {}", line.repeat(left)), theme.border),
    ])
}

fn indented(text: &str, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let indent = [Span::raw("   ")];
    sanitize(text)
        .lines()
        .flat_map(|line| wrap(&Line::styled(line.to_owned(), theme.muted), width, &indent, &indent))
        .collect()
}
