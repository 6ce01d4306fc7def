//! Carries effects out. Here, and in `runtime`, is all the I/O of the screen.

mod generations;
mod image;
pub(super) mod layout;
mod past;
mod sessions;
mod setup;
mod sh;
mod shell;
mod source;
mod status_line;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinSet, spawn_blocking};

use super::clipboard::{self, Copied};
use super::effect::{Effect, EffectId, OpenTarget};
use super::external;
use super::model::composer::Draft;
use super::msg::{Msg, Opened};
use super::render::highlight::{self, HighlightJob, HighlightResult};
use super::theme::ground::{AUTO, Ground};
use super::theme::{ColorDepth, Theme};
use super::update::recall::Recall;
use crate::config::edit::Edit;
use crate::engine::SessionChoice;
use crate::files;
use crate::session::{InputHistory, SessionStore};
use crate::wire::{Command, Door, DoorMessage};

pub use source::DoorSource;

/// What comes back from the world.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "lives from one channel to one update")]
pub(super) enum Done {
    /// A message for the model.
    Msg(Msg),
    /// A session was opened; the door comes first, so that nothing it says is missed.
    Door(Box<Door>, EffectId, Box<Opened>),
    /// Something for the terminal itself, and what to say once it is written.
    Write(String, String),
    /// The screen looks like this from now on.
    Theme(Box<Theme>),
    /// Code was coloured.
    Highlighted(HighlightResult),
}

/// Runs effects; what it starts ends with it.
pub(super) struct Executor {
    host: Arc<dyn DoorSource>,
    done: UnboundedSender<Done>,
    tasks: JoinSet<()>,
    history: Option<InputHistory>,
    shell: Option<(EffectId, tokio::sync::oneshot::Sender<()>)>,
    /// What the terminal's background is like, as far as it is known.
    pub(super) ground: Ground,
    archive: sessions::Archive,
    /// The open session's door.
    pub(super) door: Option<Door>,
}

impl Executor {
    /// One that reports to `done`.
    pub(super) fn new(host: Arc<dyn DoorSource>, done: UnboundedSender<Done>) -> Self {
        let store = SessionStore::new(host.paths().clone());
        let archive = sessions::Archive::new(store, done.clone());
        let ground = Ground::guess(&|name| std::env::var(name).ok());
        let shell = None;
        Self {
            host,
            done,
            tasks: JoinSet::new(),
            history: None,
            shell,
            ground,
            archive,
            door: None,
        }
    }

    /// Carries out what needs no terminal. The rest is the runtime's.
    pub(super) fn run(&mut self, effect: Effect) {
        while self.tasks.try_join_next().is_some() {}
        match effect {
            Effect::Send(command) => {
                let sent = self.door.as_ref().map(|door| door.commands.send(command));
                if !matches!(sent, Some(Ok(()))) {
                    self.tell(Done::Msg(Msg::DoorClosed));
                }
            }
            Effect::Open { id, target } => self.open(id, target),
            Effect::Sessions { id, task } => self.session_task(id, *task),
            Effect::ListFiles { id } => self.list_files(id),
            Effect::ListGenerations { id, session_dir } => self.list_generations(id, session_dir),
            Effect::ReadGeneration { id, session_dir, generation } => {
                self.read_generation(id, session_dir, generation);
            }
            Effect::Remember(text) => {
                if let Some(history) = &mut self.history
                    && let Err(error) = history.append(&text)
                {
                    tracing::warn!(%error, "the input history could not be written");
                }
            }
            Effect::Shell { id, command } => self.run_shell(id, command),
            Effect::StopShell { id } => {
                if let Some((_, stop)) = self.shell.take_if(|(running, _)| *running == id) {
                    let _ = stop.send(());
                }
            }
            Effect::ReadImage { id, path } => self.read_image(id, path),
            Effect::KeepTheme(name) => self.keep_theme(&name),
            Effect::KeepEditor(command) => self.keep_editor(&command),
            Effect::ShowTheme(name) => self.show_theme(&name),
            Effect::Setup { id, ask } => self.set_up(id, ask),
            Effect::Examine(arguments) => self.examine(arguments),
            Effect::Copy { text, what } => self.copy(text, what),
            Effect::SaveDraft(draft) => self.save_draft(&draft),
            Effect::KeepLayouts(layouts) => self.keep_layouts(layouts),
            Effect::RunStatus { id, command, time_limit_ms, input } => {
                self.run_status(id, command, time_limit_ms, input);
            }
            Effect::ReadBranch(folder) => self.read_branch(folder),
            Effect::Notify(_)
            | Effect::TakeMouse(_)
            | Effect::EditExternally(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Quit => {}
        }
    }

    fn tell(&self, done: Done) {
        // Nobody listens any more only while the program ends.
        let _ = self.done.send(done);
    }

    /// Reads what was typed in this folder before.
    pub(super) fn load_history(&mut self) {
        let path = self.host.paths().input_history(self.host.work_dir());
        let history = InputHistory::load(&path);
        self.tell(Done::Msg(Msg::History(history.entries.clone())));
        self.history = Some(history);
        self.load_draft();
    }

    /// Small, and rare: a person stops typing first. Not left to a task, so that the last one wins.
    fn save_draft(&self, draft: &Draft) {
        let path = self.host.paths().draft(self.host.work_dir());
        let written = if draft.is_empty() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        } else {
            serde_json::to_vec(draft)
                .map_err(Into::into)
                .and_then(|json| files::write_atomic(&path, &json))
        };
        if let Err(error) = written {
            tracing::warn!(%error, "the draft could not be kept");
        }
    }

    fn load_draft(&self) {
        let path = self.host.paths().draft(self.host.work_dir());
        let draft = std::fs::read(path).ok().and_then(|json| serde_json::from_slice(&json).ok());
        if let Some(draft) = draft {
            self.tell(Done::Msg(Msg::Draft(draft)));
        }
    }

    fn open(&mut self, id: EffectId, target: OpenTarget) {
        if let OpenTarget::Recording(session) = target {
            return self.open_recording(id, &session);
        }
        if let OpenTarget::Session(session) = &target
            && session.work_dir != self.host.work_dir()
        {
            // Prompts, drafts and files are the other folder's from now on.
            if let Some(host) = self.host.in_folder(&session.work_dir) {
                self.host = host;
                self.load_history();
            }
        }
        let old = self.door.take();
        let host = Arc::clone(&self.host);
        let done = self.done.clone();
        self.tasks.spawn(async move {
            let result = open(host, id, target, old, &done).await;
            let _ = match result {
                Ok((door, past)) => {
                    let opened = Opened { info: door.info.clone(), past };
                    done.send(Done::Door(Box::new(door), id, Box::new(opened)))
                }
                Err(reason) => done.send(Done::Msg(Msg::Opened { id, result: Err(reason) })),
            };
        });
    }

    /// Writes the chosen theme into the configuration.
    fn keep_theme(&self, name: &str) {
        let Some(host) = self.host.host() else { return };
        self.tell(Done::Msg(Msg::Said(match host.configure(&[Edit::Theme(name.to_owned())]) {
            Ok(file) => format!("Theme {name}, kept in {}", file.display()),
            Err(error) => format!("Theme {name}, until you leave: {error}"),
        })));
    }

    /// Writes the chosen editor into the configuration, and says when there is no such program.
    fn keep_editor(&self, command: &str) {
        let name = if command.is_empty() { "the one of $VISUAL or $EDITOR" } else { command };
        let missing = if external::is_there(command) { "" } else { ", which is not here yet" };
        let kept = match self.host.host() {
            None => "until you leave".to_owned(),
            Some(host) => match host.configure(&[Edit::Editor(command.to_owned())]) {
                Ok(file) => format!("kept in {}", file.display()),
                Err(error) => format!("until you leave: {error}"),
            },
        };
        self.tell(Done::Msg(Msg::Said(format!("Editor: {name}{missing}, {kept}"))));
    }

    fn show_theme(&self, name: &str) {
        let name = if name == AUTO { self.ground.theme() } else { name };
        self.tell(match Theme::load(name, &self.host.paths().themes()) {
            Ok(theme) => {
                let depth = ColorDepth::detect(&|name| std::env::var(name).ok());
                Done::Theme(Box::new(theme.at_depth(depth)))
            }
            Err(error) => Done::Msg(Msg::Said(error.to_string())),
        });
    }

    fn copy(&mut self, text: String, what: String) {
        let done = self.done.clone();
        self.tasks.spawn_blocking(move || {
            let way = clipboard::copy(&text, &|name| std::env::var(name).ok());
            let _ = done.send(match way {
                Copied::Native(tool) => Done::Msg(Msg::Said(format!("{what}: copied with {tool}"))),
                Copied::Terminal(sequence) => {
                    Done::Write(sequence, format!("{what}: copied through the terminal (OSC 52)"))
                }
                Copied::TooLong => Done::Msg(Msg::Said(format!(
                    "{what}: too long for the terminal, and no wl-copy, xclip, xsel, pbcopy is here; \
                     /export writes a file"
                ))),
            });
        });
    }

    /// The folder the agent works in: over another process's engine, the one it tells of.
    fn folder(&self) -> PathBuf {
        match (&self.door, self.host.host()) {
            (Some(door), None) => door.info.work_dir.clone(),
            _ => self.host.work_dir().to_path_buf(),
        }
    }

    fn run_shell(&mut self, id: EffectId, command: String) {
        let work_dir = self.folder();
        if !work_dir.is_dir() {
            let result = Err(shell::not_here(&work_dir));
            return self.tell(Done::Msg(Msg::ShellEnded { id, result }));
        }
        let (stop, stopped) = tokio::sync::oneshot::channel();
        self.shell = Some((id, stop));
        let done = self.done.clone();
        self.tasks.spawn(async move {
            let told = done.clone();
            let tell = move |text| {
                let _ = told.send(Done::Msg(Msg::ShellOutput { id, text }));
            };
            let result = shell::run(&command, &work_dir, stopped, tell).await;
            let _ = done.send(Done::Msg(Msg::ShellEnded { id, result }));
        });
    }

    fn read_image(&mut self, id: EffectId, path: Option<String>) {
        let (work_dir, done) = (self.folder(), self.done.clone());
        self.tasks.spawn_blocking(move || {
            let result = match path {
                Some(path) => image::from_file(&path, &work_dir),
                None => image::from_clipboard(&|name| std::env::var(name).ok()),
            };
            let _ = done.send(Done::Msg(Msg::Image { id, result }));
        });
    }

    fn list_files(&mut self, id: EffectId) {
        let work_dir = self.folder();
        let done = self.done.clone();
        self.tasks.spawn_blocking(move || {
            let _ = done.send(Done::Msg(Msg::Files { id, files: files_below(&work_dir) }));
        });
    }

    /// Colours code off the draw path.
    pub(super) fn highlight(&mut self, jobs: Vec<HighlightJob>) {
        for job in jobs {
            let done = self.done.clone();
            self.tasks.spawn_blocking(move || {
                let _ = done.send(Done::Highlighted(highlight::run(&job)));
            });
        }
    }

    /// The next thing the engine says; never when no session is open.
    pub(super) async fn next_from_door(&mut self) -> Option<DoorMessage> {
        match &mut self.door {
            Some(door) => door.messages.recv().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the session properly: what runs is stopped, what is known is written.
    pub(super) async fn shut_down(mut self) {
        self.archive.stop();
        if let Some(door) = self.door.take() {
            close(door).await;
        }
        self.tasks.shutdown().await;
    }
}

/// Shows the session's end, then opens it and reads the rest of its past meanwhile.
async fn open(
    host: Arc<dyn DoorSource>,
    id: EffectId,
    target: OpenTarget,
    old: Option<Door>,
    done: &UnboundedSender<Done>,
) -> Result<(Door, Recall), String> {
    let read = |error: &dyn std::fmt::Display| format!("The session's history: {error}");
    let choice = match &target {
        OpenTarget::New => SessionChoice::New,
        OpenTarget::Latest => SessionChoice::Continue,
        OpenTarget::Id(id) | OpenTarget::Recording(id) => SessionChoice::Id(id.clone()),
        OpenTarget::Session(session) => SessionChoice::Id(session.id.clone()),
    };
    let looker = Arc::clone(&host);
    let tail = move || past::tail(looker.as_ref(), &target, unix_now());
    let tail = spawn_blocking(tail).await.unwrap_or_default();
    let reading = tail.map(|(dir, transcript)| {
        let shown = transcript.cells().len();
        let _ = done.send(Done::Msg(Msg::Preview { id, transcript: Box::new(transcript) }));
        let place = dir.clone();
        (dir, spawn_blocking(move || past::whole(&place, shown)))
    });
    if let Some(door) = old {
        close(door).await;
    }
    let (door, told) = host.open(&choice).await?;
    if let Some(story) = told {
        let mut past: Recall = story.events.into_iter().collect();
        past.bad_lines = story.bad_lines;
        return Ok((door, past));
    }
    let place = door.info.session_dir.clone();
    let past = match reading {
        Some((dir, reading)) if dir == place => reading.await,
        // Another one was opened than was expected.
        _ => spawn_blocking(move || past::whole(&place, 0)).await,
    };
    let past = past.map_err(|error| read(&error))?.map_err(|error| read(&error))?;
    Ok((door, past))
}

fn unix_now() -> f64 {
    std::time::SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64())
}

/// Files offered for mentions, at most: beyond that nobody finds anything by name.
const FILES: usize = 20_000;

/// What is in a folder, ignored files left out, in the order of names.
fn files_below(folder: &std::path::Path) -> std::sync::Arc<[String]> {
    let walk = ignore::WalkBuilder::new(folder).sort_by_file_name(std::cmp::Ord::cmp).build();
    walk.filter_map(Result::ok)
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(folder).ok()?.to_str()?.to_owned();
            let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
            (!path.is_empty()).then(|| path + slash)
        })
        .take(FILES)
        .collect()
}

/// Longest time a session gets to end.
const CLOSE_WITHIN: std::time::Duration = std::time::Duration::from_secs(3);

async fn close(mut door: Door) {
    if door.commands.send(Command::Shutdown).is_err() {
        return;
    }
    let ended = async { while door.messages.recv().await.is_some() {} };
    if tokio::time::timeout(CLOSE_WITHIN, ended).await.is_err() {
        tracing::warn!("the session did not end in time");
    }
}
