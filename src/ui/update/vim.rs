//! Vim's keys in the composer.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::vim::{Mode, Pressed, Text};
use super::actions;

/// A key, when it is one of vim's.
pub(super) fn key(model: &mut Model, key: KeyPress, now: f64) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    let vim = composer.vim.as_mut()?;
    // Two are looked at first, so that writing costs nothing.
    if vim.mode == Mode::Insert && vim.is_writing() && key.code != KeyCode::Esc && !key.ctrl {
        return None;
    }
    // With nothing to search in, both can only mean a command of this program.
    let is_command = !key.ctrl && !key.alt && matches!(key.code, KeyCode::Char('/' | ':'));
    if is_command
        && vim.mode == Mode::Normal
        && vim.pending().is_empty()
        && composer.editor.is_empty()
    {
        vim.mode = Mode::Insert;
        composer.editor.insert("/");
        composer.completion = 0;
        return Some(Vec::new());
    }
    let mut text = Text::new(&composer.editor.text(), composer.editor.position());
    let before = text.chars.clone();
    let pressed = vim.press(key, &mut text);
    let selection = vim.selection();
    match pressed {
        Pressed::Ignored => return None,
        Pressed::Above => return Some(actions::compose(model, Action::Previous, now)),
        Pressed::Below => return Some(actions::compose(model, Action::Next, now)),
        Pressed::Took => {}
    }
    if text.chars != before {
        composer.editor = super::super::model::editor::Editor::with_text(&text.text());
        composer.completion = 0;
    }
    composer.keep_marks_whole();
    composer.editor.select_from(None);
    composer.editor.go_to(text.cursor);
    composer.editor.select_from(selection);
    Some(Vec::new())
}
