//! What a server of the plain protocol does not tell: checkpoints and ways back, from the rule by
//! which the engine counts them (`kimi-facts` B.4: one more at the start of each turn that reaches
//! the model and of each step; from k after a D-Mail to k, from 0 after compaction and clear).

use serde_json::Value;

use crate::message::{CheckpointId, CheckpointRef, Generation, UserInput};
use crate::wire::{
    CheckpointCreated, ContextChange, ContextReverted, ContextSize, Event, Extension, RevertCause,
};

/// Follows the events of a session.
#[derive(Debug, Default)]
pub(super) struct Inference {
    /// A server that tells everything itself.
    is_told: bool,
    generation: u64,
    next: u64,
    tokens: u64,
    /// A turn began and no step of it yet.
    turn: bool,
    clears: bool,
    /// The D-Mail call whose result is awaited, with its arguments so far.
    mail: Option<(String, String)>,
    /// A D-Mail that was sent: what happens before the next step.
    sent: Option<(u64, String)>,
}

impl Inference {
    pub(super) fn new(is_told: bool) -> Self {
        Self { is_told, ..Self::default() }
    }

    /// `event` with what it means for the timeline before or behind it.
    pub(super) fn see(&mut self, event: Event) -> Vec<Event> {
        if self.is_told {
            return vec![event];
        }
        let mut out = Vec::new();
        match &event {
            Event::TurnBegin(begin) => {
                self.turn = true;
                self.clears = is_clear(&begin.user_input);
            }
            Event::StepBegin(step) => {
                self.clears = false;
                out.extend(self.travel());
                out.push(event.clone());
                if std::mem::take(&mut self.turn) {
                    out.push(self.checkpoint(None));
                }
                out.push(self.checkpoint(Some(step.n)));
                return out;
            }
            Event::ToolCall(call) if call.function.name == "SendDMail" => {
                self.mail = Some((call.id.clone(), call.arguments().to_owned()));
            }
            Event::ToolCallPart(part) => {
                if let (Some((_, arguments)), Some(more)) = (&mut self.mail, &part.arguments_part) {
                    arguments.push_str(more);
                }
            }
            Event::ToolResult(result) => {
                if let Some((_, arguments)) =
                    self.mail.take_if(|(id, _)| *id == result.tool_call_id)
                    && !result.return_value.is_error
                {
                    self.sent = read_mail(&arguments);
                }
            }
            Event::StatusUpdate(status) => {
                self.tokens = status.context_tokens.unwrap_or(self.tokens);
            }
            Event::CompactionEnd(_) => {
                let change = self.change(0);
                // The summary stands behind a checkpoint of its own.
                self.next = 1;
                out.push(event);
                out.push(Event::Extension(Extension::ContextCompacted(change)));
                return out;
            }
            Event::TurnEnd(_) => {
                self.sent = None;
                self.mail = None;
                if std::mem::take(&mut self.clears) {
                    let change = self.change(0);
                    out.push(Event::Extension(Extension::ContextCleared(change)));
                }
            }
            _ => {}
        }
        out.push(event);
        out
    }

    fn checkpoint(&mut self, step: Option<u64>) -> Event {
        let at =
            CheckpointRef { generation: Generation(self.generation), id: CheckpointId(self.next) };
        self.next += 1;
        let size = self.size();
        Event::Extension(Extension::CheckpointCreated(CheckpointCreated { at, step, size }))
    }

    fn travel(&mut self) -> Option<Event> {
        let (to, mail) = self.sent.take()?;
        let at = CheckpointRef { generation: Generation(self.generation), id: CheckpointId(to) };
        let change = self.change(to);
        // The engine makes one before the D-Mail's text.
        self.turn = true;
        Some(Event::Extension(Extension::ContextReverted(ContextReverted {
            to: at,
            cause: RevertCause::AgentDMail,
            mail: Some(mail),
            change,
        })))
    }

    fn change(&mut self, next: u64) -> ContextChange {
        let before = self.size();
        let old_generation = Generation(self.generation);
        self.generation += 1;
        self.next = next;
        ContextChange {
            old_generation,
            new_generation: Generation(self.generation),
            before,
            after: self.size(),
            next_checkpoint: CheckpointId(next),
        }
    }

    fn size(&self) -> ContextSize {
        ContextSize { messages: 0, tokens: self.tokens }
    }
}

fn is_clear(input: &UserInput) -> bool {
    matches!(input.text().trim(), "/clear" | "/reset")
}

fn read_mail(arguments: &str) -> Option<(u64, String)> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    Some((arguments["checkpoint_id"].as_u64()?, arguments["message"].as_str()?.to_owned()))
}
