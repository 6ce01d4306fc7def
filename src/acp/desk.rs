//! What waits for an approval, as permission requests of the editor.

use agent_client_protocol_schema::v1 as acp;

use super::client::Client;
use super::tell::Named;
use super::tool_calls;
use crate::wire::{ApprovalChoice, ApprovalRequest, ApprovalResponse};

const ASK: &str = "session/request_permission";

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
    let Some(Named { id, title }) = call else { return answer(ApprovalChoice::Reject) };
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

/// The id of the option the person chose.
pub(super) async fn ask(
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
