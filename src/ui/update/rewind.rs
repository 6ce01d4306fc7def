//! Going back with files: the dry run is asked for, looked at, and carried out.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::cell::{CellKind, Level};
use super::super::model::overlay::Overlay;
use super::super::model::rewind::RewindView;
use super::super::model::{Focus, Model};
use super::{is_idle, overlay, toast};
use crate::wire::{Command, FilesRewound, RewindPreview, RewindScope};

/// Asks what going back to the marked checkpoint would do.
pub(super) fn ask(model: &mut Model, scope: RewindScope, now: f64) -> Vec<Effect> {
    let Some(entry) = model.timeline.selected() else {
        toast(model, "There is no checkpoint to go back to yet", now);
        return Vec::new();
    };
    // Files have no generations: any checkpoint will do for them.
    if !entry.is_live && scope != RewindScope::Files {
        toast(model, "The context no longer has this checkpoint; f takes only files back", now);
        return Vec::new();
    }
    send(model, Some(entry.at), scope, now)
}

/// Asks what bringing forth what was taken back last would do.
pub(super) fn ask_redo(model: &mut Model, now: f64) -> Vec<Effect> {
    send(model, None, RewindScope::Both, now)
}

fn send(
    model: &mut Model,
    to: Option<crate::message::CheckpointRef>,
    scope: RewindScope,
    now: f64,
) -> Vec<Effect> {
    if !model.status.info.can_revert {
        toast(model, "This engine cannot take files back", now);
    } else if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
    } else {
        return vec![Effect::Send(Command::PreviewRewind { to, scope })];
    }
    Vec::new()
}

/// The dry run is there.
pub(super) fn show(model: &mut Model, preview: RewindPreview) {
    if matches!(model.overlays.last(), Some(Overlay::Rewind(_))) {
        model.overlays.pop();
    }
    model.overlays.push(Overlay::Rewind(Box::new(RewindView::new(preview))));
}

/// A key of the dry run; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let Some(Overlay::Rewind(view)) = model.overlays.last_mut() else { return None };
    match action {
        Action::SelectPrevious => view.select(false),
        Action::SelectNext => view.select(true),
        Action::ScrollUp => view.scroll(-1),
        Action::ScrollDown => view.scroll(1),
        Action::PageUp => view.scroll(-8),
        Action::PageDown => view.scroll(8),
        Action::ToggleOption => {
            if !view.toggle() {
                let text = match view.file().map(|file| &file.conflict) {
                    Some(Some(why)) => format!("Cannot be chosen: {why}"),
                    _ => "Only conflicts are chosen; the others are done".to_owned(),
                };
                toast(model, text, now);
            }
        }
        Action::Choose => return Some(carry_out(model, now)),
        _ => return None,
    }
    Some(Vec::new())
}

fn carry_out(model: &mut Model, now: f64) -> Vec<Effect> {
    if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    let Some(Overlay::Rewind(view)) = model.overlays.pop() else { return Vec::new() };
    if overlay::is_timeline(model) {
        model.overlays.pop();
    }
    model.focus = Focus::Composer;
    let scope = view.preview.scope;
    let chosen = view.chosen.into_iter().collect();
    vec![Effect::Send(match view.preview.to {
        Some(to) => Command::Rewind { to, scope, chosen },
        None => Command::RedoRewind { chosen },
    })]
}

/// Files went back or forth: the transcript says so.
pub(super) fn done(model: &mut Model, done: &FilesRewound, at: f64) {
    let count = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 path {what}")),
        n => Some(format!("{n} paths {what}")),
    };
    let parts: Vec<String> = [
        count(done.restored.len(), "restored"),
        count(done.removed.len(), "removed"),
        count(done.left.len(), "left alone"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let head = match done.to {
        Some(to) => format!("Files taken back to checkpoint {to}"),
        None => "Files brought forth again".to_owned(),
    };
    let mut text = match parts.as_slice() {
        [] => format!("{head}: nothing had to change."),
        parts => format!("{head}: {}.", parts.join(", ")),
    };
    for (path, why) in done.left.iter().take(5) {
        text.push_str(&format!("\n{path}: {why}"));
    }
    if done.to.is_some() && !(done.restored.is_empty() && done.removed.is_empty()) {
        text.push_str("\n/redo files, or u in the timeline, undoes this.");
    }
    let level = if done.left.is_empty() { Level::Info } else { Level::Warning };
    model.transcript.push(CellKind::Notice { level, text }, true, at);
}
