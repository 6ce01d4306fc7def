//! What the engine asks the person, as permission requests of the editor.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;

use super::client::Client;
use super::tell::Named;
use super::tool_calls;
use crate::wire::{
    ApprovalChoice, ApprovalRequest, ApprovalResponse, Question, QuestionAnswer, QuestionRequest,
};

const ASK: &str = "session/request_permission";
const SKIP: &str = "skip";

/// Asks for an approval. Everything but a clear yes is a no: an answer that is none, a call the
/// editor was never told of.
pub(super) async fn approval(
    client: &Client,
    session: &str,
    request: &ApprovalRequest,
    call: Option<Named>,
) -> ApprovalResponse {
    let answer = |response| ApprovalResponse {
        request_id: request.id.clone(),
        response,
        feedback: String::new(),
    };
    let (id, title) = match call {
        Some(call) => (call.id, call.title),
        // One of a subagent, whose calls are not told.
        None if request.agent_id.is_some() => {
            (request.tool_call_id.clone(), format!("{}: {}", request.sender, request.description))
        }
        None => return answer(ApprovalChoice::Reject),
    };
    let mut content = tool_calls::shown(&request.display);
    if content.is_empty() {
        content.push(request.description.clone().into());
    }
    let fields = acp::ToolCallUpdateFields::new()
        .title(title)
        .kind(tool_calls::kind(&request.sender))
        .content(content);
    let option = acp::PermissionOption::new;
    let options = vec![
        option("approve", "Approve once", acp::PermissionOptionKind::AllowOnce),
        option(
            "approve_for_session",
            "Approve for this session",
            acp::PermissionOptionKind::AllowAlways,
        ),
        option("reject", "Reject", acp::PermissionOptionKind::RejectOnce),
    ];
    let chosen = ask(client, session, acp::ToolCallUpdate::new(id, fields), options).await;
    answer(match chosen.as_deref() {
        Some("approve") => ApprovalChoice::Approve,
        Some("approve_for_session") => ApprovalChoice::ApproveForSession,
        _ => ApprovalChoice::Reject,
    })
}

/// Asks questions, one after the other. One that is not answered ends them: all are dismissed.
pub(super) async fn questions(
    client: &Client,
    session: &str,
    request: &QuestionRequest,
    call: Option<Named>,
) -> QuestionAnswer {
    let mut answer = QuestionAnswer { request_id: request.id.clone(), answers: BTreeMap::new() };
    let id = call.map_or_else(|| request.id.clone(), |call| call.id);
    for question in &request.questions {
        match choice(client, session, &id, question).await {
            Some(label) => answer.answers.insert(question.question.clone(), label),
            None => {
                answer.answers.clear();
                break;
            }
        };
    }
    answer
}

async fn choice(client: &Client, session: &str, id: &str, question: &Question) -> Option<String> {
    let mut options: Vec<acp::PermissionOption> = question
        .options
        .iter()
        .enumerate()
        .map(|(index, option)| {
            let kind = acp::PermissionOptionKind::AllowOnce;
            acp::PermissionOption::new(index.to_string(), option.label.clone(), kind)
        })
        .collect();
    let skip = acp::PermissionOptionKind::RejectOnce;
    options.push(acp::PermissionOption::new(SKIP, "Do not answer", skip));
    let mut text = question.question.clone();
    if !question.body.is_empty() {
        text.push_str(&format!("\n\n{}", question.body));
    }
    for option in question.options.iter().filter(|option| !option.description.is_empty()) {
        text.push_str(&format!("\n- {}: {}", option.label, option.description));
    }
    let fields = acp::ToolCallUpdateFields::new()
        .title(question.question.clone())
        .content(vec![text.into()]);
    let call = acp::ToolCallUpdate::new(id.to_owned(), fields);
    let chosen = ask(client, session, call, options).await?;
    let index: usize = chosen.parse().ok()?;
    question.options.get(index).map(|option| option.label.clone())
}

/// The id of the option the person chose.
async fn ask(
    client: &Client,
    session: &str,
    call: acp::ToolCallUpdate,
    options: Vec<acp::PermissionOption>,
) -> Option<String> {
    let request = acp::RequestPermissionRequest::new(session.to_owned(), call, options);
    match client.call::<acp::RequestPermissionResponse>(ASK, &request).await {
        Ok(response) => match response.outcome {
            acp::RequestPermissionOutcome::Selected(selected) => {
                Some(selected.option_id.to_string())
            }
            _ => None,
        },
        Err(error) => {
            tracing::warn!(error = error.message, "the editor did not answer a request");
            None
        }
    }
}
