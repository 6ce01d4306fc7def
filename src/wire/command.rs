//! Commands: what a front end tells the engine.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Equipment, Response, RewindScope};
use crate::message::{CheckpointRef, Generation, Message, UserInput};
use crate::permission::{Rule, Scope};

/// One thing a front end asks of the engine. The first five are wire 1.10's methods and answers;
/// the others travel as `{"method": …, "params": …}` of our own (`docs/wire.md`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
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
        #[serde(default)]
        mail: Option<String>,
    },
    /// Tell what that would cost, as `Extension::RevertPreview`. Ours; refused while a turn runs.
    PreviewRevert {
        /// Where to.
        to: CheckpointRef,
    },
    /// Tell what the context consists of, as `Extension::ContextLedger`. Ours.
    Ledger,
    /// Put a placeholder in the place of tool results, in a new generation with the same
    /// checkpoints. Answered by `Extension::MessagesHidden`; `Restore` undoes it. Ours; refused
    /// while a turn runs.
    Hide {
        /// Their numbers in the history, from 0.
        messages: Vec<u64>,
    },
    /// Stop one running call and let the others go on: the model reads that the person did so.
    /// Calls of a step that are equal share their fate. Ours.
    CancelCall {
        /// The call.
        tool_call_id: String,
    },
    /// Make the content of an earlier generation the context again. Ours; refused while a turn
    /// runs.
    Restore {
        /// Which one; none for the one before the current.
        #[serde(default)]
        generation: Option<Generation>,
    },
    /// Stop a background task. Ours.
    StopTask {
        /// Its id.
        task_id: String,
    },
    /// Tell what going back would do to files, as `Extension::RewindPreview`. Ours; refused while a
    /// turn runs.
    PreviewRewind {
        /// Where to; none for bringing forth what was taken back last.
        to: Option<CheckpointRef>,
        /// What is meant to go back.
        scope: RewindScope,
    },
    /// Go back. Ours; refused while a turn runs.
    Rewind {
        /// Where to.
        to: CheckpointRef,
        /// What goes back.
        scope: RewindScope,
        /// Conflicts to restore all the same, by the paths of the dry run.
        chosen: Vec<String>,
    },
    /// Bring forth what was taken back last, the conversation too if it went with the files. Ours;
    /// refused while a turn runs.
    RedoRewind {
        /// As for `Rewind`.
        chosen: Vec<String>,
    },
    /// Keep a permission rule, and answer an approval request by it: approved, or rejected when
    /// the rule is a prohibition. Other open requests that the rule decides are answered too. Ours.
    AddRule {
        /// The request; none to keep the rule only.
        #[serde(default)]
        request_id: Option<String>,
        /// How far it holds.
        scope: Scope,
        /// The rule.
        rule: Rule,
    },
    /// Take a permission rule away, from the file that keeps it too. Ours.
    RemoveRule {
        /// Where it is kept.
        scope: Scope,
        /// The rule, as it was added.
        rule: Rule,
    },
    /// Put messages that a compaction took out of the context back into it, quoted in one message at
    /// its end. Answered by `Extension::MessagesPinned`. Ours; refused while a turn runs.
    Pin {
        /// The generation that ended, whose file has them.
        generation: Generation,
        /// Their numbers in its history, from 0.
        messages: Vec<u64>,
    },
    /// Ask the model something beside the conversation, also while a turn runs: it sees the context,
    /// uses no tools, and neither question nor answer is kept in it. Answered by `Event::BtwBegin`,
    /// `Extension::SideAnswer` as the answer comes, and `Event::BtwEnd` in every case. Ours.
    SideQuestion {
        /// What the answer is to be called; empty for a name of the engine's.
        id: String,
        /// The question.
        question: String,
    },
    /// Stop answering a side question. Ours.
    CancelSideQuestion {
        /// Which.
        id: String,
    },
    /// Nobody is there to be asked, as long as this front end says so: actions are approved and
    /// questions dismissed. Not stored, and the model is not told (`/afk` does both). Ours.
    SetAway(bool),
    /// Approve a call with other arguments: those given replace the model's of the same names, a
    /// `command` for instance, or a `content`. The model is told what really ran. Ours.
    ApproveEdited {
        /// The request.
        request_id: String,
        /// The arguments that are changed.
        arguments: Map<String, Value>,
    },
    /// Give the session a title. Ours; refused while a turn runs.
    SetTitle(String),
    /// Add a message to the context without asking the model anything. Ours; refused while a turn
    /// runs.
    Import {
        /// Where it is from, in words.
        source: String,
        /// What the model is to know.
        message: Box<Message>,
    },
    /// What the front end can do, and what it brings. Refused while a turn runs.
    Equip(Box<Equipment>),
    /// Let another model answer from here on, or the same one with or without thinking. The
    /// configuration is read again for it. Ours; refused while a turn runs.
    SetModel {
        /// The model's key in the configuration, or its name; none for the one there is.
        key: Option<String>,
        /// Should it think? None: as before.
        thinking: Option<bool>,
    },
    /// Read the configuration again and go by it: model, hooks, rules, limits. Ours; refused while a
    /// turn runs.
    Reload,
    /// End the session: cancel what runs, write everything, leave.
    Shutdown,
    /// Begin a turn for what background work had to say while nothing ran. Nothing happens when
    /// there is nothing, when it is configured so, or while a turn runs. Ours.
    ReadNotes,
    /// Wait until no background task runs, with a turn each time one has ended. Answered by
    /// `DoorMessage::PromptDone`. Ours; refused while a turn runs.
    AwaitTasks {
        /// How long, at most.
        seconds: u64,
    },
}
