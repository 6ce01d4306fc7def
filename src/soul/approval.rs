//! Approvals: what may be done unasked, who waits for an answer, and the answers.
//!
//! A request waits as long as it takes; it ends with an answer, with the turn, or with the tool
//! that asked. Whoever shows it hears an `ApprovalResponse` in every case.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::afk::Away;
use super::permission::{Deed, Permissions, asks_nobody, prohibition};
use super::state::SharedState;
use crate::message::{ToolCall, ToolReturn};
use crate::permission::{Decision, Rule, Scope, ScopedRule};
use crate::tools::{Approval, ApprovalAsk, ToolContext, Toolset};
use crate::wire::{
    ApprovalChoice, ApprovalRequest, ApprovalResponse, Event, Hub, Request, SourceKind,
};

/// What an open request is answered with when nobody will answer it any more.
const TURN_ENDED: &str = "Withdrawn: the turn ended before anybody answered.";
const CALL_ENDED: &str = "Withdrawn: the call ended before anybody answered.";
/// A plain no ends the turn of the session's agent; a subagent has nobody to wait for.
const TO_A_SUBAGENT: &str = "(none was given). Do not try the same again. Do the work in another \
                             way that does not need this, or end and say what is missing.";

/// The approvals of one agent. Subagents have their own over the same answers, rules and requests.
#[derive(Debug)]
pub(crate) struct Approvals {
    shared: Arc<Shared>,
    /// Which subagent asks; none for the session's own agent.
    asker: Option<Asker>,
    /// Did a person say a plain no since [`Approvals::take_rejected`]?
    rejected: Arc<AtomicBool>,
    permissions: Permissions,
}

/// A subagent that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asker {
    /// Its id.
    pub(crate) agent_id: String,
    /// Its type; of one within another, the types on the way to it.
    pub(crate) kind: String,
    /// What it is for.
    pub(crate) title: String,
    /// Its background task, if it is one.
    pub(crate) task_id: Option<String>,
}

/// What all agents of a session have in common.
#[derive(Debug)]
struct Shared {
    hub: Hub,
    state: SharedState,
    yolo: AtomicBool,
    away: Away,
    pending: Mutex<Vec<Pending>>,
    /// What a person made of calls, by their ids.
    edits: Mutex<HashMap<String, Map<String, Value>>>,
    /// Calls a person has agreed to already.
    granted: Mutex<HashSet<String>>,
}

#[derive(Debug)]
struct Pending {
    id: String,
    /// The subagent that asks.
    asker: Option<String>,
    /// Does it work in the background, and so outlives the turn?
    is_background: bool,
    /// Told of a plain no.
    rejected: Arc<AtomicBool>,
    call_id: String,
    action: String,
    deed: Deed,
    reply: oneshot::Sender<Approval>,
}

impl Approvals {
    /// Goes by these rules of the project and the person from now on.
    pub(crate) fn replace_rules(&self, rules: Vec<ScopedRule>) {
        self.permissions.replace(rules);
    }

    /// Approvals that know the session's stored answers. `yolo`: everything is approved.
    pub(crate) fn new(
        hub: Hub,
        state: SharedState,
        yolo: bool,
        away: Away,
        permissions: Permissions,
    ) -> Self {
        let shared = Shared {
            hub,
            state,
            yolo: AtomicBool::new(yolo),
            away,
            pending: Mutex::default(),
            edits: Mutex::default(),
            granted: Mutex::default(),
        };
        Self { shared: Arc::new(shared), asker: None, rejected: Arc::default(), permissions }
    }

    /// Those of a subagent with `tools`: the same rules and answers, its own requests.
    pub(crate) fn for_subagent(&self, mut asker: Asker, tools: &Toolset) -> Self {
        // Whoever works for one in the background does so too.
        let above = self.asker.as_ref().and_then(|above| above.task_id.clone());
        asker.task_id = asker.task_id.or(above);
        Self {
            shared: Arc::clone(&self.shared),
            asker: Some(asker),
            rejected: Arc::default(),
            permissions: self.permissions.for_tools(tools),
        }
    }

    /// Is everything approved unasked?
    pub(crate) fn yolo(&self) -> bool {
        self.shared.yolo.load(Ordering::Relaxed)
    }

    /// Approves everything from now on, or asks again.
    pub(crate) fn set_yolo(&self, yolo: bool) {
        self.shared.yolo.store(yolo, Ordering::Relaxed);
    }

    /// Is the person away, so that nobody can be asked?
    pub(crate) fn afk(&self) -> bool {
        self.shared.away.is()
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
        if self.lock_granted().contains(&context.call_id) {
            return Approval::Approved;
        }
        let deed = self.permissions.deed_of_ask(&context.called_as, &ask.display);
        let said = self.permissions.decide(&deed);
        match &said {
            Some((Decision::Deny, rule)) => {
                return Approval::Rejected { feedback: prohibition(rule) };
            }
            Some((Decision::Allow, _)) => return Approval::Approved,
            _ if self.yolo() || self.afk() => return Approval::Approved,
            Some((Decision::Ask, _)) => {}
            None if self.is_approved_for_session(&ask.action) => return Approval::Approved,
            None => {}
        }
        self.ask(context, ask, deed).await
    }

    /// What the rules say about `call` before it is made: a tool that asks nobody must not do what
    /// is forbidden, and is asked for where a rule says so. The result to give back if it may not.
    pub(crate) async fn guard(&self, call: &ToolCall, context: &ToolContext) -> Option<ToolReturn> {
        let deed = self.permissions.deed_of_call(call);
        match self.permissions.decide(&deed)? {
            (Decision::Deny, rule) => {
                Some(ToolReturn::error(prohibition(&rule), "Forbidden by a rule"))
            }
            (Decision::Ask, _) if asks_nobody(&deed.names) && !self.yolo() && !self.afk() => {
                let name = &context.called_as;
                let arguments = call.arguments();
                let ask = ApprovalAsk {
                    action: format!("use {name}"),
                    description: format!("Call {name} with {arguments}"),
                    display: Vec::new(),
                };
                match self.ask(context, ask, deed).await {
                    Approval::Approved => None,
                    Approval::Rejected { feedback } => Some(Approval::rejection(&feedback)),
                }
            }
            _ => None,
        }
    }

    /// Asks a person.
    async fn ask(&self, context: &ToolContext, ask: ApprovalAsk, deed: Deed) -> Approval {
        let id = uuid::Uuid::new_v4().to_string();
        let asker = self.asker.as_ref();
        let (reply, answer) = oneshot::channel();
        self.lock().push(Pending {
            id: id.clone(),
            asker: self.asker_id(),
            is_background: asker.is_some_and(|asker| asker.task_id.is_some()),
            rejected: Arc::clone(&self.rejected),
            call_id: context.call_id.clone(),
            action: ask.action.clone(),
            deed,
            reply,
        });
        let _withdraw = Withdraw { approvals: self, id: &id };
        self.shared.hub.request(Request::ApprovalRequest(ApprovalRequest {
            id: id.clone(),
            tool_call_id: context.call_id.clone(),
            sender: context.called_as.clone(),
            action: ask.action,
            description: ask.description,
            source_kind: match asker.and_then(|asker| asker.task_id.as_ref()) {
                Some(_) => SourceKind::BackgroundAgent,
                None => SourceKind::ForegroundTurn,
            },
            source_id: asker.and_then(|asker| asker.task_id.clone()),
            agent_id: asker.map(|asker| asker.agent_id.clone()),
            subagent_type: asker.map(|asker| asker.kind.clone()),
            source_description: asker.map(|asker| asker.title.clone()),
            display: ask.display,
        }));
        match answer.await {
            Ok(Approval::Rejected { feedback })
                if feedback.is_empty() && asker.is_some() && !self.is_edited(&context.call_id) =>
            {
                Approval::Rejected { feedback: TO_A_SUBAGENT.to_owned() }
            }
            Ok(answer) => answer,
            Err(_) => Approval::Rejected { feedback: String::new() },
        }
    }

    fn asker_id(&self) -> Option<String> {
        self.asker.as_ref().map(|asker| asker.agent_id.clone())
    }

    fn is_edited(&self, call_id: &str) -> bool {
        self.lock_edits().contains_key(call_id)
    }

    fn is_approved_for_session(&self, action: &str) -> bool {
        self.shared
            .state
            .read(|state| state.auto_approve_actions.iter().any(|known| known == action))
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
            let stored = self.shared.state.change(|state| {
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

    /// Adds `rule`, then answers the request `id`, if one is meant, and every other one the rule
    /// decides.
    ///
    /// # Errors
    /// Why the rule cannot be used or kept, for a person. Then nothing is answered.
    pub(crate) fn add_rule(
        &self,
        id: Option<&str>,
        scope: Scope,
        rule: Rule,
    ) -> Result<(), String> {
        let choice = match rule.decision {
            Decision::Deny => ApprovalChoice::Reject,
            Decision::Allow | Decision::Ask => ApprovalChoice::Approve,
        };
        self.permissions.add(scope, rule)?;
        for pending in self.take(|pending| Some(pending.id.as_str()) == id) {
            self.resolve(pending, choice, "");
        }
        let decided = |pending: &Pending| {
            let (decision, rule) = self.permissions.decide(&pending.deed)?;
            (decision != Decision::Ask).then_some((decision, rule))
        };
        for pending in self.take(|pending| decided(pending).is_some()) {
            match decided(&pending) {
                Some((Decision::Deny, rule)) => {
                    self.resolve(pending, ApprovalChoice::Reject, &prohibition(&rule));
                }
                _ => self.resolve(pending, ApprovalChoice::Approve, ""),
            }
        }
        Ok(())
    }

    /// The rules that hold, those of the session last.
    pub(crate) fn rules(&self) -> Vec<ScopedRule> {
        self.permissions.all()
    }

    /// Takes a permission rule away.
    ///
    /// # Errors
    /// In words, when there is none or it cannot be taken out of its file.
    pub(crate) fn remove_rule(&self, scope: Scope, rule: &Rule) -> Result<(), String> {
        self.permissions.remove(scope, rule)
    }

    /// Approves a call, but with `arguments` in the place of those of the same names. The tool
    /// that asks is sent away; [`Self::take_edit`] has the call made anew.
    pub(crate) fn approve_edited(&self, id: &str, arguments: Map<String, Value>) {
        let Some(pending) = self.take(|pending| pending.id == id).pop() else {
            tracing::debug!(id, "an answer to a request that is not open");
            return;
        };
        self.lock_edits().insert(pending.call_id.clone(), arguments);
        self.announce(&pending.id, ApprovalChoice::Approve, "");
        let _ = pending.reply.send(Approval::Rejected { feedback: String::new() });
    }

    /// What a person made of the call `call_id`, whose next request is granted.
    pub(crate) fn take_edit(&self, call_id: &str) -> Option<Map<String, Value>> {
        let edit = self.lock_edits().remove(call_id)?;
        self.lock_granted().insert(call_id.to_owned());
        Some(edit)
    }

    /// The call `call_id` is over: what was granted to it is not granted to another of that id.
    pub(crate) fn forget(&self, call_id: &str) {
        self.lock_granted().remove(call_id);
    }

    /// Says no to everything of this agent that waits, and with the session's own agent to all
    /// that works for its turn: the turn is over. Does not count as a person's no.
    pub(crate) fn withdraw_all(&self) {
        let id = self.asker_id();
        let ends =
            |pending: &Pending| pending.asker == id || (id.is_none() && !pending.is_background);
        for pending in self.take(ends) {
            self.announce(&pending.id, ApprovalChoice::Reject, TURN_ENDED);
        }
        if id.is_none() {
            self.lock_edits().clear();
            self.lock_granted().clear();
        }
    }

    fn resolve(&self, pending: Pending, choice: ApprovalChoice, feedback: &str) {
        let answer = match choice {
            ApprovalChoice::Approve | ApprovalChoice::ApproveForSession => Approval::Approved,
            ApprovalChoice::Reject => {
                if feedback.trim().is_empty() {
                    pending.rejected.store(pending.asker.is_none(), Ordering::Relaxed);
                }
                Approval::Rejected { feedback: feedback.trim().to_owned() }
            }
        };
        self.announce(&pending.id, choice, feedback);
        // Nobody listens when the tool ended by itself in this moment: then nothing hangs on it.
        let _ = pending.reply.send(answer);
    }

    fn announce(&self, id: &str, response: ApprovalChoice, feedback: &str) {
        self.shared.hub.event(Event::ApprovalResponse(ApprovalResponse {
            request_id: id.to_owned(),
            response,
            feedback: feedback.to_owned(),
        }));
    }

    fn take(&self, which: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        self.lock().extract_if(.., |pending| which(pending)).collect()
    }

    fn lock_edits(&self) -> MutexGuard<'_, HashMap<String, Map<String, Value>>> {
        self.shared.edits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_granted(&self) -> MutexGuard<'_, HashSet<String>> {
        self.shared.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.approvals.announce(&pending.id, ApprovalChoice::Reject, CALL_ENDED);
        }
    }
}
