//! Pure transitions: what happened and when goes in, the model changes, and what is to be done in the
//! world comes out. No I/O, no clock, no randomness.

mod actions;
mod approval;
mod approval_edit;
mod arguments;
mod calls;
mod chords;
mod compose;
mod copy;
mod generation;
mod keys;
mod layout;
mod ledger;
mod mention;
mod news;
mod overlay;
mod pages;
mod papers;
mod picker;
mod question;
mod queue;
mod reading;
pub mod recall;
mod replay;
mod rewind;
mod search;
mod session;
mod sessions;
mod setup;
mod shell;
mod slash;
mod status_line;
mod tasks;
#[cfg(test)]
mod tests;
mod timeline;
mod vim;
mod wire;

pub use copy::source;
pub use setup::money;
pub use slash::{commands, completions};

use super::effect::Effect;
use super::model::editor::Editor;
use super::model::selection::{Selection, Unit};
use super::model::status::{Activity, Toast};
use super::model::{EditTarget, LEAVE_SECONDS, Model};
use super::msg::{Mouse, Msg};
use crate::wire::DoorMessage;

/// Takes `msg` in at `now`, in seconds since 1970.
pub fn update(model: &mut Model, msg: Msg, now: f64) -> Vec<Effect> {
    let may_change_draft = matches!(
        msg,
        Msg::Key(_)
            | Msg::Paste(_)
            | Msg::Edited(_)
            | Msg::Image { .. }
            | Msg::Door(DoorMessage::PromptDone(_))
    );
    let is_key = matches!(msg, Msg::Key(_) | Msg::Paste(_));
    news::hear(model, &msg, now);
    if is_key || msg == Msg::Focus(true) {
        model.status.has_failed = false;
    }
    let mut effects = take_in(model, msg, now);
    if is_key {
        effects.extend(picker::preview(model));
    }
    search::follow(model);
    effects.extend(sessions::follow(model));
    effects.extend(news::read(model, now));
    effects.extend(status_line::follow(model, now));
    if may_change_draft {
        model.composer.touch(now);
        effects.extend(mention::refresh(model, now));
    }
    if effects.contains(&Effect::Quit) {
        // Leaving is no crash: there is nothing to go on with.
        (model.composer.asked, model.composer.place) = (Vec::new(), None);
    } else {
        session::keep_place(model, now);
    }
    if effects.contains(&Effect::Quit)
        && let Some(draft) = model.composer.take_unsaved()
    {
        effects.insert(0, Effect::SaveDraft(draft));
    }
    effects
}

fn take_in(model: &mut Model, msg: Msg, now: f64) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => keys::press(model, key.normalised(), now),
        Msg::Paste(text) => keys::paste(model, &text, now),
        Msg::Resize { width, height } => {
            (model.screen.width, model.screen.height) = (width, height);
            Vec::new()
        }
        Msg::Focus(is_focused) => {
            model.screen.is_focused = is_focused;
            Vec::new()
        }
        Msg::Mouse { what, x, y } => mouse(model, what, x, y, now),
        Msg::Wheel(lines) => actions::wheel(model, lines),
        Msg::Door(message) => {
            let again = ledger::follow(model, &message);
            let mut effects = door(model, message, now);
            effects.extend(again);
            effects
        }
        Msg::DoorClosed => session::gone(model, now),
        Msg::Preview { id, transcript } => session::preview(model, id, *transcript),
        Msg::Opened { id, result } => {
            let mut effects = session::opened(model, id, result, now);
            effects.extend(generation::after_opening(model));
            effects
        }
        Msg::Generations { generations, .. } => {
            generation::listed(model, &generations);
            Vec::new()
        }
        Msg::Generation { id, result } => {
            generation::read(model, id, result);
            Vec::new()
        }
        Msg::Session { id, done } => sessions::done(model, id, *done, now),
        Msg::Setup { id, told } => setup::told(model, id, *told, now),
        Msg::Examined(said) => {
            pages::examined(model, &said);
            Vec::new()
        }
        Msg::Files { id, files } => {
            model.mention.set_files(id, files, now);
            Vec::new()
        }
        Msg::History(history) => {
            model.composer.set_history(history);
            Vec::new()
        }
        Msg::StatusLine { id, result } => {
            status_line::ended(model, id, result, now);
            Vec::new()
        }
        Msg::Branch(branch) => {
            model.status.branch = branch;
            Vec::new()
        }
        Msg::Said(said) => {
            toast(model, said, now);
            Vec::new()
        }
        Msg::Draft(draft) => {
            session::came_back(model, &draft, now);
            if model.composer.restore(draft) {
                toast(model, "What you had not sent is back", now);
            }
            Vec::new()
        }
        Msg::Edited(result) => {
            let target = std::mem::take(&mut model.editing);
            match (result, target) {
                (Ok(text), EditTarget::Approval { request }) => {
                    return approval_edit::edited(model, &request, &text, now);
                }
                (Err(reason), EditTarget::Approval { .. }) => {
                    let what = reason.split(';').next().unwrap_or_default().to_owned();
                    toast(model, format!("{what}; the question stands"), now);
                }
                (Ok(text), EditTarget::Draft) => {
                    let is_shell = model.composer.is_shell;
                    model.composer.take();
                    model.composer.is_shell = is_shell;
                    model.composer.editor = Editor::with_text(text.trim_end_matches('\n'));
                }
                (Err(reason), EditTarget::Draft) => toast(model, reason, now),
            }
            Vec::new()
        }
        Msg::Image { id, result } => compose::image_read(model, id, result, now),
        Msg::ShellOutput { id, text } => {
            shell::printed(model, id, &text);
            Vec::new()
        }
        Msg::ShellEnded { id, result } => shell::ended(model, id, result, now),
        Msg::Tick => tick(model, now),
        Msg::Terminate => vec![Effect::Quit],
    }
}

/// Selecting text of the transcript. What is selected is copied when the button is released.
fn mouse(model: &mut Model, what: Mouse, x: u16, y: u16, now: f64) -> Vec<Effect> {
    let transcript = &mut model.transcript;
    let spot = transcript.pane.spot(x, y).filter(|_| model.overlays.is_empty());
    match (what, spot, &mut transcript.selection) {
        // Beside the pane nothing begins.
        (Mouse::Press, Some(spot), selection)
            if transcript.pane.rows.iter().any(|(row, ..)| *row == y) =>
        {
            let unit = transcript.presses.press(x, y, now);
            *selection = Some(Selection { unit, from: spot, to: spot, is_over: false });
        }
        (Mouse::Drag, Some(spot), Some(selection)) => selection.to = spot,
        (Mouse::Release, _, selection) => match selection {
            Some(marked) if marked.from != marked.to || marked.unit != Unit::Character => {
                marked.is_over = true;
            }
            _ => *selection = None,
        },
        _ => {}
    }
    Vec::new()
}

fn door(model: &mut Model, message: DoorMessage, now: f64) -> Vec<Effect> {
    match message {
        DoorMessage::Event(event) => {
            wire::apply(model, event, now);
            Vec::new()
        }
        DoorMessage::Request(request) => approval::requested(model, request, now),
        DoorMessage::PromptDone(outcome) => session::prompt_done(model, outcome, now),
        DoorMessage::Refused(reason) => {
            // A prompt that was refused has no turn that could end.
            if std::mem::take(&mut model.awaits_turn) {
                model.status.activity = Activity::Idle;
            }
            wire::notice(model, super::model::cell::Level::Warning, reason, now);
            Vec::new()
        }
        DoorMessage::Info(info) => {
            model.status.info = info;
            Vec::new()
        }
    }
}

fn tick(model: &mut Model, now: f64) -> Vec<Effect> {
    replay::advance(model, now);
    if model.status.toast.as_ref().is_some_and(|toast| now >= toast.until) {
        model.status.toast = None;
    }
    if model.leave_armed.is_some_and(|armed| now >= armed + LEAVE_SECONDS) {
        model.leave_armed = None;
    }
    let mut effects = chords::expire(model, now);
    let is_due = model.composer.save_due().is_some_and(|due| now >= due);
    let unsaved = is_due.then(|| model.composer.take_unsaved()).flatten();
    effects.extend(unsaved.map(Effect::SaveDraft));
    effects
}

/// Says something that goes away by itself.
fn toast(model: &mut Model, text: impl Into<String>, now: f64) {
    model.status.toast = Some(Toast { text: text.into(), until: now + TOAST_SECONDS });
}

/// A key is pressed: what was said is read by then, unless it was said just before.
fn read(model: &mut Model, now: f64) {
    let is_read = |toast: &Toast| now >= toast.until - TOAST_SECONDS + READ_SECONDS;
    if model.status.toast.as_ref().is_some_and(is_read) {
        model.status.toast = None;
    }
}

const TOAST_SECONDS: f64 = 4.0;
/// Seconds it takes to read what is said.
const READ_SECONDS: f64 = 1.0;

fn is_idle(model: &Model) -> bool {
    model.status.activity == Activity::Idle
}
