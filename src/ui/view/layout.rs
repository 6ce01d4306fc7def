//! Who gets which part of the screen. The transcript owns what nobody else needs.

use ratatui::layout::Rect;

use super::super::model::Model;
use super::super::theme::Theme;
use super::{approval, question, queue};

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// The transcript.
    pub chat: Rect,
    /// The panes beside it.
    pub sidebar: Option<Rect>,
    /// The approval panel, or the question panel.
    pub approval: Option<Rect>,
    /// What waits for the running turn to end.
    pub queue: Option<Rect>,
    /// The composer with the line above it.
    pub composer: Rect,
    /// The last line.
    pub status: Rect,
    /// Where overlays lie.
    pub overlay: Rect,
}

/// Columns the composer's prompt takes.
pub(super) const PROMPT_COLUMNS: u16 = 2;

/// The part of a pane that text stands in: a column of air on both sides, where there is room.
pub(super) fn inset(area: Rect) -> Rect {
    if area.width < 40 { area } else { Rect { x: area.x + 1, width: area.width - 2, ..area } }
}

/// Is what is asked for shown on the whole screen?
fn is_asked_whole(model: &Model) -> bool {
    model.approvals.is_expanded && model.approvals.current().is_some()
}

/// Columns of everything but the panes.
///
/// The terminal may have become smaller since the model heard of its size: what is drawn is `area`.
pub(super) fn main_width(model: &Model, area: Rect) -> u16 {
    let panes = model
        .screen
        .sidebar_columns()
        .filter(|panes| model.wants_full_screen() && !is_asked_whole(model) && *panes < area.width);
    area.width - panes.unwrap_or(0)
}

/// Rows below which an approval request takes the place of an empty composer.
const LOW: u16 = 6;

/// Divides the screen; the subject of an approval request would take `subject_rows`.
pub(super) fn arrange(model: &Model, theme: &Theme, area: Rect, subject_rows: usize) -> Layout {
    let main = Rect { width: main_width(model, area), ..area };
    let sidebar = (main.width < area.width).then(|| Rect {
        x: main.right(),
        width: area.width - main.width,
        ..area
    });
    let status_height = u16::from(main.height >= 3);
    let status = bottom(main, status_height);
    let rest = Rect { height: main.height - status_height, ..main };

    let most = (rest.height / 3).max(1);
    let rule = u16::from(rest.height >= 4);
    // What is asked for has the whole screen when it is wanted whole.
    // So it has where there is no room for both it and an empty composer.
    let is_low = rest.height < LOW && model.composer.editor.is_empty();
    let is_whole = is_asked_whole(model) || (is_low && model.approvals.current().is_some());
    let is_reading =
        model.screen.is_zoomed && model.focus == super::super::model::Focus::Transcript;
    let (text_rows, rule) = if is_whole || is_reading {
        (0, 0)
    } else if model.screen.is_zoomed {
        (rest.height, rule)
    } else {
        let width = rest.width.saturating_sub(PROMPT_COLUMNS + 1);
        (model.composer.editor.rows(width, most), rule)
    };
    let composer = bottom(rest, (text_rows + rule).min(rest.height));
    let rest = Rect { height: rest.height - composer.height, ..rest };

    let waiting = if is_whole || is_reading || model.screen.is_zoomed {
        0
    } else {
        queue::height(model, rest.width).min(rest.height / 3)
    };
    let queue = (waiting > 0).then(|| bottom(rest, waiting));
    let rest = Rect { height: rest.height - waiting, ..rest };

    let approval = model.approvals.current().map(|_| {
        let wanted = approval::height(model, rest.width, subject_rows);
        // The transcript keeps a few lines, so that one sees what led to the question.
        let kept = if is_whole { 0 } else { (rest.height / 4).min(4) };
        bottom(rest, wanted.min(rest.height.saturating_sub(kept)))
    });
    let question = || {
        model.questions.current()?;
        let wanted = question::height(model, theme, rest.width);
        let kept = (rest.height / 4).min(4);
        Some(bottom(rest, wanted.min(rest.height.saturating_sub(kept))))
    };
    let approval = approval.or_else(question);
    let overlay = Rect { height: area.height - status_height, ..area };
    let chat = Rect { height: rest.height - approval.map_or(0, |area| area.height), ..rest };
    Layout { chat, sidebar, approval, queue, composer, status, overlay }
}

fn bottom(area: Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect { y: area.bottom() - height, height, ..area }
}
