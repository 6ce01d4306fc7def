//! All state of the screen: plain data, no handles, no clock. It can be built by hand in a test.

pub mod approval;
pub mod calls;
pub mod cell;
pub mod composer;
pub mod editor;
pub mod generation;
pub mod heights;
pub mod image;
pub mod inline;
pub mod kills;
pub mod layout;
pub mod ledger;
pub mod mention;
pub mod news;
pub mod overlay;
pub mod packed;
pub mod paste;
pub mod picker;
pub mod question;
pub mod queue;
pub mod replay;
pub mod rewind;
pub mod search;
pub mod selection;
pub mod sessions;
pub mod setup;
pub mod status;
pub mod status_line;
pub mod tasks;
pub mod timeline;
pub mod transcript;
pub mod vim;

pub use layout::Screen;

use super::effect::{Effect, EffectId};
use super::keymap::{Context, Keymap};
use super::render::format;
use crate::config::{Fold, UiConfig};
use approval::Approvals;
use calls::Calls;
use cell::{Cell, CellKind, ToolState};
use composer::Composer;
use mention::Mention;
use overlay::{Overlay, Page};
use question::Questions;
use replay::Replay;
use search::Search;
use status::Status;
use timeline::Timeline;
use transcript::{FrameInfo, Position, Seen, Transcript};

use crate::session::Session;

/// What has the keys when no overlay has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// The composer.
    #[default]
    Composer,
    /// The timeline pane.
    Timeline,
    /// The pane of tool calls.
    Calls,
    /// The transcript.
    Transcript,
    /// The list of what waits for the running turn to end.
    Queue,
}

/// The themes there are, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Themes {
    /// All of them.
    pub known: Vec<String>,
    /// The one the person wants.
    pub chosen: String,
    /// The one the screen has: another one while it is only looked at.
    pub shown: String,
}

/// Keys that may become a chord.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingChord {
    /// Where they were pressed.
    pub context: Context,
    /// The keys so far.
    pub keys: Vec<super::key::KeyPress>,
    /// When they are given up, seconds since 1970.
    pub until: f64,
}

/// A question beside the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aside {
    /// Its name.
    pub id: String,
    /// The question.
    pub question: String,
    /// The answer so far.
    pub answer: String,
    /// Is it complete?
    pub is_done: bool,
}

/// What the external editor was opened for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EditTarget {
    /// The draft.
    #[default]
    Draft,
    /// The content of what is asked for.
    Approval {
        /// The request's id.
        request: String,
    },
}

/// A command of the person's that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRun {
    /// Its request.
    pub id: EffectId,
    /// The name of its cell.
    pub call: String,
}

/// How the program was started, and what it found then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// The person's home folder.
    pub home: Option<String>,
    /// The configured hooks, a line each.
    pub hooks: Vec<String>,
    /// What this program is called with to look at what it needs.
    pub doctor: Vec<std::ffi::OsString>,
    /// Is the engine another process's, maybe on another machine?
    pub engine_elsewhere: bool,
    /// Was it started to play a recording only?
    pub plays_only: bool,
    /// The command that starts the external editor; empty for what the environment says.
    pub external_editor: String,
}

/// All state of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The terminal.
    pub screen: Screen,
    /// The conversation.
    pub transcript: Transcript,
    /// Which conversation that is, counted: cells of different ones may have the same names.
    pub conversation: u64,
    /// What is being written.
    pub composer: Composer,
    /// Where one stands in what waits to be sent.
    pub queue: queue::QueueView,
    /// Files offered while `@` is typed.
    pub mention: Mention,
    /// What waits for a yes or no.
    pub approvals: Approvals,
    /// What the person is asked.
    pub questions: Questions,
    /// Checkpoints.
    pub timeline: Timeline,
    /// Where one stands among the tool calls.
    pub calls: Calls,
    /// What the engine does.
    pub status: Status,
    /// What lies over the screen, topmost last.
    pub overlays: Vec<Overlay>,
    /// What has the keys otherwise.
    pub focus: Focus,
    /// Which key does what.
    pub keymap: Keymap,
    /// Is all of long tool output shown?
    pub shows_details: bool,
    /// Are changes shown side by side where there is room?
    pub diffs_beside: bool,
    /// How the person wants the screen to behave.
    pub settings: UiConfig,
    /// Was the mouse left to the terminal by a key?
    pub is_mouse_left: bool,
    /// The person's command for the last line.
    pub status_command: status_line::StatusCommand,
    /// Work in the background.
    pub tasks: tasks::Tasks,
    /// What is looked for.
    pub search: Search,
    /// Themes.
    pub themes: Themes,
    /// Is thinking shown while it streams?
    pub shows_thinking: bool,
    /// The first prompt, until a session is open to send it to.
    pub first_prompt: Option<String>,
    /// Was a prompt sent whose turn has not begun yet?
    pub awaits_turn: bool,
    /// What to say about how the program was started, once a session is open.
    pub start_warnings: Vec<String>,
    /// The request that opens a session, while it runs.
    pub opening: Option<EffectId>,
    /// Keys that may become a chord.
    pub chord: Option<PendingChord>,
    /// A question beside the conversation.
    pub aside: Option<Aside>,
    /// How the program was started: it holds in every session.
    pub program: Program,
    /// Where the transcript was scrolled to when the program ended unexpectedly.
    pub place: Option<composer::Place>,
    /// Does nobody answer, by the person's word?
    pub is_away: bool,
    /// What narrows the help page.
    pub help_filter: String,
    /// What the external editor was opened for.
    pub editing: EditTarget,
    /// Keys of the configured models.
    pub known_models: Vec<String>,
    /// A command of the person's that runs.
    pub shell: Option<ShellRun>,
    /// When an interrupt with nothing to interrupt was pressed: a second one leaves.
    pub leave_armed: Option<f64>,
    /// Index of the first cell of the current step: what a retry makes void.
    pub step_start: usize,
    /// Index of the first cell of the current turn.
    pub turn_start: usize,
    /// The recording that is played, instead of a session that is open.
    pub replay: Option<Replay>,
    /// The session to go back to from it.
    pub came_from: Option<Session>,
    /// The request about the configuration that is awaited, and why it was made.
    pub asked: Option<(EffectId, setup::Why)>,
    /// What background work had to say while nothing ran.
    pub news: news::News,
    next_effect: u64,
}

impl Model {
    /// A screen of this size with nothing on it.
    #[must_use]
    pub fn new(width: u16, height: u16) -> Self {
        Self {
            screen: Screen {
                width,
                height,
                is_focused: true,
                layouts: layout::Layouts::default(),
                is_zoomed: false,
            },
            transcript: Transcript::default(),
            conversation: 0,
            composer: Composer::default(),
            queue: queue::QueueView::default(),
            mention: Mention::default(),
            approvals: Approvals::default(),
            questions: Questions::default(),
            timeline: Timeline::default(),
            calls: Calls::default(),
            status: Status::default(),
            overlays: Vec::new(),
            focus: Focus::default(),
            keymap: Keymap::default(),
            shows_details: false,
            diffs_beside: true,
            settings: UiConfig::default(),
            is_mouse_left: false,
            status_command: status_line::StatusCommand::default(),
            tasks: tasks::Tasks::default(),
            search: Search::default(),
            themes: Themes::default(),
            shows_thinking: true,
            first_prompt: None,
            awaits_turn: false,
            start_warnings: Vec::new(),
            opening: None,
            chord: None,
            aside: None,
            program: Program::default(),
            place: None,
            is_away: false,
            help_filter: String::new(),
            editing: EditTarget::default(),
            known_models: Vec::new(),
            shell: None,
            leave_armed: None,
            step_start: 0,
            turn_start: 0,
            replay: None,
            came_from: None,
            asked: None,
            news: news::News::default(),
            next_effect: 0,
        }
    }

    /// A name for a request.
    pub fn next_effect(&mut self) -> EffectId {
        self.next_effect += 1;
        EffectId(self.next_effect)
    }

    /// Goes on naming requests where `other` stopped, so that a late answer finds nobody.
    pub fn continue_effects_of(&mut self, other: &Self) {
        self.next_effect = other.next_effect;
    }

    /// Where keys go at `now`.
    #[must_use]
    pub fn context(&self, now: f64) -> Context {
        if self.search.typing.is_some() {
            return Context::Search;
        }
        self.place(&self.overlays, now)
    }

    /// The place the help page was opened from.
    #[must_use]
    pub fn helped(&self, now: f64) -> Context {
        let is_help = |overlay: &&Overlay| matches!(overlay, Overlay::Help { .. });
        let over = self.overlays.iter().rev().take_while(is_help).count();
        self.place(&self.overlays[..self.overlays.len() - over], now)
    }

    /// The place under `overlays`.
    fn place(&self, overlays: &[Overlay], now: f64) -> Context {
        match overlays.last() {
            Some(Overlay::Pager(_)) => Context::Pager,
            Some(Overlay::Help { .. } | Overlay::Page(_) | Overlay::Aside { .. }) => Context::Help,
            Some(Overlay::Sessions(list)) if list.trash.is_some() => Context::Trash,
            Some(Overlay::Sessions(_)) => Context::Sessions,
            Some(Overlay::Tasks(_)) => Context::Tasks,
            Some(Overlay::Picker(_) | Overlay::Setup(_)) => Context::Picker,
            Some(Overlay::Rewind(_)) => Context::Rewind,
            Some(Overlay::Timeline) => Context::Timeline,
            Some(Overlay::Calls) => Context::Calls,
            Some(Overlay::Ledger(_)) => Context::Ledger,
            Some(Overlay::Generation(_)) => Context::Past,
            Some(Overlay::Losses(_)) => Context::Losses,
            Some(Overlay::ConfirmClear | Overlay::Revert(_) | Overlay::Restore(_)) => {
                Context::Dialog
            }
            None if self.approvals.is_listening(now) => Context::Approval,
            None if self.approvals.is_empty() && self.questions.is_listening(now) => {
                Context::Question
            }
            None if self.focus == Focus::Timeline => Context::Timeline,
            None if self.focus == Focus::Calls => Context::Calls,
            None if self.focus == Focus::Queue && !self.composer.queue.is_empty() => Context::Queue,
            None if self.focus == Focus::Transcript => Context::Transcript,
            None if self.replay.is_some() => Context::Replay,
            None => Context::Composer,
        }
    }

    /// The time the screen shows at `now`: a recording has its own.
    #[must_use]
    pub fn clock(&self, now: f64) -> f64 {
        self.replay.as_ref().map_or(now, Replay::recorded_time)
    }

    /// Is all of this cell shown?
    #[must_use]
    pub fn is_open(&self, cell: &Cell) -> bool {
        cell.open.unwrap_or_else(|| self.shows_details || self.unfolds(cell))
    }

    /// Do the settings say that this call's result is shown?
    fn unfolds(&self, cell: &Cell) -> bool {
        let CellKind::Tool(tool) = &cell.kind else { return false };
        // `Fold::Never` begins with all details shown; the key for them still folds.
        self.settings.fold == Fold::Success && tool.state == ToolState::Failed
            || self.transcript.is_among_last_calls(cell.id, self.settings.open_last)
    }

    /// Takes in what was drawn: drawing alone knows how high cells are, and what text was selected.
    pub fn painted(&mut self, frame: &FrameInfo) -> Option<Effect> {
        let transcript = &mut self.transcript;
        transcript.pending.clear();
        transcript.pane.clone_from(&frame.pane);
        if transcript.selection.is_some_and(|selection| selection.is_over) {
            transcript.selection = None;
        }
        if transcript.position == Position::Follow && frame.position != Position::Follow {
            let cells = transcript.cells().len();
            let last = frame.measured.iter().rev().find(|(index, _)| index + 1 == cells);
            transcript.seen = Seen { cells, lines: last.map_or(0, |(_, lines)| *lines) };
        }
        transcript.position = frame.position;
        transcript.measured(frame);
        if let Some(visible) = frame.visible {
            transcript.visible = Some(visible);
            if std::mem::take(&mut transcript.drags_selection)
                && let Some(selected) = transcript.selected
            {
                transcript.selected = Some(selected.clamp(visible.first, visible.last));
            }
        }
        if let Some(top) = frame.asked_top {
            self.approvals.top = top;
        }
        if let (Some(scroll), Some(Overlay::Sessions(list))) =
            (frame.preview_scroll, self.overlays.last_mut())
        {
            list.preview_scroll = scroll;
        }
        if let (
            Some(first),
            Some(
                Overlay::Help { scroll }
                | Overlay::Aside { scroll }
                | Overlay::Page(Page { scroll, .. }),
            ),
        ) = (frame.page_scroll, self.overlays.last_mut())
        {
            *scroll = first;
        }
        if let Some(missed) = frame.pager_missed {
            self.search.is_missed = missed;
        }
        match (frame.pager_top, self.overlays.last_mut()) {
            (Some(top), Some(Overlay::Pager(pager))) => {
                pager.top = top;
                pager.pending.clear();
            }
            (Some(top), Some(Overlay::Generation(past))) => {
                past.top = top;
                past.pending.clear();
            }
            _ => {}
        }
        let text = frame.selected.clone().filter(|text| !text.trim().is_empty())?;
        let lines = format::count(text.lines().count(), "line", "lines");
        Some(Effect::Copy { text, what: format!("Selected text, {lines}") })
    }

    /// When something changes by itself next, seconds since 1970; none when nothing does.
    #[must_use]
    pub fn next_change(&self, now: f64) -> Option<f64> {
        let spinner = (self.status.activity.is_running()
            || self.shell.is_some()
            || self.tasks.running() > 0
            || matches!(self.status.activity, status::Activity::Opening))
        .then_some(if self.screen.is_focused { now + SPINNER_SECONDS } else { now + 1.0 });
        let chord = self.chord.as_ref().map(|chord| chord.until);
        let toast = self.status.toast.as_ref().map(|toast| toast.until);
        let panel = self.approvals.listens_from().filter(|from| *from > now);
        let question = self.questions.listens_from().filter(|from| *from > now);
        let leave = self.leave_armed.map(|armed| armed + LEAVE_SECONDS);
        let replay = self.replay.as_ref().and_then(Replay::due);
        let replay = replay.map(|due| due.min(now + REPLAY_SECONDS));
        let news = self.news_due(now).filter(|due| *due > now);
        let command = self.status_command.due(self.settings.status.interval_s);
        let saving = self.composer.save_due();
        [chord, replay, spinner, toast, command, panel, question, leave, news, saving]
            .into_iter()
            .flatten()
            .reduce(f64::min)
    }
}

/// Seconds between two pictures of a replay's bar.
const REPLAY_SECONDS: f64 = 0.25;
/// Seconds a picture of the spinner stands.
pub const SPINNER_SECONDS: f64 = 0.12;
/// Seconds within which a second interrupt leaves.
pub const LEAVE_SECONDS: f64 = 2.0;
