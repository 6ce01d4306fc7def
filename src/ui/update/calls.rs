//! The pane of tool calls: walking through it, opening one in the transcript, stopping one.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::cell::{CellKind, ToolState};
use super::super::model::layout::Pane;
use super::super::model::overlay::Overlay;
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{overlay, reading, toast};
use crate::wire::Command;

/// Moves the keys to the calls, or back.
pub(super) fn toggle(model: &mut Model, now: f64) {
    if matches!(model.overlays.last(), Some(Overlay::Calls)) {
        model.overlays.pop();
        return;
    }
    if model.focus == Focus::Calls {
        model.focus = Focus::Composer;
        return;
    }
    model.calls.select_latest(&model.transcript);
    if model.calls.selected.is_none() {
        toast(model, "No tool has been called yet", now);
        return;
    }
    if overlay::is_timeline(model) {
        model.overlays.pop();
    }
    if model.screen.shows(Pane::Tools) {
        model.focus = Focus::Calls;
    } else {
        model.overlays.push(Overlay::Calls);
    }
}

/// A key of the pane; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    match action {
        Action::SelectPrevious => model.calls.step(&model.transcript, false),
        Action::SelectNext => model.calls.step(&model.transcript, true),
        Action::Choose => {
            let place = model.calls.selected.and_then(|cell| model.transcript.index_of(cell));
            if let Some(place) = place {
                overlay::close_all(model);
                reading::open_at(model, place, Scroll::Reveal);
            }
        }
        Action::CancelCall => {
            let marked = model.calls.call(&model.transcript);
            let marked = marked.map(|tool| (tool.call_id.clone(), tool.state));
            return Some(stop(model, marked, now));
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Stops the call selected in the transcript.
pub(super) fn stop_selected(model: &mut Model, now: f64) -> Vec<Effect> {
    let cell = model.transcript.selected_index().map(|index| &model.transcript.cells()[index]);
    let call = cell.and_then(|cell| match &cell.kind {
        CellKind::Tool(tool) => Some((tool.call_id.clone(), tool.state)),
        _ => None,
    });
    stop(model, call, now)
}

fn stop(model: &mut Model, call: Option<(String, ToolState)>, now: f64) -> Vec<Effect> {
    match call {
        None => toast(model, "That is no tool call", now),
        Some((_, state)) if state.is_over() => toast(model, "That call is over", now),
        Some((_, ToolState::Streaming)) => {
            toast(model, "The model still writes that call; Ctrl-C stops the turn", now);
        }
        Some((tool_call_id, _)) => {
            toast(model, "That call is stopped; the others go on", now);
            return vec![Effect::Send(Command::CancelCall { tool_call_id })];
        }
    }
    Vec::new()
}
