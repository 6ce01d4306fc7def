//! The question panel.

use std::collections::BTreeMap;

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::editor::Editor;
use super::super::model::question::Asking;
use crate::wire::{Command, QuestionAnswer, QuestionRequest, Response};

/// The engine asks the person.
pub(super) fn requested(model: &mut Model, request: QuestionRequest, now: f64) -> Vec<Effect> {
    if request.questions.is_empty() {
        return respond(request.id, BTreeMap::new());
    }
    model.questions.push(request, now);
    if model.screen.is_focused {
        Vec::new()
    } else {
        vec![Effect::Notify("You are asked something")]
    }
}

fn respond(request_id: String, answers: BTreeMap<String, String>) -> Vec<Effect> {
    let answer = QuestionAnswer { request_id, answers };
    vec![Effect::Send(Command::Respond(Response::Question(answer)))]
}

/// A key of the panel; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let asking = model.questions.current_mut()?;
    let (count, tabs) = (asking.count(), asking.tabs.len());
    let at = asking.at;
    let tab = asking.tabs.get_mut(at)?;
    match action {
        Action::SelectPrevious => tab.marked = (tab.marked + count - 1) % count,
        Action::SelectNext => tab.marked = (tab.marked + 1) % count,
        Action::PreviousQuestion => asking.at = (at + tabs - 1) % tabs,
        Action::NextQuestion => asking.at = (at + 1) % tabs,
        Action::Option(number) => {
            let option = usize::from(number).checked_sub(1).filter(|option| *option < count)?;
            tab.marked = option;
            if is_multi(asking) {
                toggle(asking);
            } else {
                choose(asking);
            }
        }
        Action::ToggleOption if is_multi(asking) => toggle(asking),
        Action::ToggleOption | Action::Choose => choose(asking),
        Action::Dismiss => {
            let asking = model.questions.take(now)?;
            return Some(respond(asking.request.id, BTreeMap::new()));
        }
        _ => return None,
    }
    Some(send_when_done(model, now))
}

fn is_multi(asking: &Asking) -> bool {
    asking.current().is_some_and(|(question, _)| question.multi_select)
}

/// Chooses or unchooses the marked option.
fn toggle(asking: &mut Asking) {
    let other = asking.count() - 1;
    let Some(tab) = asking.tabs.get_mut(asking.at) else { return };
    tab.answer = None;
    if tab.chosen.remove(&tab.marked) {
        return;
    }
    if tab.marked == other {
        asking.writing = Some(Editor::with_text(&tab.other));
    } else {
        tab.chosen.insert(tab.marked);
    }
}

/// Answers the question with what is chosen, or with what is marked.
fn choose(asking: &mut Asking) {
    let other = asking.count() - 1;
    let is_multi = is_multi(asking);
    let Some(tab) = asking.tabs.get_mut(asking.at) else { return };
    if tab.chosen.is_empty() {
        if tab.marked == other {
            asking.writing = Some(Editor::with_text(&tab.other));
            return;
        }
        let marked = tab.marked;
        if !is_multi {
            let question = asking.request.questions.get(asking.at);
            let label = question.and_then(|question| question.options.get(marked));
            tab.answer = label.map(|option| option.label.clone());
            next_open(asking);
            return;
        }
        tab.chosen.insert(marked);
    }
    join(asking);
    next_open(asking);
}

/// The answer to a question with several: labels in their order, the free one last.
fn join(asking: &mut Asking) {
    let Some(question) = asking.request.questions.get(asking.at) else { return };
    let Some(tab) = asking.tabs.get_mut(asking.at) else { return };
    let words: Vec<&str> = tab
        .chosen
        .iter()
        .map(|&option| match question.options.get(option) {
            Some(option) => option.label.as_str(),
            None => tab.other.as_str(),
        })
        .collect();
    tab.answer = Some(words.join(", ")).filter(|answer| !answer.is_empty());
}

/// On to the next question that has no answer.
fn next_open(asking: &mut Asking) {
    let count = asking.tabs.len();
    let next = (1..=count).map(|step| (asking.at + step) % count);
    let open = next.into_iter().find(|&at| asking.tabs[at].answer.is_none());
    asking.at = open.unwrap_or(asking.at);
}

fn send_when_done(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(answers) = model.questions.current().and_then(Asking::answers) else {
        return Vec::new();
    };
    match model.questions.take(now) {
        Some(asking) => respond(asking.request.id, answers),
        None => Vec::new(),
    }
}

/// A key while the free answer is written.
pub(super) fn writing_key(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let action = model.keymap.in_context(Context::Composer, key);
    let Some(asking) = model.questions.current_mut() else { return Vec::new() };
    let Some(editor) = &mut asking.writing else { return Vec::new() };
    match (key.code, action) {
        (KeyCode::Enter, Some(Action::Submit)) => {
            let text = editor.text().trim().to_owned();
            asking.writing = None;
            wrote(asking, text);
            send_when_done(model, now)
        }
        (_, Some(Action::Newline)) => {
            editor.newline();
            Vec::new()
        }
        (KeyCode::Esc, _) => {
            let text = editor.text();
            asking.writing = None;
            let at = asking.at;
            asking.tabs[at].other = text;
            Vec::new()
        }
        (KeyCode::Char('c'), _) if key.ctrl => {
            super::actions::global(model, Action::Interrupt, now)
        }
        _ => {
            editor.key(key);
            Vec::new()
        }
    }
}

fn wrote(asking: &mut Asking, text: String) {
    let other = asking.count() - 1;
    let is_multi = is_multi(asking);
    let Some(tab) = asking.tabs.get_mut(asking.at) else { return };
    tab.other.clone_from(&text);
    if text.is_empty() {
        return;
    }
    if is_multi {
        tab.chosen.insert(other);
    } else {
        tab.answer = Some(text);
        next_open(asking);
    }
}
