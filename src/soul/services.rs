//! What tools get from the session: approvals, live output, todos, D-Mail.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use super::approval::Approvals;
use super::client_tools::ClientTools;
use super::dmail::DenwaRenji;
use super::errands::Runner;
use super::plan::PlanMode;
use super::questions::Questions;
use super::state::SharedState;
use super::subagent::Launcher;
use crate::message::{TodoItem, ToolReturn};
use crate::snapshot::Worker;
use crate::tools::{
    Answers, Approval, ApprovalAsk, BackgroundTasks, DMail, Delegation, Errand, FilesSeen,
    LiveOutput, Notifier, ToolContext, ToolServices,
};
use crate::wire::{Errands, Extension, Hub, Question, ToolOutputChunk};

/// The session as its tools see it.
#[derive(Debug)]
pub(crate) struct Services {
    hub: Hub,
    state: SharedState,
    approvals: Arc<Approvals>,
    questions: Arc<Questions>,
    plan: PlanMode,
    denwa: Mutex<DenwaRenji>,
    seen: FilesSeen,
    notifier: Notifier,
    beside: Beside,
    runner: Mutex<Option<Runner>>,
}

/// Work beside the turns.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) tasks: BackgroundTasks,
    pub(super) launcher: Launcher,
    /// What is needed to take files back; none when that is off.
    pub(super) snapshots: Option<Worker>,
}

impl Services {
    /// The services of one session.
    pub(super) fn new(
        hub: Hub,
        state: SharedState,
        approvals: Arc<Approvals>,
        questions: Arc<Questions>,
        plan: PlanMode,
        notifier: Notifier,
        beside: Beside,
    ) -> Self {
        Self {
            hub,
            state,
            approvals,
            questions,
            plan,
            denwa: Mutex::default(),
            notifier,
            beside,
            seen: FilesSeen::default(),
            runner: Mutex::default(),
        }
    }

    /// From now on the front end does these errands.
    pub(super) fn send_errands(&self, does: Errands, calls: ClientTools) {
        let runner = Some(Runner { does, calls });
        *self.runner.lock().unwrap_or_else(PoisonError::into_inner) = runner;
    }

    /// Somebody who tells a person things from another thread.
    pub(crate) fn teller(&self) -> Teller {
        Teller(self.hub.clone())
    }

    /// What background work has to say to the model.
    pub(crate) fn notes(&self) -> &Notifier {
        &self.notifier
    }

    /// The session's background tasks.
    pub(super) fn tasks(&self) -> &BackgroundTasks {
        &self.beside.tasks
    }

    /// Who has subagents work.
    pub(super) fn launcher(&self) -> &Launcher {
        &self.beside.launcher
    }

    /// The D-Mail machine.
    pub(crate) fn denwa(&self) -> MutexGuard<'_, DenwaRenji> {
        self.denwa.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolServices for Services {
    fn files_seen(&self) -> Option<&FilesSeen> {
        Some(&self.seen)
    }

    fn approve<'a>(
        &'a self,
        context: &'a ToolContext,
        ask: ApprovalAsk,
    ) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            // A file tool keeps what it overwrites by itself.
            let may_change_any_file = !ask.action.starts_with("edit file");
            let answer = self.approvals.request(context, ask).await;
            if let Some(worker) = &self.beside.snapshots
                && may_change_any_file
                && answer == Approval::Approved
            {
                let call = context.call_id.clone();
                worker.soon(move |tracker| tracker.open_window(&call)).await;
            }
            answer
        })
    }

    fn live_output(&self, context: &ToolContext, output: LiveOutput<'_>) {
        self.hub.extension(Extension::ToolOutput(ToolOutputChunk {
            tool_call_id: context.call_id.clone(),
            stream: output.stream,
            text: output.text.to_owned(),
        }));
    }

    fn todos(&self) -> Vec<TodoItem> {
        self.state.read(|state| state.todos.clone())
    }

    fn set_todos(&self, todos: Vec<TodoItem>) -> Result<(), String> {
        self.state
            .change(|state| state.todos = todos)
            .map_err(|error| format!("The todo list could not be stored: {error}"))
    }

    fn send_dmail(&self, mail: DMail) -> Result<(), String> {
        self.denwa().send(mail).map_err(|error| error.to_string())
    }

    fn ask<'a>(
        &'a self,
        context: &'a ToolContext,
        questions: Vec<Question>,
    ) -> BoxFuture<'a, Answers> {
        Box::pin(self.questions.ask(&context.call_id, questions))
    }

    fn plan_file(&self) -> Option<PathBuf> {
        self.plan.file()
    }

    fn set_plan_mode(&self, on: bool) -> Result<PathBuf, String> {
        self.plan.set(on)
    }

    fn show_plan(&self, content: &str, file: &Path) {
        self.plan.show(content, file);
    }

    fn before_write(&self, path: &Path) {
        if let Some(worker) = &self.beside.snapshots {
            let path = path.to_owned();
            worker.now(move |tracker| tracker.begin_write(&path));
        }
    }

    fn after_write(&self, path: &Path) {
        if let Some(worker) = &self.beside.snapshots {
            let path = path.to_owned();
            worker.now(move |tracker| tracker.end_write(&path));
        }
    }

    fn call_ended(&self, context: &ToolContext) {
        if let Some(worker) = &self.beside.snapshots {
            let call = context.call_id.clone();
            worker.later(move |tracker| tracker.close_window(&call));
        }
    }

    fn notifier(&self) -> Option<Notifier> {
        Some(self.notifier.clone())
    }

    fn background(&self) -> Option<BackgroundTasks> {
        Some(self.beside.tasks.clone())
    }

    fn delegate<'a>(
        &'a self,
        context: &'a ToolContext,
        work: Delegation,
    ) -> BoxFuture<'a, ToolReturn> {
        Box::pin(self.beside.launcher.delegate(context, work))
    }

    fn errand<'a>(
        &'a self,
        context: &'a ToolContext,
        errand: Errand<'a>,
    ) -> BoxFuture<'a, Option<ToolReturn>> {
        let runner = self.runner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(async move { runner?.run(context, errand).await })
    }

    fn stop_after_step(&self) {
        self.approvals.reject_turn();
    }
}

/// Tells a person things from another thread.
#[derive(Debug, Clone)]
pub(crate) struct Teller(Hub);

impl Teller {
    /// Tells `body` under `title`, as a warning.
    pub(crate) fn tell(&self, title: &str, body: &str) {
        self.0.event(super::status::notice("", title, body, "warning"));
    }
}
