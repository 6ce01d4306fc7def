//! What fills the context: the gauge in numbers, tokens by kind as bars, and every message.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::super::model::Model;
use super::super::model::ledger::LedgerView;
use super::super::model::status::CallCost;
use super::super::render::format;
use super::super::render::sanitize::sanitize;
use super::super::render::width::{truncate, truncate_line, width as text_width};
use super::super::render::wrap::wrap;
use super::super::theme::Theme;
use super::super::update::money;
use super::panel;
use super::put::put;
use super::statusline::gauge_style;
use crate::wire::{ContextLedger, LedgerKind, LedgerMessage};

/// Rows the list of messages keeps.
const LIST_ROWS: u16 = 5;

/// Draws the ledger.
pub(super) fn draw(
    model: &Model,
    view: &LedgerView,
    theme: &Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let area = panel::centred(area, 110, area.height);
    let inner = panel::draw("What fills the context", theme, area, buffer);
    let facts = facts(model, theme).into_iter();
    let mut lines: Vec<_> = facts.flat_map(|line| wrap(&line, inner.width, &[], &[])).collect();
    if let Some(ledger) = &view.ledger {
        lines.push(Line::default());
        lines.extend(bars(ledger, theme, inner.width));
    }
    let most = usize::from(inner.height.saturating_sub(LIST_ROWS + 1));
    let mut y = inner.y;
    for line in lines.into_iter().take(most) {
        truncate_line(line, usize::from(inner.width))
            .render(Rect { y, height: 1, ..inner }, buffer);
        y += 1;
    }
    let rest = Rect { y, height: inner.bottom().saturating_sub(y), ..inner };
    match &view.ledger {
        _ if view.by_call => calls(model, view, theme, rest, buffer),
        Some(_) => list(view, theme, rest, buffer),
        None => put(buffer, (rest.x, rest.y), rest.width, "Adding it up…", theme.muted),
    }
}

/// Used, window, threshold, the next step, what the calls of this screen cost.
fn facts(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let status = &model.status;
    let used = status.context_tokens.unwrap_or_default();
    let max = status.max_tokens();
    let share = status.context_usage().unwrap_or_default();
    let mut first = vec![
        Span::styled(format!("{} used", format::tokens(used)), gauge_style(model, share, theme)),
        Span::styled(
            format!(
                " of {} ({}), {} free",
                format::tokens(max),
                format::percent(share),
                format::tokens(max.saturating_sub(used))
            ),
            theme.text,
        ),
    ];
    let at = status.info.compaction_at;
    let threshold = threshold(at, max);
    if let Some(threshold) = threshold {
        let text =
            format!("; summarised at {} ({})", format::tokens(threshold), format::percent(at));
        first.push(Span::styled(text, theme.muted));
    }
    let mut lines = vec![Line::from(first)];
    if let Some(growth) = model.timeline.growth().filter(|growth| *growth > 0) {
        let next = used.saturating_add(growth);
        let mut text =
            format!("Next step about +{} to {}", format::tokens(growth), format::tokens(next));
        if let Some(left) = threshold.and_then(|at| at.checked_sub(used)) {
            let steps = usize::try_from(left / growth).unwrap_or(usize::MAX);
            text.push_str(&format!(
                "; about {} before it is summarised",
                format::count(steps, "step", "steps")
            ));
        }
        if let Some(cost) = status.next_cost(growth) {
            text.push_str(&format!("; about {}", money(cost)));
        }
        lines.push(Line::styled(text, theme.muted));
    }
    lines.extend(spent(model, theme));
    lines.push(cost(model, theme));
    lines
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a window"
)]
fn threshold(at: f64, max: u64) -> Option<u64> {
    (at > 0.0 && at < 1.0 && max > 0).then_some((at * max as f64) as u64)
}

/// Tokens of the calls made on this screen, and how much of what was sent a cache had.
fn spent(model: &Model, theme: &Theme) -> Option<Line<'static>> {
    let total = model.status.total_usage;
    let input = total.input();
    if input == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a ratio for a person")]
    let cached = total.input_cache_read as f64 / input as f64;
    let text = format!(
        "Sent {} in all, {} of it from the cache; received {}",
        format::tokens(input),
        format::percent(cached),
        format::tokens(total.output)
    );
    Some(Line::styled(text, theme.muted))
}

/// What the session cost, what a step did; or that nobody knows.
fn cost(model: &Model, theme: &Theme) -> Line<'static> {
    let status = &model.status;
    let Some(total) = status.cost else {
        let name = status.info.model.as_deref().unwrap_or("the model");
        let text = format!(
            "Cost unknown: no price = {{ input, output }} is set for {} in config.toml",
            sanitize(name)
        );
        return Line::styled(text, theme.muted);
    };
    let mut text = format!("Cost {}", money(total));
    if status.cost_is_estimate {
        text.push_str(" (earlier turns at today's price)");
    }
    let known: Vec<f64> = status.calls.iter().filter_map(|call| call.cost).collect();
    if let (Some(last), Ok(count)) = (known.last(), u32::try_from(known.len())) {
        let average = total / f64::from(count.max(1));
        text.push_str(&format!("; {} a step, the last {}", money(average), money(*last)));
    }
    Line::styled(text, theme.text)
}

/// The calls of the model, each with its tokens and what it cost.
fn calls(model: &Model, view: &LedgerView, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let all = &model.status.calls;
    let mut order: Vec<usize> = (0..all.len()).rev().collect();
    if !view.by_age {
        // Where no price is known the tokens tell what was dear.
        let weight = |index: &usize| (all[*index].cost.unwrap_or(0.0), all[*index].usage.total());
        order.sort_by(|a, b| {
            let ((a, few), (b, many)) = (weight(a), weight(b));
            b.total_cmp(&a).then(many.cmp(&few))
        });
    }
    let what = if view.by_age { "the latest first" } else { "the dearest first" };
    let head = format!(" {}, {what} ", format::count(all.len(), "step", "steps"));
    let body = headed(head, theme, area, buffer);
    let height = usize::from(body.height);
    let first = view.marked.saturating_sub(height.saturating_sub(1));
    for ((at, index), y) in
        order.into_iter().enumerate().skip(first).take(height).zip(body.y..body.bottom())
    {
        let place = Rect { y, height: 1, ..body };
        call_line(&all[index], theme, body.width).render(place, buffer);
        if at == view.marked {
            buffer.set_style(place, theme.selection);
        }
    }
}

fn call_line(call: &CallCost, theme: &Theme, width: u16) -> Line<'static> {
    let usage = &call.usage;
    let input = usage.input();
    #[expect(clippy::cast_precision_loss, reason = "a ratio for a person")]
    let cached = if input == 0 { 0.0 } else { usage.input_cache_read as f64 / input as f64 };
    let cost = call.cost.map_or_else(|| "no price".to_owned(), money);
    let line = Line::from(vec![
        Span::styled(format!("{cost:>9}  "), theme.strong),
        Span::styled(format!("turn {:<4} step {:<4}", call.turn, call.step), theme.text),
        Span::styled(
            format!(
                "  sent {:>7}, {:>4} from the cache; received {:>6}",
                format::tokens(input),
                format::percent(cached),
                format::tokens(usage.output)
            ),
            theme.muted,
        ),
    ]);
    truncate_line(line, usize::from(width))
}

/// A line with words in it over a list; says where the list is.
fn headed(words: String, theme: &Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    let line = theme.marks.line.repeat(usize::from(area.width));
    put(buffer, (area.x, area.y), area.width, line, theme.border);
    put(buffer, (area.x + 2, area.y), area.width.saturating_sub(4), words, theme.title);
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}

fn name(kind: LedgerKind) -> &'static str {
    match kind {
        LedgerKind::System => "System prompt",
        LedgerKind::Tools => "Tools",
        LedgerKind::User => "User",
        LedgerKind::Note => "Program",
        LedgerKind::Assistant => "Model",
        LedgerKind::Thinking => "Thinking",
        LedgerKind::ToolResult => "Tool results",
    }
}

/// A bar for each kind, the largest filling the width.
fn bars(ledger: &ContextLedger, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    const NAME: usize = 14;
    const NUMBERS: usize = 24;
    let largest = ledger.shares.iter().map(|share| share.tokens).max().unwrap_or(0).max(1);
    let all =
        ledger.shares.iter().fold(0_u64, |sum, share| sum.saturating_add(share.tokens)).max(1);
    let room = usize::from(width).saturating_sub(NAME + NUMBERS + 2).min(60);
    ledger
        .shares
        .iter()
        .map(|share| {
            let cells = u128::from(share.tokens) * room as u128 / u128::from(largest);
            let cells = usize::try_from(cells).unwrap_or(room);
            let full = cells.max(usize::from(share.tokens > 0 && room > 0));
            #[expect(clippy::cast_precision_loss, reason = "a ratio for a person")]
            let part = share.tokens as f64 / all as f64;
            let messages = match share.messages {
                0 => String::new(),
                count => format!("  {count}×"),
            };
            let style = match share.kind {
                LedgerKind::ToolResult => theme.gauge_mid,
                LedgerKind::Thinking => theme.muted,
                _ => theme.gauge_low,
            };
            Line::from(vec![
                Span::styled(format!("{:<NAME$}", name(share.kind)), theme.text),
                Span::styled(theme.marks.gauge_full.repeat(full), style),
                Span::styled(
                    theme.marks.gauge_empty.repeat(room.saturating_sub(full)),
                    theme.gauge_empty,
                ),
                Span::styled(format!(" {:>7}", format::tokens(share.tokens)), theme.strong),
                Span::styled(format!(" {:>4}{messages}", format::percent(part)), theme.muted),
            ])
        })
        .collect()
}

fn list(view: &LedgerView, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let order = if view.by_age { "the latest first" } else { "the largest first" };
    let rows = view.rows();
    let head =
        format!(" {}, {order}; estimated ", format::count(rows.len(), "message", "messages"));
    let body = headed(head, theme, area, buffer);
    let height = usize::from(body.height);
    let first = view.marked.saturating_sub(height.saturating_sub(1));
    for ((index, row), y) in
        rows.into_iter().enumerate().skip(first).take(height).zip(body.y..body.bottom())
    {
        let place = Rect { y, height: 1, ..body };
        row_line(row, theme, body.width).render(place, buffer);
        if index == view.marked {
            buffer.set_style(place, theme.selection);
        }
    }
}

fn row_line(row: &LedgerMessage, theme: &Theme, width: u16) -> Line<'static> {
    let age = match row.turns_ago {
        0 => "this turn".to_owned(),
        1 => "a turn ago".to_owned(),
        turns => format!("{turns} turns ago"),
    };
    let what = match (row.kind, &row.call) {
        (LedgerKind::ToolResult, Some(call)) => sanitize(call).replace('\n', " "),
        (kind, _) => name(kind).to_owned(),
    };
    let (what, text): (String, Style) =
        if row.is_hidden { (format!("(hidden) {what}"), theme.muted) } else { (what, theme.text) };
    // The placeholder is nothing to read.
    let preview = if row.is_hidden { "" } else { row.preview.as_str() };
    let preview = sanitize(preview).replace('\n', " ");
    let what = truncate(&what, 30).into_owned();
    let gap = 32_usize.saturating_sub(text_width(&what));
    let line = Line::from(vec![
        Span::styled(format!("{:>7}  ", format::tokens(row.tokens)), theme.strong),
        Span::styled(format!("{age:<14}"), theme.muted),
        Span::styled(what, text),
        Span::raw(" ".repeat(gap)),
        Span::styled(preview, theme.muted),
    ]);
    truncate_line(line, usize::from(width))
}
