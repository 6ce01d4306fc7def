//! The division of the screen, changed by keys: panes wider, narrower, hidden, shown, zoomed.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::layout::{Pane, PaneLayout, pane_columns};
use super::super::model::overlay::Overlay;
use super::super::model::{Focus, Model};
use super::toast;

/// Columns by which a key moves the edge of the panes.
const STEP: u16 = 4;

/// Carries out an action of the layout; none when it is none of these.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let before = model.screen.layouts;
    match action {
        Action::ToggleSidebar => toggle_all(model, now),
        Action::WidenPanes => resize(model, true, now),
        Action::NarrowPanes => resize(model, false, now),
        Action::ToggleContext => toggle(model, Pane::Context, now),
        Action::ToggleTodos => toggle(model, Pane::Todos, now),
        Action::ToggleTools => toggle(model, Pane::Tools, now),
        Action::ToggleTimeline => toggle(model, Pane::Timeline, now),
        Action::ResetLayout => {
            *model.screen.layout_mut() = PaneLayout::default();
            model.screen.is_zoomed = false;
            toast(model, "The panes are as they are at first", now);
        }
        Action::Zoom => zoom(model),
        _ => return None,
    }
    leave_hidden(model);
    let layouts = model.screen.layouts;
    Some(if layouts == before { Vec::new() } else { vec![Effect::KeepLayouts(layouts)] })
}

/// What to say where there is no room for panes.
const NO_ROOM: &str = "The panes need a wider window; Ctrl-T shows the timeline";

fn toggle_all(model: &mut Model, now: f64) {
    let layout = model.screen.layout_mut();
    layout.panes = !layout.panes;
    if layout.panes && layout.hidden.is_all() {
        // What is shown again must be something.
        layout.hidden = PaneLayout::default().hidden;
    }
    if layout.panes && !model.screen.has_sidebar() {
        toast(model, NO_ROOM, now);
    }
}

fn toggle(model: &mut Model, pane: Pane, now: f64) {
    let layout = model.screen.layout_mut();
    if layout.panes {
        layout.hidden.toggle(pane);
    } else {
        // None is shown: a key for one of them asks for that one.
        *layout = PaneLayout { panes: true, ..*layout };
        if layout.hidden.has(pane) {
            layout.hidden.toggle(pane);
        }
    }
    let is_shown = !model.screen.layout().hidden.has(pane);
    if !model.screen.has_room() {
        toast(model, NO_ROOM, now);
    } else if !is_shown {
        toast(model, format!("{} is hidden; the same key shows it again", pane.title()), now);
    }
}

fn resize(model: &mut Model, wider: bool, now: f64) {
    let Some(columns) = model.screen.sidebar_columns() else {
        let text =
            if model.screen.has_room() { "No pane is shown; F2 shows them" } else { NO_ROOM };
        toast(model, text, now);
        return;
    };
    let wanted = if wider { columns.saturating_add(STEP) } else { columns.saturating_sub(STEP) };
    let fits = pane_columns(model.screen.width, Some(wanted));
    if fits == columns {
        let text = if wider { "No wider: the conversation needs the rest" } else { "No narrower" };
        toast(model, text, now);
    }
    model.screen.layout_mut().columns = Some(fits);
}

/// The pane with the keys on the whole screen, and back.
fn zoom(model: &mut Model) {
    match (model.focus, model.overlays.last()) {
        (_, Some(Overlay::Timeline | Overlay::Calls)) => {
            model.overlays.pop();
        }
        (Focus::Timeline, None) => {
            model.focus = Focus::Composer;
            model.overlays.push(Overlay::Timeline);
        }
        (Focus::Calls, None) => {
            model.focus = Focus::Composer;
            model.overlays.push(Overlay::Calls);
        }
        _ => model.screen.is_zoomed = !model.screen.is_zoomed,
    }
}

/// Keys do not stay in a pane that is gone.
fn leave_hidden(model: &mut Model) {
    let is_gone = match model.focus {
        Focus::Timeline => !model.screen.shows(Pane::Timeline),
        Focus::Calls => !model.screen.shows(Pane::Tools),
        Focus::Composer | Focus::Queue | Focus::Transcript => false,
    };
    if is_gone {
        model.focus = Focus::Composer;
    }
}
