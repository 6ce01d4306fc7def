//! A turn: from a prompt to the end of it, whatever happens in between.

use tokio_util::sync::CancellationToken;

use super::ask::NoAnswer;
use super::compaction::Compacted;
use super::repetition::Repetition;
use super::slash::{self, Builtin, Line};
use super::step::Next;
use super::{Model, Soul, advice, interruption_note};
use crate::config::Capability;
use crate::context::ContextError;
use crate::llm::LlmError;
use crate::message::CheckpointRef;
use crate::message::{ContentPart, Message, Role, UserInput};
use crate::prompts;
use crate::session::short_title;
use crate::wire::{
    CheckpointCreated, Empty, Event, Extension, PromptOutcome, StepBegin, TurnBegin, TurnFailed,
};

/// How a turn ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The model had nothing more to do.
    Finished,
    /// A person said no without a word.
    Rejected,
    /// The model went in circles.
    Repeated,
}

/// Why a turn ended before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("cancelled")]
    Cancelled,
    #[error("{0} steps were taken")]
    MaxSteps(u64),
    #[error("no model is set")]
    ModelNotSet,
    #[error("the model cannot take {capability}")]
    NotSupported { capability: &'static str, model: String },
    #[error(transparent)]
    Provider(#[from] LlmError),
    #[error(transparent)]
    Context(#[from] ContextError),
}

impl Stop {
    /// What kind of failure it is, for hooks.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::MaxSteps(_) => "max_steps",
            Self::ModelNotSet => "model_not_set",
            Self::NotSupported { .. } => "not_supported",
            Self::Provider(error) => error.kind(),
            Self::Context(_) => "context",
        }
    }
}

impl From<NoAnswer> for Stop {
    fn from(reason: NoAnswer) -> Self {
        match reason {
            NoAnswer::Cancelled(_) => Self::Cancelled,
            NoAnswer::Failed(error) => Self::Provider(error),
        }
    }
}

impl Soul {
    /// Carries out what a person sent: a slash command or a turn.
    pub(super) async fn prompt(
        &mut self,
        input: UserInput,
        cancel: &CancellationToken,
    ) -> PromptOutcome {
        let blocked = self.prompt_blocked(&input, cancel).await;
        self.hub.event(Event::TurnBegin(TurnBegin { user_input: input.clone() }));
        if let Some(reason) = blocked {
            self.say(&reason);
            return self.end_turn(Ok(()));
        }
        let text = input.text();
        if let Some(line) = slash::parse(&text) {
            let result = self.command(line, cancel).await;
            return self.end_turn(result);
        }
        let result = self.rounds(Message::new(Role::User, input.into_parts()), cancel).await;
        let outcome = self.end_turn(result);
        self.give_title(&text);
        outcome
    }

    /// A turn that begins with a person's message to the past.
    pub(super) async fn mail(&mut self, mail: String, cancel: &CancellationToken) -> PromptOutcome {
        self.hub.event(Event::TurnBegin(TurnBegin { user_input: mail.as_str().into() }));
        let message = Message::user(prompts::dmail_from_person(&mail));
        let result = self.turn_with_hooks(message, cancel).await;
        self.end_turn(result.map(drop))
    }

    /// Adds `message` and takes steps until the model is done.
    pub(super) async fn turn(
        &mut self,
        message: Message,
        cancel: &CancellationToken,
    ) -> Result<Ended, Stop> {
        let model = self.model.clone().ok_or(Stop::ModelNotSet)?;
        check_capabilities(&message, &model)?;
        if let Some(snapshots) = &self.snapshots {
            snapshots.later(crate::snapshot::Tracker::warm_up);
        }
        self.checkpoint(None)?;
        self.tell_notes()?;
        self.context.append(&[message])?;
        self.tell_of_afk()?;
        self.load_mcp(cancel).await;
        let mut result = self.steps(&model, cancel).await;
        self.settle_snapshots(cancel).await;
        if let Err(Stop::Cancelled) = result
            && let Err(error) = self.context.append(&[interruption_note()])
        {
            result = Err(error.into());
        }
        result
    }

    async fn steps(&mut self, model: &Model, cancel: &CancellationToken) -> Result<Ended, Stop> {
        let mut n = 0;
        let mut repetition = Repetition::default();
        loop {
            if cancel.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            if n >= self.limits.max_steps_per_turn {
                return Err(Stop::MaxSteps(n));
            }
            n += 1;
            self.hub.event(Event::StepBegin(StepBegin { n }));
            match self.step(n, model, &mut repetition, cancel).await {
                Ok(Next::Step) => {}
                Ok(Next::Done(ended)) => return Ok(ended),
                Err(stop) => {
                    if !matches!(stop, Stop::Cancelled) {
                        self.hub.event(Event::StepInterrupted(Empty {}));
                    }
                    return Err(stop);
                }
            }
        }
    }

    /// Makes a checkpoint before step `step`, or before a user message.
    pub(super) fn checkpoint(&mut self, step: Option<u64>) -> Result<(), ContextError> {
        let size = self.context.size();
        let id = self.context.checkpoint(self.tools.has("SendDMail"))?;
        let at = CheckpointRef { generation: self.context.generation(), id };
        self.mark(at, step.is_none());
        self.hub.extension(Extension::CheckpointCreated(CheckpointCreated { at, step, size }));
        Ok(())
    }

    async fn command(&mut self, line: Line<'_>, cancel: &CancellationToken) -> Result<(), Stop> {
        match slash::find(line.name) {
            Some(Builtin::Init) => {
                self.turn_with_hooks(Message::user(prompts::init()), cancel).await.map(drop)
            }
            Some(Builtin::Compact) => self.compact_by_user(line.arguments, cancel).await,
            Some(Builtin::Clear) => self.clear(),
            Some(Builtin::Restore) => self.restore_command(line.arguments),
            Some(Builtin::Redo) if matches!(line.arguments, "files" | "both") => {
                self.redo_files_command().await;
                Ok(())
            }
            Some(Builtin::Redo) => self.redo_command(),
            Some(Builtin::Rewind) => self.rewind_command(line.arguments).await,
            Some(Builtin::Yolo) => {
                self.toggle_yolo();
                Ok(())
            }
            Some(Builtin::Afk) => {
                self.toggle_afk();
                Ok(())
            }
            Some(Builtin::Plan) => {
                self.plan_command(line.arguments);
                Ok(())
            }
            Some(Builtin::Pin) => self.pin_command(line.arguments),
            Some(Builtin::Rules) => {
                self.rules_command(line.arguments);
                Ok(())
            }
            Some(Builtin::Btw) if line.arguments.is_empty() => {
                self.say("Use /btw and what you want to know.");
                Ok(())
            }
            Some(Builtin::Btw) => {
                self.aside.ask_and_wait(line.arguments.to_owned(), cancel).await;
                if cancel.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
            }
            Some(Builtin::AddDir) => Ok(self.add_dir(line.arguments)?),
            None => match self.skill_command(line.name, line.arguments, cancel).await {
                Some(result) => result,
                None => {
                    self.say(&format!("Unknown slash command \"/{}\".", line.name));
                    Ok(())
                }
            },
        }
    }

    async fn compact_by_user(
        &mut self,
        focus: &str,
        cancel: &CancellationToken,
    ) -> Result<(), Stop> {
        let model = self.model.clone().ok_or(Stop::ModelNotSet)?;
        let focus = (!focus.is_empty()).then_some(focus);
        let trigger = if focus.is_some() { "manual-with-prompt" } else { "manual" };
        self.before_compaction(trigger, cancel).await;
        match self.compact(&model, focus, cancel).await? {
            Compacted::Done => {
                self.after_compaction(trigger);
                self.say("The context has been compacted.");
            }
            Compacted::NothingToDo => self.say("There is nothing to compact yet."),
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Stop> {
        let change = self.context.clear()?;
        self.compacted_to = 0;
        self.hub.extension(Extension::ContextCleared(change));
        self.say("The context has been cleared. Files were not touched.");
        self.tell_status();
        Ok(())
    }

    fn toggle_yolo(&mut self) {
        let yolo = !self.approvals.yolo();
        self.approvals.set_yolo(yolo);
        self.info.yolo = yolo;
        if let Err(error) = self.state.change(|state| state.yolo = yolo) {
            tracing::warn!(%error, "yolo could not be stored");
        }
        self.say(if yolo {
            "Every action is approved unasked from now on. /yolo again to be asked."
        } else {
            "You are asked before actions again."
        });
        self.tell_info();
        self.tell_status();
    }

    /// Says something in the model's place that the model will not see.
    pub(super) fn say(&self, text: &str) {
        self.hub.event(Event::ContentPart(ContentPart::text(text)));
    }

    /// Names a session that has no name after its first prompt.
    fn give_title(&mut self, prompt: &str) {
        let title = short_title(prompt);
        if title.is_empty() || self.state.read(|state| state.custom_title.is_some()) {
            return;
        }
        if let Err(error) = self.state.change(|state| state.custom_title = Some(title.clone())) {
            tracing::warn!(%error, "the session's title could not be stored");
        }
        self.info.title = title;
        self.tell_info();
    }

    /// Ends a turn, however it went.
    pub(super) fn end_turn(&mut self, result: Result<(), Stop>) -> PromptOutcome {
        let outcome = match result {
            Ok(()) => PromptOutcome::Finished,
            Err(stop) => self.outcome(stop),
        };
        self.approvals.withdraw_all();
        self.desk.dismiss_questions();
        self.approvals.take_rejected();
        self.services.denwa().take();
        self.desk.close_steers();
        self.sync();
        if let Some(message) = outcome.failure() {
            let message = message.to_owned();
            self.hub.extension(Extension::TurnFailed(TurnFailed { message }));
        }
        if let Some(cut) = outcome.cut() {
            self.hub.extension(Extension::TurnCut(cut));
        }
        self.hub.event(Event::turn_end());
        self.hub.flush();
        outcome
    }

    /// Ends a turn that panicked. What had been written is whole: writes are not interrupted.
    pub(super) fn end_turn_after_defect(&mut self) -> PromptOutcome {
        self.hub.event(Event::StepInterrupted(Empty {}));
        self.end_turn(Ok(()));
        PromptOutcome::Failed {
            message: "The turn ended because of a defect in this program; the log has details. \
                      The conversation is kept: send another prompt to go on."
                .to_owned(),
        }
    }

    fn outcome(&self, stop: Stop) -> PromptOutcome {
        match stop {
            Stop::Cancelled => PromptOutcome::Cancelled,
            Stop::MaxSteps(steps) => PromptOutcome::MaxStepsReached { steps },
            Stop::ModelNotSet => PromptOutcome::ModelNotSet,
            Stop::NotSupported { capability, model } => {
                PromptOutcome::NotSupported { capability: capability.to_owned(), model }
            }
            Stop::Provider(error @ LlmError::LoggedOut { .. }) => PromptOutcome::LoggedOut {
                message: advice::provider_failure(&error, self.model.as_ref()),
            },
            Stop::Provider(error) => PromptOutcome::ProviderFailed {
                retryable: error.is_retryable(),
                message: advice::provider_failure(&error, self.model.as_ref()),
            },
            Stop::Context(error) => PromptOutcome::Failed {
                message: format!("The conversation could not be written: {error}"),
            },
        }
    }
}

/// Can the model take every part of `message`?
pub(super) fn check_capabilities(message: &Message, model: &Model) -> Result<(), Stop> {
    for part in &message.content {
        let (needed, capability) = match part {
            ContentPart::ImageUrl { .. } => (Capability::ImageIn, "image_in"),
            ContentPart::VideoUrl { .. } => (Capability::VideoIn, "video_in"),
            _ => continue,
        };
        if !model.capabilities.contains(&needed) {
            return Err(Stop::NotSupported { capability, model: model.name.clone() });
        }
    }
    Ok(())
}
