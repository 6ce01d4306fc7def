//! What tools get from the session: approvals, live output, todos, D-Mail.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use super::approval::Approvals;
use super::dmail::DenwaRenji;
use super::plan::PlanMode;
use super::questions::Questions;
use super::state::SharedState;
use crate::message::TodoItem;
use crate::tools::{
    Answers, Approval, ApprovalAsk, DMail, FilesSeen, LiveOutput, Notifier, ToolContext,
    ToolServices,
};
use crate::wire::{Extension, Hub, Question, ToolOutputChunk};

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
}

impl Services {
    /// The services of one session.
    pub(crate) fn new(
        hub: Hub,
        state: SharedState,
        approvals: Arc<Approvals>,
        questions: Arc<Questions>,
        plan: PlanMode,
        notifier: Notifier,
    ) -> Self {
        Self {
            hub,
            state,
            approvals,
            questions,
            plan,
            denwa: Mutex::default(),
            notifier,
            seen: FilesSeen::default(),
        }
    }

    /// What background work has to say to the model.
    pub(crate) fn notes(&self) -> &Notifier {
        &self.notifier
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
        Box::pin(self.approvals.request(context, ask))
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

    fn notifier(&self) -> Option<Notifier> {
        Some(self.notifier.clone())
    }

    fn stop_after_step(&self) {
        self.approvals.reject_turn();
    }
}
