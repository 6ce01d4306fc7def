//! The approval panel.

use serde_json::{Map, Value};

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::approval::Answer;
use super::super::model::cell::ToolState;
use super::super::model::editor::Editor;
use super::{approval_edit, question, reading, toast};
use crate::permission::Scope;
use crate::wire::{
    ApprovalChoice, ApprovalResponse, Command, HookAnswer, Request, Response, ToolCallAnswer,
};

/// The engine asks something.
pub(super) fn requested(model: &mut Model, request: Request, now: f64) -> Vec<Effect> {
    match request {
        Request::ApprovalRequest(request) => {
            model.transcript.edit_tool(&request.tool_call_id, |tool| {
                tool.state = ToolState::Waiting;
                // What a person thinks about for a minute has not run for a minute.
                tool.started = None;
            });
            model.approvals.push(request, now);
            approval_edit::refresh(model);
            if model.screen.is_focused {
                Vec::new()
            } else {
                vec![Effect::Notify("An approval is asked for")]
            }
        }
        Request::QuestionRequest(request) => question::requested(model, request, now),
        // This screen offers no tools and no hooks: the engine is told so rather than left waiting.
        Request::HookRequest(request) => {
            answer(Response::Hook(HookAnswer { request_id: request.id, ..HookAnswer::default() }))
        }
        Request::ToolCallRequest(request) => answer(Response::ToolCall(ToolCallAnswer {
            tool_call_id: request.id,
            return_value: crate::message::ToolReturn::error(
                "This front end offers no tools.",
                "No such tool",
            ),
        })),
        Request::Unknown(_) => Vec::new(),
    }
}

fn answer(response: Response) -> Vec<Effect> {
    vec![Effect::Send(Command::Respond(response))]
}

/// A key of the panel; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let offered = model.approvals.answers();
    let answers = offered.len();
    if model.approvals.is_expanded && scroll(model, action) {
        return Some(Vec::new());
    }
    let panel = &mut model.approvals;
    match action {
        Action::SelectPrevious => panel.marked = (panel.marked + answers - 1) % answers,
        Action::SelectNext => panel.marked = (panel.marked + 1) % answers,
        Action::Approve => return Some(give(model, Answer::Once, now)),
        Action::ApproveForSession => return Some(give(model, Answer::Session, now)),
        Action::Reject => return Some(give(model, Answer::Reject, now)),
        Action::RejectWithFeedback => return Some(give(model, Answer::Feedback, now)),
        Action::ApproveByRule if offered.contains(&Answer::Rule) => {
            return Some(give(model, Answer::Rule, now));
        }
        Action::EditCommand if offered.contains(&Answer::Edit) => {
            return Some(give(model, Answer::Edit, now));
        }
        Action::EditContent => return Some(approval_edit::begin(model, now)),
        Action::ApproveAll if offered.contains(&Answer::All) => {
            return Some(give(model, Answer::All, now));
        }
        Action::RejectAll if offered.contains(&Answer::RejectAll) => {
            return Some(give(model, Answer::RejectAll, now));
        }
        Action::ApproveAll | Action::RejectAll => {
            toast(model, "Nothing else of this kind waits, or it is dangerous", now);
        }
        Action::ApproveByRule | Action::RuleScope if panel.rule().is_none() => {
            toast(model, "No rule can allow this: it is no single plain command", now);
        }
        // The same word, edit, for what there is to edit.
        Action::EditCommand => return Some(approval_edit::begin(model, now)),
        Action::RuleScope => panel.next_scope(),
        Action::Open => {
            panel.is_expanded = !panel.is_expanded;
            panel.top = 0;
        }
        Action::ToggleBeside => reading::toggle_beside(model, now),
        Action::ApproveByRule => {}
        Action::WidenRule | Action::NarrowRule => {
            panel.widen(action == Action::WidenRule);
            approval_edit::refresh(model);
        }
        Action::Choose => {
            let marked = offered[panel.marked.min(answers - 1)];
            return Some(give(model, marked, now));
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Moves through what is shown whole; says whether the action was a move.
fn scroll(model: &mut Model, action: Action) -> bool {
    let rows = usize::from(model.screen.height / 2).max(1);
    let top = &mut model.approvals.top;
    match action {
        Action::ScrollUp => *top = top.saturating_sub(1),
        Action::ScrollDown => *top = top.saturating_add(1),
        Action::PageUp => *top = top.saturating_sub(rows),
        Action::PageDown => *top = top.saturating_add(rows),
        Action::Top => *top = 0,
        Action::Bottom => *top = usize::MAX,
        _ => return false,
    }
    true
}

/// Gives all requests of the first one's kind the same answer.
fn give_all(model: &mut Model, choice: ApprovalChoice, now: f64) -> Vec<Effect> {
    let ids = model.approvals.alike();
    let word = if choice == ApprovalChoice::Approve { "Approved" } else { "Rejected" };
    toast(model, format!("{word}: {} at once", ids.len()), now);
    let mut effects = Vec::new();
    for request_id in ids {
        let Some(request) = model.approvals.remove(&request_id, now) else { continue };
        if choice == ApprovalChoice::Approve {
            model.transcript.edit_tool(&request.tool_call_id, |tool| tool.start(now));
        }
        let feedback = String::new();
        let response = ApprovalResponse { request_id, response: choice, feedback };
        effects.extend(answer(Response::Approval(response)));
    }
    approval_edit::refresh(model);
    effects
}

fn give(model: &mut Model, answer: Answer, now: f64) -> Vec<Effect> {
    match answer {
        Answer::Once => respond(model, ApprovalChoice::Approve, String::new(), now),
        Answer::Session => {
            if let Some(request) = model.approvals.current() {
                let text = format!("\"{}\" is approved for this session", request.action);
                toast(model, text, now);
            }
            respond(model, ApprovalChoice::ApproveForSession, String::new(), now)
        }
        Answer::Reject => respond(model, ApprovalChoice::Reject, String::new(), now),
        Answer::Rule => allow_by_rule(model, now),
        Answer::All => give_all(model, ApprovalChoice::Approve, now),
        Answer::RejectAll => give_all(model, ApprovalChoice::Reject, now),
        Answer::EditContent => approval_edit::begin(model, now),
        Answer::Feedback => {
            write(model, answer, Editor::default());
            Vec::new()
        }
        Answer::Edit => {
            let command = model.approvals.command().unwrap_or_default().to_owned();
            write(model, answer, Editor::with_text(&command));
            Vec::new()
        }
    }
}

fn write(model: &mut Model, answer: Answer, editor: Editor) {
    let row = model.approvals.answers().iter().position(|offered| *offered == answer);
    model.approvals.marked = row.unwrap_or_default();
    model.approvals.edits_command = answer == Answer::Edit;
    model.approvals.feedback = Some(editor);
}

fn allow_by_rule(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(rule) = model.approvals.rule().cloned() else { return Vec::new() };
    let scope = model.approvals.scope;
    let place = match scope {
        Scope::Session => "for this session",
        Scope::Project => "in this project",
        Scope::User => "everywhere",
    };
    toast(model, format!("Approved {place}: {}", rule.in_words()), now);
    let request_id = settle(model, true, now);
    vec![Effect::Send(Command::AddRule { request_id, scope, rule })]
}

/// Approves the call with the command that was written.
fn approve_edited(model: &mut Model, command: String, now: f64) -> Vec<Effect> {
    if command.trim().is_empty() {
        toast(model, "An empty command cannot be run; Esc goes back", now);
        return Vec::new();
    }
    approve_with(model, Map::from_iter([("command".to_owned(), Value::String(command))]), now)
}

/// Approves the call with other arguments.
pub(super) fn approve_with(
    model: &mut Model,
    arguments: Map<String, Value>,
    now: f64,
) -> Vec<Effect> {
    let Some(request_id) = settle(model, true, now) else { return Vec::new() };
    vec![Effect::Send(Command::ApproveEdited { request_id, arguments })]
}

/// The first request is answered; says which it was. After a yes its call runs.
fn settle(model: &mut Model, is_yes: bool, now: f64) -> Option<String> {
    let id = model.approvals.current()?.id.clone();
    let request = model.approvals.remove(&id, now)?;
    if is_yes {
        model.transcript.edit_tool(&request.tool_call_id, |tool| tool.start(now));
    }
    approval_edit::refresh(model);
    Some(id)
}

fn respond(model: &mut Model, choice: ApprovalChoice, feedback: String, now: f64) -> Vec<Effect> {
    let is_yes = choice != ApprovalChoice::Reject;
    let Some(request_id) = settle(model, is_yes, now) else { return Vec::new() };
    answer(Response::Approval(ApprovalResponse { request_id, response: choice, feedback }))
}

/// A key while it is written what to do instead.
pub(super) fn feedback_key(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let Some(feedback) = &mut model.approvals.feedback else { return Vec::new() };
    match (key.code, model.keymap.in_context(Context::Composer, key)) {
        (KeyCode::Enter, Some(Action::Submit)) if model.approvals.edits_command => {
            let command = feedback.text();
            approve_edited(model, command, now)
        }
        (KeyCode::Enter, Some(Action::Submit)) => {
            let text = feedback.text().trim().to_owned();
            respond(model, ApprovalChoice::Reject, text, now)
        }
        (_, Some(Action::Newline)) => {
            feedback.newline();
            Vec::new()
        }
        (KeyCode::Esc, _) => {
            model.approvals.feedback = None;
            Vec::new()
        }
        (KeyCode::Char('c'), _) if key.ctrl => {
            super::actions::global(model, Action::Interrupt, now)
        }
        _ => {
            feedback.key(key);
            Vec::new()
        }
    }
}
