//! Side questions (`/btw`): answered by the model with the context as it stands on the disk, while a
//! turn runs or not, and kept nowhere.
//!
//! The context file is read anew for each question. It only ever holds whole steps, so whatever the
//! turn is doing, what is read is a conversation; and the turn need not stand still for it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::ask::{Ask, News, NoAnswer};
use super::{Model, advice, repair};
use crate::context::Context;
use crate::llm::{ChatRequest, StreamPart};
use crate::message::{ContentPart, Message, SessionId};
use crate::prompts;
use crate::tools::Toolset;
use crate::wire::{BtwBegin, BtwEnd, DoorMessage, Event, Extension, Hub, SideAnswer};

/// Answers side questions. Cheap to clone.
#[derive(Clone)]
pub(super) struct Aside(Arc<Inner>);

struct Inner {
    hub: Hub,
    session_dir: PathBuf,
    session_id: SessionId,
    /// Told to the model though none is carried out: providers want the tools of the calls they
    /// are shown, and a request that begins like the turn's is served from their caches.
    tools: Arc<Toolset>,
    attempts: u64,
    model: Mutex<Option<Model>>,
    open: Mutex<HashMap<String, CancellationToken>>,
}

impl std::fmt::Debug for Aside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aside").field("open", &self.open().len()).finish_non_exhaustive()
    }
}

impl Aside {
    pub(super) fn new(
        hub: Hub,
        session_dir: PathBuf,
        session_id: SessionId,
        tools: Arc<Toolset>,
        attempts: u64,
    ) -> Self {
        let (model, open) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { hub, session_dir, session_id, tools, attempts, model, open }))
    }

    /// Who answers from now on.
    pub(super) fn set_model(&self, model: Option<Model>) {
        *self.0.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Begins to answer, and comes back at once. Must be called within the runtime.
    pub(super) fn ask(&self, id: String, question: String) {
        if question.trim().is_empty() {
            let reason = "There is no question. Use /btw and what you want to know.";
            self.0.hub.tell(DoorMessage::Refused(reason.to_owned()));
            return;
        }
        if self.open().contains_key(&id) {
            let reason = format!("The side question \"{id}\" is being answered already.");
            self.0.hub.tell(DoorMessage::Refused(reason));
            return;
        }
        let aside = self.clone();
        let cancel = CancellationToken::new();
        let id = aside.begin(id, &cancel);
        tokio::spawn(async move { aside.answer(id, question, &cancel).await });
    }

    /// Answers within the caller's time.
    pub(super) async fn ask_and_wait(&self, question: String, cancel: &CancellationToken) {
        let id = self.begin(String::new(), cancel);
        self.answer(id, question, cancel).await;
    }

    /// Stops answering `id`, or everything.
    pub(super) fn cancel(&self, id: Option<&str>) {
        for (open, cancel) in self.open().iter() {
            if id.is_none_or(|id| id == open) {
                cancel.cancel();
            }
        }
    }

    fn begin(&self, id: String, cancel: &CancellationToken) -> String {
        let id = if id.is_empty() { uuid::Uuid::new_v4().to_string() } else { id };
        self.open().insert(id.clone(), cancel.clone());
        id
    }

    async fn answer(&self, id: String, question: String, cancel: &CancellationToken) {
        let hub = &self.0.hub;
        hub.event(Event::BtwBegin(BtwBegin { id: id.clone(), question: question.clone() }));
        let (response, error) = match self.find_out(&id, &question, cancel).await {
            Ok(response) => (Some(response), None),
            Err(reason) => (None, Some(reason)),
        };
        self.open().remove(&id);
        hub.extension(Extension::SideAnswer(SideAnswer {
            id: id.clone(),
            done: true,
            ..SideAnswer::default()
        }));
        hub.event(Event::BtwEnd(BtwEnd { id, response, error }));
    }

    async fn find_out(
        &self,
        id: &str,
        question: &str,
        cancel: &CancellationToken,
    ) -> Result<String, String> {
        let model = self.0.model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let model = model.ok_or("No model is configured, so nobody can answer.")?;
        let dir = self.0.session_dir.clone();
        let read = tokio::task::spawn_blocking(move || Context::open_read_only(&dir));
        let context = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err("Cancelled.".to_owned()),
            read = read => read,
        };
        let (context, _) = context
            .map_err(|error| error.to_string())?
            .map_err(|error| format!("The conversation could not be read: {error}"))?;
        let mut history = repair::sound(context.history()).into_owned();
        history.push(Message::reminder(&prompts::btw(question)));
        let ask = Ask {
            provider: model.provider.as_ref(),
            request: ChatRequest {
                system: context.system_prompt().unwrap_or_default(),
                tools: self.0.tools.specs(),
                messages: &history,
                cache_key: Some(&self.0.session_id.0),
                input_tokens: Some(context.tokens_with_pending()),
            },
            cancel,
            room: None,
            attempts: self.0.attempts,
            wants_text: true,
        };
        let answer = ask.run(&mut |news| self.tell(id, &news)).await;
        match answer {
            Ok(answer) => Ok(answer.into_message().text()),
            Err(NoAnswer::Cancelled(_)) => Err("Cancelled.".to_owned()),
            Err(NoAnswer::Failed(error)) => Err(advice::provider_failure(&error, Some(&model))),
        }
    }

    fn tell(&self, id: &str, news: &News<'_>) {
        let id = id.to_owned();
        let more = match news {
            News::Part(StreamPart::Content(ContentPart::Text { text })) if !text.is_empty() => {
                SideAnswer { id, text_delta: text.clone(), ..SideAnswer::default() }
            }
            News::Part(_) => return,
            News::Retry { .. } => SideAnswer { id, restarted: true, ..SideAnswer::default() },
        };
        self.0.hub.extension(Extension::SideAnswer(more));
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
