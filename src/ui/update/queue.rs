//! What waits for the running turn to end, as a list: changing it, its order, sending it now.

use super::super::effect::Effect;
use super::super::key::KeyPress;
use super::super::keymap::{Action, Context};
use super::super::model::editor::Editor;
use super::super::model::{Focus, Model};
use super::{actions, is_idle, session, slash, toast};

/// Moves the keys to the list, or back.
pub(super) fn toggle(model: &mut Model, now: f64) {
    if model.composer.queue.is_empty() {
        toast(model, "Nothing is queued; Enter queues while a turn runs", now);
        return;
    }
    model.focus = Focus::Queue;
    // The last one is the one just written.
    model.queue.marked = model.composer.queue.len() - 1;
}

/// A key of the list; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let last = model.composer.queue.len().checked_sub(1)?;
    let marked = model.queue.marked.min(last);
    match action {
        Action::SelectPrevious => model.queue.marked = marked.saturating_sub(1),
        Action::SelectNext => model.queue.marked = (marked + 1).min(last),
        Action::MoveUp if marked > 0 => exchange(model, marked, marked - 1),
        Action::MoveDown if marked < last => exchange(model, marked, marked + 1),
        Action::MoveUp | Action::MoveDown => toast(model, "It cannot go further", now),
        Action::EditQueued => {
            let text = model.composer.queue[marked].clone();
            model.queue.marked = marked;
            model.queue.writing = Some(Box::new(Editor::with_text(&text)));
        }
        Action::TakeBack => {
            if let Some(text) = take(model, marked) {
                model.focus = Focus::Composer;
                model.composer.give_back(&text);
            }
        }
        Action::DropQueued => {
            if let Some(text) = take(model, marked) {
                model.composer.kills.interrupt();
                model.composer.kills.push(text, false);
                let key = model.keymap.key_for(Context::Composer, Action::Yank);
                let key = key.unwrap_or_default();
                toast(model, format!("Dropped; {key} in the composer puts it back"), now);
            }
        }
        Action::Steer => return Some(send_now(model, marked, now)),
        _ => return None,
    }
    Some(Vec::new())
}

fn exchange(model: &mut Model, from: usize, to: usize) {
    model.composer.queue.swap(from, to);
    model.queue.marked = to;
}

/// Takes an entry out; with the last one the keys go back to the composer.
fn take(model: &mut Model, index: usize) -> Option<String> {
    let text = model.composer.queue.remove(index)?;
    settle(model);
    Some(text)
}

/// Keeps the mark inside the list, and the keys where there is something.
pub(super) fn settle(model: &mut Model) {
    let count = model.composer.queue.len();
    model.queue.marked = model.queue.marked.min(count.saturating_sub(1));
    if count == 0 {
        model.queue.writing = None;
        if model.focus == Focus::Queue {
            model.focus = Focus::Composer;
        }
    }
}

fn send_now(model: &mut Model, index: usize, now: f64) -> Vec<Effect> {
    if is_idle(model) && model.shell.is_none() {
        return take(model, index).map(|text| slash::send(model, &text, now)).unwrap_or_default();
    }
    if !model.status.activity.is_running() {
        toast(model, "It is sent as soon as what runs has ended", now);
        return Vec::new();
    }
    let Some(text) = model.composer.queue.get(index) else { return Vec::new() };
    if actions::refuses_steer(text) {
        toast(model, "A command cannot go into a running turn; it waits for its end", now);
        return Vec::new();
    }
    take(model, index).map(|text| actions::steer_with(model, text, now)).unwrap_or_default()
}

/// A key while an entry is changed.
pub(super) fn write(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let action = model.keymap.in_context(Context::Composer, key);
    if action == Some(Action::Submit) {
        return finish(model, true, now);
    }
    if let Some(Action::Back | Action::Interrupt) = model.keymap.in_context(Context::Global, key) {
        return finish(model, false, now);
    }
    let Some(editor) = &mut model.queue.writing else { return Vec::new() };
    match action {
        Some(Action::Newline) => editor.newline(),
        Some(Action::PreviousWord) => editor.move_word(false),
        Some(Action::NextWord) => editor.move_word(true),
        _ => {
            editor.key(key);
        }
    }
    Vec::new()
}

/// The change is over. An empty text leaves the entry as it was: dropping has a key of its own.
fn finish(model: &mut Model, keeps: bool, now: f64) -> Vec<Effect> {
    let text = model.queue.writing.take().map(|editor| editor.text()).unwrap_or_default();
    let marked = model.queue.marked;
    if keeps
        && !text.trim().is_empty()
        && let Some(entry) = model.composer.queue.get_mut(marked)
    {
        text.trim().clone_into(entry);
    }
    // The turn may have ended meanwhile.
    if is_idle(model) && model.shell.is_none() {
        return session::next_queued(model, now);
    }
    Vec::new()
}
