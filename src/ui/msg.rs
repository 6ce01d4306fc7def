//! Everything that can happen to the screen.

use std::sync::Arc;

use super::effect::EffectId;
use super::key::KeyPress;
use super::model::composer::Draft;
use super::model::image::Image;
use super::model::sessions::SessionDone;
use super::model::setup::Told;
use super::model::transcript::Transcript;
use super::update::recall::Recall;
use crate::message::ToolReturn;
use crate::session::generations::{self, GenerationInfo};
use crate::wire::{DoorMessage, SessionInfo};

/// What the left button of the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// It was pressed.
    Press,
    /// The mouse moved while it was held.
    Drag,
    /// It was released.
    Release,
}

/// Something that happened. Plain data, so that a test is a list of these.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyPress),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal window gained or lost the focus.
    Focus(bool),
    /// The wheel turned; lines, positive is down.
    Wheel(i32),
    /// The left button of the mouse, or the mouse while it is held.
    Mouse {
        /// What it did.
        what: Mouse,
        /// The column, from 0.
        x: u16,
        /// The row, from 0.
        y: u16,
    },
    /// The engine said something.
    Door(DoorMessage),
    /// The engine is gone.
    DoorClosed,
    /// The end of the session that is being opened, to look at until it is open.
    Preview {
        /// Which request.
        id: EffectId,
        /// Its last cells.
        transcript: Box<Transcript>,
    },
    /// A session was opened, or could not be.
    Opened {
        /// Which request.
        id: EffectId,
        /// The session and its story so far, or why not, for a person.
        result: Result<Opened, String>,
    },
    /// Something was done with sessions, or could not be.
    Session {
        /// Which request.
        id: EffectId,
        /// What came of it.
        done: Box<SessionDone>,
    },
    /// The generations of the context, oldest first; empty when they cannot be read.
    Generations {
        /// Which request.
        id: EffectId,
        /// All of them.
        generations: Arc<[GenerationInfo]>,
    },
    /// One generation of the context, or why it cannot be read.
    Generation {
        /// Which request.
        id: EffectId,
        /// Its messages.
        result: Result<Arc<generations::Transcript>, String>,
    },
    /// The files of the work folder, relative, folders with a slash at the end.
    Files {
        /// Which request.
        id: EffectId,
        /// The files.
        files: Arc<[String]>,
    },
    /// A picture for the draft, or why there is none.
    Image {
        /// Which request.
        id: EffectId,
        /// The picture.
        result: Result<Image, String>,
    },
    /// The person's command printed something.
    ShellOutput {
        /// Which.
        id: EffectId,
        /// The text, not sanitised.
        text: String,
    },
    /// It ended.
    ShellEnded {
        /// Which.
        id: EffectId,
        /// What came of it, or why it could not be run.
        result: Result<ToolReturn, String>,
    },
    /// The configuration, or what there is to connect to.
    Setup {
        /// Which request.
        id: EffectId,
        /// The answer.
        told: Box<Told>,
    },
    /// What was seen by looking at what the program needs, for a person.
    Examined(String),
    /// What was typed in this folder before, oldest first.
    History(Vec<String>),
    /// What the person's command for the last line printed, or why it printed nothing.
    StatusLine {
        /// Which run.
        id: EffectId,
        /// Its first line, not sanitised.
        result: Result<String, String>,
    },
    /// The git branch of the work folder; none when there is none.
    Branch(Option<String>),
    /// Something was done, or could not be: what to tell the person.
    Said(String),
    /// What an earlier run left unsent in this folder.
    Draft(Draft),
    /// The draft comes back from the external editor, or why it does not.
    Edited(Result<String, String>),
    /// Something outside the model changed the picture, or time passed.
    Tick,
    /// Leave now: a signal, or the terminal is gone.
    Terminate,
}

/// An opened session.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Facts about it.
    pub info: Arc<SessionInfo>,
    /// What happened in it before.
    pub past: Recall,
}
