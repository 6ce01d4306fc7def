//! Opening a session: everything that reads files before the first command. Runs on a thread that
//! may block.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use super::chosen::{choose_model, compaction_at, limits};
use super::{Closing, HostOptions, SessionChoice};
use crate::agent::{self, Agent, AgentChoice, PromptVars};
use crate::config::{Capability, RuleFiles};
use crate::context::{Context, ContextError, OpenReport};
use crate::error::user;
use crate::mcp::{self, McpLimits, McpOptions, McpPool, McpSources};
use crate::message::{CheckpointRef, Message, Role};
use crate::permission::{Rule, Scope, ScopedRule};
use crate::session::{Session, SessionState, SessionStore, short_title};
use crate::skill::{Places, Skills};
use crate::snapshot::{Place, Tracker, Worker};
use crate::soul::{self, Model, Modes, RuleSource, Setup, Staff};
use crate::tools::{Equipment, Toolset};
use crate::wire::record::Recorder;
use crate::wire::{CheckpointCreated, ContextSize, Hub, SessionInfo};

/// The agent the demo model is shown with: it has D-Mail.
const DEMO_AGENT: &str = "okabe";

/// An open session whose soul does not run yet.
pub(super) struct Opened {
    pub(super) setup: Setup,
    pub(super) closing: Closing,
}

/// Opens the session `choice` names. What can be wrong with the flags is found out before a new
/// session leaves a trace.
pub(super) fn open(options: &HostOptions, choice: &SessionChoice) -> anyhow::Result<Opened> {
    let work_dir = canonical(&options.work_dir)?;
    let chosen = choose_model(options)?;
    let (model, is_demo) = (chosen.model, chosen.is_demo);
    let skills = Skills::find(&skill_places(options, &work_dir));
    let agent = load_agent(options, &work_dir, is_demo, &skills)?;
    let equipment =
        Equipment::new(&options.config, &model.capabilities, &|name| options.env.get(name));
    let tools = Toolset::equipped(&agent.tools, &agent.exclude_tools, &equipment)
        .with_context(|| format!("The agent \"{}\" cannot be used", agent.name))?;
    let staff = staff(options, &work_dir, &agent, &skills, &model);
    let tools = tools.with_subagents(&staff.described());
    let mut warnings = agent.warnings.clone();
    warnings.extend(missing_tools(&agent, &tools));
    warnings.extend(skills.warnings.iter().cloned());

    let store = SessionStore::new(options.paths.clone());
    let session = choose_session(&store, &work_dir, choice, &mut warnings)?;
    let lock = session.lock()?;
    Skills::write_built_in(&options.paths.share);
    let (mut context, report) = Context::open(&session.dir)?;
    warnings.extend(damage(&report));
    let is_resumed = !context.history().is_empty();
    context.freeze_system_prompt(&agent.system_prompt)?;
    warnings.extend(close_dangling_calls(&mut context)?);

    let rules = rules(options, &work_dir, &mut warnings)?;
    let mcp = mcp_servers(options, &agent, &tools, &work_dir, &mut warnings)?;
    let mut state = SessionState::load(&session.dir);
    state.plan_mode |= options.flags.plan || !is_resumed && options.config.default_plan_mode;
    state.afk |= options.flags.afk;
    let added_dirs = added_dirs(&state, &options.flags.added_dirs);
    let limits = limits(options);
    let snapshots = snapshots(options, &session, &state, &context, &mut warnings);
    let info = SessionInfo {
        id: Some(session.id.clone()),
        title: title(&state, &context),
        session_dir: session.dir.clone(),
        agent: agent.name,
        model: Some(model.name.clone()),
        model_key: chosen.key,
        thinking: chosen.thinking,
        price: chosen.price,
        is_demo,
        takes_images: model.capabilities.contains(&Capability::ImageIn),
        max_context_tokens: model.max_context,
        compaction_at: compaction_at(&limits, model.max_context),
        yolo: options.yolo || options.config.default_yolo || state.yolo,
        is_resumed,
        can_revert: true,
        checkpoints: checkpoints(&context),
        slash_commands: soul::slash_commands().into_iter().chain(skills.commands()).collect(),
        tools: tools.taken_names(),
        warnings,
        work_dir,
    };
    let hub = Hub::new(Some(Recorder::new(&session.dir)));
    Ok(Opened {
        setup: Setup {
            session_id: session.id.clone(),
            added_dirs,
            context,
            tools,
            model: Some(model),
            limits,
            compaction: options.config.compaction,
            rules,
            mcp,
            hub: hub.clone(),
            state,
            modes: Modes {
                hooks: options.config.hooks.clone(),
                skills: Arc::new(skills),
                plans: options.paths.plans(),
                snapshots,
                skips_afk_reminder: options.config.skip_afk_prompt_injection,
                staff,
                borrows_mcp: None,
            },
            info,
        },
        closing: Closing { store, session, lock, hub },
    })
}

/// What is needed to take files back. Whatever is wrong with it, the session opens.
fn snapshots(
    options: &HostOptions,
    session: &Session,
    state: &SessionState,
    context: &Context,
    warnings: &mut Vec<String>,
) -> Option<Worker> {
    let config = options.config.snapshots.clone();
    if !config.enabled {
        return None;
    }
    let bucket = session.dir.parent().and_then(Path::file_name).unwrap_or_default();
    let place =
        Place { session_dir: session.dir.clone(), store: options.paths.snapshots().join(bucket) };
    let mut roots = vec![session.work_dir.clone()];
    roots.extend(added_dirs(state, &options.flags.added_dirs));
    let started = Tracker::open(place, roots, config).and_then(|mut tracker| {
        let known: Vec<CheckpointRef> =
            checkpoints(context).into_iter().map(|checkpoint| checkpoint.at).collect();
        tracker.mark_known(&known);
        warnings.extend(tracker.take_notices());
        Worker::start(tracker)
    });
    started
        .inspect_err(|error| {
            warnings.push(format!("Files cannot be taken back in this session: {error}."));
        })
        .ok()
}

fn canonical(work_dir: &Path) -> anyhow::Result<PathBuf> {
    let is_folder = |path: &PathBuf| path.is_dir();
    fs::canonicalize(work_dir).ok().filter(is_folder).ok_or_else(|| {
        user(
            format!("There is no folder {}.", work_dir.display()),
            "Give an existing one with --work-dir, or start in one.",
        )
    })
}

fn skill_places(options: &HostOptions, work_dir: &Path) -> Places {
    Places {
        work_dir: work_dir.to_owned(),
        home: options.env.get("HOME").map(PathBuf::from),
        share: options.paths.share.clone(),
        extra: options.config.extra_skill_dirs.clone(),
        merge_all: options.config.merge_all_available_skills,
        instead: options.flags.skill_dirs.clone(),
    }
}

fn load_agent(
    options: &HostOptions,
    work_dir: &Path,
    is_demo: bool,
    skills: &Skills,
) -> anyhow::Result<Agent> {
    let demo = AgentChoice::Named(DEMO_AGENT.to_owned());
    let choice =
        if is_demo && options.agent == AgentChoice::default() { &demo } else { &options.agent };
    let mut vars = PromptVars::gather(work_dir, &options.flags.added_dirs);
    vars.skills = skills.prompt_text();
    Ok(agent::load(choice, &options.paths, &vars)?)
}

/// Who the agent may hand work to, and how they are loaded when they are needed.
fn staff(
    options: &HostOptions,
    work_dir: &Path,
    agent: &Agent,
    skills: &Skills,
    current: &Model,
) -> Staff {
    let (paths, work_dir, skills) =
        (options.paths.clone(), work_dir.to_owned(), skills.prompt_text());
    let (options, current) = (options.clone(), current.clone());
    let (its_options, its_folder) = (options.clone(), work_dir.clone());
    Staff {
        mcp: Arc::new(move |agent| {
            let env = |name: &str| its_options.env.get(name);
            let sources =
                McpSources { files: Vec::from_iter(agent.mcp.clone()), ..McpSources::default() };
            let servers = mcp::config::load(&sources, Path::new(""), None, &env)
                .map_err(|error| error.to_string())?;
            let reserved = agent.tools.clone();
            Ok(McpPool::start(servers, mcp_options(&its_options, agent, reserved, &its_folder)))
        }),
        types: agent.subagents.clone(),
        limits: options.config.background.clone(),
        load: Arc::new(move |source| {
            let mut vars = PromptVars::gather(&work_dir, &[]);
            vars.skills.clone_from(&skills);
            agent::load_from(source, &paths, &vars).map_err(|error| error.to_string())
        }),
        model: Arc::new(move |key| {
            if current.name == key {
                return Ok(current.clone());
            }
            let wanted = HostOptions { model: Some(key.to_owned()), ..options.clone() };
            let chosen = choose_model(&wanted).map_err(|error| format!("{error:#}"))?;
            let missing = || format!("There is no model `{key}`.");
            Some(chosen.model).filter(|_| !chosen.is_demo).ok_or_else(missing)
        }),
    }
}

fn missing_tools(agent: &Agent, tools: &Toolset) -> Option<String> {
    (!tools.missing().is_empty()).then(|| {
        format!(
            "The agent \"{}\" asks for tools this version does not have: {}.",
            agent.name,
            tools.missing().join(", ")
        )
    })
}

fn choose_session(
    store: &SessionStore,
    work_dir: &Path,
    choice: &SessionChoice,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Session> {
    match choice {
        SessionChoice::New => Ok(store.create(work_dir, None)?),
        SessionChoice::Continue => store.latest(work_dir)?.ok_or_else(|| {
            user(
                format!("There is no session to continue in {}.", work_dir.display()),
                "Start without --continue to begin one.",
            )
        }),
        SessionChoice::Id(id) => match store.find(work_dir, id)? {
            Some(session) => Ok(session),
            // As the Python program does, so that scripts can name their sessions.
            None => {
                warnings.push(format!(
                    "There was no session \"{id}\" in {}; this is a new one with that id.",
                    work_dir.display()
                ));
                Ok(store.create(work_dir, Some(id.clone()))?)
            }
        },
    }
}

/// What a person should know about a damaged file.
fn damage(report: &OpenReport) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(first) = report.bad_lines.first() {
        out.push(format!(
            "{} of context.jsonl could not be read and {} left out (line {}: {}). \
             The file still has {}.",
            if report.bad_lines.len() == 1 {
                "A line".to_owned()
            } else {
                format!("{} lines", report.bad_lines.len())
            },
            if report.bad_lines.len() == 1 { "was" } else { "were" },
            first.line,
            first.reason,
            if report.bad_lines.len() == 1 { "it" } else { "them" },
        ));
    }
    if report.torn_tail {
        out.push(
            "The last line of context.jsonl was cut off when the program ended suddenly; \
             it is in context.jsonl.torn now."
                .to_owned(),
        );
    }
    out
}

/// Gives calls that were running when the program died a result, without which no provider takes
/// the conversation.
fn close_dangling_calls(context: &mut Context) -> Result<Option<String>, ContextError> {
    let results: Vec<Message> = context
        .dangling_calls()
        .iter()
        .map(|call| Message::tool_result(&call.id, &soul::lost_result()))
        .collect();
    if results.is_empty() {
        return Ok(None);
    }
    context.append(&results)?;
    let tools = if results.len() == 1 { "a tool" } else { "tools" };
    Ok(Some(format!("The session was interrupted while {tools} ran. The model is told so.")))
}

/// Further folders of the workspace, as far as they are still there.
fn added_dirs(state: &SessionState, flags: &[PathBuf]) -> Vec<PathBuf> {
    let known = state.additional_dirs.iter().map(Path::new);
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in known.chain(flags.iter().map(PathBuf::as_path)) {
        if let Ok(folder) = fs::canonicalize(folder)
            && !found.contains(&folder)
        {
            found.push(folder);
        }
    }
    found
}

/// The permission rules of the person and the project.
pub(super) fn rules(
    options: &HostOptions,
    work_dir: &Path,
    warnings: &mut Vec<String>,
) -> anyhow::Result<RuleSource> {
    let files = RuleFiles::new(&options.paths, work_dir);
    let project = files.project_rules()?;
    warnings.extend(project.warnings);
    let scoped = |scope: Scope| move |rule: Rule| ScopedRule { scope, rule };
    let of_user = options.config.permission_rules.iter().cloned().map(scoped(Scope::User));
    let rules = of_user.chain(project.rules.into_iter().map(scoped(Scope::Project))).collect();
    Ok(RuleSource { rules, files })
}

/// The MCP servers of the session, being connected from now on. A wrong file that nobody asked for
/// by name does not keep a session from opening.
fn mcp_servers(
    options: &HostOptions,
    agent: &Agent,
    tools: &Toolset,
    work_dir: &Path,
    warnings: &mut Vec<String>,
) -> anyhow::Result<McpPool> {
    let env = |name: &str| options.env.get(name);
    let default = options.paths.mcp_file();
    let loaded = mcp::config::load(&options.mcp, &default, agent.mcp.as_deref(), &env);
    let servers = match loaded {
        Ok(servers) => servers,
        Err(error) if options.mcp == McpSources::default() => {
            warnings.push(error.to_string());
            Vec::new()
        }
        Err(error) => return Err(error.into()),
    };
    Ok(McpPool::start(servers, mcp_options(options, agent, tools.taken_names(), work_dir)))
}

fn mcp_options(
    options: &HostOptions,
    agent: &Agent,
    reserved: Vec<String>,
    work_dir: &Path,
) -> McpOptions {
    McpOptions {
        work_dir: work_dir.to_owned(),
        logins: options.paths.mcp_logins(),
        exclude: agent.mcp_exclude.clone(),
        reserved,
        network: options.config.network.clone(),
        limits: McpLimits { call: options.config.mcp.tool_call_timeout, ..McpLimits::default() },
    }
}

fn title(state: &SessionState, context: &Context) -> String {
    state.custom_title.clone().unwrap_or_else(|| {
        context
            .history()
            .iter()
            .find(|message| {
                message.role == Role::User
                    && !message.is_checkpoint_note()
                    && !message.is_reminder()
            })
            .map(|message| short_title(&message.text()))
            .unwrap_or_default()
    })
}

/// The checkpoints of the context as it is, with the steps they stand before.
fn checkpoints(context: &Context) -> Vec<CheckpointCreated> {
    let generation = context.generation();
    let mut step = 0;
    context
        .checkpoints()
        .iter()
        .map(|checkpoint| {
            let behind = context.history().get(checkpoint.messages..).unwrap_or_default();
            if begins_turn(behind) {
                step = 0;
            } else {
                step += 1;
            }
            CheckpointCreated {
                at: CheckpointRef { generation, id: checkpoint.id },
                step: (step > 0).then_some(step),
                size: ContextSize {
                    messages: checkpoint.messages as u64,
                    tokens: checkpoint.tokens,
                },
            }
        })
        .collect()
}

/// Does a user's message stand right behind the checkpoint, notes aside?
fn begins_turn(behind: &[Message]) -> bool {
    behind
        .iter()
        .find(|message| !message.is_checkpoint_note() && !message.is_reminder())
        .is_some_and(|message| message.role == Role::User)
}
