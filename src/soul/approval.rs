//! Approvals: what may be done unasked, who waits for an answer, and the answers.
//!
//! A request waits as long as it takes; it ends with an answer, with the turn, or with the tool
//! that asked. Whoever shows it hears an `ApprovalResponse` in every case.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::state::SharedState;
use crate::tools::{Approval, ApprovalAsk, ToolContext};
use crate::wire::{
    ApprovalChoice, ApprovalRequest, ApprovalResponse, Event, Hub, Request, SourceKind,
};

/// The approvals of one session.
#[derive(Debug)]
pub(crate) struct Approvals {
    hub: Hub,
    state: SharedState,
    yolo: AtomicBool,
    /// Did a person say a plain no since [`Approvals::take_rejected`]?
    rejected: AtomicBool,
    pending: Mutex<Vec<Pending>>,
}

#[derive(Debug)]
struct Pending {
    id: String,
    action: String,
    reply: oneshot::Sender<Approval>,
}

impl Approvals {
    /// Approvals that know the session's stored answers. `yolo`: everything is approved.
    pub(crate) fn new(hub: Hub, state: SharedState, yolo: bool) -> Self {
        Self {
            hub,
            state,
            yolo: AtomicBool::new(yolo),
            rejected: AtomicBool::new(false),
            pending: Mutex::default(),
        }
    }

    /// Is everything approved unasked?
    pub(crate) fn yolo(&self) -> bool {
        self.yolo.load(Ordering::Relaxed)
    }

    /// Approves everything from now on, or asks again.
    pub(crate) fn set_yolo(&self, yolo: bool) {
        self.yolo.store(yolo, Ordering::Relaxed);
    }

    /// Was something rejected without a word since this was last asked? Such a no ends the turn.
    pub(crate) fn take_rejected(&self) -> bool {
        self.rejected.swap(false, Ordering::Relaxed)
    }

    /// A person said no to more than one action: the turn ends.
    pub(crate) fn reject_turn(&self) {
        self.rejected.store(true, Ordering::Relaxed);
    }

    /// Asks whether the call of `context` may do what `ask` says, and waits for the answer.
    pub(crate) async fn request(&self, context: &ToolContext, ask: ApprovalAsk) -> Approval {
        if self.yolo() || self.is_approved_for_session(&ask.action) {
            return Approval::Approved;
        }
        let id = uuid::Uuid::new_v4().to_string();
        let (reply, answer) = oneshot::channel();
        self.lock().push(Pending { id: id.clone(), action: ask.action.clone(), reply });
        let _withdraw = Withdraw { approvals: self, id: &id };
        self.hub.request(Request::ApprovalRequest(ApprovalRequest {
            id: id.clone(),
            tool_call_id: context.call_id.clone(),
            sender: context.called_as.clone(),
            action: ask.action,
            description: ask.description,
            source_kind: SourceKind::ForegroundTurn,
            source_id: None,
            agent_id: None,
            subagent_type: None,
            source_description: None,
            display: ask.display,
        }));
        answer.await.unwrap_or(Approval::Rejected { feedback: String::new() })
    }

    fn is_approved_for_session(&self, action: &str) -> bool {
        self.state.read(|state| state.auto_approve_actions.iter().any(|known| known == action))
    }

    /// Takes an answer. One to a request nobody waits for any more is dropped.
    pub(crate) fn respond(&self, response: ApprovalResponse) {
        let Some(pending) = self.take(|pending| pending.id == response.request_id).pop() else {
            tracing::debug!(id = response.request_id, "an answer to a request that is not open");
            return;
        };
        let action = pending.action.clone();
        let choice = response.response;
        self.resolve(pending, choice, &response.feedback);
        if choice == ApprovalChoice::ApproveForSession {
            let stored = self.state.change(|state| {
                if !state.auto_approve_actions.contains(&action) {
                    state.auto_approve_actions.push(action.clone());
                }
            });
            if let Err(error) = stored {
                tracing::warn!(%error, "the approval for the session could not be stored");
            }
            for other in self.take(|pending| pending.action == action) {
                self.resolve(other, ApprovalChoice::Approve, "");
            }
        }
    }

    /// Says no to everything that waits: the turn is over. Does not count as a person's no.
    pub(crate) fn withdraw_all(&self) {
        for pending in self.take(|_| true) {
            self.announce(&pending.id, ApprovalChoice::Reject, "");
        }
    }

    fn resolve(&self, pending: Pending, choice: ApprovalChoice, feedback: &str) {
        let answer = match choice {
            ApprovalChoice::Approve | ApprovalChoice::ApproveForSession => Approval::Approved,
            ApprovalChoice::Reject => {
                if feedback.trim().is_empty() {
                    self.rejected.store(true, Ordering::Relaxed);
                }
                Approval::Rejected { feedback: feedback.trim().to_owned() }
            }
        };
        self.announce(&pending.id, choice, feedback);
        // Nobody listens when the tool ended by itself in this moment: then nothing hangs on it.
        let _ = pending.reply.send(answer);
    }

    fn announce(&self, id: &str, response: ApprovalChoice, feedback: &str) {
        self.hub.event(Event::ApprovalResponse(ApprovalResponse {
            request_id: id.to_owned(),
            response,
            feedback: feedback.to_owned(),
        }));
    }

    fn take(&self, which: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        self.lock().extract_if(.., |pending| which(pending)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a request back when the tool that asked is dropped, so that no panel stays open.
struct Withdraw<'a> {
    approvals: &'a Approvals,
    id: &'a str,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        for pending in self.approvals.take(|pending| pending.id == self.id) {
            self.approvals.announce(&pending.id, ApprovalChoice::Reject, "");
        }
    }
}
