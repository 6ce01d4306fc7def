//! What a tool is, and what it may ask of the session it runs in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::errand::Errand;
use super::files_seen::FilesSeen;
use super::{BackgroundTasks, Notifier};
use crate::message::{CheckpointId, DisplayBlock, TodoItem, ToolReturn};
use crate::wire::{OutputStream, Question};

/// A tool. Holds no session state: that is behind [`ToolServices`].
pub trait Tool: Send + Sync {
    /// The name the agent's file and the model use.
    fn name(&self) -> &str;

    /// Other names it answers to: the Python program's.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// What it does, for the model.
    fn description(&self) -> String;

    /// JSON Schema of its parameters.
    fn parameters(&self) -> Value;

    /// Runs it. Failures are results too: `ToolReturn { is_error: true, .. }`. Dropping the future
    /// stops the tool and everything it started.
    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn>;
}

/// Where and for whom a call runs.
#[derive(Clone)]
pub struct ToolContext {
    /// The folder relative paths start from; absolute, canonical.
    pub work_dir: PathBuf,
    /// Further folders of the workspace; absolute, canonical.
    pub added_dirs: Vec<PathBuf>,
    /// The call's id.
    pub call_id: String,
    /// The name it was called by, which approvals and results carry.
    pub called_as: String,
    /// Set when the turn is cancelled. Blocking work looks at it; async work is simply dropped.
    pub cancelled: CancellationToken,
    /// The session.
    pub services: Arc<dyn ToolServices>,
}

/// What a tool may ask of its session.
pub trait ToolServices: Send + Sync {
    /// Asks for permission; waits as long as it takes.
    fn approve<'a>(&'a self, context: &'a ToolContext, ask: ApprovalAsk)
    -> BoxFuture<'a, Approval>;

    /// Shows output of a running call.
    fn live_output(&self, context: &ToolContext, output: LiveOutput<'_>);

    /// The todo list.
    fn todos(&self) -> Vec<TodoItem>;

    /// Replaces the todo list.
    ///
    /// # Errors
    /// When it cannot be stored, with a reason for the model.
    fn set_todos(&self, todos: Vec<TodoItem>) -> Result<(), String>;

    /// Leaves a D-Mail to be sent when the step is over.
    ///
    /// # Errors
    /// When it cannot be sent, with a reason for the model.
    fn send_dmail(&self, mail: DMail) -> Result<(), String>;

    /// Asks the person; waits as long as it takes.
    fn ask<'a>(
        &'a self,
        _context: &'a ToolContext,
        _questions: Vec<Question>,
    ) -> BoxFuture<'a, Answers> {
        Box::pin(std::future::ready(Answers::Away))
    }

    /// The only file that may be written now; none when plan mode is off and all may.
    fn plan_file(&self) -> Option<PathBuf> {
        None
    }

    /// Plan mode on or off; gives back the plan's file.
    ///
    /// # Errors
    /// When it cannot be switched, with a reason for the model.
    fn set_plan_mode(&self, _on: bool) -> Result<PathBuf, String> {
        Err("Plan mode is not supported here.".to_owned())
    }

    /// Shows a plan to the person.
    fn show_plan(&self, _content: &str, _file: &Path) {}

    /// What this session's tools know of the files they read; none where nobody keeps it.
    fn files_seen(&self) -> Option<&FilesSeen> {
        None
    }

    /// A tool is about to write the file at `path`, links followed. Runs where it may block.
    fn before_write(&self, _path: &Path) {}

    /// It has, or it has failed to.
    fn after_write(&self, _path: &Path) {}

    /// A call has ended, whatever came of it.
    fn call_ended(&self, _context: &ToolContext) {}

    /// How work that outlives this call tells the model of its end; none where nobody listens.
    fn notifier(&self) -> Option<Notifier> {
        None
    }

    /// The session's background tasks; none where there can be none.
    fn background(&self) -> Option<BackgroundTasks> {
        None
    }

    /// Has a subagent do `work`; failures are results too.
    fn delegate<'a>(
        &'a self,
        _context: &'a ToolContext,
        _work: Delegation,
    ) -> BoxFuture<'a, ToolReturn> {
        Box::pin(std::future::ready(ToolReturn::error(
            "There are no subagents in this session. Do the work yourself.",
            "No subagents",
        )))
    }

    /// Lets the front end do something in this process's place. None when it does not do such things;
    /// what fails there is a result.
    fn errand<'a>(
        &'a self,
        _context: &'a ToolContext,
        _errand: Errand<'a>,
    ) -> BoxFuture<'a, Option<ToolReturn>> {
        Box::pin(std::future::ready(None))
    }

    /// The person said no: the turn ends with this step.
    fn stop_after_step(&self) {}
}

/// Work for a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    /// What it is, in a few words.
    pub title: String,
    /// The type of subagent.
    pub kind: String,
    /// What the subagent is told.
    pub prompt: String,
    /// The key of another model than its usual one.
    pub model: Option<String>,
    /// The id of the earlier subagent that is to go on.
    pub resume: Option<String>,
    /// Is it a background task?
    pub in_background: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What came of questions to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// Question text to answer.
    Given(BTreeMap<String, String>),
    /// The person does not want to answer.
    Dismissed,
    /// The person is away (afk), or nobody is there who could be asked.
    Away,
}

/// What is asked before something is done.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalAsk {
    /// The action's name: `run command`, `edit file`, `edit file outside of working directory`.
    pub action: String,
    /// One line about it.
    pub description: String,
    /// Blocks that show what would be done.
    pub display: Vec<DisplayBlock>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Yes.
    Approved,
    /// No; `feedback` says what to do instead, and may be empty. The tool returns at once with
    /// [`Approval::rejection`].
    Rejected {
        /// What the person said.
        feedback: String,
    },
}

impl Approval {
    /// The result a tool returns when it was not allowed to run (`kimi-cli` `soul/approval.py`).
    #[must_use]
    pub fn rejection(feedback: &str) -> ToolReturn {
        if feedback.is_empty() {
            ToolReturn::error(
                "The tool call is rejected by the user. \
                 Stop what you are doing and wait for the user to tell you how to proceed.",
                "Rejected by user",
            )
        } else {
            ToolReturn::error(
                format!("The tool call is rejected by the user. User feedback: {feedback}"),
                format!("Rejected: {feedback}"),
            )
        }
    }
}

/// A piece of a running tool's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOutput<'a> {
    /// Where it came from.
    pub stream: OutputStream,
    /// The text, not sanitised.
    pub text: &'a str,
}

/// A message to the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DMail {
    /// What to tell.
    pub message: String,
    /// When to: the context goes back to what it was before this checkpoint.
    pub checkpoint: CheckpointId,
}
