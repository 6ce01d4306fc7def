//! Making do with a server of the plain protocol: what it cannot be told is said in the protocol's
//! words where there are some, and refused in words for a person where there are none. Nothing is
//! left waiting.

use std::collections::HashMap;

use crate::permission::Decision;
use crate::wire::{
    ApprovalChoice, ApprovalResponse, BtwEnd, Command, DoorMessage, Event, Request, Response,
};

/// Requests that wait for an answer, by their ids.
pub(super) type Open = HashMap<String, Request>;

/// What to do in place of a command.
pub(super) enum Instead {
    /// Nothing, and nobody minds.
    Nothing,
    /// Give this answer, and tell this.
    Answer(Response, &'static str),
    /// Tell this.
    Tell(Vec<DoorMessage>),
}

/// What to do in place of `command`, which is ours.
pub(super) fn instead(command: Command, open: &Open) -> Instead {
    let refused = |reason: &str| DoorMessage::Refused(reason.to_owned());
    match command {
        // It begins such turns by itself, or never.
        Command::ReadNotes => Instead::Nothing,
        Command::AddRule { request_id: Some(request_id), rule, .. } => {
            let (response, said) = match rule.decision {
                Decision::Deny => (
                    ApprovalChoice::Reject,
                    "The engine behind this screen keeps no rules: only this call was rejected.",
                ),
                _ => (
                    ApprovalChoice::Approve,
                    "The engine behind this screen keeps no rules: only this call was approved.",
                ),
            };
            let feedback = String::new();
            let answer = ApprovalResponse { request_id, response, feedback };
            Instead::Answer(Response::Approval(answer), said)
        }
        Command::ApproveEdited { request_id, .. } => {
            let told = refused(
                "The engine behind this screen runs calls as they are: approve this one as it is, \
                 or reject it and say what to change.",
            );
            // The person has yet to answer it.
            let again = open.get(&request_id).cloned().map(DoorMessage::Request);
            Instead::Tell(std::iter::once(told).chain(again).collect())
        }
        Command::SideQuestion { id, .. } => {
            let error = "The engine behind this screen answers nothing beside the conversation.";
            let end = BtwEnd { id, response: None, error: Some(error.to_owned()) };
            Instead::Tell(vec![DoorMessage::Event(Event::BtwEnd(end))])
        }
        _ => Instead::Tell(vec![refused(
            "The engine behind this screen cannot do that: it speaks the plain protocol.",
        )]),
    }
}
