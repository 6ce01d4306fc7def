//! The soul: one session's loop, as an actor that owns the context and hears commands.
//!
//! [`Soul::run`] takes commands one by one. A prompt becomes a future the actor polls beside the
//! commands ([`desk`] handles those), so that a cancel, an answer or a steer is taken at once and
//! nothing is shared but what a command may touch. A turn is [`turn`], a step of it [`step`], one
//! model call with its retries [`ask`], the tool calls of a step [`calls`].

mod advice;
mod afk;
mod approval;
mod ask;
mod btw;
mod build;
mod calls;
mod client_tools;
mod compaction;
mod desk;
mod dmail;
mod equip;
mod errands;
mod flows;
mod gate;
mod hide;
mod ledger;
mod mcp;
mod notify;
mod overflow;
mod papers;
mod permission;
mod pin;
mod plan;
mod questions;
mod ralph;
mod repair;
mod repetition;
mod restore;
mod revert;
mod rewind;
mod rules;
mod running;
mod services;
mod skills;
mod slash;
mod state;
mod status;
mod step;
mod strategy;
mod subagent;
mod switch;
mod turn;
mod wake;
mod workspace;

#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::config::{Capability, CompactionConfig, LoopControl};
use crate::context::Context;
use crate::hooks::Hooks;
use crate::llm::ChatProvider;
use crate::message::{CheckpointRef, Message, SessionId, UserInput};
use crate::skill::Skills;
use crate::snapshot::Worker;
use crate::tools::Toolset;
use crate::wire::{Command, DoorMessage, Hub, PromptOutcome, SessionInfo, SlashCommand};

use afk::Away;
use approval::Approvals;
use btw::Aside;
use client_tools::ClientTools;
use desk::Desk;
use ledger::Ledger;
use mcp::Servers;
use plan::PlanMode;
use running::Running;
use services::Services;
use state::SharedState;

pub(crate) use build::{Modes, Setup};
pub(crate) use permission::RuleSource;
pub(crate) use repair::lost_result;
pub(crate) use subagent::Staff;
pub(crate) use switch::{Settings, Source as SettingsSource, Wish};

/// How long a turn may take to end by itself when the session is shut down; then it is dropped.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// The slash commands the engine carries out.
pub(crate) fn slash_commands() -> Vec<SlashCommand> {
    slash::commands()
}

/// The model of a session.
#[derive(Clone)]
pub(crate) struct Model {
    /// Who answers.
    pub(crate) provider: Arc<dyn ChatProvider>,
    /// Its name for a person.
    pub(crate) name: String,
    /// Where its key and address are set, for advice: `providers.kimi in config.toml`.
    pub(crate) configured_in: String,
    /// Size of its window, in tokens.
    pub(crate) max_context: u64,
    /// What it takes beyond text.
    pub(crate) capabilities: Vec<Capability>,
}

/// One open session.
pub(crate) struct Soul {
    session_id: SessionId,
    added_dirs: Vec<PathBuf>,
    context: Context,
    /// The agent's tools, whoever listens.
    all_tools: Toolset,
    /// Those the front end can serve, and its own.
    tools: Arc<Toolset>,
    mcp: Servers,
    client_tools: ClientTools,
    the_model: Option<Model>,
    model: Option<Model>,
    limits: LoopControl,
    compaction: CompactionConfig,
    hub: Hub,
    state: SharedState,
    approvals: Arc<Approvals>,
    services: Arc<Services>,
    desk: Desk,
    hooks: Hooks,
    skills: Arc<Skills>,
    plan: PlanMode,
    snapshots: Option<Worker>,
    away: Away,
    skips_afk_reminder: bool,
    aside: Aside,
    ledger: Ledger,
    running: Running,
    info: SessionInfo,
    /// How many messages the last compaction left: until some are added another one is in vain.
    compacted_to: usize,
    /// Did the last compaction make a summary?
    was_summarised: bool,
    /// Where another model, and a configuration that has changed, come from.
    settings: switch::Source,
    /// How many turns that began by themselves failed in a row.
    failed_wakes: u8,
}

/// What an idle soul is asked to do.
enum Work {
    /// A prompt or a slash command.
    Prompt(UserInput),
    /// A person's message to the past, after the way back.
    Mail(String),
    /// What background work had to say while nothing ran.
    Notes,
    /// To wait for background work, this long at most.
    Tasks(Duration),
}

impl Soul {
    /// Carries out commands until it is told to end or nobody is left to tell it anything.
    pub(crate) async fn run(&mut self, mut commands: UnboundedReceiver<Command>) {
        self.tell_first_status();
        self.session_begins();
        self.take_up_tasks();
        while let Some(command) = commands.recv().await {
            let goes_on = match command {
                Command::Prompt(input) if input.is_blank() => {
                    self.refuse("There is nothing in that prompt. Type something first.");
                    true
                }
                Command::Prompt(input) => self.work(Work::Prompt(input), &mut commands).await,
                Command::Revert { to, mail } => self.revert(to, mail, &mut commands).await,
                Command::Shutdown => false,
                Command::ReadNotes if self.has_news() => {
                    self.work(Work::Notes, &mut commands).await
                }
                Command::ReadNotes => true,
                Command::AwaitTasks { seconds } => {
                    let limit = Duration::from_secs(seconds);
                    self.work(Work::Tasks(limit), &mut commands).await
                }
                Command::Steer(_) => {
                    self.refuse("No turn is running. Send it as a prompt.");
                    true
                }
                Command::AddRule { request_id, scope, rule } => {
                    self.desk.add_rule(request_id.as_deref(), scope, rule);
                    true
                }
                Command::SetModel { key, thinking } => {
                    self.set_model(key, thinking);
                    true
                }
                Command::Reload => {
                    self.reload();
                    true
                }
                Command::Restore { generation } => {
                    self.restore_by_user(generation);
                    true
                }
                Command::SetTitle(title) => {
                    self.set_title(&title);
                    true
                }
                Command::Import { source, message } => {
                    self.import(&source, *message);
                    true
                }
                Command::Equip(equipment) => {
                    self.equip(*equipment);
                    true
                }
                Command::PreviewRewind { to, scope } => {
                    self.preview_rewind(to, scope).await;
                    true
                }
                Command::Rewind { to, scope, chosen } => {
                    let done = self.rewind(to, scope, &chosen).await;
                    done.unwrap_or_else(|reason| self.refuse(reason));
                    true
                }
                Command::RedoRewind { chosen } => {
                    let done = self.redo_rewind(&chosen).await;
                    done.unwrap_or_else(|reason| self.refuse(reason));
                    true
                }
                Command::Pin { generation, messages } => {
                    self.pin_by_user(generation, &messages);
                    true
                }
                Command::PreviewRevert { to } => {
                    self.preview_revert(to);
                    true
                }
                Command::Hide { messages } => {
                    self.hide_by_user(&messages);
                    true
                }
                Command::SideQuestion { id, question } => {
                    self.aside.set_model(self.model.clone());
                    self.aside.ask(id, question);
                    true
                }
                Command::Cancel => {
                    self.aside.cancel(None);
                    true
                }
                command @ (Command::RemoveRule { .. }
                | Command::CancelSideQuestion { .. }
                | Command::CancelCall { .. }
                | Command::Ledger
                | Command::SetAway(_)) => {
                    self.desk.hear_anytime(command);
                    true
                }
                // Work in the background asks while no turn runs.
                Command::Respond(response) => {
                    self.desk.respond(response);
                    true
                }
                Command::ApproveEdited { request_id, arguments } => {
                    self.desk.approve_edited(&request_id, arguments);
                    true
                }
                Command::StopTask { task_id } => {
                    self.desk.stop_task(&task_id);
                    true
                }
                Command::SetPlanMode(on) => {
                    self.desk.set_plan_mode(on);
                    true
                }
            };
            if !goes_on {
                break;
            }
        }
        self.aside.cancel(None);
        self.services.tasks().end_all().await;
        self.session_ends().await;
        self.sync();
        self.hub.flush();
    }

    /// Does `work` while hearing commands. False when the session is to end.
    async fn work(&mut self, work: Work, commands: &mut UnboundedReceiver<Command>) -> bool {
        let cancel = CancellationToken::new();
        self.aside.set_model(self.model.clone());
        self.ledger.set_tools(&self.tools);
        let desk = self.desk.clone();
        self.hub.begin_work();
        desk.open_steers();
        let mut goes_on = true;
        let done = {
            // Boxed: a turn's future is big, and it is moved once.
            let mut turn = Box::pin(AssertUnwindSafe(self.carry_out(work, &cancel)).catch_unwind());
            loop {
                tokio::select! {
                    biased;
                    command = commands.recv(), if goes_on => {
                        goes_on = desk.hear(command, &cancel);
                    }
                    done = &mut turn => break Some(done),
                    () = tokio::time::sleep(SHUTDOWN_GRACE), if !goes_on => break None,
                }
            }
        };
        let outcome = match done {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => self.end_turn_after_defect(),
            None => PromptOutcome::Cancelled,
        };
        self.hub.tell(DoorMessage::PromptDone(outcome));
        goes_on
    }

    async fn carry_out(&mut self, work: Work, cancel: &CancellationToken) -> PromptOutcome {
        match work {
            Work::Prompt(input) => {
                self.failed_wakes = 0;
                self.prompt(input, cancel).await
            }
            Work::Mail(mail) => self.mail(mail, cancel).await,
            Work::Notes => self.read_notes(cancel).await,
            Work::Tasks(limit) => self.await_tasks(limit, cancel).await,
        }
    }

    /// Goes back, and on from there when there is a mail. False when the session is to end.
    async fn revert(
        &mut self,
        to: CheckpointRef,
        mail: Option<String>,
        commands: &mut UnboundedReceiver<Command>,
    ) -> bool {
        let mail = mail.filter(|mail| !mail.trim().is_empty());
        if mail.is_some() && self.model.is_none() {
            self.refuse("There is no model to read the D-Mail. Go back without one.");
            return true;
        }
        match (self.revert_by_user(to, mail.as_deref()), mail) {
            (Ok(()), Some(mail)) => self.work(Work::Mail(mail), commands).await,
            (Ok(()), None) => true,
            (Err(reason), _) => {
                self.refuse(reason);
                true
            }
        }
    }

    fn refuse(&self, reason: impl Into<String>) {
        self.hub.tell(DoorMessage::Refused(reason.into()));
    }

    /// Tells everybody the facts again.
    fn tell_info(&self) {
        self.hub.tell(DoorMessage::Info(Arc::new(self.info.clone())));
    }

    /// Has everything on the disk itself. A failure is told: the next write will fail too.
    fn sync(&mut self) {
        self.state.catch_up();
        if let Err(error) = self.context.sync() {
            tracing::warn!(%error, "the context could not be synced");
            self.notify("The conversation may not be on disk", &error.to_string(), "warning");
        }
    }
}

/// What the model reads after a turn that was cut off.
fn interruption_note() -> Message {
    Message::system_note(
        "The user interrupted you here. What you were saying or doing may be incomplete.",
    )
}
