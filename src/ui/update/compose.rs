//! Editing the draft: words, deleted pieces, what is put aside, pictures, the shell.

use super::super::effect::{Effect, EffectId};
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::editor::Cut;
use super::super::model::image::Image;
use super::super::model::vim::Vim;
use super::{picker, toast};

/// Carries out an action that changes the draft; none when it is no such action.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    match action {
        Action::KillToEnd => cut(model, Cut::ToEnd),
        Action::KillToStart => cut(model, Cut::ToStart),
        Action::KillWord => cut(model, Cut::Word),
        Action::KillNextWord => cut(model, Cut::NextWord),
        Action::Yank => yank(model, now),
        Action::YankPop => yank_pop(model, now),
        Action::Undo | Action::Redo => undo(model, action == Action::Undo, now),
        Action::PreviousWord => model.composer.editor.move_word(false),
        Action::NextWord => model.composer.editor.move_word(true),
        Action::ToggleShell => toggle_shell(model),
        Action::Stash => stash(model, now),
        Action::ToggleVim => toggle_vim(model, now),
        Action::PasteImage => {
            let id = model.next_effect();
            return Some(vec![Effect::ReadImage { id, path: None }]);
        }
        _ => return None,
    }
    Some(Vec::new())
}

fn cut(model: &mut Model, cut: Cut) {
    let composer = &mut model.composer;
    let piece = composer.editor.cut(cut);
    composer.kills.push(piece, matches!(cut, Cut::ToStart | Cut::Word));
    composer.completion = 0;
    composer.keep_marks_whole();
}

fn yank(model: &mut Model, now: f64) {
    match model.composer.kills.yank() {
        Some(piece) => {
            model.composer.editor.insert(&piece);
            model.composer.keep_marks_whole();
        }
        None => toast(model, "Nothing was deleted that could be put back", now),
    }
}

fn yank_pop(model: &mut Model, now: f64) {
    match model.composer.kills.rotate() {
        Some((characters, piece)) => {
            model.composer.editor.replace_before_cursor(characters, &piece);
            model.composer.keep_marks_whole();
        }
        None => toast(model, "Only right after putting back (yank)", now),
    }
}

fn undo(model: &mut Model, back: bool, now: f64) {
    if model.composer.editor.travel(back) {
        model.composer.completion = 0;
        model.composer.keep_marks_whole();
    } else {
        toast(model, if back { "Nothing to undo" } else { "Nothing to redo" }, now);
    }
}

/// Drafts are written in the editor that `command` starts from now on.
pub(super) fn choose_editor(model: &mut Model, command: String) -> Vec<Effect> {
    model.program.external_editor.clone_from(&command);
    vec![Effect::KeepEditor(command)]
}

fn toggle_shell(model: &mut Model) {
    model.composer.is_shell = !model.composer.is_shell;
    model.composer.completion = 0;
}

/// Vim's keys on or off.
pub(super) fn toggle_vim(model: &mut Model, now: f64) {
    let composer = &mut model.composer;
    composer.editor.select_from(None);
    composer.vim = match composer.vim {
        Some(_) => None,
        None => Some(Vim::default()),
    };
    let is_on = composer.vim.is_some();
    let text = if is_on {
        "Vim's keys in the composer: Esc for normal mode; [ui] vim = true in config.toml keeps them"
    } else {
        "The usual keys in the composer"
    };
    toast(model, text, now);
}

/// Puts the draft aside, or brings back what was: from a list when it is more than one.
fn stash(model: &mut Model, now: f64) {
    let key = model.keymap.key_for(super::super::keymap::Context::Composer, Action::Stash);
    if model.composer.put_aside() {
        let count = model.composer.stash.len();
        let key = key.unwrap_or_default();
        toast(
            model,
            format!("Put aside ({count}); {key} in the empty composer brings it back"),
            now,
        );
        return;
    }
    match model.composer.stash.len() {
        0 => toast(model, "Nothing is put aside; with a draft, this key does it", now),
        1 => model.composer.take_from_stash(0),
        _ => picker::open_stash(model),
    }
}

/// A picture was read, or could not be.
pub(super) fn image_read(
    model: &mut Model,
    _id: EffectId,
    result: Result<Image, String>,
    now: f64,
) -> Vec<Effect> {
    match result {
        Ok(image) if model.status.info.takes_images => model.composer.attach(image),
        Ok(image) => {
            let name = model.status.info.model.clone().unwrap_or_else(|| "The model".to_owned());
            let text = format!("{name} takes no pictures: {} is left out", image.name);
            toast(model, text, now);
        }
        Err(reason) => toast(model, reason, now),
    }
    Vec::new()
}
