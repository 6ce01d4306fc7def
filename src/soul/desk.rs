//! What is done with commands while a turn runs. Holds only what a command may touch then.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::afk::Away;
use super::approval::Approvals;
use super::btw::Aside;
use super::client_tools::ClientTools;
use super::ledger::Ledger;
use super::plan::PlanMode;
use super::questions::Questions;
use super::running::Running;
use super::slash::{self, Builtin};
use crate::hooks::Hooks;
use crate::message::UserInput;
use crate::permission::{Rule, Scope};
use crate::tools::BackgroundTasks;
use crate::wire::{Command, DoorMessage, Hub, Response};

/// Takes commands while a turn runs. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    hub: Hub,
    approvals: Arc<Approvals>,
    asks: Asks,
    plan: PlanMode,
    away: Away,
    aside: Aside,
    running: Running,
    ledger: Option<Ledger>,
    tasks: BackgroundTasks,
    steers: Arc<Mutex<Steers>>,
}

/// What a front end is asked beside approvals.
#[derive(Debug, Clone)]
pub(super) struct Asks {
    pub(super) questions: Arc<Questions>,
    pub(super) tools: ClientTools,
    pub(super) hooks: Hooks,
}

#[derive(Debug, Default)]
struct Steers {
    queue: VecDeque<UserInput>,
    /// Is there a turn that will take them?
    wanted: bool,
}

impl Desk {
    pub(super) fn new(
        hub: Hub,
        approvals: Arc<Approvals>,
        asks: Asks,
        plan: PlanMode,
        away: Away,
        aside: Aside,
        tasks: BackgroundTasks,
    ) -> Self {
        let (running, ledger, steers) = (Running::default(), None, Arc::default());
        Self { hub, approvals, asks, plan, away, aside, running, ledger, tasks, steers }
    }

    /// With the calls that can be stopped one by one, and the ledger.
    pub(super) fn with_calls(self, running: Running, ledger: Ledger) -> Self {
        Self { running, ledger: Some(ledger), ..self }
    }

    /// Ends everything that waits for a person: the turn is over.
    pub(super) fn dismiss_questions(&self) {
        self.asks.questions.dismiss_all();
    }

    /// Plan mode on or off, at once.
    pub(super) fn set_plan_mode(&self, on: bool) {
        if let Err(reason) = self.plan.set(on) {
            self.refuse(reason);
        }
    }

    /// Carries out `command`, none meaning that nobody is there any more. False when the session is
    /// to end.
    pub(super) fn hear(&self, command: Option<Command>, cancel: &CancellationToken) -> bool {
        match command {
            None | Some(Command::Shutdown) => {
                cancel.cancel();
                return false;
            }
            Some(Command::Cancel) => cancel.cancel(),
            Some(Command::Steer(input)) => self.steer(input),
            Some(Command::Respond(response)) => self.respond(response),
            Some(Command::StopTask { task_id }) => self.stop_task(&task_id),
            Some(Command::Equip(_)) => {
                self.refuse("A turn is running. Its tools cannot be changed now.");
            }
            Some(Command::Prompt(input)) => {
                // The one command that is carried out beside a turn.
                if let Some(question) = side_question(&input) {
                    self.aside.ask(String::new(), question);
                    return true;
                }
                self.refuse("A turn is already running. Wait for its end, or cancel it first.");
            }
            Some(Command::Revert { .. }) => {
                self.refuse("A turn is running. Cancel it before you go back to a checkpoint.");
            }
            Some(Command::PreviewRevert { .. }) => {
                self.refuse("A turn is running. Cancel it before you go back to a checkpoint.");
            }
            Some(Command::Hide { .. }) => {
                self.refuse("A turn is running. Hide results when it is over.");
            }
            Some(Command::Pin { .. }) => {
                self.refuse("A turn is running. Bring messages back when it is over.");
            }
            Some(Command::SideQuestion { id, question }) => self.aside.ask(id, question),
            Some(
                command @ (Command::RemoveRule { .. }
                | Command::CancelSideQuestion { .. }
                | Command::CancelCall { .. }
                | Command::Ledger
                | Command::SetAway(_)),
            ) => self.hear_anytime(command),
            Some(Command::Restore { .. }) => {
                self.refuse("A turn is running. Cancel it before you restore a context.");
            }
            Some(Command::SetTitle(_) | Command::Import { .. }) => {
                self.refuse("A turn is running. Wait for its end, or cancel it first.");
            }
            Some(Command::SetModel { .. } | Command::Reload) => {
                self.refuse("A turn is running. Stop it first, or wait for its end.");
            }
            Some(
                Command::PreviewRewind { .. } | Command::Rewind { .. } | Command::RedoRewind { .. },
            ) => {
                self.refuse("A turn is running. Cancel it before you take files back.");
            }
            Some(Command::AddRule { request_id, scope, rule }) => {
                self.add_rule(request_id.as_deref(), scope, rule);
            }
            Some(Command::ApproveEdited { request_id, arguments }) => {
                self.approve_edited(&request_id, arguments);
            }
            Some(Command::SetPlanMode(on)) => self.set_plan_mode(on),
            // The turn reads them before its next step; the front end asks again at its end.
            Some(Command::ReadNotes) => {}
            Some(Command::AwaitTasks { .. }) => {
                self.refuse("A turn is running. Wait for its end first.");
            }
        }
        true
    }

    /// Gives an answer to whoever waits for it.
    pub(super) fn respond(&self, response: Response) {
        match response {
            Response::Approval(response) => self.approvals.respond(response),
            Response::Question(answer) => self.asks.questions.respond(answer),
            Response::ToolCall(answer) => self.asks.tools.respond(answer),
            Response::Hook(answer) => self.asks.hooks.respond(answer),
        }
    }

    /// Carries out a command that is the same whether a turn runs or not.
    pub(super) fn hear_anytime(&self, command: Command) {
        match command {
            Command::RemoveRule { scope, rule } => {
                if let Err(reason) = self.approvals.remove_rule(scope, &rule) {
                    self.refuse(reason);
                }
            }
            Command::CancelSideQuestion { id } => self.aside.cancel(Some(&id)),
            Command::SetAway(away) => self.away.set_for_now(away),
            Command::Ledger => {
                if let Some(ledger) = &self.ledger {
                    ledger.tell();
                }
            }
            Command::CancelCall { tool_call_id } => {
                if !self.running.cancel(&tool_call_id) {
                    self.refuse("That call does not run any more.");
                }
            }
            other => tracing::warn!(?other, "a command that depends on whether a turn runs"),
        }
    }

    /// Approves a call with other arguments.
    pub(super) fn approve_edited(&self, request_id: &str, arguments: Map<String, Value>) {
        self.approvals.approve_edited(request_id, arguments);
    }

    /// A person stops a background task: the model is told.
    pub(super) fn stop_task(&self, id: &str) {
        if !self.tasks.stop(id, "The user stopped it.", false) {
            self.refuse(format!("There is no running background task {id}."));
        }
    }

    /// Keeps a permission rule, and answers what it decides.
    pub(super) fn add_rule(&self, request_id: Option<&str>, scope: Scope, rule: Rule) {
        if let Err(reason) = self.approvals.add_rule(request_id, scope, rule) {
            self.refuse(reason);
        }
    }

    fn steer(&self, input: UserInput) {
        let mut steers = self.steers.lock().unwrap_or_else(PoisonError::into_inner);
        if steers.wanted {
            steers.queue.push_back(input);
        } else {
            drop(steers);
            self.refuse("The turn is ending. Send it as a prompt.");
        }
    }

    /// From here on steers are taken.
    pub(super) fn open_steers(&self) {
        let mut steers = self.steers.lock().unwrap_or_else(PoisonError::into_inner);
        *steers = Steers { queue: VecDeque::new(), wanted: true };
    }

    /// The steers that came since this was last asked.
    pub(super) fn take_steers(&self) -> VecDeque<UserInput> {
        std::mem::take(&mut self.steers.lock().unwrap_or_else(PoisonError::into_inner).queue)
    }

    /// From here on steers are refused; those that came too late are given back in words.
    pub(super) fn close_steers(&self) {
        let mut steers = self.steers.lock().unwrap_or_else(PoisonError::into_inner);
        let late = std::mem::take(&mut *steers);
        drop(steers);
        for input in late.queue {
            self.refuse(format!("The turn ended before this reached the model: {}", input.text()));
        }
    }

    fn refuse(&self, reason: impl Into<String>) {
        self.hub.tell(DoorMessage::Refused(reason.into()));
    }
}

/// The question of a prompt that is a side question.
fn side_question(input: &UserInput) -> Option<String> {
    let text = input.text();
    let line = slash::parse(&text)?;
    let is_aside = slash::find(line.name) == Some(Builtin::Btw) && !line.arguments.is_empty();
    is_aside.then(|| line.arguments.to_owned())
}
