//! What a running task may use, and what it says of its end.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{BackgroundTasks, Task, lock};
use crate::config::BackgroundConfig;
use crate::tools::birth::Birth;
use crate::wire::{Extension, TaskOutputChunk, TaskState};

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub state: TaskState,
    pub exit: Option<i32>,
    pub reason: String,
}

/// What a running task may use.
#[derive(Clone)]
pub(crate) struct TaskHandle {
    pub(super) tasks: BackgroundTasks,
    pub(super) task: Arc<Task>,
}

impl Ended {
    /// It did its work.
    pub(crate) fn completed(exit: Option<i32>) -> Self {
        Self { state: TaskState::Completed, exit, reason: String::new() }
    }

    /// It did not, for this reason.
    pub(crate) fn failed(reason: impl Into<String>) -> Self {
        Self { state: TaskState::Failed, exit: None, reason: reason.into() }
    }

    /// It was stopped.
    pub(crate) fn killed(exit: Option<i32>) -> Self {
        Self { state: TaskState::Killed, exit, reason: "It was stopped.".to_owned() }
    }
}

impl TaskHandle {
    /// The task's id.
    pub(crate) fn id(&self) -> String {
        lock(&self.task.fact).id.clone()
    }

    /// This shell does the task's work: a later run of the program can find it by that.
    pub(super) fn runs_in(&self, shell: Option<Birth>) {
        *lock(&self.task.shell) = shell;
        self.tasks.keep(&self.task);
    }

    /// Set when the task is to end.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.task.cancel
    }

    /// Set when the program ends and the task may go on without it.
    pub(super) fn released(&self) -> &CancellationToken {
        &self.tasks.0.release
    }

    pub(super) fn config(&self) -> &BackgroundConfig {
        &self.tasks.0.config
    }

    pub(super) fn output_path(&self) -> PathBuf {
        lock(&self.task.output).path().to_owned()
    }

    /// Keeps output, and shows it.
    pub(crate) fn write(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        lock(&self.task.output).write(text);
        self.show(text);
    }

    /// Shows output that is kept already.
    pub(super) fn show(&self, text: &str) {
        let task_id = lock(&self.task.fact).id.clone();
        let text = text.to_owned();
        self.tasks.0.hub.extension(Extension::TaskOutput(TaskOutputChunk { task_id, text }));
    }
}
