//! The timeline pane: walking along it, and going back.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::cell::CellKind;
use super::super::model::editor::Editor;
use super::super::model::overlay::{Overlay, RevertDialog, RevertPrice};
use super::super::model::packed::Packed;
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{is_idle, overlay, rewind, toast};
use crate::message::DisplayBlock;
use crate::wire::RewindScope;

/// Moves the keys to the timeline, or back.
pub(super) fn toggle(model: &mut Model) {
    if overlay::is_timeline(model) {
        model.overlays.pop();
    } else if model.focus == Focus::Timeline {
        model.focus = Focus::Composer;
    } else {
        if model.screen.has_sidebar() {
            model.focus = Focus::Timeline;
        } else {
            model.overlays.push(Overlay::Timeline);
        }
        if model.timeline.selected.is_none() {
            model.timeline.select_latest();
        }
    }
}

/// A key of the timeline; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    match action {
        Action::SelectPrevious => model.timeline.select(false),
        Action::SelectNext => model.timeline.select(true),
        Action::Choose => show(model),
        Action::Revert | Action::DMail => ask_revert(model, now),
        Action::RewindFiles => return Some(rewind::ask(model, RewindScope::Files, now)),
        Action::RewindBoth => return Some(rewind::ask(model, RewindScope::Both, now)),
        Action::RedoRewind => return Some(rewind::ask_redo(model, now)),
        _ => return None,
    }
    Some(Vec::new())
}

fn show(model: &mut Model) {
    let row = model.timeline.selected.and_then(|at| model.timeline.entries.get(at));
    if let Some(cell) = row.and_then(|row| row.cell) {
        model.transcript.scroll(Scroll::To(cell));
        if overlay::is_timeline(model) {
            model.overlays.pop();
        }
    }
}

fn ask_revert(model: &mut Model, now: f64) {
    let Some(entry) = model.timeline.selected() else {
        toast(model, "There is no checkpoint to go back to yet", now);
        return;
    };
    if !model.status.info.can_revert {
        toast(model, "This engine cannot go back to a checkpoint", now);
    } else if !entry.is_live {
        toast(model, "The model's context no longer has this checkpoint", now);
    } else if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
    } else {
        let to = entry.at;
        let size = entry.size;
        let before = model.status.context_tokens.unwrap_or(size.tokens);
        let price = RevertPrice {
            messages: messages_after(model),
            tokens: (before, size.tokens.min(before)),
            files: files_written_after(model),
        };
        model.overlays.push(Overlay::Revert(RevertDialog { to, price, mail: Editor::default() }));
    }
}

/// An estimate from what is shown: the engine alone knows the rows.
fn messages_after(model: &Model) -> u64 {
    cells_after(model)
        .map(|cell| match &cell.kind {
            CellKind::User { .. } | CellKind::Assistant { .. } | CellKind::Tool(_) => 1,
            _ => 0,
        })
        .sum()
}

fn files_written_after(model: &Model) -> Vec<String> {
    let mut files = Vec::new();
    for cell in cells_after(model) {
        let CellKind::Tool(tool) = &cell.kind else { continue };
        let Some(result) = tool.result.as_ref().map(Packed::peek) else { continue };
        if result.is_error {
            continue;
        }
        for block in &result.display {
            if let DisplayBlock::Diff(diff) = block
                && !files.contains(&diff.path)
            {
                files.push(diff.path.clone());
            }
        }
    }
    files
}

fn cells_after(model: &Model) -> impl Iterator<Item = &super::super::model::cell::Cell> {
    let row = model.timeline.selected.and_then(|at| model.timeline.entries.get(at));
    let is_turn_start =
        model.timeline.selected().is_some_and(|checkpoint| checkpoint.step.is_none());
    let from = row
        .and_then(|row| model.transcript.index_of(row.cell?))
        .map_or(0, |index| if is_turn_start { index } else { index + 1 });
    model.transcript.cells()[from..]
        .iter()
        .filter(|cell| cell.fate == super::super::model::cell::Fate::Live)
}
