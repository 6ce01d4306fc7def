//! Everything the screen may ask for. Plain data; `exec` carries it out.

use std::ffi::OsString;
use std::path::PathBuf;

use super::model::composer::Draft;
use super::model::layout::Layouts;
use super::model::sessions::SessionTask;
use super::model::setup::Ask;
use crate::message::{Generation, SessionId};
use crate::session::Session;
use crate::wire::Command;

/// Names a request whose result comes back as a message. A result that nobody waits for any more is
/// dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EffectId(pub u64);

/// Which session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTarget {
    /// A new one.
    New,
    /// The latest of this folder, or a new one.
    Latest,
    /// This one.
    Id(SessionId),
    /// This one, in the folder it belongs to.
    Session(Session),
    /// None: this one is only played.
    Recording(SessionId),
}

/// Something to be done in the world.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Effect {
    /// Tell the engine.
    Send(Command),
    /// Leave the session, if one is open, and open another.
    Open {
        /// For `Msg::Opened`.
        id: EffectId,
        /// Which.
        target: OpenTarget,
    },
    /// Do something with sessions.
    Sessions {
        /// For `Msg::Session`.
        id: EffectId,
        /// What.
        task: Box<SessionTask>,
    },
    /// List the files of the work folder, for mentions.
    ListFiles {
        /// For `Msg::Files`.
        id: EffectId,
    },
    /// Read what the generations of a context are.
    ListGenerations {
        /// For `Msg::Generations`.
        id: EffectId,
        /// The session's folder.
        session_dir: PathBuf,
    },
    /// Read one generation of a context.
    ReadGeneration {
        /// For `Msg::Generation`.
        id: EffectId,
        /// The session's folder.
        session_dir: PathBuf,
        /// Which.
        generation: Generation,
    },
    /// Read or change the configuration, or look at servers.
    Setup {
        /// For `Msg::Setup`.
        id: EffectId,
        /// What is asked.
        ask: Ask,
    },
    /// Call this program with these arguments to look at what it needs; comes back as `Msg::Examined`.
    Examine(Vec<OsString>),
    /// Add to the input history of this folder.
    Remember(String),
    /// Put a text onto the clipboard.
    Copy {
        /// The text.
        text: String,
        /// What it is, for the person.
        what: String,
    },
    /// Run a command of the person's, beside the conversation.
    Shell {
        /// For `Msg::ShellOutput` and `Msg::ShellEnded`.
        id: EffectId,
        /// What to run.
        command: String,
    },
    /// Stop it.
    StopShell {
        /// Which.
        id: EffectId,
    },
    /// Read a picture for the draft.
    ReadImage {
        /// For `Msg::Image`.
        id: EffectId,
        /// The file; none for what is on the clipboard.
        path: Option<String>,
    },
    /// Keep what is unsent, so that it is there again after a crash.
    SaveDraft(Draft),
    /// Write this text in the external editor; it comes back as `Msg::Edited`.
    EditExternally(String),
    /// Ring the bell, for this reason: nobody is looking.
    Notify(&'static str),
    /// Keep the command that starts the external editor; empty for what the environment says.
    KeepEditor(String),
    /// Look like this theme from now on, the next time too.
    KeepTheme(String),
    /// Look like this theme.
    ShowTheme(String),
    /// Run the person's command for the last line.
    RunStatus {
        /// For `Msg::StatusLine`.
        id: EffectId,
        /// For the shell.
        command: String,
        /// How long it may take.
        time_limit_ms: u64,
        /// What it reads: the state, as JSON.
        input: String,
    },
    /// Read which git branch is checked out in this folder; comes back as `Msg::Branch`.
    ReadBranch(PathBuf),
    /// Divide the screen so the next time too.
    KeepLayouts(Layouts),
    /// Let the terminal tell what the mouse does, or leave it to the terminal.
    TakeMouse(bool),
    /// Draw everything again.
    Redraw,
    /// Suspend the program.
    Suspend,
    /// Leave.
    Quit,
}
