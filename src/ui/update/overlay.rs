//! Overlays: sessions, help, and the questions that are asked before something is given up.

use super::super::effect::{Effect, EffectId, OpenTarget};
use super::super::key::KeyPress;
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::overlay::Overlay;
use super::super::model::sessions::{SessionList, SessionRow};
use super::super::model::status::Activity;
use super::{generation, is_idle, session, slash, timeline, toast};

/// Is the timeline the topmost overlay?
pub(super) fn is_timeline(model: &Model) -> bool {
    matches!(model.overlays.last(), Some(Overlay::Timeline))
}

/// Nothing lies over the screen any more: what is shown next is in the transcript.
pub(super) fn close_all(model: &mut Model) {
    model.overlays.clear();
}

/// Shows the list of sessions, or closes it.
pub(super) fn open_sessions(model: &mut Model) -> Vec<Effect> {
    if matches!(model.overlays.last(), Some(Overlay::Sessions(_))) {
        model.overlays.pop();
        return Vec::new();
    }
    let id = model.next_effect();
    model.overlays.push(Overlay::Sessions(SessionList::loading(id)));
    vec![Effect::ListSessions { id }]
}

/// The sessions were listed.
pub(super) fn sessions_listed(
    model: &mut Model,
    id: EffectId,
    result: Result<Vec<SessionRow>, String>,
) -> Vec<Effect> {
    for overlay in &mut model.overlays {
        if let Overlay::Sessions(list) = overlay
            && list.request == id
        {
            list.rows = Some(result);
            return Vec::new();
        }
    }
    Vec::new()
}

/// Text that narrows the list.
pub(super) fn filter(model: &mut Model, key: KeyPress) -> Vec<Effect> {
    if let Some(Overlay::Sessions(list)) = model.overlays.last_mut() {
        list.filter.key(key);
        list.marked = 0;
    }
    Vec::new()
}

/// A key of the list; none when it means nothing there.
pub(super) fn act_in_sessions(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let Some(Overlay::Sessions(list)) = model.overlays.last_mut() else { return None };
    let count = list.shown().len();
    match action {
        Action::SelectPrevious => list.marked = list.marked.saturating_sub(1),
        Action::SelectNext => list.marked = (list.marked + 1).min(count.saturating_sub(1)),
        Action::PageUp | Action::Top => list.marked = 0,
        Action::PageDown | Action::Bottom => list.marked = count.saturating_sub(1),
        Action::Choose => {
            let id = list.shown().get(list.marked).map(|row| row.id.clone());
            let Some(id) = id else { return Some(Vec::new()) };
            if model.status.info.id.as_ref() == Some(&id) && model.status.activity != Activity::Gone
            {
                model.overlays.pop();
                return Some(Vec::new());
            }
            return Some(session::open(model, OpenTarget::Id(id), now));
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// A key of the help page; none when it means nothing there.
pub(super) fn act_in_help(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let Some(Overlay::Help { scroll }) = model.overlays.last_mut() else { return None };
    match action {
        Action::ScrollUp => *scroll = scroll.saturating_sub(1),
        Action::ScrollDown => *scroll = scroll.saturating_add(1),
        Action::PageUp => *scroll = scroll.saturating_sub(10),
        Action::PageDown => *scroll = scroll.saturating_add(10),
        Action::Top => *scroll = 0,
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
