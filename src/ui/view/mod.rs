//! Drawing: the model becomes cells of the terminal. Nothing here changes the model; what only
//! drawing can know goes back as [`FrameInfo`].

mod approval;
mod calls;
mod cells;
mod chat;
mod composer;
mod dialog;
#[cfg(test)]
mod faithful;
mod farewell;
mod generation;
mod help;
mod hints;
pub mod inline;
mod layout;
mod leader;
mod ledger;
mod linear;
mod mark;
mod nested;
mod pager;
mod panel;
mod picker;
mod progress;
mod put;
mod question;
mod queue;
mod replay;
mod rewind;
#[cfg(test)]
mod safety;
mod scrollbar;
mod search;
mod sessions;
mod setup;
mod sidebar;
#[cfg(test)]
mod sizes;
mod status_items;
mod statusline;
#[cfg(test)]
mod statusline_tests;
mod tasks;
#[cfg(test)]
mod tests;
mod timeline;
pub mod title;
mod tool;
mod welcome;

use std::collections::HashMap;

use ratatui::Frame;
use ratatui::layout::{Position as Point, Rect};
use ratatui::widgets::{Clear, Widget};

use super::keymap::Context;
use super::model::Model;
use super::model::cell::CellId;
use super::model::overlay::Overlay;
pub use super::model::transcript::FrameInfo;
use super::render::cache::LineCache;
use super::render::highlight::HighlightCache;
use super::render::stream::MarkdownStream;
use super::theme::Theme;
pub use farewell::farewell;
pub use linear::{Linear, linear_theme};
pub use progress::{Progress, progress};

/// What was drawn before and may be used again. Can be dropped at any moment without changing a cell
/// of the screen.
#[derive(Debug, Default)]
pub struct Caches {
    /// Lines of cells.
    pub lines: LineCache,
    /// Messages that are still being written.
    pub streams: HashMap<CellId, MarkdownStream>,
    /// Colours of code.
    pub highlight: HighlightCache,
    subject: approval::Subject,
    pages: pager::Pages,
    past: generation::Lines,
    /// Whose cells they are.
    conversation: u64,
}

impl Caches {
    /// Caches that colour code while they draw, for tests and for comparing.
    #[must_use]
    pub fn inline() -> Self {
        Self { highlight: HighlightCache::inline(), ..Self::default() }
    }

    /// Forgets the cells of another conversation than the one that is drawn.
    fn follow(&mut self, model: &Model) {
        if self.conversation != model.conversation {
            let highlight = std::mem::take(&mut self.highlight);
            *self = Self { highlight, conversation: model.conversation, ..Self::default() };
        }
    }
}

/// Draws `model` as it is at `now`, in seconds since 1970.
pub fn view(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    frame: &mut Frame,
    now: f64,
) -> FrameInfo {
    caches.follow(model);
    let area = frame.area();
    // Ages of sessions are told by the clock on the wall, all else by that of what is shown.
    let (wall, now) = (now, model.clock(now));
    let buffer = frame.buffer_mut();
    buffer.set_style(area, theme.ground());
    let width = layout::main_width(model, area);
    let rows = caches.subject.update(model, theme, &caches.highlight, width);
    let layout = layout::arrange(model, theme, area, rows);
    let mut info = chat::draw(model, theme, caches, layout::inset(layout.chat), buffer, now);
    if let Some(area) = layout.sidebar {
        sidebar::draw(model, theme, area, buffer, now);
    }
    let mut cursor = None;
    match &model.replay {
        Some(replay) => replay::draw(replay, theme, layout.composer, buffer),
        None => cursor = composer::draw(model, theme, layout.composer, buffer),
    }
    if let Some(area) = layout.queue {
        cursor = queue::draw(model, theme, area, buffer).or(cursor);
    }
    if let Some(area) = layout.approval {
        let panel = if model.approvals.is_empty() {
            question::draw(model, theme, area, buffer, now)
        } else {
            let subject = (&caches.subject, &caches.highlight);
            approval::draw(model, theme, subject, area, buffer, now, &mut info.asked_top)
        };
        cursor = panel.or(cursor);
    }
    composer::draw_completions(model, theme, layout.chat, buffer);
    // What lies over the panes has the whole last line for its keys.
    let status = match model.overlays.last() {
        Some(_) => Rect { width: area.width, ..layout.status },
        None => layout.status,
    };
    if status != layout.status {
        Clear.render(status, buffer);
        buffer.set_style(status, theme.ground());
    }
    statusline::draw(model, theme, status, buffer, now);
    if let Some(Overlay::Generation(_) | Overlay::Pager(_)) = model.overlays.last() {
        generation::draw(model, theme, caches, layout.overlay, buffer, &mut info);
        pager::draw(model, theme, caches, layout.overlay, buffer, now, &mut info);
        cursor = search::draw(model, theme, layout::inset(layout.overlay), buffer);
    } else {
        cursor = search::draw(model, theme, layout::inset(layout.chat), buffer).or(cursor);
    }
    if let Some(overlay) = model.overlays.last() {
        let look = (theme, &caches.highlight);
        cursor = draw_overlay(model, overlay, look, layout.overlay, buffer, wall, &mut info);
    }
    leader::draw(model, theme, layout.overlay, buffer);
    // A cursor where keys would not write anything promises what is not so.
    let writes = match model.context(now) {
        Context::Composer
        | Context::Sessions
        | Context::Trash
        | Context::Picker
        | Context::Search
        | Context::Dialog => true,
        Context::Approval => model.approvals.feedback.is_some(),
        Context::Question => {
            model.questions.current().is_some_and(|asking| asking.writing.is_some())
        }
        Context::Queue => model.queue.writing.is_some(),
        Context::Calls | Context::Ledger | Context::Past | Context::Losses => false,
        Context::Tasks
        | Context::Timeline
        | Context::Transcript
        | Context::Pager
        | Context::Rewind
        | Context::Help
        | Context::Replay
        | Context::Global => false,
    };
    let is_covered = leader::height(model, layout.overlay).is_some();
    if let Some(at) = cursor.filter(|_| writes && !is_covered) {
        frame.set_cursor_position(at);
    }
    info
}

fn draw_overlay(
    model: &Model,
    overlay: &Overlay,
    (theme, highlight): (&Theme, &HighlightCache),
    area: Rect,
    buffer: &mut ratatui::buffer::Buffer,
    now: f64,
    info: &mut FrameInfo,
) -> Option<Point> {
    match overlay {
        // It has been drawn already: it needs the caches.
        Overlay::Pager(_) | Overlay::Generation(_) => {}
        Overlay::Ledger(ledger) => ledger::draw(model, ledger, theme, area, buffer),
        Overlay::Losses(list) => generation::draw_losses(list, theme, area, buffer),
        Overlay::Calls => calls::draw_overlay(model, theme, area, buffer, now),
        Overlay::Restore(restore) => dialog::draw_restore(restore, theme, area, buffer),
        Overlay::Help { scroll } => {
            info.page_scroll = Some(help::draw(model, *scroll, theme, area, buffer, now));
        }
        Overlay::Sessions(list) => {
            let scrolled = &mut info.preview_scroll;
            return sessions::draw(model, list, theme, area, buffer, now, scrolled);
        }
        Overlay::Tasks(browser) => tasks::draw(model, browser, theme, area, buffer, now),
        Overlay::Timeline => {
            let inner = panel::draw("Timeline", theme, area, buffer);
            timeline::draw(model, theme, inner, buffer, true, now);
        }
        Overlay::Page(page) => {
            info.page_scroll = Some(help::draw_page(page, (theme, highlight), area, buffer));
        }
        Overlay::Aside { scroll } => {
            info.page_scroll = help::draw_aside(model, *scroll, (theme, highlight), area, buffer);
        }
        Overlay::Rewind(run) => {
            rewind::draw(run, &model.status.info.work_dir, theme, area, buffer);
        }
        Overlay::Picker(list) => return picker::draw(list, theme, area, buffer),
        Overlay::Setup(connecting) => return setup::draw(connecting, theme, area, buffer, now),
        Overlay::ConfirmClear => dialog::draw_clear(model, theme, area, buffer),
        Overlay::Revert(revert) => return dialog::draw_revert(revert, theme, area, buffer),
    }
    None
}
