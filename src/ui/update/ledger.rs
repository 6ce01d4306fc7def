//! What fills the context: walking through it, hiding a result.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::cell::CellKind;
use super::super::model::ledger::LedgerView;
use super::super::model::overlay::Overlay;
use super::super::model::transcript::Scroll;
use super::{is_idle, overlay, reading, toast};
use crate::wire::{Command, ContextLedger, DoorMessage, Event, LedgerKind};

/// Rows that a page key moves.
const PAGE: usize = 10;

/// Shows the ledger, or closes it.
pub(super) fn toggle(model: &mut Model, now: f64) -> Vec<Effect> {
    if matches!(model.overlays.last(), Some(Overlay::Ledger(_))) {
        model.overlays.pop();
        return Vec::new();
    }
    if !model.status.info.can_revert && model.replay.is_none() {
        toast(model, "The engine behind this screen does not tell what fills the context", now);
        return Vec::new();
    }
    model.overlays.push(Overlay::Ledger(Box::default()));
    vec![Effect::Send(Command::Ledger)]
}

/// Asks again when the engine told that the context has changed, as long as the ledger is shown.
pub(super) fn follow(model: &Model, told: &DoorMessage) -> Option<Effect> {
    let DoorMessage::Event(Event::StatusUpdate(status)) = told else { return None };
    let is_shown = model.overlays.iter().any(|overlay| matches!(overlay, Overlay::Ledger(_)));
    (is_shown && status.context_tokens.is_some()).then_some(Effect::Send(Command::Ledger))
}

/// The engine told what the context consists of.
pub(super) fn told(model: &mut Model, ledger: ContextLedger) {
    if let Some(view) = shown(model) {
        view.set(ledger);
    }
}

fn shown(model: &mut Model) -> Option<&mut LedgerView> {
    model.overlays.iter_mut().rev().find_map(|overlay| match overlay {
        Overlay::Ledger(view) => Some(view.as_mut()),
        _ => None,
    })
}

/// A key of the ledger; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let calls = model.status.calls.len();
    let view = shown(model)?;
    let last = if view.by_call { calls } else { view.rows().len() }.saturating_sub(1);
    match action {
        Action::SelectPrevious => view.marked = view.marked.saturating_sub(1),
        Action::SelectNext => view.marked = (view.marked + 1).min(last),
        Action::PageUp => view.marked = view.marked.saturating_sub(PAGE),
        Action::PageDown => view.marked = (view.marked + PAGE).min(last),
        Action::Top => view.marked = 0,
        Action::Bottom => view.marked = last,
        Action::LedgerCosts => (view.by_call, view.marked) = (!view.by_call, 0),
        Action::SortLedger if view.by_call => view.by_age = !view.by_age,
        Action::Choose | Action::HideResult if view.by_call => {
            toast(model, "That is about messages; c lists them again", now);
        }
        Action::SortLedger => view.turn_over(),
        Action::Choose => show(model, now),
        Action::HideResult => return Some(hide(model, now)),
        _ => return None,
    }
    Some(Vec::new())
}

/// To the card of a result in the transcript.
fn show(model: &mut Model, now: f64) {
    let id = shown(model).and_then(|view| view.marked_row()?.tool_call_id.clone());
    let place = id.and_then(|id| {
        model
            .transcript
            .cells()
            .iter()
            .rposition(|cell| matches!(&cell.kind, CellKind::Tool(tool) if tool.call_id == id))
    });
    let Some(place) = place else {
        toast(model, "Only results of tools shown in the transcript can be gone to", now);
        return;
    };
    overlay::close_all(model);
    reading::open_at(model, place, Scroll::To);
}

fn hide(model: &mut Model, now: f64) -> Vec<Effect> {
    let row = shown(model).and_then(|view| view.marked_row().cloned());
    let Some(row) = row else { return Vec::new() };
    if row.kind != LedgerKind::ToolResult {
        toast(model, "Only results of tools can be hidden; r in the timeline drops the rest", now);
    } else if row.is_hidden {
        toast(model, "It is hidden already; /pin brings it back", now);
    } else if !is_idle(model) {
        toast(model, "A turn runs; hide results when it is over", now);
    } else {
        return vec![Effect::Send(Command::Hide { messages: vec![row.index] })];
    }
    Vec::new()
}
