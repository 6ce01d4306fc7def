//! Commands: what a front end tells the engine.

use super::Response;
use crate::message::{CheckpointRef, UserInput};

/// One thing a front end asks of the engine. The first six are wire 1.10's methods and answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin a turn, or run a slash command. Answered by `DoorMessage::PromptDone`.
    Prompt(UserInput),
    /// Put text into the running turn after its current step.
    Steer(UserInput),
    /// Stop what runs.
    Cancel,
    /// Plan mode on or off.
    SetPlanMode(bool),
    /// The answer to a request.
    Respond(Response),
    /// Take the context back to a checkpoint, with an optional message to the past. Ours, not of
    /// protocol 1.10; refused while a turn runs.
    Revert {
        /// Where to.
        to: CheckpointRef,
        /// What to tell the model there.
        mail: Option<String>,
    },
    /// End the session: cancel what runs, write everything, leave.
    Shutdown,
}
