//! Earlier contexts: reading one, bringing it back, pinning back what a compaction took.

use std::sync::Arc;

use super::super::effect::{Effect, EffectId};
use super::super::keymap::Action;
use super::super::model::cell::Level;
use super::super::model::generation::{GenerationView, LossList, Page, items};
use super::super::model::overlay::{Overlay, PagerMove, RestoreDialog};
use super::super::model::timeline::Jump;
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{is_idle, search, timeline, toast, wire};
use crate::message::{CheckpointId, Generation};
use crate::session::generations::{GenerationInfo, Transcript};
use crate::wire::{Command, MessagesHidden, MessagesPinned};

/// Asks the files for a timeline when the record of a session that goes on has none.
pub(super) fn after_opening(model: &mut Model) -> Vec<Effect> {
    let info = &model.status.info;
    let wanted = info.is_resumed && model.timeline.is_bare() && !info.checkpoints.is_empty();
    if !wanted {
        return Vec::new();
    }
    let session_dir = info.session_dir.clone();
    vec![Effect::ListGenerations { id: model.next_effect(), session_dir }]
}

/// The files told which generations there are.
pub(super) fn listed(model: &mut Model, generations: &[GenerationInfo]) {
    model.timeline.infer(generations);
}

/// A generation was read.
pub(super) fn read(model: &mut Model, id: EffectId, result: Result<Arc<Transcript>, String>) {
    for overlay in &mut model.overlays {
        match overlay {
            Overlay::Generation(view) if view.request == id => {
                view.page = match &result {
                    Ok(transcript) => Page::Ready(items(transcript).into()),
                    Err(reason) => Page::Failed(reason.clone()),
                };
                view.pending.push(PagerMove::Scroll(Scroll::Bottom));
            }
            Overlay::Losses(list) if list.request == id => list.messages = Some(result.clone()),
            _ => {}
        }
    }
}

/// The generation the marked row is about: that of a checkpoint, or the one that ended there.
fn selected(model: &Model) -> Option<Generation> {
    if let Some((_, ended, _)) = model.timeline.selected_jump() {
        return Some(ended);
    }
    let checkpoint = model.timeline.selected()?;
    Some(checkpoint.at.generation)
}

/// Reads the context of the marked row.
pub(super) fn view_selected(model: &mut Model, now: f64) -> Vec<Effect> {
    match selected(model) {
        Some(generation) => view(model, generation),
        None => {
            toast(model, "There is no context to read yet", now);
            Vec::new()
        }
    }
}

/// Reads the context there is: every message, with its checkpoints.
pub(super) fn view_present(model: &mut Model) -> Vec<Effect> {
    let generation = model.timeline.generation;
    view(model, generation)
}

fn view(model: &mut Model, generation: Generation) -> Vec<Effect> {
    let id = model.next_effect();
    let current = model.timeline.generation;
    let view = GenerationView::loading(id, generation, current);
    model.overlays.push(Overlay::Generation(Box::new(view)));
    vec![read_effect(model, id, generation)]
}

fn read_effect(model: &Model, id: EffectId, generation: Generation) -> Effect {
    let session_dir = model.status.info.session_dir.clone();
    Effect::ReadGeneration { id, session_dir, generation }
}

/// A key of the reader; none when it means nothing there.
pub(super) fn act_in_past(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let to = match action {
        Action::ScrollUp => Scroll::Lines(-1),
        Action::ScrollDown => Scroll::Lines(1),
        Action::HalfUp => Scroll::HalfPages(-1),
        Action::HalfDown => Scroll::HalfPages(1),
        Action::PageUp => Scroll::Pages(-1),
        Action::PageDown => Scroll::Pages(1),
        Action::Top => Scroll::Top,
        Action::Bottom => Scroll::Bottom,
        Action::NextMatch | Action::PreviousMatch | Action::Search => {
            search_in_past(model, action);
            return Some(Vec::new());
        }
        Action::PreviousGeneration => return Some(turn(model, false, now)),
        Action::NextGeneration => return Some(turn(model, true, now)),
        Action::RestoreGeneration => {
            let Some(Overlay::Generation(view)) = model.overlays.last() else { return None };
            let generation = view.generation;
            ask_restore(model, generation, now);
            return Some(Vec::new());
        }
        _ => return None,
    };
    if let Some(Overlay::Generation(view)) = model.overlays.last_mut() {
        view.pending.push(PagerMove::Scroll(to));
    }
    Some(Vec::new())
}

/// To the next or previous line that matches; without a pattern, one is asked for.
fn search_in_past(model: &mut Model, action: Action) {
    if action == Action::Search || model.search.pattern.is_empty() {
        return search::begin(model);
    }
    if let Some(Overlay::Generation(view)) = model.overlays.last_mut() {
        view.pending.push(PagerMove::Match { forward: action == Action::NextMatch, here: false });
    }
}

fn turn(model: &mut Model, later: bool, now: f64) -> Vec<Effect> {
    let Some(Overlay::Generation(view)) = model.overlays.last() else { return Vec::new() };
    let next = if later { view.generation.0 + 1 } else { view.generation.0.wrapping_sub(1) };
    if next > view.current.0 {
        let text = if later { "This is the context there is" } else { "This is the first context" };
        toast(model, text, now);
        return Vec::new();
    }
    model.overlays.pop();
    self::view(model, Generation(next))
}

/// Asks before the context of the marked row comes back.
pub(super) fn ask_restore_selected(model: &mut Model, now: f64) {
    match selected(model) {
        Some(generation) => ask_restore(model, generation, now),
        None => toast(model, "There is no earlier context yet", now),
    }
}

fn ask_restore(model: &mut Model, generation: Generation, now: f64) {
    if generation == model.timeline.generation {
        toast(model, "That is the context there is; choose a row of an earlier one", now);
    } else if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
    } else {
        let before = model.status.context_tokens.unwrap_or_default();
        let tokens = (before, model.timeline.tokens_of(generation));
        model.overlays.push(Overlay::Restore(RestoreDialog { generation, tokens }));
    }
}

/// Brings it back.
pub(super) fn restore(model: &mut Model, dialog: &RestoreDialog) -> Vec<Effect> {
    model.overlays.clear();
    model.focus = Focus::Composer;
    model.transcript.scroll(Scroll::Bottom);
    vec![Effect::Send(Command::Restore { generation: Some(dialog.generation) })]
}

/// Shows what the change in the marked row took out of the context, or else the last that took some.
pub(super) fn list_losses(model: &mut Model, now: f64) -> Vec<Effect> {
    let marked = model.timeline.selected_jump().and_then(|(_, _, notes)| notes.rewritten.as_ref());
    let Some(rewritten) = marked.or_else(|| model.timeline.last_rewritten()).cloned() else {
        toast(model, "No compaction has taken anything out of the context yet", now);
        return Vec::new();
    };
    let id = model.next_effect();
    model.overlays.push(Overlay::Losses(Box::new(LossList::new(id, &rewritten))));
    vec![read_effect(model, id, rewritten.generation)]
}

/// A key of the list of what was taken out; none when it means nothing there.
pub(super) fn act_in_losses(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let is_idle = is_idle(model);
    let Some(Overlay::Losses(list)) = model.overlays.last_mut() else { return None };
    let last = list.rows.len().saturating_sub(1);
    match action {
        Action::SelectPrevious => list.marked = list.marked.saturating_sub(1),
        Action::SelectNext => list.marked = (list.marked + 1).min(last),
        Action::PageUp => list.marked = list.marked.saturating_sub(10),
        Action::PageDown => list.marked = (list.marked + 10).min(last),
        Action::ToggleOption => {
            if let Some(row) = list.rows.get(list.marked)
                && !list.chosen.remove(&row.index)
            {
                list.chosen.insert(row.index);
            }
        }
        Action::ViewGeneration => {
            let generation = list.generation;
            return Some(view(model, generation));
        }
        Action::RestoreGeneration => {
            let generation = list.generation;
            ask_restore(model, generation, now);
        }
        Action::Choose if !is_idle => toast(model, "A turn runs; pin when it is over", now),
        Action::Choose => {
            let (generation, messages) = (list.generation, list.wanted());
            if messages.is_empty() {
                return Some(Vec::new());
            }
            model.overlays.pop();
            timeline::leave(model);
            return Some(vec![Effect::Send(Command::Pin { generation, messages })]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Messages are in the context again.
pub(super) fn pinned(model: &mut Model, pinned: &MessagesPinned, at: f64) {
    let count = pinned.messages.len();
    let text = format!(
        "{} of context {} quoted at the end of the conversation again: about {} tokens.",
        if count == 1 { "A message".to_owned() } else { format!("{count} messages") },
        pinned.generation,
        pinned.tokens
    );
    wire::notice(model, Level::Info, text, at);
    let tokens = (pinned.size.tokens.saturating_sub(pinned.tokens), pinned.size.tokens);
    let cell = model.transcript.cells().last().map(|cell| cell.id);
    model.timeline.add_pin(count as u64, tokens, pinned.generation, cell, at);
    model.status.context_tokens = Some(pinned.size.tokens);
}

/// Tool results gave way to placeholders.
pub(super) fn hidden(model: &mut Model, hidden: &MessagesHidden, at: f64) {
    let (count, change) = (hidden.messages.len(), hidden.change);
    // Every checkpoint stays, so nothing is cut.
    let nothing = Some(CheckpointId(u64::MAX));
    let cell = model.transcript.cells().last().map(|cell| cell.id);
    model.timeline.jump(Jump::Hidden(count as u64), nothing, &change, cell, at);
    model.transcript.generation = change.new_generation;
    model.status.context_tokens = Some(change.after.tokens);
    let text = format!(
        "{} hidden from the model. /pin brings single ones back, /restore {} all of it.",
        if count == 1 {
            "A tool result is".to_owned()
        } else {
            format!("{count} tool results are")
        },
        change.old_generation
    );
    wire::notice(model, Level::Info, text, at);
}
