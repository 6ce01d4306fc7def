//! Hooks: commands of the person's own that run at certain events and may say no.
//!
//! [`Hooks`] picks those an event is for and runs them side by side; [`run`] is one process. A hook
//! can block what is about to be done, but nothing a hook does can hang or break a turn: one that
//! takes too long, crashes or talks nonsense has said nothing. Semantics as `kimi-cli`
//! `hooks/engine.py` has them.

mod outside;
mod run;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use futures::future::join_all;
use regex::Regex;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{HookConfig, HookEvent};
use crate::message::SessionId;
use crate::wire::{
    Event, HookAction, HookAnswer, HookResolved, HookSubscription, HookTriggered, Hub,
};
use outside::Outside;

/// How long hooks nobody waited for may go on when the session ends.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// What the hooks of an event said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Allow,
    /// Do not.
    Block {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// The reason of a block.
    #[must_use]
    pub fn reason(self) -> Option<String> {
        match self {
            Self::Allow => None,
            Self::Block { reason } => Some(reason),
        }
    }
}

/// The hooks of a session. Cheap to clone; [`Hooks::close`] ends what still runs.
#[derive(Debug, Clone)]
pub struct Hooks(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    hooks: RwLock<Arc<Vec<Hook>>>,
    outside: Outside,
    hub: Hub,
    session: SessionId,
    work_dir: PathBuf,
    running: TaskTracker,
    ended: CancellationToken,
}

#[derive(Debug)]
struct Hook {
    config: HookConfig,
    matcher: Regex,
}

fn compiled(configured: &[HookConfig]) -> Arc<Vec<Hook>> {
    let usable = |config: &HookConfig| {
        let matcher = Regex::new(&config.matcher)
            .inspect_err(|error| tracing::warn!(%error, "a hook's matcher is unusable"))
            .ok()?;
        Some(Hook { config: config.clone(), matcher })
    };
    Arc::new(configured.iter().filter_map(usable).collect())
}

impl Hooks {
    /// Hooks that run in `work_dir` and are told on `hub`. One whose matcher is no regular
    /// expression never runs.
    #[must_use]
    pub fn new(configured: &[HookConfig], hub: Hub, session: SessionId, work_dir: PathBuf) -> Self {
        let hooks = RwLock::new(compiled(configured));
        let ended = CancellationToken::new();
        let running = TaskTracker::new();
        let outside = Outside::new(hub.clone());
        Self(Arc::new(Inner { hooks, outside, hub, session, work_dir, running, ended }))
    }

    /// Goes by these commands from now on; what a front end answers stays.
    pub fn replace(&self, configured: &[HookConfig]) {
        *self.0.hooks.write().unwrap_or_else(PoisonError::into_inner) = compiled(configured);
    }

    /// The front end answers these too, in the place of those it answered before.
    pub fn subscribe(&self, subscriptions: &[HookSubscription]) {
        self.0.outside.subscribe(subscriptions);
    }

    /// Takes a front end's answer.
    pub fn respond(&self, answer: HookAnswer) {
        self.0.outside.respond(answer);
    }

    /// Runs the hooks for `event` and waits for what they say; the first block counts. `targets`
    /// are names of what it is about, any of which a matcher may find; the first is told. Dropping
    /// the future ends them.
    pub async fn ask(
        &self,
        event: HookEvent,
        targets: &[&str],
        details: Map<String, Value>,
    ) -> Verdict {
        let target = targets.first().copied().unwrap_or_default();
        let chosen = self.chosen(event, targets);
        let subscribed = self.0.outside.chosen(event, targets);
        if chosen.is_empty() && subscribed.is_empty() {
            return Verdict::Allow;
        }
        self.0.hub.event(Event::HookTriggered(HookTriggered {
            event: event.name().to_owned(),
            target: target.to_owned(),
            hook_count: (chosen.len() + subscribed.len()) as u64,
        }));
        let begun = Instant::now();
        let input = self.input(event, details);
        let bytes = Value::Object(input.clone()).to_string().into_bytes();
        let runs = chosen.iter().map(|hook| run::run(hook, &bytes, &self.0.work_dir));
        let asks = subscribed.iter().map(|hook| self.0.outside.ask(hook, target, &input));
        let (said, answered) = tokio::join!(join_all(runs), join_all(asks));
        let reason = said.into_iter().chain(answered).find_map(Verdict::reason);
        self.0.hub.event(Event::HookResolved(HookResolved {
            event: event.name().to_owned(),
            target: target.to_owned(),
            action: if reason.is_some() { HookAction::Block } else { HookAction::Allow },
            reason: reason.clone().unwrap_or_default(),
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }));
        reason.map_or(Verdict::Allow, |reason| Verdict::Block { reason })
    }

    /// Runs the hooks for `event` beside everything else; what they say does not matter.
    pub fn tell(&self, event: HookEvent, targets: &[&str], details: Map<String, Value>) {
        let is_for_nobody = self.chosen(event, targets).is_empty()
            && self.0.outside.chosen(event, targets).is_empty();
        if is_for_nobody {
            return;
        }
        let hooks = self.clone();
        let targets: Vec<String> = targets.iter().map(|&target| target.to_owned()).collect();
        let ended = self.0.ended.clone();
        self.0.running.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                _ = async {
                    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
                    hooks.ask(event, &targets, details).await
                } => {}
            }
        });
    }

    /// Waits a moment for hooks nobody waited for, then ends them.
    pub async fn close(&self) {
        // Nobody takes answers any more.
        self.0.outside.subscribe(&[]);
        self.0.running.close();
        let _ = tokio::time::timeout(LAST_GRACE, self.0.running.wait()).await;
        self.0.ended.cancel();
        let _ = tokio::time::timeout(LAST_GRACE, self.0.running.wait()).await;
    }

    /// The hooks for `event` about one of `targets`, the same command once.
    fn chosen(&self, event: HookEvent, targets: &[&str]) -> Vec<HookConfig> {
        let hooks = Arc::clone(&self.0.hooks.read().unwrap_or_else(PoisonError::into_inner));
        let mut seen = HashSet::new();
        hooks
            .iter()
            .filter(|hook| hook.config.event == event)
            .filter(|hook| targets.iter().any(|target| hook.matcher.is_match(target)))
            .map(|hook| &hook.config)
            .filter(|hook| seen.insert(hook.command.as_str()))
            .cloned()
            .collect()
    }

    fn input(&self, event: HookEvent, details: Map<String, Value>) -> Map<String, Value> {
        let mut input = Map::new();
        input.insert("hook_event_name".to_owned(), event.name().into());
        input.insert("session_id".to_owned(), self.0.session.0.clone().into());
        input.insert("cwd".to_owned(), self.0.work_dir.display().to_string().into());
        input.extend(details);
        input
    }
}
