//! Carries out what is asked about sessions, off the screen's thread.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use tokio::sync::mpsc::UnboundedSender;

use super::super::effect::EffectId;
use super::super::model::sessions::{SessionDone, SessionRow, SessionTask};
use super::super::msg::Msg;
use super::{Done, Executor, close};
use crate::message::SessionId;
use crate::session::index::{Progress, Query, Refreshed, SearchOptions, SessionIndex};
use crate::session::{self, FolderSessions, Session, SessionStore, Trashed};
use crate::wire::record;

/// Sessions found by one search, at most: nobody reads more, and more can be typed.
const FOUND: usize = 200;
/// The last messages a preview shows.
const LAST: usize = 60;
/// How often a long refresh tells how far it is.
const TELL_EVERY: Duration = Duration::from_millis(80);

/// What tasks about sessions work with.
#[derive(Clone)]
pub(super) struct Archive {
    store: SessionStore,
    index: SessionIndex,
    done: UnboundedSender<Done>,
    /// The latest list, search and preview: what came before is not worked out to the end.
    latest: Arc<[AtomicU64; 3]>,
    is_over: Arc<AtomicBool>,
}

impl Archive {
    pub(super) fn new(store: SessionStore, done: UnboundedSender<Done>) -> Self {
        let index = SessionIndex::new(store.clone());
        Self { store, index, done, latest: Arc::default(), is_over: Arc::default() }
    }

    /// Lets what runs end soon.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn tell(&self, id: EffectId, done: SessionDone) {
        let _ = self.done.send(Done::Msg(Msg::Session { id, done: Box::new(done) }));
    }

    /// Is there something newer of this kind?
    fn is_late(&self, kind: usize, id: EffectId) -> bool {
        self.latest[kind].load(Ordering::Relaxed) != id.0 || self.is_over.load(Ordering::Relaxed)
    }

    fn carry_out(&self, id: EffectId, task: SessionTask, work_dir: &Path) {
        let done = match task {
            SessionTask::List { archived } => return self.list(id, archived, work_dir),
            SessionTask::Search { .. } if self.is_late(1, id) => return,
            SessionTask::Search { text, here, archived } => {
                let work_dir = here.then(|| work_dir.to_owned());
                let options = SearchOptions { work_dir, limit: FOUND, archived };
                let stop = || self.is_late(1, id);
                SessionDone::Found(self.index.search(&Query::parse(&text), &options, &stop))
            }
            SessionTask::Preview(_) if self.is_late(2, id) => return,
            SessionTask::Preview(session) => SessionDone::Preview(Box::new(session.preview(LAST))),
            SessionTask::Replay(session) => story(session),
            other => self
                .change(other, work_dir)
                .unwrap_or_else(|error| SessionDone::Failed(error.to_string())),
        };
        self.tell(id, done);
    }

    fn change(
        &self,
        task: SessionTask,
        work_dir: &Path,
    ) -> Result<SessionDone, session::SessionError> {
        Ok(match task {
            SessionTask::Rename(session, title) => {
                let title = self.store.rename(&session, &title)?;
                SessionDone::Renamed(session, title)
            }
            SessionTask::Fork { session, at } => {
                let fork = self.store.fork(&session, at)?;
                SessionDone::Forked(fork.session, fork.said)
            }
            SessionTask::Archive(session, archived) => {
                self.store.set_archived(&session, archived)?;
                SessionDone::Archived(session, archived)
            }
            SessionTask::Delete(session) => {
                SessionDone::Deleted(Box::new(self.store.delete(&session)?))
            }
            SessionTask::ListTrash => {
                let weighed = |trashed: Trashed| {
                    let bytes = session::disk_use(&trashed.dir);
                    (trashed, bytes)
                };
                SessionDone::Trash(self.store.list_trash()?.into_iter().map(weighed).collect())
            }
            SessionTask::Purge(trashed) => {
                self.store.purge(&trashed)?;
                SessionDone::Purged(trashed.title, trashed.dir)
            }
            SessionTask::Undelete(trashed) => {
                self.store.undelete(&trashed)?;
                SessionDone::Undeleted(trashed.id)
            }
            SessionTask::Export { session, format, path } => {
                let file = session::export_file(&session, format, work_dir, path.as_deref())?;
                SessionDone::Exported(file)
            }
            SessionTask::Import(what) => {
                let imported = session::import_text(&self.store, work_dir, &what)?;
                SessionDone::Imported(Box::new(imported))
            }
            SessionTask::List { .. }
            | SessionTask::Search { .. }
            | SessionTask::Preview(_)
            | SessionTask::Replay(_) => SessionDone::Failed(String::new()),
        })
    }

    /// Shows the list, then brings the index up to date.
    fn list(&self, id: EffectId, archived: bool, work_dir: &Path) {
        let mut sessions = Vec::new();
        match self.index.list(archived) {
            Ok(folders) => {
                let rows = rows(folders, work_dir);
                sessions.extend(rows.iter().map(|row| row.session.clone()));
                self.tell(id, SessionDone::Listed(rows));
            }
            Err(error) => return self.tell(id, SessionDone::Failed(error.to_string())),
        }
        self.index.warm();
        let mut told = Instant::now();
        let refreshed = self.index.refresh(&|| self.is_late(0, id), &mut |progress: Progress| {
            if told.elapsed() > TELL_EVERY {
                told = Instant::now();
                self.tell(id, SessionDone::Indexing(progress.done, progress.total));
            }
        });
        match refreshed {
            Ok(Refreshed::UpToDate { .. } | Refreshed::Busy | Refreshed::Stopped) => {}
            Err(error) => tracing::warn!(%error, "sessions are found by their titles only"),
        }
        self.tell(id, SessionDone::Indexed);
        self.weigh(id, &sessions);
    }

    /// What snapshots take: told last, for it is many small questions to the disk.
    fn weigh(&self, id: EffectId, sessions: &[Session]) {
        let mut all = HashMap::new();
        for session in sessions {
            if self.is_late(0, id) {
                return;
            }
            let bytes = session.snapshot_use();
            if bytes > 0 {
                all.insert(session.dir.clone(), bytes);
            }
        }
        if !all.is_empty() {
            self.tell(id, SessionDone::Snapshots(all));
        }
    }
}

impl Executor {
    /// Begins a task about sessions.
    pub(super) fn session_task(&mut self, id: EffectId, task: SessionTask) {
        let archive = self.archive.clone();
        let kind = match task {
            SessionTask::List { .. } | SessionTask::ListTrash => Some(0),
            SessionTask::Search { .. } => Some(1),
            SessionTask::Preview(_) => Some(2),
            _ => None,
        };
        if let Some(kind) = kind {
            archive.latest[kind].store(id.0, Ordering::Relaxed);
        }
        let work_dir = self.host.work_dir().to_path_buf();
        // A recording is played with nobody behind it.
        let old = if matches!(task, SessionTask::Replay(_)) { self.door.take() } else { None };
        self.tasks.spawn(async move {
            if let Some(door) = old {
                close(door).await;
            }
            let _ =
                tokio::task::spawn_blocking(move || archive.carry_out(id, task, &work_dir)).await;
        });
    }
}

impl Executor {
    /// Finds the session of this id, of this folder or any, to be played.
    pub(super) fn open_recording(&mut self, id: EffectId, wanted: &SessionId) {
        let found = match self.archive.store.find(self.host.work_dir(), wanted) {
            Ok(None) => self.archive.store.find_anywhere(wanted).map(|s| s.map(|s| s.session())),
            found => found,
        };
        let reason = match found {
            Ok(Some(session)) => return self.session_task(id, SessionTask::Replay(session)),
            Ok(None) => format!("There is no session {wanted}. kimi-tui sessions lists them."),
            Err(error) => error.to_string(),
        };
        self.archive.tell(id, SessionDone::Failed(reason));
    }
}

fn story(session: Session) -> SessionDone {
    let title = session.summary().title;
    match record::read_story(&session.dir) {
        Ok(story) if story.events.is_empty() => SessionDone::Failed(
            "There is no record of what happened in this session, so it cannot be played"
                .to_owned(),
        ),
        Ok(story) => SessionDone::Story(session, title, story.events.into()),
        Err(error) => SessionDone::Failed(format!("The record cannot be read: {error}")),
    }
}

/// The sessions as rows, those of this folder first.
fn rows(mut folders: Vec<FolderSessions>, work_dir: &Path) -> Vec<SessionRow> {
    folders.sort_by_key(|folder| folder.place.work_dir() != Some(work_dir));
    let mut rows = Vec::new();
    for folder in folders {
        let is_here = folder.place.work_dir() == Some(work_dir);
        let place = folder.place.label();
        rows.extend(folder.sessions.into_iter().map(|summary| {
            SessionRow {
                session: summary.session(),
                place: place.clone(),
                is_here,
                title: summary.title,
                updated: summary
                    .updated_at
                    .duration_since(UNIX_EPOCH)
                    .map_or(0.0, |since| since.as_secs_f64()),
                bytes: summary.bytes,
            }
        }));
    }
    rows
}
