//! The live rows: the end of what is being written, what is asked, the composer, the status line.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::widgets::Widget;

use super::super::super::keymap::Context;
use super::super::super::model::Model;
use super::super::super::model::transcript::FrameInfo;
use super::super::super::theme::Theme;
use super::super::super::update::completions;
use super::super::{Caches, approval, composer, layout, question, statusline};
use super::{Look, Printed};

/// Rows offers of completion may take.
const OFFERS: usize = 8;
/// Columns of the composer's rule. What stands above the caret must be narrow, or a terminal that
/// becomes narrower breaks it into more rows than one knows of.
const RULE_COLUMNS: u16 = 24;

/// The live rows.
#[derive(Debug)]
pub struct Live {
    /// The rows, as wide as the terminal.
    pub buffer: Buffer,
    /// Where the cursor is; none when keys do not write.
    pub cursor: Option<Point>,
    /// What only drawing knows.
    pub info: FrameInfo,
}

/// Draws what is not printed yet and what is around it, in at most `height` rows.
pub fn live(
    model: &Model,
    printed: &Printed,
    theme: &Theme,
    caches: &mut Caches,
    (width, height): (u16, u16),
    now: f64,
) -> Live {
    caches.follow(model);
    let now = model.clock(now);
    let screen = Rect { x: 0, y: 0, width, height };
    let subject = caches.subject.update(model, theme, &caches.highlight, width);
    let whole = layout::arrange(model, theme, screen, subject);
    let room = usize::from(whole.chat.height);
    let look = Look { theme, width, height, now };
    let tail = printed.tail(model, &look, room);
    let offers = completions(model).len().max(model.mention.shown.len()).min(OFFERS);
    let chat = u16::try_from(tail.len().max(offers).min(room)).unwrap_or_default();
    // Everything but the conversation keeps its height and moves up to it.
    let up = whole.chat.height - chat;
    let moved = |area: Rect| Rect { y: area.y - up, ..area };
    let mut buffer = Buffer::empty(Rect { height: height - up, ..screen });
    let chat = Rect { height: chat, ..whole.chat };
    let skip = usize::from(chat.height) - tail.len().min(usize::from(chat.height));
    for (row, line) in (skip..).zip(&tail) {
        let y = chat.y + u16::try_from(row).unwrap_or_default();
        line.render(Rect { y, height: 1, ..chat }, &mut buffer);
    }
    let mut info = FrameInfo { position: model.transcript.position, width, ..FrameInfo::default() };
    let below = moved(whole.composer);
    let mut cursor = composer::draw(model, theme, below, &mut buffer);
    shorten_rule(theme, below, &mut buffer);
    if let Some(area) = whole.approval.map(moved) {
        let panel = if model.approvals.is_empty() {
            question::draw(model, theme, area, &mut buffer, now)
        } else {
            let top = &mut info.asked_top;
            approval::draw(
                model,
                theme,
                (&caches.subject, &caches.highlight),
                area,
                &mut buffer,
                now,
                top,
            )
        };
        cursor = panel.or(cursor);
    }
    composer::draw_completions(model, theme, chat, &mut buffer);
    statusline::draw(model, theme, moved(whole.status), &mut buffer, now);
    let writes = match model.context(now) {
        Context::Approval => model.approvals.feedback.is_some(),
        Context::Question => model.questions.current().is_some_and(|asked| asked.writing.is_some()),
        _ => true,
    };
    Live { buffer, cursor: cursor.filter(|_| writes), info }
}

fn shorten_rule(theme: &Theme, composer: Rect, buffer: &mut Buffer) {
    let y = composer.y;
    for x in (composer.x + RULE_COLUMNS.min(composer.width)..composer.right()).rev() {
        let Some(cell) = buffer.cell_mut((x, y)) else { return };
        if cell.symbol() != theme.marks.line {
            return;
        }
        cell.reset();
    }
}
