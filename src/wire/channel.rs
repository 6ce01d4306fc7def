//! The door inside one process: a [`Hub`] on the engine's side, a [`Door`] on each front end's.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::record::{Recorder, StoryEnd};
use super::{CheckpointCreated, Command, Event, Extension, Request, Room, SourceKind, TurnCut};
use crate::message::Price;
use crate::message::SessionId;

/// What a front end hears.
#[derive(Debug, Clone, PartialEq)]
pub enum DoorMessage {
    /// News.
    Event(Event),
    /// A question; to be answered with `Command::Respond`.
    Request(Request),
    /// The answer to `Command::Prompt`: the engine is idle again.
    PromptDone(PromptOutcome),
    /// A command could not be carried out, with the reason in words for a person.
    Refused(String),
    /// Facts about the session changed: its title, its model, yolo.
    Info(Arc<SessionInfo>),
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PromptOutcome {
    /// The model has finished.
    Finished,
    /// Somebody cancelled it.
    Cancelled,
    /// The limit of steps was reached.
    MaxStepsReached {
        /// How many steps were taken.
        steps: u64,
    },
    /// No model is configured.
    ModelNotSet,
    /// The model cannot take what was sent.
    NotSupported {
        /// What it lacks.
        capability: String,
        /// Which model.
        model: String,
    },
    /// The provider failed for good.
    ProviderFailed {
        /// What happened and what to do, for a person.
        message: String,
        /// Would the same request have a chance later?
        retryable: bool,
    },
    /// The login to the provider has ended: a person has to log in again.
    LoggedOut {
        /// What happened and what to do, for a person.
        message: String,
    },
    /// Something else failed: the disk, the program.
    Failed {
        /// What happened and what to do, for a person.
        message: String,
    },
}

impl PromptOutcome {
    /// Did it end because something went wrong, by nobody's wish?
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Finished | Self::Cancelled)
    }

    /// What went wrong in words for a person, where the engine has them.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::ProviderFailed { message, .. }
            | Self::LoggedOut { message }
            | Self::Failed { message } => Some(message),
            _ => None,
        }
    }

    /// Why it ended though the model was not done, by somebody's wish.
    #[must_use]
    pub fn cut(&self) -> Option<TurnCut> {
        match self {
            Self::Cancelled => Some(TurnCut { steps: None }),
            Self::MaxStepsReached { steps } => Some(TurnCut { steps: Some(*steps) }),
            _ => None,
        }
    }
}

/// A slash command the engine knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
    /// Other names.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// Facts about the session behind a door.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionInfo {
    /// Its id.
    pub id: Option<SessionId>,
    /// Its title.
    pub title: String,
    /// Where the agent works.
    pub work_dir: PathBuf,
    /// Where the session's files are.
    pub session_dir: PathBuf,
    /// The agent's name.
    pub agent: String,
    /// The model's name for a person; none when none is configured.
    pub model: Option<String>,
    /// Does it take pictures?
    pub takes_images: bool,
    /// The model's key in the configuration; none for one that is not in it.
    pub model_key: Option<String>,
    /// Does the model think? None when it cannot, or always does.
    pub thinking: Option<bool>,
    /// What the model's tokens cost, where that is configured.
    pub price: Option<Price>,
    /// Is it the built-in demo model?
    pub is_demo: bool,
    /// Size of the context window, in tokens.
    pub max_context_tokens: u64,
    /// The fraction of the window at which the context is compacted, 0 to 1.
    pub compaction_at: f64,
    /// Are all actions approved unasked?
    pub yolo: bool,
    /// Was there a conversation to go on with?
    pub is_resumed: bool,
    /// Can the front end send `Command::Revert`?
    pub can_revert: bool,
    /// The checkpoints of the context as it was opened, which a session written by another program
    /// has no record of.
    pub checkpoints: Vec<CheckpointCreated>,
    /// The slash commands the engine knows.
    pub slash_commands: Vec<SlashCommand>,
    /// Every name the agent's tools answer to, those a front end brings left out.
    pub tools: Vec<String>,
    /// What a person should know about how the session was opened, damaged records for instance.
    pub warnings: Vec<String>,
}

/// The engine is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the engine has ended")]
pub struct DoorClosed;

/// A front end's side of the wire. Dropping it ends nothing; `Command::Shutdown` does.
#[derive(Debug)]
pub struct Door {
    /// Facts about the session as it was opened; later ones come as [`DoorMessage::Info`].
    pub info: Arc<SessionInfo>,
    /// Commands to the engine.
    pub commands: CommandSender,
    /// What the engine says.
    pub messages: UnboundedReceiver<DoorMessage>,
}

/// Sends commands to the engine; cheap to clone.
#[derive(Debug, Clone)]
pub struct CommandSender(UnboundedSender<Command>);

impl CommandSender {
    /// A sender and the engine's end of it.
    #[must_use]
    pub fn channel() -> (Self, UnboundedReceiver<Command>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends `command`.
    ///
    /// # Errors
    /// When the engine has ended.
    pub fn send(&self, command: Command) -> Result<(), DoorClosed> {
        self.0.send(command).map_err(|_| DoorClosed)
    }
}

/// The engine's side of the wire: tells every subscriber, and records what lasts.
#[derive(Debug, Clone)]
pub struct Hub {
    state: Arc<Mutex<HubState>>,
    room: Room,
}

#[derive(Debug)]
struct HubState {
    subscribers: Vec<Subscriber>,
    recorder: Option<Recorder>,
    /// Has the recorder failed, and not caught up since?
    is_behind: bool,
    /// Requests nobody has answered yet.
    open: Vec<Request>,
    is_working: bool,
    /// What was told last about the session.
    info: Option<Arc<SessionInfo>>,
}

/// What somebody who joins a running session finds.
#[derive(Debug)]
pub struct Joined {
    /// Everything that is told from now on.
    pub messages: UnboundedReceiver<DoorMessage>,
    /// How far the record goes that was written until now.
    pub story: StoryEnd,
    /// Requests that wait for an answer.
    pub open_requests: Vec<Request>,
    /// Does a turn run?
    pub is_working: bool,
    /// Facts about the session, when they have changed since it was opened.
    pub info: Option<Arc<SessionInfo>>,
}

#[derive(Debug)]
struct Subscriber {
    messages: UnboundedSender<DoorMessage>,
    wants_extensions: bool,
}

impl Hub {
    /// A hub that records with `recorder`, or not at all.
    #[must_use]
    pub fn new(recorder: Option<Recorder>) -> Self {
        let state = HubState {
            subscribers: Vec::new(),
            recorder,
            is_behind: false,
            open: Vec::new(),
            is_working: false,
            info: None,
        };
        Self { state: Arc::new(Mutex::new(state)), room: Room::default() }
    }

    /// Whether those who listen keep up.
    #[must_use]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// Adds a listener who wants to know what was before: nothing is told twice or left out.
    #[must_use]
    pub fn join(&self, wants_extensions: bool) -> Joined {
        let mut state = self.lock();
        let story = state.recorder.as_mut().map_or_else(StoryEnd::default, Recorder::end);
        let (messages, receiver) = mpsc::unbounded_channel();
        state.subscribers.push(Subscriber { messages, wants_extensions });
        Joined {
            messages: receiver,
            story,
            open_requests: state.open.clone(),
            is_working: state.is_working,
            info: state.info.clone(),
        }
    }

    /// How far the record goes; what was held back is written.
    #[must_use]
    pub fn story_end(&self) -> StoryEnd {
        self.lock().recorder.as_mut().map_or_else(StoryEnd::default, Recorder::end)
    }

    /// Something is being done from now on, until a `PromptDone` is told.
    pub fn begin_work(&self) {
        self.lock().is_working = true;
    }

    /// The request `id` needs no answer any more.
    pub fn settled(&self, id: &str) {
        self.lock().open.retain(|request| request.id() != Some(id));
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        // A panic while telling somebody something leaves nothing half done in here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener. Only one that `wants_extensions` hears news beyond protocol 1.10.
    #[must_use]
    pub fn subscribe(&self, wants_extensions: bool) -> UnboundedReceiver<DoorMessage> {
        let (messages, receiver) = mpsc::unbounded_channel();
        self.lock().subscribers.push(Subscriber { messages, wants_extensions });
        receiver
    }

    /// Records an event and tells everybody.
    pub fn event(&self, event: Event) {
        let mut state = self.lock();
        if let Event::ApprovalResponse(response) = &event {
            state.open.retain(|request| request.id() != Some(&response.request_id));
        }
        let recorded = state.recorder.as_mut().map(|recorder| recorder.record(&event));
        state.tell(&DoorMessage::Event(event));
        state.heed(recorded);
    }

    /// Tells an event beyond protocol 1.10.
    pub fn extension(&self, extension: Extension) {
        self.event(Event::Extension(extension));
    }

    /// Asks everybody. Requests are not recorded (`kimi-facts` B.5).
    pub fn request(&self, request: Request) {
        let mut state = self.lock();
        state.open.push(request.clone());
        state.tell(&DoorMessage::Request(request));
    }

    /// Tells everybody something that is neither event nor request.
    pub fn tell(&self, message: DoorMessage) {
        let mut state = self.lock();
        match &message {
            DoorMessage::PromptDone(_) => {
                state.is_working = false;
                state.open.retain(is_of_background);
            }
            DoorMessage::Info(info) => state.info = Some(Arc::clone(info)),
            _ => {}
        }
        state.tell(&message);
    }

    /// Ends the wire: what is recorded is written, and every listener's messages end.
    pub fn close(&self) {
        let mut state = self.lock();
        state.recorder = None;
        state.subscribers.clear();
    }

    /// Writes what the recorder still holds back.
    pub fn flush(&self) {
        let mut state = self.lock();
        let flushed = state.recorder.as_mut().map(Recorder::flush);
        state.heed(flushed);
    }
}

/// Does it wait for longer than the turn?
fn is_of_background(request: &Request) -> bool {
    matches!(request, Request::ApprovalRequest(ask) if ask.source_kind != SourceKind::ForegroundTurn)
}

impl HubState {
    /// Tells everybody when the record cannot be written, and when it can again. Once each: a full
    /// disk would otherwise fill the screen too.
    fn heed(&mut self, recorded: Option<io::Result<()>>) {
        match recorded {
            Some(Err(error)) if !self.is_behind => {
                self.is_behind = true;
                self.tell(&DoorMessage::Refused(format!(
                    "This session's history cannot be recorded now: {error}. The conversation goes \
                     on, and what is missing is written as soon as there is room: free some \
                     space before you leave."
                )));
            }
            Some(Ok(())) if self.is_behind => {
                self.is_behind = false;
                tracing::info!("the session's history is recorded again");
            }
            _ => {}
        }
    }

    fn tell(&mut self, message: &DoorMessage) {
        self.subscribers.retain(|subscriber| {
            let is_for_them = subscriber.wants_extensions
                || !matches!(message, DoorMessage::Event(event) if !event.is_standard());
            !is_for_them || subscriber.messages.send(message.clone()).is_ok()
        });
    }
}
