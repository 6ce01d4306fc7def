//! Questions to the person: who waits for an answer, and the answers.
//!
//! As with approvals a request waits as long as it takes, and ends with an answer, with the turn or
//! with the tool that asked.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::afk::Away;
use crate::tools::Answers;
use crate::wire::{Hub, Question, QuestionAnswer, QuestionRequest, Request};

/// The questions of one session.
#[derive(Debug)]
pub(crate) struct Questions {
    hub: Hub,
    away: Away,
    pending: Mutex<Vec<Pending>>,
}

#[derive(Debug)]
struct Pending {
    id: String,
    reply: oneshot::Sender<BTreeMap<String, String>>,
}

impl Questions {
    /// Nothing is asked yet.
    pub(crate) fn new(hub: Hub, away: Away) -> Self {
        Self { hub, away, pending: Mutex::default() }
    }

    /// Asks `questions` for the tool call `call` and waits for the answer.
    pub(crate) async fn ask(&self, call: &str, questions: Vec<Question>) -> Answers {
        if self.away.is() {
            return Answers::Away;
        }
        let id = uuid::Uuid::new_v4().to_string();
        let (reply, answer) = oneshot::channel();
        self.lock().push(Pending { id: id.clone(), reply });
        let _forget = Forget { questions: self, id: &id };
        self.hub.request(Request::QuestionRequest(QuestionRequest {
            id: id.clone(),
            tool_call_id: Some(call.to_owned()),
            questions,
        }));
        match answer.await {
            Ok(answers) if !answers.is_empty() => Answers::Given(answers),
            _ => Answers::Dismissed,
        }
    }

    /// Takes an answer. One to a question nobody waits for any more is dropped.
    pub(crate) fn respond(&self, answer: QuestionAnswer) {
        match self.take(&answer.request_id) {
            // Nobody listens when the tool ended by itself in this moment.
            Some(pending) => drop(pending.reply.send(answer.answers)),
            None => tracing::debug!(id = answer.request_id, "an answer to no open question"),
        }
    }

    /// Dismisses everything that waits: the turn is over.
    pub(crate) fn dismiss_all(&self) {
        self.lock().clear();
    }

    fn take(&self, id: &str) -> Option<Pending> {
        let mut pending = self.lock();
        let at = pending.iter().position(|pending| pending.id == id)?;
        self.hub.settled(id);
        Some(pending.swap_remove(at))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a question when the tool that asked is dropped.
struct Forget<'a> {
    questions: &'a Questions,
    id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.questions.take(self.id);
    }
}
