//! The timeline pane: walking along it, going back, and reading what was.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::editor::Editor;
use super::super::model::layout::Pane;
use super::super::model::overlay::{Overlay, RevertDialog, RevertPrice};
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, Model};
use super::{calls, generation, is_idle, overlay, rewind, slash, toast};
use crate::wire::{Command, RevertPreview, RewindScope};

/// Moves the keys to the timeline, or back.
pub(super) fn toggle(model: &mut Model) {
    if overlay::is_timeline(model) {
        model.overlays.pop();
    } else if model.focus == Focus::Timeline {
        model.focus = Focus::Composer;
    } else {
        if model.screen.shows(Pane::Timeline) {
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
        Action::Choose => show(model, now),
        Action::Revert => return Some(ask_revert(model, false, now)),
        Action::DMail => return Some(ask_revert(model, true, now)),
        Action::RewindFiles => return Some(rewind::ask(model, RewindScope::Files, now)),
        Action::RewindBoth => return Some(rewind::ask(model, RewindScope::Both, now)),
        Action::RedoRewind => return Some(rewind::ask_redo(model, now)),
        Action::RedoRevert => return Some(redo(model, now)),
        Action::ViewGeneration => return Some(generation::view_selected(model, now)),
        Action::RestoreGeneration => generation::ask_restore_selected(model, now),
        Action::Losses => return Some(generation::list_losses(model, now)),
        Action::FocusCalls => calls::toggle(model, now),
        _ => return None,
    }
    Some(Vec::new())
}

fn show(model: &mut Model, now: f64) {
    let row = model.timeline.selected.and_then(|at| model.timeline.entries.get(at));
    let Some(cell) = row.and_then(|row| row.cell) else {
        toast(model, "The conversation shown does not reach back there; v reads that context", now);
        return;
    };
    model.transcript.scroll(Scroll::To(cell));
    if overlay::is_timeline(model) {
        model.overlays.pop();
    }
}

/// What the last revert took comes back, if nothing was said since; the engine knows.
fn redo(model: &mut Model, now: f64) -> Vec<Effect> {
    if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    leave(model);
    slash::send(model, "/redo", now)
}

/// From the timeline to the composer.
pub(super) fn leave(model: &mut Model) {
    if overlay::is_timeline(model) {
        model.overlays.pop();
    }
    model.focus = Focus::Composer;
}

fn ask_revert(model: &mut Model, is_mail: bool, now: f64) -> Vec<Effect> {
    let Some(entry) = model.timeline.selected() else {
        let text = match model.timeline.selected {
            Some(_) => "That is no checkpoint; choose one to go back to",
            None => "There is no checkpoint to go back to yet",
        };
        toast(model, text, now);
        return Vec::new();
    };
    if !model.status.info.can_revert {
        toast(model, "This engine cannot go back to a checkpoint", now);
    } else if !entry.is_live {
        let text = "The model's context no longer has this checkpoint; v reads what it was, R \
                    brings it back";
        toast(model, text, now);
    } else if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
    } else {
        let to = entry.at;
        let dialog = RevertDialog { to, price: None, mail: Editor::default(), is_mail };
        model.overlays.push(Overlay::Revert(dialog));
        return vec![Effect::Send(Command::PreviewRevert { to })];
    }
    Vec::new()
}

/// The engine told what going back costs.
pub(super) fn priced(model: &mut Model, preview: RevertPreview) {
    for overlay in &mut model.overlays {
        if let Overlay::Revert(dialog) = overlay
            && dialog.to == preview.to
        {
            dialog.price = Some(RevertPrice {
                messages: preview.messages,
                tokens: (preview.before.tokens, preview.after.tokens),
                files: preview.files,
            });
            return;
        }
    }
}

/// Goes back, if it is known what that costs and what is wanted is there; else says what is missing.
pub(super) fn confirm(model: &mut Model, dialog: RevertDialog, now: f64) -> Vec<Effect> {
    let mail = dialog.mail.text().trim().to_owned();
    let missing = if dialog.price.is_none() {
        Some("What it costs is being asked")
    } else if dialog.is_mail && mail.is_empty() {
        Some("Write the message first; r goes back without one")
    } else {
        None
    };
    if let Some(missing) = missing {
        toast(model, missing, now);
        model.overlays.push(Overlay::Revert(dialog));
        return Vec::new();
    }
    leave(model);
    let mail = (!mail.is_empty()).then_some(mail);
    vec![Effect::Send(Command::Revert { to: dialog.to, mail })]
}
