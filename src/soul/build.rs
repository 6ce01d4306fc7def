//! Putting a soul together: a session's own, or a subagent's, which shares most of its session's.

use std::path::PathBuf;
use std::sync::Arc;

use super::afk::Away;
use super::approval::Approvals;
use super::btw::Aside;
use super::client_tools::ClientTools;
use super::desk::{Asks, Desk};
use super::ledger::Ledger;
use super::mcp::Servers;
use super::permission::{Permissions, RuleSource};
use super::plan::PlanMode;
use super::questions::Questions;
use super::running::Running;
use super::services::{Beside, Services};
use super::state::SharedState;
use super::subagent::{Home, Launcher, Nested, Parts, Staff};
use super::{Model, Soul, switch};
use crate::config::{CompactionConfig, HookConfig, LoopControl};
use crate::context::Context;
use crate::hooks::Hooks;
use crate::mcp::McpPool;
use crate::message::SessionId;
use crate::session::SessionState;
use crate::skill::Skills;
use crate::snapshot::Worker;
use crate::tools::{BackgroundTasks, Notifier, Toolset};
use crate::wire::{Hub, SessionInfo};

/// What a soul is made of.
pub(crate) struct Setup {
    /// The session.
    pub(crate) session_id: SessionId,
    /// Further folders of the workspace.
    pub(crate) added_dirs: Vec<PathBuf>,
    /// The conversation, system prompt frozen.
    pub(crate) context: Context,
    /// What the agent can do.
    pub(crate) tools: Toolset,
    /// Who answers; none when none is configured.
    pub(crate) model: Option<Model>,
    /// Limits of the loop.
    pub(crate) limits: LoopControl,
    /// How a context that is too long is made shorter.
    pub(crate) compaction: CompactionConfig,
    /// What is allowed, asked about, forbidden.
    pub(crate) rules: RuleSource,
    /// Servers with further tools.
    pub(crate) mcp: McpPool,
    /// Who hears of it.
    pub(crate) hub: Hub,
    /// What `state.json` says.
    pub(crate) state: SessionState,
    /// Hooks, skills, plans.
    pub(crate) modes: Modes,
    /// Facts for front ends; its folders and its `yolo` hold here too.
    pub(crate) info: SessionInfo,
}

/// What shapes a session's turns beside its tools.
#[derive(Default)]
pub(crate) struct Modes {
    /// Commands that run at certain events.
    pub(crate) hooks: Vec<HookConfig>,
    /// Instructions and flows a person can call.
    pub(crate) skills: Arc<Skills>,
    /// Where plans are kept.
    pub(crate) plans: PathBuf,
    /// What is needed to take files back; none when that is off.
    pub(crate) snapshots: Option<Worker>,
    /// Is the model left untold that the person is away?
    pub(crate) skips_afk_reminder: bool,
    /// Who work can be handed to.
    pub(crate) staff: Staff,
    /// When the MCP servers are the caller's: tools of theirs that are not taken over.
    pub(crate) borrows_mcp: Option<Vec<String>>,
}

/// What a session and its subagents have together.
fn shared(
    approvals: Approvals,
    modes: &Modes,
    plan: &PlanMode,
    notifier: &Notifier,
    hub: &Hub,
    (session, info): (&SessionId, &SessionInfo),
) -> Nested {
    let dir = &info.session_dir;
    let work_dir = info.work_dir.clone();
    let limits = modes.staff.limits.clone();
    Nested {
        approvals: Arc::new(approvals),
        hooks: Hooks::new(&modes.hooks, hub.clone(), session.clone(), work_dir),
        plan: plan.clone(),
        tasks: BackgroundTasks::new(hub.clone(), notifier.clone(), dir, &session.0, limits),
        home: Arc::new(Home::new(dir)),
        path: Vec::new(),
        snapshots: modes.snapshots.clone(),
    }
}

impl Soul {
    /// A soul that has heard nothing yet.
    pub(crate) fn new(setup: Setup) -> Self {
        Self::build(setup, None)
    }

    /// A session's soul, or a subagent's.
    pub(super) fn build(setup: Setup, nested: Option<Nested>) -> Self {
        let Setup { session_id, added_dirs, context, tools, model, limits, hub, .. } = setup;
        let Setup { state, modes, compaction, rules, mcp, info, .. } = setup;
        let state = SharedState::new(&info.session_dir, state, hub.clone());
        let away = Away::new(state.clone());
        let plan =
            PlanMode::new(hub.clone(), state.clone(), session_id.clone(), modes.plans.clone());
        let notifier = Notifier::new(hub.clone());
        let nested = nested.unwrap_or_else(|| {
            let permissions = Permissions::new(state.clone(), &info.work_dir, &tools, rules);
            let approvals =
                Approvals::new(hub.clone(), state.clone(), info.yolo, away.clone(), permissions);
            shared(approvals, &modes, &plan, &notifier, &hub, (&session_id, &info))
        });
        let Nested { approvals, hooks, plan: plan_of_session, tasks, home, path, snapshots } =
            nested;
        let questions = Arc::new(Questions::new(hub.clone(), away.clone()));
        let launcher = Launcher::new(Parts {
            staff: modes.staff,
            mcp: mcp.clone(),
            hub: hub.clone(),
            approvals: Arc::clone(&approvals),
            hooks: hooks.clone(),
            plan: plan_of_session.clone(),
            tasks: tasks.clone(),
            home,
            path,
            snapshots: snapshots.clone(),
            session: session_id.clone(),
            limits: limits.clone(),
            compaction,
            model: model.clone(),
        });
        let client_tools = ClientTools::new(hub.clone());
        let asks = Asks {
            questions: Arc::clone(&questions),
            tools: client_tools.clone(),
            hooks: hooks.clone(),
        };
        let tools = Arc::new(tools);
        let aside = Aside::new(
            hub.clone(),
            info.session_dir.clone(),
            session_id.clone(),
            Arc::clone(&tools),
            limits.max_retries_per_step,
        );
        let ledger = Ledger::new(hub.clone(), info.session_dir.clone(), Arc::clone(&tools));
        let running = Running::default();
        let desk = Desk::new(
            hub.clone(),
            Arc::clone(&approvals),
            asks,
            plan.clone(),
            away.clone(),
            aside.clone(),
            tasks.clone(),
        )
        .with_calls(running.clone(), ledger.clone());
        let services = Arc::new(Services::new(
            hub.clone(),
            state.clone(),
            Arc::clone(&approvals),
            questions,
            plan_of_session,
            notifier,
            Beside { tasks, launcher, snapshots },
        ));
        Self {
            session_id,
            added_dirs,
            context,
            mcp: Servers::new(mcp, &tools, &hub, modes.borrows_mcp),
            all_tools: Toolset::clone(&tools),
            tools,
            client_tools,
            the_model: model.clone(),
            model,
            limits,
            compaction,
            hub,
            state,
            approvals,
            services,
            desk,
            hooks,
            skills: modes.skills,
            plan,
            snapshots: modes.snapshots,
            away,
            skips_afk_reminder: modes.skips_afk_reminder,
            aside,
            ledger,
            running,
            info,
            compacted_to: 0,
            was_summarised: false,
            settings: switch::Source::default(),
            failed_wakes: 0,
        }
    }

    /// How work beside the turns tells the model something.
    #[cfg(test)]
    pub(crate) fn notifier(&self) -> Notifier {
        self.services.notes().clone()
    }
}
