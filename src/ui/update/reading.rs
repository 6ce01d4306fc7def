//! Reading the transcript with the keys: from cell to cell, folding, and one cell on the whole screen.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::cell::{CellId, CellKind, Group};
use super::super::model::overlay::{Overlay, Pager, PagerMove};
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{calls, copy, search, toast};

/// Moves the keys to the transcript.
pub(super) fn focus(model: &mut Model) {
    let Some(last) = model.transcript.last_index() else { return };
    model.focus = Focus::Transcript;
    let visible = model.transcript.visible;
    let seen =
        |id: CellId| visible.is_some_and(|window| (window.first..=window.last).contains(&id));
    if !model.transcript.selected.is_some_and(seen) {
        let cell = visible.map_or(model.transcript.cells()[last].id, |window| window.last);
        let index = model.transcript.index_of(cell).unwrap_or(last);
        model.transcript.selected = Some(model.transcript.cells()[shown(model, index)].id);
    }
}

/// The cell that draws the row the cell at `index` is in.
fn shown(model: &Model, index: usize) -> usize {
    match model.transcript.cells()[index].group {
        Group::Member { leader } if model.transcript.is_hidden(index) => {
            model.transcript.index_of(leader).unwrap_or(index)
        }
        _ => index,
    }
}

/// A key of the transcript; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let is_prompt = |kind: &CellKind| matches!(kind, CellKind::User { .. });
    let is_call = |kind: &CellKind| matches!(kind, CellKind::Tool(_));
    match action {
        Action::SelectPrevious => step(model, false),
        Action::SelectNext => step(model, true),
        Action::PreviousPrompt => jump(model, false, is_prompt, "prompt", now),
        Action::NextPrompt => jump(model, true, is_prompt, "prompt", now),
        Action::PreviousCall => jump(model, false, is_call, "tool call", now),
        Action::NextCall => jump(model, true, is_call, "tool call", now),
        Action::HalfUp => scroll(model, Scroll::HalfPages(-1)),
        Action::HalfDown => scroll(model, Scroll::HalfPages(1)),
        Action::Top => scroll(model, Scroll::Top),
        Action::Bottom => scroll(model, Scroll::Bottom),
        Action::Fold => fold(model),
        Action::Open => open(model),
        Action::ToggleBeside => toggle_beside(model, now),
        Action::Copy => return Some(copy::cell(model, now)),
        Action::CopyCode => return Some(copy::code(model, now)),
        Action::CancelCall => return Some(calls::stop_selected(model, now)),
        Action::Search => search::begin(model),
        Action::NextMatch => search::step(model, true, now),
        Action::PreviousMatch => search::step(model, false, now),
        _ => return None,
    }
    Some(Vec::new())
}

fn scroll(model: &mut Model, by: Scroll) {
    model.transcript.scroll(by);
    model.transcript.drags_selection = true;
}

/// Selects a cell and shows it.
pub(super) fn select(model: &mut Model, index: usize, scroll: fn(CellId) -> Scroll) {
    let cell = model.transcript.cells()[index].id;
    model.transcript.selected = Some(cell);
    model.transcript.scroll(scroll(cell));
}

/// Moves the keys to the cell at `index`, unfolds it and shows it.
pub(super) fn open_at(model: &mut Model, index: usize, scroll: fn(CellId) -> Scroll) {
    let leader = shown(model, index);
    for index in [leader, index] {
        model.transcript.edit(index, |cell| cell.open = Some(true));
    }
    model.focus = Focus::Transcript;
    select(model, index, scroll);
}

/// To the neighbour; through a cell that does not fit into the window first.
fn step(model: &mut Model, down: bool) {
    let Some(selected) = model.transcript.selected_index() else { return focus(model) };
    let cell = model.transcript.selected;
    let goes_on = model.transcript.visible.is_some_and(|window| {
        if down {
            cell == Some(window.last) && window.last_is_cut
        } else {
            cell == Some(window.first) && window.first_is_cut
        }
    });
    if goes_on {
        let half = if down { 1 } else { -1 };
        return model.transcript.scroll(Scroll::HalfPages(half));
    }
    let next = neighbours(model, selected, down).next();
    if let Some(index) = next {
        select(model, index, Scroll::Reveal);
    }
}

fn neighbours(model: &Model, from: usize, down: bool) -> impl Iterator<Item = usize> + '_ {
    let count = model.transcript.cells().len();
    let walk: Box<dyn Iterator<Item = usize>> =
        if down { Box::new(from + 1..count) } else { Box::new((0..from).rev()) };
    walk.filter(|index| !model.transcript.is_hidden(*index))
}

fn jump(model: &mut Model, down: bool, wanted: impl Fn(&CellKind) -> bool, what: &str, now: f64) {
    let from = model.transcript.selected_index().unwrap_or(model.transcript.cells().len());
    let found =
        neighbours(model, from, down).find(|index| wanted(&model.transcript.cells()[*index].kind));
    match found {
        Some(index) if what == "prompt" => select(model, index, Scroll::To),
        Some(index) => select(model, index, Scroll::Reveal),
        None => toast(model, format!("No {what} {}", if down { "below" } else { "above" }), now),
    }
}

fn fold(model: &mut Model) {
    let Some(index) = model.transcript.selected_index() else { return };
    let cell = &model.transcript.cells()[index];
    let is_open = model.is_open(cell) && cell.group == Group::Alone
        || cell.open == Some(true) && cell.group != Group::Alone;
    // A row of calls folds as a whole, from whichever of them.
    let index = match cell.group {
        Group::Member { leader } => model.transcript.index_of(leader).unwrap_or(index),
        _ => index,
    };
    let is_open = is_open || model.transcript.cells()[index].open == Some(true);
    model.transcript.edit(index, |cell| cell.open = Some(!is_open));
    select(model, index, Scroll::Reveal);
}

/// Shows changes in two columns, or in one.
pub(super) fn toggle_beside(model: &mut Model, now: f64) {
    model.diffs_beside = !model.diffs_beside;
    let what = if model.diffs_beside { "side by side, from 140 columns" } else { "in one column" };
    toast(model, format!("Changes {what}"), now);
}

fn open(model: &mut Model) {
    if let Some(cell) = model.transcript.selected {
        model.overlays.push(Overlay::Pager(Pager { cell, top: 0, pending: Vec::new() }));
    }
}

/// A key of the pager; none when it means nothing there.
pub(super) fn act_in_pager(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let to = match action {
        Action::ScrollUp => PagerMove::Scroll(Scroll::Lines(-1)),
        Action::ScrollDown => PagerMove::Scroll(Scroll::Lines(1)),
        Action::HalfUp => PagerMove::Scroll(Scroll::HalfPages(-1)),
        Action::HalfDown => PagerMove::Scroll(Scroll::HalfPages(1)),
        Action::PageUp => PagerMove::Scroll(Scroll::Pages(-1)),
        Action::PageDown => PagerMove::Scroll(Scroll::Pages(1)),
        Action::Top => PagerMove::Scroll(Scroll::Top),
        Action::Bottom => PagerMove::Scroll(Scroll::Bottom),
        Action::NextMatch => PagerMove::Match { forward: true, here: false },
        Action::PreviousMatch => PagerMove::Match { forward: false, here: false },
        Action::Search => {
            search::begin(model);
            return Some(Vec::new());
        }
        Action::ToggleBeside => {
            toggle_beside(model, now);
            return Some(Vec::new());
        }
        Action::Copy => return Some(copy::cell(model, now)),
        _ => return None,
    };
    if let Some(Overlay::Pager(pager)) = model.overlays.last_mut() {
        pager.pending.push(to);
    }
    Some(Vec::new())
}

#[cfg(test)]
mod tests;
