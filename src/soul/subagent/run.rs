//! A subagent at work: its turn, beside it the relay, and what came of it.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::Active;
use super::relay::Relay;
use super::store::{Folder, Status};
use crate::config::HookEvent;
use crate::hooks::Hooks;
use crate::message::{Message, Role};
use crate::soul::gate::details;
use crate::soul::turn::{Ended, Stop};
use crate::soul::{Soul, advice};
use crate::tools::TaskHandle;
use crate::wire::{DoorMessage, Event, Hub, TurnBegin};

/// A last message shorter than this is asked for once more (`kimi-cli` `subagents/runner.py`).
const SHORT: usize = 200;
const MORE: &str = "Your last message is all that whoever gave you this work will see, and it is \
                    short. Write it once more as a full report: what you did, what you found and \
                    where (paths, names), what you checked, and what is left open.";

/// A subagent that begins.
pub(super) struct Job {
    pub soul: Soul,
    pub messages: UnboundedReceiver<DoorMessage>,
    pub hooks: Hooks,
    pub kind: String,
    pub call_id: String,
    pub folder: Folder,
    /// Where the agent that asked tells its events.
    pub parent: Hub,
    pub cancel: CancellationToken,
    pub is_background: bool,
    pub active: Active,
}

/// How a subagent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finish {
    Done,
    Cancelled,
    TimedOut,
    Failed(String),
}

/// What came of a subagent.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub finish: Finish,
    /// Its last message.
    pub summary: String,
    limit: Duration,
}

impl Outcome {
    pub fn status(&self) -> &'static str {
        match self.finish {
            Finish::Done => "completed",
            Finish::Cancelled => "killed",
            Finish::TimedOut => "timed_out",
            Finish::Failed(_) => "failed",
        }
    }

    /// Why it did not finish; empty when it did.
    pub fn reason(&self) -> String {
        match &self.finish {
            Finish::Done => String::new(),
            Finish::Cancelled => "It was stopped.".to_owned(),
            Finish::TimedOut => {
                format!("It was stopped after {} seconds, its limit.", self.limit.as_secs())
            }
            Finish::Failed(reason) => reason.clone(),
        }
    }
}

/// Marks a subagent as stopped when its work is dropped before its end.
struct Mark {
    folder: Folder,
    is_over: bool,
}

impl Drop for Mark {
    fn drop(&mut self) {
        if !self.is_over {
            self.folder.set(Status::Killed);
        }
    }
}

impl Job {
    /// Works on `prompt` to the end, for `limit` at most. Dropping the future stops everything.
    pub async fn run(
        self,
        prompt: String,
        limit: Option<Duration>,
        task: Option<TaskHandle>,
    ) -> Outcome {
        let Self { mut soul, mut messages, hooks, kind, call_id, folder, parent, cancel, .. } =
            self;
        let _active = self.active;
        let mut mark = Mark { folder: folder.clone(), is_over: false };
        let running =
            if self.is_background { Status::RunningBackground } else { Status::RunningForeground };
        mark.folder.set(running);
        folder.keep_prompt(&prompt);
        let agent_id = folder.meta.agent_id.clone();
        let mut relay =
            Relay { hub: parent, call_id, agent_id, kind: kind.clone(), folder, task, held: None };
        let cancel = cancel.child_token();
        let (result, timed_out) = {
            let mut work = Box::pin(work(&mut soul, prompt, &cancel));
            let limit = limit.unwrap_or(Duration::MAX);
            let mut timer = std::pin::pin!(tokio::time::sleep(limit));
            let mut timed_out = false;
            let result = loop {
                tokio::select! {
                    biased;
                    Some(message) = messages.recv() => relay.take(message),
                    result = &mut work => break result,
                    () = &mut timer, if !timed_out => {
                        timed_out = true;
                        cancel.cancel();
                    }
                }
            };
            (result, timed_out)
        };
        while let Ok(message) = messages.try_recv() {
            relay.take(message);
        }
        relay.flush();
        let summary = last_words(&soul);
        let finish = match result {
            Ok(_) if summary.is_empty() => Finish::Failed("It ended without a word.".to_owned()),
            Ok(_) => Finish::Done,
            Err(Stop::Cancelled) if timed_out => Finish::TimedOut,
            Err(Stop::Cancelled) => Finish::Cancelled,
            Err(stop) => Finish::Failed(in_words(&stop, &soul)),
        };
        let outcome = Outcome { finish, summary, limit: limit.unwrap_or_default() };
        relay.note(&format!("\n[summary] {}\n{}\n", outcome.status(), outcome.summary));
        mark.is_over = true;
        mark.folder.set(match outcome.finish {
            Finish::Done if self.is_background => Status::Completed,
            Finish::Done => Status::Idle,
            Finish::Cancelled => Status::Killed,
            Finish::TimedOut | Finish::Failed(_) => Status::Failed,
        });
        let about = json!({ "agent_name": kind, "response": outcome.summary });
        hooks.tell(HookEvent::SubagentStop, &[&kind], details(about));
        outcome
    }
}

/// One turn, and a second one when the first ends in few words.
async fn work(soul: &mut Soul, prompt: String, cancel: &CancellationToken) -> Result<Ended, Stop> {
    let ended = soul.work_for_another(prompt, cancel).await?;
    if ended == Ended::Finished && last_words(soul).chars().count() < SHORT {
        return soul.work_for_another(MORE.to_owned(), cancel).await;
    }
    Ok(ended)
}

/// The text of the last thing the model said.
fn last_words(soul: &Soul) -> String {
    let said = soul.context.history().iter().rev().filter(|one| one.role == Role::Assistant);
    said.map(|message| message.text().trim().to_owned())
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn in_words(stop: &Stop, soul: &Soul) -> String {
    match stop {
        Stop::MaxSteps(steps) => format!("It took {steps} steps, which is the limit."),
        Stop::Provider(error) => advice::provider_failure(error, soul.model.as_ref()),
        other => format!("{other}."),
    }
}

impl Soul {
    /// A turn for another agent: no hooks of prompts, no title, no slash commands.
    pub(super) async fn work_for_another(
        &mut self,
        prompt: String,
        cancel: &CancellationToken,
    ) -> Result<Ended, Stop> {
        self.hub.event(Event::TurnBegin(TurnBegin { user_input: prompt.as_str().into() }));
        let result = self.turn(Message::user(prompt), cancel).await;
        self.approvals.withdraw_all();
        self.services.denwa().take();
        self.sync();
        self.hub.event(Event::turn_end());
        self.hub.flush();
        result
    }
}
