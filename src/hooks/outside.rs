//! Hooks a front end answers: a `HookRequest` goes out and its answer is the verdict. No answer in
//! time is no block, as with commands.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regex::Regex;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::Verdict;
use crate::config::HookEvent;
use crate::wire::{HookAction, HookAnswer, HookRequest, HookSubscription, Hub, Request};

/// Seconds a front end may take at most.
const LONGEST: u64 = 600;

#[derive(Debug)]
pub(super) struct Outside {
    hub: Hub,
    subscribed: Mutex<Vec<Subscribed>>,
    pending: Mutex<HashMap<String, oneshot::Sender<HookAnswer>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Subscribed {
    id: String,
    event: HookEvent,
    matcher: Regex,
    timeout: Duration,
}

impl Outside {
    pub(super) fn new(hub: Hub) -> Self {
        Self { hub, subscribed: Mutex::default(), pending: Mutex::default() }
    }

    /// Takes these in the place of all before. An event nobody knows never comes.
    pub(super) fn subscribe(&self, subscriptions: &[HookSubscription]) {
        let known = subscriptions.iter().filter_map(|wanted| {
            let matcher = Regex::new(&wanted.matcher)
                .inspect_err(|error| tracing::warn!(%error, "a hook's matcher is unusable"))
                .ok()?;
            Some(Subscribed {
                id: wanted.id.clone(),
                event: HookEvent::named(&wanted.event)?,
                matcher,
                timeout: Duration::from_secs(wanted.timeout.clamp(1, LONGEST)),
            })
        });
        *self.subscribed.lock().unwrap_or_else(PoisonError::into_inner) = known.collect();
    }

    pub(super) fn chosen(&self, event: HookEvent, targets: &[&str]) -> Vec<Subscribed> {
        let subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |hook: &&Subscribed| {
            hook.event == event && targets.iter().any(|target| hook.matcher.is_match(target))
        };
        subscribed.iter().filter(is_meant).cloned().collect()
    }

    pub(super) async fn ask(
        &self,
        hook: &Subscribed,
        target: &str,
        input: &Map<String, Value>,
    ) -> Verdict {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let (reply, answer) = oneshot::channel();
        self.lock().insert(id.clone(), reply);
        let _forget = Forget { outside: self, id: &id };
        self.hub.request(Request::HookRequest(HookRequest {
            id: id.clone(),
            subscription_id: hook.id.clone(),
            event: hook.event.name().to_owned(),
            target: target.to_owned(),
            input_data: input.clone(),
        }));
        match tokio::time::timeout(hook.timeout, answer).await {
            Ok(Ok(answer)) if answer.action == HookAction::Block => {
                Verdict::Block { reason: answer.reason }
            }
            Ok(_) => Verdict::Allow,
            Err(_) => {
                tracing::warn!(id = hook.id, "the front end took too long to answer a hook");
                Verdict::Allow
            }
        }
    }

    /// Takes an answer. One nobody waits for is dropped.
    pub(super) fn respond(&self, answer: HookAnswer) {
        match self.take(&answer.request_id) {
            Some(reply) => drop(reply.send(answer)),
            None => tracing::debug!(id = answer.request_id, "an answer to no open hook"),
        }
    }

    fn take(&self, id: &str) -> Option<oneshot::Sender<HookAnswer>> {
        let reply = self.lock().remove(id)?;
        self.hub.settled(id);
        Some(reply)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<HookAnswer>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a question nobody waits for any more.
struct Forget<'a> {
    outside: &'a Outside,
    id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.outside.take(self.id);
    }
}
