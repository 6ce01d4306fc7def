//! Everything a subagent needs before it begins: its file, folder, context, tools and model.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::run::Job;
use super::store::{Folder, Status};
use super::{Active, DEEPEST, Launcher, Nested, Staff};
use crate::agent::Subagent;
use crate::context::Context;
use crate::mcp::McpPool;
use crate::message::{Message, SessionId};
use crate::session::SessionState;
use crate::soul::approval::Asker;
use crate::soul::{Model, Modes, RuleSource, Setup, Soul, lost_result};
use crate::tools::{Delegation, ToolContext, Toolset};
use crate::wire::record::Recorder;
use crate::wire::{Hub, SessionInfo};

/// Tools that speak with the person, or for the session.
const NOT_FOR_SUBAGENTS: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

/// A subagent that may begin.
pub(super) struct Prepared {
    kind: String,
    title: String,
    call_id: String,
    is_resumed: bool,
    folder: Folder,
    active: Active,
    parent: Hub,
    nested: Nested,
    setup: Setup,
}

impl Launcher {
    /// Prepares the subagent for `work`.
    ///
    /// # Errors
    /// In words for the model.
    pub(super) fn prepare(
        &self,
        context: &ToolContext,
        work: &Delegation,
    ) -> Result<Prepared, String> {
        let earlier = match &work.resume {
            Some(id) => Some(self.earlier(id)?),
            None => None,
        };
        let kind = earlier.as_ref().map_or(&work.kind, |folder| &folder.meta.subagent_type).clone();
        let subagent = self.subagent(&kind)?;
        let agent = (self.parts.staff.load)(&subagent.source)?;
        let key = work.model.as_deref().or(agent.model.as_deref());
        let model = self.model_of(key)?;
        let mut excluded = agent.exclude_tools.clone();
        excluded.extend(NOT_FOR_SUBAGENTS.map(str::to_owned));
        let staff = Staff {
            types: if self.parts.path.len() + 1 < DEEPEST {
                agent.subagents.clone()
            } else {
                Vec::new()
            },
            ..self.parts.staff.clone()
        };
        let tools = Toolset::select(&agent.tools, &excluded)
            .map_err(|error| format!("The subagent `{kind}` cannot be used: {error}"))?
            .with_subagents(&staff.described());
        let (mcp, borrows) = match (&agent.mcp, agent.mcp_of_caller) {
            (Some(_), _) => ((self.parts.staff.mcp)(&agent)?, None),
            (None, true) => (self.parts.mcp.clone(), Some(agent.mcp_exclude.clone())),
            (None, false) => (McpPool::default(), None),
        };
        let is_resumed = earlier.is_some();
        let folder = match earlier {
            Some(folder) => folder,
            None => Folder::create(&self.parts.home.folder, &kind, &work.title, key)
                .map_err(|error| format!("The subagent's folder cannot be made: {error}."))?,
        };
        let id = folder.meta.agent_id.clone();
        let active = self.parts.home.enter(&id).ok_or_else(|| {
            format!("The subagent {id} is at work. Wait for its end before you let it go on.")
        })?;
        let conversation = conversation(&folder, &agent.system_prompt)
            .map_err(|error| format!("The subagent's context cannot be opened: {error}"))?;
        let mut path = self.parts.path.clone();
        path.push(kind.clone());
        let asker = Asker {
            agent_id: id.clone(),
            kind: path.join("/"),
            title: work.title.clone(),
            task_id: None,
        };
        let nested = Nested {
            approvals: Arc::new(self.parts.approvals.for_subagent(asker, &tools)),
            hooks: self.parts.hooks.clone(),
            plan: self.parts.plan.clone(),
            tasks: self.parts.tasks.clone(),
            home: Arc::clone(&self.parts.home),
            path,
            snapshots: self.parts.snapshots.clone(),
        };
        let mut setup = self.setup(context, &folder, conversation, tools, model, staff);
        (setup.mcp, setup.modes.borrows_mcp) = (mcp, borrows);
        Ok(Prepared {
            kind,
            title: work.title.clone(),
            call_id: context.call_id.clone(),
            is_resumed,
            folder,
            active,
            parent: self.parts.hub.clone(),
            nested,
            setup,
        })
    }

    fn earlier(&self, id: &str) -> Result<Folder, String> {
        Folder::find(&self.parts.home.folder, id.trim())
            .ok_or_else(|| format!("There is no earlier subagent `{id}` in this session."))
    }

    fn subagent(&self, kind: &str) -> Result<&Subagent, String> {
        self.parts.staff.types.iter().find(|one| one.name == kind).ok_or_else(|| {
            let known: Vec<&str> =
                self.parts.staff.types.iter().map(|one| one.name.as_str()).collect();
            format!("There is no subagent `{kind}`. There are: {}.", known.join(", "))
        })
    }

    fn model_of(&self, key: Option<&str>) -> Result<Model, String> {
        match key {
            Some(key) => (self.parts.staff.model)(key),
            None => self.model().ok_or_else(|| "No model is set.".to_owned()),
        }
    }

    fn setup(
        &self,
        context: &ToolContext,
        folder: &Folder,
        conversation: Context,
        tools: Toolset,
        model: Model,
        staff: Staff,
    ) -> Setup {
        let info = SessionInfo {
            work_dir: context.work_dir.clone(),
            session_dir: folder.path.clone(),
            max_context_tokens: model.max_context,
            model: Some(model.name.clone()),
            ..SessionInfo::default()
        };
        Setup {
            // Providers cache by it: another conversation, another key.
            session_id: SessionId(format!("{}/{}", self.parts.session.0, folder.meta.agent_id)),
            added_dirs: context.added_dirs.clone(),
            context: conversation,
            tools,
            model: Some(model),
            limits: self.parts.limits.clone(),
            compaction: self.parts.compaction,
            rules: RuleSource::default(),
            mcp: McpPool::default(),
            hub: Hub::new(Some(Recorder::new(&folder.path))),
            state: SessionState::load(&folder.path),
            modes: Modes { staff, plans: PathBuf::new(), ..Modes::default() },
            info,
        }
    }
}

/// The subagent's context: as it was left, or new.
fn conversation(folder: &Folder, prompt: &str) -> Result<Context, crate::context::ContextError> {
    let (mut context, _) = Context::open(&folder.path)?;
    context.freeze_system_prompt(prompt)?;
    let lost: Vec<Message> = context
        .dangling_calls()
        .iter()
        .map(|call| Message::tool_result(&call.id, &lost_result()))
        .collect();
    context.append(&lost)?;
    let was_cut_off = !matches!(folder.meta.status, Status::Idle | Status::Completed);
    if was_cut_off && !context.history().is_empty() {
        context.append(&[Message::system_note(
            "You were cut off here. What you were saying or doing may be incomplete.",
        )])?;
    }
    Ok(context)
}

impl Prepared {
    /// The lines that name it.
    pub(super) fn head(&self) -> String {
        format!(
            "agent_id: {}\nresumed: {}\nactual_subagent_type: {}\n",
            self.folder.meta.agent_id, self.is_resumed, self.kind
        )
    }

    /// Ready to work, as the background task `task_id` or in the foreground.
    pub(super) fn job(mut self, task_id: Option<String>, cancel: CancellationToken) -> Job {
        if let Some(task_id) = &task_id {
            self.folder.meta.last_task_id = Some(task_id.clone());
            let asker = Asker {
                agent_id: self.folder.meta.agent_id.clone(),
                kind: self.nested.path.join("/"),
                title: self.title.clone(),
                task_id: Some(task_id.clone()),
            };
            let approvals = self.nested.approvals.for_subagent(asker, &self.setup.tools);
            self.nested.approvals = Arc::new(approvals);
        }
        let hooks = self.nested.hooks.clone();
        let messages = self.setup.hub.subscribe(false);
        Job {
            soul: Soul::build(self.setup, Some(self.nested)),
            messages,
            hooks,
            kind: self.kind,
            call_id: self.call_id,
            folder: self.folder,
            parent: self.parent,
            cancel,
            is_background: task_id.is_some(),
            active: self.active,
        }
    }
}
