//! Searching the transcript, the pager and earlier contexts.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::cell::CellKind;
use super::super::model::editor::Editor;
use super::super::model::overlay::{Overlay, PagerMove};
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{actions, toast};

/// Opens the line a pattern is written in.
pub(super) fn begin(model: &mut Model) {
    model.search.typing = Some(Editor::default());
}

/// A key while a pattern is written.
pub(super) fn key(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let Some(typing) = &mut model.search.typing else { return Vec::new() };
    match model.keymap.lookup(Context::Search, key) {
        Some(Action::Choose) => accept(model, now),
        Some(Action::Previous) => *typing = Editor::with_text(&model.search.pattern),
        Some(Action::Back | Action::Interrupt) => model.search.typing = None,
        // An empty pattern is given up with the key that takes back its last character.
        _ if key.code == KeyCode::Backspace && typing.is_empty() => model.search.typing = None,
        action => {
            if !typing.key(key)
                && let Some(action) = action
            {
                return actions::global(model, action, now);
            }
        }
    }
    Vec::new()
}

fn accept(model: &mut Model, now: f64) {
    let typed = model.search.typing.take().map(|typing| typing.text()).unwrap_or_default();
    if !typed.is_empty() {
        enter(model);
        model.search.pattern = typed;
        model.search.at = None;
        model.search.is_missed = false;
        model.search.stamp = (usize::MAX, 0);
    }
    if model.search.pattern.is_empty() {
        return;
    }
    let to = PagerMove::Match { forward: true, here: true };
    match model.overlays.last_mut() {
        Some(Overlay::Pager(pager)) => return pager.pending.push(to),
        Some(Overlay::Generation(past)) => return past.pending.push(to),
        _ => {}
    }
    model.search.refresh(model.transcript.cells());
    let from = model.transcript.visible.map(|window| window.first);
    // The nearest: in the window or below it, else above.
    let hits = &model.search.hits;
    let below = hits.iter().position(|(cell, _)| Some(*cell) >= from);
    match below.or(hits.len().checked_sub(1)) {
        Some(hit) => show(model, hit, 0),
        None => toast(model, format!("Nothing matches {}", model.search.pattern), now),
    }
}

/// A search in a pager, or an earlier context, is one of its own.
fn enter(model: &mut Model) {
    let depth = model.overlays.len();
    if model.search.depth < depth {
        let outer = std::mem::take(&mut model.search);
        model.search.outer = (!outer.pattern.is_empty()).then(|| Box::new(outer));
    }
    model.search.depth = depth;
}

/// A search ends with the pager it was begun in; what was looked for before is looked for again.
pub(super) fn follow(model: &mut Model) {
    while model.search.depth > model.overlays.len() {
        model.search = model.search.outer.take().map_or_else(Default::default, |outer| *outer);
    }
}

/// To the next match or the one before, round the ends.
pub(super) fn step(model: &mut Model, forward: bool, now: f64) {
    if model.search.pattern.is_empty() {
        return begin(model);
    }
    model.search.refresh(model.transcript.cells());
    let search = &model.search;
    let Some(last) = search.hits.len().checked_sub(1) else {
        toast(model, format!("Nothing matches {}", model.search.pattern), now);
        return;
    };
    let matches = |hit: usize| search.hits[hit].1;
    let (hit, nth, is_round) = match (search.at, forward) {
        (None, _) => (last, 0, false),
        (Some((hit, nth)), true) if nth + 1 < matches(hit) => (hit, nth + 1, false),
        (Some((hit, _)), true) if hit < last => (hit + 1, 0, false),
        (Some(_), true) => (0, 0, true),
        (Some((hit, nth)), false) if nth > 0 => (hit, nth - 1, false),
        (Some((hit, _)), false) if hit > 0 => (hit - 1, matches(hit - 1) - 1, false),
        (Some(_), false) => (last, matches(last) - 1, true),
    };
    if is_round {
        toast(
            model,
            if forward { "Searched on from the top" } else { "Searched on from the end" },
            now,
        );
    }
    show(model, hit, nth);
}

fn show(model: &mut Model, hit: usize, nth: usize) {
    let cell = model.search.hits[hit].0;
    model.search.at = Some((hit, nth));
    model.focus = Focus::Transcript;
    model.transcript.selected = Some(cell);
    if let Some(index) = model.transcript.index_of(cell) {
        // What is folded away cannot be shown otherwise.
        let hides = matches!(
            model.transcript.cells()[index].kind,
            CellKind::Tool(_) | CellKind::Thinking { .. }
        );
        if hides && !model.is_open(&model.transcript.cells()[index]) {
            model.transcript.edit(index, |cell| cell.open = Some(true));
        }
        if model.transcript.is_hidden(index)
            && let super::super::model::cell::Group::Member { leader } =
                model.transcript.cells()[index].group
            && let Some(leader) = model.transcript.index_of(leader)
        {
            model.transcript.edit(leader, |cell| cell.open = Some(true));
        }
    }
    model.transcript.scroll(Scroll::Match { cell, nth });
}
