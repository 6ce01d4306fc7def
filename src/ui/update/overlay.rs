//! Overlays: help, and the questions that are asked before something is given up.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::overlay::{Overlay, Page};
use super::{generation, is_idle, slash, timeline, toast};

/// Is the timeline the topmost overlay?
pub(super) fn is_timeline(model: &Model) -> bool {
    matches!(model.overlays.last(), Some(Overlay::Timeline))
}

/// Nothing lies over the screen any more: what is shown next is in the transcript.
pub(super) fn close_all(model: &mut Model) {
    model.overlays.clear();
}

/// A key of the help page; none when it means nothing there.
pub(super) fn act_in_help(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let Some(
        Overlay::Help { scroll } | Overlay::Aside { scroll } | Overlay::Page(Page { scroll, .. }),
    ) = model.overlays.last_mut()
    else {
        return None;
    };
    match action {
        Action::ScrollUp => *scroll = scroll.saturating_sub(1),
        Action::ScrollDown => *scroll = scroll.saturating_add(1),
        Action::PageUp => *scroll = scroll.saturating_sub(10),
        Action::PageDown => *scroll = scroll.saturating_add(10),
        Action::Top => *scroll = 0,
        // Drawing knows where the end is.
        Action::Bottom => *scroll = u16::MAX,
        Action::Help => {
            model.overlays.pop();
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Asks before the context is emptied.
pub(super) fn ask_clear(model: &mut Model, now: f64) {
    if is_idle(model) {
        model.overlays.push(Overlay::ConfirmClear);
    } else {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
    }
}

/// A key of a question.
pub(super) fn act_in_dialog(model: &mut Model, action: Action, now: f64) -> Vec<Effect> {
    if action != Action::Choose {
        return Vec::new();
    }
    match model.overlays.pop() {
        Some(Overlay::ConfirmClear) => slash::start(model, "/clear".into(), now),
        Some(Overlay::Revert(dialog)) => timeline::confirm(model, dialog, now),
        Some(Overlay::Restore(dialog)) => generation::restore(model, &dialog),
        Some(other) => {
            model.overlays.push(other);
            Vec::new()
        }
        None => Vec::new(),
    }
}
