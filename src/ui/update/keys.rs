//! Keys: to the topmost overlay, the approval panel, a pane or the composer, by the keymap.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::image::pasted_path;
use super::super::model::overlay::Overlay;
use super::super::model::vim::Mode;
use super::{
    actions, approval, calls, chords, generation, ledger, overlay, picker, question, queue,
    reading, replay, rewind, search, sessions, setup, slash, tasks, timeline, toast, vim,
};

/// A key was pressed.
pub(super) fn press(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    super::read(model, now);
    // Only two of them in a row leave.
    if model.keymap.lookup(model.context(now), key) != Some(Action::Interrupt) {
        model.leave_armed = None;
    }
    let context = model.context(now);
    if context == Context::Approval && model.approvals.feedback.is_some() {
        return approval::feedback_key(model, key, now);
    }
    if context == Context::Question && is_writing(model) {
        return question::writing_key(model, key, now);
    }
    if context == Context::Queue && model.queue.writing.is_some() {
        return queue::write(model, key, now);
    }
    if matches!(model.overlays.last(), Some(Overlay::Setup(_))) && context == Context::Picker {
        return setup::key(model, key, now);
    }
    if let Some(effects) = chords::press(model, context, key, now) {
        return effects;
    }
    alone(model, key, now)
}

/// A key that belongs to no chord.
pub(super) fn alone(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let context = model.context(now);
    match context {
        Context::Composer => return composer(model, key, now),
        Context::Help if matches!(model.overlays.last(), Some(Overlay::Help { .. })) => {
            match key.code {
                KeyCode::Char(c) if key.is_text() => model.help_filter.push(c),
                KeyCode::Backspace => {
                    model.help_filter.pop();
                }
                _ => return by_keymap(model, context, key, now),
            }
            return Vec::new();
        }
        Context::Search => return search::key(model, key, now),
        Context::Sessions | Context::Trash => {
            if let Some(effects) = sessions::write(model, key) {
                return effects;
            }
        }
        Context::Picker if picker::is_filter_key(key) => return picker::filter(model, key),
        Context::Dialog => return dialog(model, key, now),
        _ => {}
    }
    by_keymap(model, context, key, now)
}

fn by_keymap(model: &mut Model, context: Context, key: KeyPress, now: f64) -> Vec<Effect> {
    match model.keymap.lookup(context, key) {
        Some(action) => act(model, context, action, now),
        None => {
            let text = format!("{key} does nothing here; Esc goes back to the composer");
            toast(model, text, now);
            Vec::new()
        }
    }
}

pub(super) fn act(model: &mut Model, context: Context, action: Action, now: f64) -> Vec<Effect> {
    let handled = match context {
        Context::Approval => approval::act(model, action, now),
        Context::Question => question::act(model, action, now),
        Context::Timeline => timeline::act(model, action, now),
        Context::Calls => calls::act(model, action, now),
        Context::Ledger => ledger::act(model, action, now),
        Context::Queue => queue::act(model, action, now),
        Context::Past => generation::act_in_past(model, action, now),
        Context::Losses => generation::act_in_losses(model, action, now),
        Context::Sessions | Context::Trash => sessions::act(model, action, now),
        Context::Tasks => tasks::act(model, action, now),
        Context::Rewind => rewind::act(model, action, now),
        Context::Help => overlay::act_in_help(model, action),
        Context::Transcript => reading::act(model, action, now),
        Context::Pager => reading::act_in_pager(model, action, now),
        Context::Picker => picker::act(model, action, now),
        Context::Replay => replay::act(model, action, now),
        Context::Dialog | Context::Composer | Context::Search | Context::Global => None,
    };
    handled.unwrap_or_else(|| actions::global(model, action, now))
}

/// Is an answer to a question being written?
fn is_writing(model: &Model) -> bool {
    model.questions.current().is_some_and(|asking| asking.writing.is_some())
}

fn composer(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    model.approvals.typed(now);
    model.questions.typed(now);
    if key.code == KeyCode::Char('?') && key.is_text() && model.composer.editor.is_empty() {
        return actions::global(model, Action::Help, now);
    }
    if let Some(effects) = vim::key(model, key, now) {
        return effects;
    }
    if let Some(effects) = shell_mode(model, key) {
        return effects;
    }
    if !is_kill(model, key) {
        model.composer.kills.interrupt();
    }
    match model.keymap.in_context(Context::Composer, key) {
        Some(action) => return actions::compose(model, action, now),
        None if key.is_text() => {}
        None => {
            // With text in the box, keys like Ctrl-D and Ctrl-E belong to it only if the program
            // has no use for them.
            if let Some(action) = model.keymap.in_context(Context::Global, key) {
                return actions::global(model, action, now);
            }
        }
    }
    let writes = model.composer.vim.as_ref().is_none_or(|vim| vim.mode == Mode::Insert);
    if writes && model.composer.editor.key(key) {
        model.composer.completion = 0;
        model.composer.keep_marks_whole();
    } else if is_unknown(key) {
        toast(model, format!("{key} does nothing here; F1 shows the keys"), now);
    }
    Vec::new()
}

/// Is it a key that no text box could have a use for?
fn is_unknown(key: KeyPress) -> bool {
    matches!(key.code, KeyCode::F(_)) || key.code == KeyCode::Char(' ') && key.ctrl
}

/// Does `key` go on deleting, or putting back?
fn is_kill(model: &Model, key: KeyPress) -> bool {
    let action = model.keymap.in_context(Context::Composer, key);
    matches!(
        action,
        Some(
            Action::KillToEnd
                | Action::KillToStart
                | Action::KillWord
                | Action::KillNextWord
                | Action::Yank
                | Action::YankPop
        )
    )
}

/// `!` into the empty composer begins a command for the shell, as `$` and a space do; Backspace in it
/// ends that. Only what is typed counts: a paste that begins so is a prompt.
fn shell_mode(model: &mut Model, key: KeyPress) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    let is_space = key.code == KeyCode::Char(' ') && key.is_text();
    if !composer.is_shell
        && is_space
        && composer.editor.before_cursor_behind("$").as_deref() == Some("")
        && composer.editor.text() == "$"
    {
        composer.editor.take();
        composer.is_shell = true;
        return Some(Vec::new());
    }
    if !composer.editor.is_empty() {
        return None;
    }
    if composer.is_shell && key.code == KeyCode::Backspace {
        composer.is_shell = false;
        return Some(Vec::new());
    }
    if !composer.is_shell && key.code == KeyCode::Char('!') && key.is_text() {
        composer.is_shell = true;
        return Some(Vec::new());
    }
    None
}

fn dialog(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    if let Some(action) = model.keymap.in_context(Context::Dialog, key) {
        return overlay::act_in_dialog(model, action, now);
    }
    if let Some(Overlay::Revert(dialog)) = model.overlays.last_mut() {
        let is_newline = model.keymap.in_context(Context::Composer, key) == Some(Action::Newline);
        if is_newline {
            dialog.mail.newline();
            return Vec::new();
        }
        if dialog.mail.key(key) {
            return Vec::new();
        }
    }
    match model.keymap.in_context(Context::Global, key) {
        Some(action) => actions::global(model, action, now),
        None => Vec::new(),
    }
}

/// Text was pasted.
pub(super) fn paste(model: &mut Model, text: &str, now: f64) -> Vec<Effect> {
    if let Some(typing) = &mut model.search.typing {
        typing.insert(&text.replace('\n', " "));
        return Vec::new();
    }
    if model.context(now) == Context::Question && is_writing(model) {
        return paste_into_question(model, text);
    }
    if model.context(now) == Context::Queue
        && let Some(editor) = &mut model.queue.writing
    {
        editor.insert(text);
        return Vec::new();
    }
    model.approvals.typed(now);
    model.questions.typed(now);
    match model.overlays.last_mut() {
        Some(Overlay::Sessions(_)) => return sessions::paste(model, text),
        Some(Overlay::Picker(picker)) => {
            picker.filter.insert(&text.replace('\n', " "));
            picker.search();
        }
        Some(Overlay::Setup(connecting)) => setup::paste(connecting, text),
        Some(Overlay::Revert(dialog)) => dialog.mail.insert(text),
        Some(_) => {}
        None => match &mut model.approvals.feedback {
            Some(feedback) => feedback.insert(text),
            None => {
                if let Some(path) = pasted_path(text).filter(|_| !model.composer.is_shell) {
                    let id = model.next_effect();
                    return vec![Effect::ReadImage { id, path: Some(path) }];
                }
                model.composer.paste(text);
                model.composer.completion = 0;
            }
        },
    }
    slash::clamp(model);
    Vec::new()
}

/// A paste into the answer that is written.
fn paste_into_question(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(editor) = model.questions.current_mut().and_then(|asking| asking.writing.as_mut()) {
        editor.insert(text);
    }
    Vec::new()
}
