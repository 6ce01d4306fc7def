//! Subagents: souls within a soul, each with a context of its own.
//!
//! A [`Launcher`] belongs to each agent that may hand work on. It prepares a subagent ([`prepare`]:
//! its file, folder, tools, model), has it work ([`run`]) in the foreground or as a background task,
//! and makes of it what the model reads. [`relay`] carries what a subagent does to the front ends,
//! [`store`] keeps what is known of it in `subagents/ID/`, as `kimi-cli` `subagents/` does.

mod prepare;
mod relay;
mod run;
mod store;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::Semaphore;

use super::Model;
use super::approval::Approvals;
use super::gate::details;
use super::plan::PlanMode;
use crate::agent::{Agent, AgentSource, Subagent};
use crate::config::{BackgroundConfig, CompactionConfig, HookEvent, LoopControl};
use crate::hooks::{Hooks, Verdict};
use crate::mcp::McpPool;
use crate::message::{SessionId, ToolReturn};
use crate::snapshot::Worker;
use crate::tools::{BackgroundTasks, Delegation, Ended, ToolContext, task_block, task_facts};
use crate::wire::{Hub, TaskKind, TaskState};

use prepare::Prepared;
use run::{Finish, Outcome};

/// How deep subagents may lie in one another. Whether one may have its own at all is said by its
/// file.
const DEEPEST: usize = 3;

type LoadAgent = dyn Fn(&AgentSource) -> Result<Agent, String> + Send + Sync;
type LoadServers = dyn Fn(&Agent) -> Result<McpPool, String> + Send + Sync;
type LoadModel = dyn Fn(&str) -> Result<Model, String> + Send + Sync;

/// Who work can be handed to, and where agents and models come from.
#[derive(Clone)]
pub(crate) struct Staff {
    /// The subagents there are.
    pub(crate) types: Vec<Subagent>,
    /// Loads one.
    pub(crate) load: Arc<LoadAgent>,
    /// The model with a key of the configuration.
    pub(crate) model: Arc<LoadModel>,
    /// Begins to connect the MCP servers in a file of a subagent's own.
    pub(crate) mcp: Arc<LoadServers>,
    /// Limits.
    pub(crate) limits: BackgroundConfig,
}

impl Default for Staff {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            load: Arc::new(|_| Err("There are no subagents here.".to_owned())),
            model: Arc::new(|_| Err("There are no other models here.".to_owned())),
            mcp: Arc::new(|_| Ok(McpPool::default())),
            limits: BackgroundConfig::default(),
        }
    }
}

impl Staff {
    /// Name and use of each type, for the model.
    pub(crate) fn described(&self) -> Vec<(String, String)> {
        self.types.iter().map(|one| (one.name.clone(), one.description.clone())).collect()
    }
}

/// What the subagents of a session have in common, however deep they lie.
#[derive(Debug)]
pub(super) struct Home {
    /// The session's `subagents` folder.
    folder: PathBuf,
    /// Ids of those that work.
    active: Mutex<HashSet<String>>,
}

/// What a launcher is made of.
pub(super) struct Parts {
    pub(super) staff: Staff,
    /// The servers of the agent this belongs to.
    pub(super) mcp: McpPool,
    pub(super) hub: Hub,
    pub(super) approvals: Arc<Approvals>,
    pub(super) hooks: Hooks,
    pub(super) plan: PlanMode,
    pub(super) tasks: BackgroundTasks,
    pub(super) home: Arc<Home>,
    /// The types on the way to the agent this belongs to; empty for the session's own.
    pub(super) path: Vec<String>,
    pub(super) snapshots: Option<Worker>,
    pub(super) session: SessionId,
    pub(super) limits: LoopControl,
    pub(super) compaction: CompactionConfig,
    pub(super) model: Option<Model>,
}

/// Has subagents work for one agent.
pub(crate) struct Launcher {
    parts: Parts,
    /// The model of the agent now.
    model: Mutex<Option<Model>>,
    running: Semaphore,
}

/// A subagent taken from a soul: what [`super::Soul::build`] needs beside the setup.
pub(super) struct Nested {
    pub(super) approvals: Arc<Approvals>,
    pub(super) hooks: Hooks,
    pub(super) plan: PlanMode,
    pub(super) tasks: BackgroundTasks,
    pub(super) home: Arc<Home>,
    pub(super) path: Vec<String>,
    /// What a subagent changes goes back with the step of the session that it worked for.
    pub(super) snapshots: Option<Worker>,
}

impl Home {
    pub(super) fn new(session_dir: &std::path::Path) -> Self {
        Self { folder: session_dir.join("subagents"), active: Mutex::default() }
    }

    /// Marks `id` as working. None when it works already.
    fn enter(self: &Arc<Self>, id: &str) -> Option<Active> {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        active.insert(id.to_owned()).then(|| Active { home: Arc::clone(self), id: id.to_owned() })
    }
}

/// As long as it lives, a subagent works.
#[derive(Debug)]
struct Active {
    home: Arc<Home>,
    id: String,
}

impl Drop for Active {
    fn drop(&mut self) {
        self.home.active.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl fmt::Debug for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launcher").field("path", &self.parts.path).finish_non_exhaustive()
    }
}

impl Launcher {
    pub(super) fn new(parts: Parts) -> Self {
        let running = Semaphore::new(parts.staff.limits.max_running_subagents.max(1));
        Self { model: Mutex::new(parts.model.clone()), running, parts }
    }

    /// From now on subagents without a model of their own have this one.
    pub(super) fn use_model(&self, model: &Model) {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
    }

    fn model(&self) -> Option<Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has a subagent do `work`.
    pub(super) async fn delegate(&self, context: &ToolContext, work: Delegation) -> ToolReturn {
        let about = json!({ "agent_name": work.kind, "prompt": work.prompt });
        let hooks = &self.parts.hooks;
        if let Verdict::Block { reason } =
            hooks.ask(HookEvent::SubagentStart, &[&work.kind], details(about)).await
        {
            let reason = if reason.is_empty() { "A hook is against it." } else { &reason };
            return ToolReturn::error(
                format!("A hook blocked this subagent: {reason}"),
                "Hook blocked",
            );
        }
        let prepared = match self.prepare(context, &work) {
            Ok(prepared) => prepared,
            Err(reason) => return ToolReturn::error(reason, "Not started"),
        };
        if work.in_background {
            return self.in_background(context, prepared, &work);
        }
        let Ok(_permit) = self.running.acquire().await else {
            return ToolReturn::error("The session ends.", "Not started");
        };
        let head = prepared.head();
        let job = prepared.job(None, context.cancelled.child_token());
        told(&head, job.run(work.prompt, work.timeout, None).await)
    }

    fn in_background(
        &self,
        context: &ToolContext,
        prepared: Prepared,
        work: &Delegation,
    ) -> ToolReturn {
        let limit = work.timeout.unwrap_or(self.parts.staff.limits.agent_task_timeout);
        let (head, prompt) = (prepared.head(), work.prompt.clone());
        let begun =
            self.parts.tasks.start(TaskKind::Agent, &work.title, &context.call_id, move |handle| {
                Box::pin(async move {
                    let job = prepared.job(Some(handle.id()), handle.cancelled().clone());
                    ended(job.run(prompt, Some(limit), Some(handle)).await)
                })
            });
        match begun {
            Ok(task) => {
                let mut result = ToolReturn::ok(
                    format!("{}{}", task_facts(&task), head),
                    "It works in the background. You are told when it ends; go on with other \
                     work, or end your turn.",
                );
                result.display.push(task_block(&task));
                result
            }
            Err(reason) => ToolReturn::error(reason, "Not started"),
        }
    }
}

/// What the model of the caller reads.
fn told(head: &str, outcome: Outcome) -> ToolReturn {
    let status = outcome.status();
    let text = |summary: &str| format!("{head}status: {status}\n\n[summary]\n{summary}");
    match outcome.finish {
        Finish::Done => ToolReturn::ok(text(&outcome.summary), ""),
        Finish::Cancelled => super::calls::cancelled_return(),
        Finish::TimedOut | Finish::Failed(_) => {
            let reason = outcome.reason();
            ToolReturn::error(
                format!("The subagent did not finish: {reason} Its work so far is kept: `resume` goes on."),
                reason,
            )
            .with_output(text(&outcome.summary))
        }
    }
}

/// How its background task ended.
fn ended(outcome: Outcome) -> Ended {
    let state = match outcome.finish {
        Finish::Done => TaskState::Completed,
        Finish::Cancelled => TaskState::Killed,
        Finish::TimedOut | Finish::Failed(_) => TaskState::Failed,
    };
    Ended { state, exit: None, reason: outcome.reason() }
}
