//! The approval panel.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::approval::Answer;
use super::super::model::cell::ToolState;
use super::super::model::editor::Editor;
use super::{question, toast};
use crate::wire::{
    ApprovalChoice, ApprovalResponse, Command, HookAnswer, Request, Response, ToolCallAnswer,
};

/// The engine asks something.
pub(super) fn requested(model: &mut Model, request: Request, now: f64) -> Vec<Effect> {
    match request {
        Request::ApprovalRequest(request) => {
            model
                .transcript
                .edit_tool(&request.tool_call_id, |tool| tool.state = ToolState::Waiting);
            model.approvals.push(request, now);
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
    let answers = Answer::ALL.len();
    let panel = &mut model.approvals;
    match action {
        Action::SelectPrevious => panel.marked = (panel.marked + answers - 1) % answers,
        Action::SelectNext => panel.marked = (panel.marked + 1) % answers,
        Action::Approve => return Some(give(model, Answer::Once, now)),
        Action::ApproveForSession => return Some(give(model, Answer::Session, now)),
        Action::Reject => return Some(give(model, Answer::Reject, now)),
        Action::RejectWithFeedback => return Some(give(model, Answer::Feedback, now)),
        Action::Choose => {
            let marked = Answer::ALL[panel.marked.min(answers - 1)];
            return Some(give(model, marked, now));
        }
        _ => return None,
    }
    Some(Vec::new())
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
        Answer::Feedback => {
            model.approvals.marked = 3;
            model.approvals.feedback = Some(Editor::default());
            Vec::new()
        }
    }
}

fn respond(model: &mut Model, choice: ApprovalChoice, feedback: String, now: f64) -> Vec<Effect> {
    let Some(request) = model.approvals.current() else { return Vec::new() };
    let request_id = request.id.clone();
    if let Some(request) = model.approvals.remove(&request_id, now)
        && choice != ApprovalChoice::Reject
    {
        model.transcript.edit_tool(&request.tool_call_id, |tool| tool.start(now));
    }
    answer(Response::Approval(ApprovalResponse { request_id, response: choice, feedback }))
}

/// A key while it is written what to do instead.
pub(super) fn feedback_key(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let Some(feedback) = &mut model.approvals.feedback else { return Vec::new() };
    match (key.code, model.keymap.in_context(Context::Composer, key)) {
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
