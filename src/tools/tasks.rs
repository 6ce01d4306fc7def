//! TaskList, TaskOutput, TaskStop: what the model does about background tasks (`kimi-cli`
//! `tools/background/__init__.py`).

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::background::BackgroundTasks;
use super::tool::{Approval, ApprovalAsk, ToolContext};
use super::typed::{Failure, TypedTool};
use crate::message::{DisplayBlock, ToolReturn};
use crate::wire::{TaskChanged, TaskState};

pub(crate) struct TaskList;
pub(crate) struct TaskOutput;
pub(crate) struct TaskStop;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListParams {
    /// Only tasks that run.
    #[serde(default = "yes")]
    active_only: bool,
    /// How many, the newest, at most 100.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct OutputParams {
    /// The task.
    task_id: String,
    /// Wait for its end first.
    #[serde(default)]
    block: bool,
    /// Seconds to wait, at most 3600.
    #[serde(default = "half_a_minute")]
    #[schemars(range(min = 0, max = 3600))]
    timeout: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StopParams {
    /// The task.
    task_id: String,
    /// Why.
    #[serde(default)]
    reason: String,
}

fn yes() -> bool {
    true
}

fn twenty() -> usize {
    20
}

fn half_a_minute() -> u64 {
    30
}

/// The session's tasks, or why there are none.
fn tasks(context: &ToolContext) -> Result<BackgroundTasks, Failure> {
    context.services.background().ok_or_else(|| {
        Failure::new("There are no background tasks in this session.", "No background tasks")
    })
}

fn unknown(tasks: &BackgroundTasks, id: &str) -> Failure {
    let known: Vec<String> = tasks.list().into_iter().map(|task| task.id).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::new(
        format!("There is no background task `{id}` (known: {known})."),
        format!("No task {id}"),
    )
}

/// The block for the screen.
pub(crate) fn block(task: &TaskChanged) -> DisplayBlock {
    DisplayBlock::BackgroundTask {
        task_id: task.id.clone(),
        kind: task.kind.name().to_owned(),
        status: task.state.name().to_owned(),
        description: task.title.clone(),
    }
}

/// The facts about a task, a line each.
pub(crate) fn facts(task: &TaskChanged) -> String {
    let mut text = format!(
        "task_id: {}\nkind: {}\nstatus: {}\ndescription: {}\n",
        task.id,
        task.kind.name(),
        task.state.name(),
        task.title
    );
    if let Some(ended) = task.ended {
        text.push_str(&format!("seconds: {:.1}\n", (ended - task.started).max(0.0)));
    }
    if let Some(exit) = task.exit {
        text.push_str(&format!("exit_code: {exit}\n"));
    }
    if !task.reason.is_empty() {
        text.push_str(&format!("reason: {}\n", task.reason));
    }
    text
}

impl TypedTool for TaskList {
    type Params = ListParams;
    const NAME: &'static str = "TaskList";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/task_list.md");

    async fn run(&self, params: ListParams, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let all = tasks(context)?.list();
        let active = all.iter().filter(|task| task.state == TaskState::Running).count();
        let listed: Vec<&TaskChanged> = all
            .iter()
            .rev()
            .filter(|task| !params.active_only || task.state == TaskState::Running)
            .take(params.limit.clamp(1, 100))
            .collect();
        let mut text = format!("active_background_tasks: {active}\n");
        for (number, task) in listed.iter().enumerate() {
            text.push_str(&format!("\n[{}]\n{}", number + 1, facts(task)));
        }
        let mut result = ToolReturn::ok(text, "");
        result.display = listed.into_iter().map(block).collect();
        if result.display.is_empty() {
            result.display.push(DisplayBlock::brief("No background tasks run"));
        }
        Ok(result)
    }
}

impl TypedTool for TaskOutput {
    type Params = OutputParams;
    const NAME: &'static str = "TaskOutput";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/task_output.md");

    async fn run(
        &self,
        params: OutputParams,
        context: &ToolContext,
    ) -> Result<ToolReturn, Failure> {
        let tasks = tasks(context)?;
        let id = params.task_id.trim();
        if tasks.get(id).is_none() {
            return Err(unknown(&tasks, id));
        }
        let is_over =
            !params.block || tasks.wait(id, Duration::from_secs(params.timeout.min(3600))).await;
        let (Some(task), Some((output, is_cut, path))) = (tasks.get(id), tasks.output(id)) else {
            return Err(unknown(&tasks, id));
        };
        let mut text = facts(&task);
        text.push_str(&format!("output_path: {}\n", path.display()));
        if is_cut {
            text.push_str("output: only the end of it follows; output_path has more\n");
        }
        text.push_str(&format!("\n[output]\n{output}"));
        let message = if is_over { "" } else { "It still runs: the wait was over first." };
        let mut result = ToolReturn::ok(text, message);
        result.display.push(block(&task));
        Ok(result)
    }
}

impl TypedTool for TaskStop {
    type Params = StopParams;
    const NAME: &'static str = "TaskStop";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/task_stop.md");

    async fn run(&self, params: StopParams, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let tasks = tasks(context)?;
        let id = params.task_id.trim();
        if context.services.plan_file().is_some() {
            return Err(Failure::new(
                "Plan mode is on: no task may be stopped. Nothing was done.",
                "Plan mode: not stopped",
            ));
        }
        let Some(task) = tasks.get(id) else { return Err(unknown(&tasks, id)) };
        if task.state != TaskState::Running {
            return Err(Failure::new(
                format!("Task `{id}` is over already: {}.", task.state.name()),
                "Over already",
            ));
        }
        let ask = ApprovalAsk {
            action: "stop background task".to_owned(),
            description: format!("Stop background task `{id}`: {}", task.title),
            display: vec![block(&task)],
        };
        if let Approval::Rejected { feedback } = context.services.approve(context, ask).await {
            return Err(Approval::rejection(&feedback).into());
        }
        let reason = match params.reason.trim() {
            "" => "Stopped by the model.",
            reason => reason,
        };
        tasks.stop(id, reason, true);
        let limit = tasks.config().kill_grace + Duration::from_secs(2);
        let is_over = tasks.wait(id, limit).await;
        let task = tasks.get(id).unwrap_or(task);
        let message = if is_over { "The task was stopped." } else { "It is being stopped." };
        let mut result = ToolReturn::ok(facts(&task), message);
        result.display.push(block(&task));
        Ok(result)
    }
}
