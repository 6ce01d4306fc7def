//! Background tasks: work that goes on beside the turns and ends with the program.
//!
//! [`BackgroundTasks`] starts them, lists them and stops them; [`command`] is one that runs a shell
//! command, [`output`] keeps what they print. The model hears of an end through the session's
//! [`Notifier`], front ends through `TaskChanged`. Files as `kimi-cli` has them:
//! `tasks/ID/{spec.json, runtime.json, output.log}` in the session's folder.

mod command;
mod earlier;
mod handle;
mod output;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::earlier::Earlier;
use self::output::OutputFile;
use super::birth::Birth;
use super::{Note, Notifier, TaskNote};
use crate::config::BackgroundConfig;
use crate::files::{self, NonAscii, python_json};
use crate::wire::{Extension, Hub, Notification, TaskChanged, TaskKind, TaskState};

pub(crate) use command::CommandTask;
pub(crate) use handle::{Ended, TaskHandle};

/// Bytes of output the note about a task's end may quote.
const NOTE_BYTES: u64 = 16 * 1024;
/// Why tasks are stopped when the program ends, in upstream's words.
const SESSION_ENDED: &str = "CLI session ended";
/// Tasks that are over and still listed, at most.
const KEPT: usize = 200;

/// The background tasks of a session. Cheap to clone.
#[derive(Clone)]
pub struct BackgroundTasks(Arc<Inner>);

struct Inner {
    hub: Hub,
    notifier: Notifier,
    folder: PathBuf,
    session: String,
    config: BackgroundConfig,
    tasks: Mutex<Vec<Arc<Task>>>,
    tracker: TaskTracker,
    /// How many have not been told to be over.
    live: watch::Sender<usize>,
    /// The program ends: what may go on without it is left alone.
    release: CancellationToken,
}

/// One task.
struct Task {
    call_id: String,
    fact: Mutex<TaskChanged>,
    output: Mutex<OutputFile>,
    cancel: CancellationToken,
    stop: Mutex<Option<Stop>>,
    over: watch::Sender<bool>,
    /// Its shell, for a later run of the program.
    shell: Mutex<Option<Birth>>,
}

/// Why a task was stopped.
#[derive(Debug, Clone)]
struct Stop {
    reason: String,
    /// Does the model know already?
    is_known: bool,
}

impl BackgroundTasks {
    /// The tasks of the session in `session_dir`.
    #[must_use]
    pub fn new(
        hub: Hub,
        notifier: Notifier,
        session_dir: &Path,
        session: &str,
        config: BackgroundConfig,
    ) -> Self {
        Self(Arc::new(Inner {
            hub,
            notifier,
            folder: session_dir.join("tasks"),
            session: session.to_owned(),
            config,
            tasks: Mutex::default(),
            tracker: TaskTracker::new(),
            live: watch::Sender::new(0),
            release: CancellationToken::new(),
        }))
    }

    /// Limits.
    #[must_use]
    pub fn config(&self) -> &BackgroundConfig {
        &self.0.config
    }

    /// Starts `work` as a task called `title`.
    ///
    /// # Errors
    /// In words for the model: too many run, or the disk cannot be written.
    pub(crate) fn start(
        &self,
        kind: TaskKind,
        title: &str,
        call_id: &str,
        work: impl FnOnce(TaskHandle) -> BoxFuture<'static, Ended>,
    ) -> Result<TaskChanged, String> {
        let most = self.0.config.max_running_tasks;
        let mut tasks = self.lock();
        let running = tasks.iter().filter(|task| task.is_running()).count();
        if running >= most {
            return Err(format!(
                "{running} background tasks run already, and {most} is the most. Wait for one to \
                 end, or stop one with TaskStop."
            ));
        }
        let id = new_id(kind);
        let path = self.0.folder.join(&id).join("output.log");
        let output = OutputFile::create(&path, self.0.config.max_output_bytes)
            .map_err(|error| format!("The task's output cannot be kept: {error}."))?;
        let task = Arc::new(Task {
            call_id: call_id.to_owned(),
            fact: Mutex::new(TaskChanged {
                id,
                kind,
                title: title.to_owned(),
                state: TaskState::Running,
                started: now(),
                ended: None,
                exit: None,
                reason: String::new(),
            }),
            output: Mutex::new(output),
            cancel: CancellationToken::new(),
            stop: Mutex::default(),
            over: watch::Sender::new(false),
            shell: Mutex::default(),
        });
        if tasks.len() > KEPT
            && let Some(old) = tasks.iter().position(|task| !task.is_running())
        {
            tasks.remove(old);
        }
        tasks.push(Arc::clone(&task));
        drop(tasks);
        let fact = task.fact();
        self.keep(&task);
        self.0.hub.extension(Extension::TaskChanged(fact.clone()));
        let handle = TaskHandle { tasks: self.clone(), task };
        let work = work(handle.clone());
        self.spawn(handle, work);
        Ok(fact)
    }

    /// Does `work` beside everything else, to its end.
    fn spawn(&self, handle: TaskHandle, work: BoxFuture<'static, Ended>) {
        self.0.live.send_modify(|live| *live += 1);
        let work = AssertUnwindSafe(work).catch_unwind();
        self.0.tracker.spawn(async move {
            let ended = work.await.unwrap_or_else(|_| {
                tracing::error!("a background task panicked");
                Ended::failed("It failed because of a defect in this program.")
            });
            handle.tasks.finish(&handle.task, ended);
        });
    }

    /// Lists a task of an earlier run; `runs`: it still does.
    fn add_earlier(&self, earlier: Earlier, runs: bool) -> Arc<Task> {
        let mut fact = earlier.fact;
        if runs {
            (fact.state, fact.reason) = (TaskState::Running, String::new());
        }
        let path = self.0.folder.join(&fact.id).join("output.log");
        let task = Arc::new(Task {
            call_id: earlier.call_id,
            over: watch::Sender::new(!runs),
            shell: Mutex::new(earlier.shell),
            output: Mutex::new(OutputFile::closed(&path)),
            cancel: CancellationToken::new(),
            stop: Mutex::default(),
            fact: Mutex::new(fact.clone()),
        });
        self.lock().push(Arc::clone(&task));
        self.0.hub.extension(Extension::TaskChanged(fact));
        task
    }

    /// Tells the model of a task that ended with the program. Nothing begins for it by itself: the
    /// person has only just come back.
    fn tell_lost(&self, task: &Task) {
        self.notify(task, &task.fact(), false);
    }

    /// How many have not been told to be over, and every change of that.
    pub(crate) fn live(&self) -> watch::Receiver<usize> {
        self.0.live.subscribe()
    }

    /// All tasks, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<TaskChanged> {
        self.lock().iter().map(|task| task.fact()).collect()
    }

    /// One of them.
    pub(crate) fn get(&self, id: &str) -> Option<TaskChanged> {
        self.find(id).map(|task| task.fact())
    }

    /// The end of what a task has printed, whether there was more, and the file with all of it.
    pub(crate) fn output(&self, id: &str) -> Option<(String, bool, PathBuf)> {
        let path = lock(&self.find(id)?.output).path().to_owned();
        let most = self.0.config.read_max_bytes as u64;
        let is_cut = std::fs::metadata(&path).is_ok_and(|data| data.len() > most);
        Some((output::tail(&path, most).unwrap_or_default(), is_cut, path))
    }

    /// Waits until a task is over, for `limit` at most. False when it runs on.
    pub(crate) async fn wait(&self, id: &str, limit: Duration) -> bool {
        let Some(task) = self.find(id) else { return true };
        let mut over = task.over.subscribe();
        let is_over = over.wait_for(|over| *over);
        tokio::time::timeout(limit, is_over).await.is_ok()
    }

    /// Asks a task to end; false when it is over already, or never was. `is_known`: the model need
    /// not be told of the end.
    pub fn stop(&self, id: &str, reason: &str, is_known: bool) -> bool {
        let Some(task) = self.find(id).filter(|task| task.is_running()) else { return false };
        lock(&task.stop).get_or_insert_with(|| Stop { reason: reason.to_owned(), is_known });
        task.cancel.cancel();
        true
    }

    /// Ends all of them: the program ends. Commands go on when it is configured so.
    pub async fn end_all(&self) {
        if self.0.config.keep_alive_on_exit {
            self.0.release.cancel();
        }
        let running: Vec<String> = self
            .list()
            .into_iter()
            .filter(|t| t.state == TaskState::Running)
            .map(|t| t.id)
            .collect();
        for id in running {
            let is_command = id.starts_with("bash-");
            if !(is_command && self.0.config.keep_alive_on_exit) {
                self.stop(&id, SESSION_ENDED, true);
            }
        }
        self.0.tracker.close();
        let limit = self.0.config.kill_grace + Duration::from_secs(3);
        if tokio::time::timeout(limit, self.0.tracker.wait()).await.is_err() {
            tracing::warn!("a background task does not let go");
        }
    }

    fn finish(&self, task: &Arc<Task>, ended: Ended) {
        let stop = lock(&task.stop).clone();
        {
            let mut fact = lock(&task.fact);
            fact.ended = (ended.state != TaskState::Running).then(now);
            fact.exit = ended.exit;
            (fact.state, fact.reason) = match &stop {
                Some(stop) if ended.state != TaskState::Completed => {
                    (TaskState::Killed, stop.reason.clone())
                }
                _ => (ended.state, ended.reason),
            };
        }
        self.keep(task);
        let fact = task.fact();
        self.0.hub.extension(Extension::TaskChanged(fact.clone()));
        task.over.send_replace(true);
        if fact.state != TaskState::Running && !stop.as_ref().is_some_and(|stop| stop.is_known) {
            // Whoever stopped one has something else in mind.
            self.notify(task, &fact, stop.is_none());
        }
        self.0.live.send_modify(|live| *live -= 1);
    }

    /// Tells the person and the model that a task is over.
    fn notify(&self, task: &Task, fact: &TaskChanged, wakes: bool) {
        let (verb, severity) = match fact.state {
            TaskState::Completed => ("completed", "success"),
            TaskState::Failed => ("failed", "error"),
            TaskState::Lost => ("lost", "warning"),
            _ => ("stopped", "warning"),
        };
        let path = lock(&task.output).path().to_owned();
        let mut payload = serde_json::Map::new();
        payload.insert("task_id".to_owned(), fact.id.clone().into());
        payload.insert("status".to_owned(), fact.state.name().into());
        payload.insert("exit_code".to_owned(), json!(fact.exit));
        payload.insert("duration_s".to_owned(), json!(fact.ended.unwrap_or(0.0) - fact.started));
        let mut note = Note::new(Notification {
            id: format!("n{:08x}", fastrand::u32(..)),
            category: "task".to_owned(),
            kind: format!("task.{}", fact.state.name()),
            source_kind: "background_task".to_owned(),
            source_id: fact.id.clone(),
            title: format!("Background task {verb}: {}", fact.title),
            body: match fact.reason.as_str() {
                "" => format!("Task ID: {}", fact.id),
                reason => format!("Task ID: {}\n{reason}", fact.id),
            },
            severity: severity.to_owned(),
            created_at: now(),
            payload,
        });
        note.wakes = wakes;
        note.task = Some(TaskNote {
            id: fact.id.clone(),
            kind: fact.kind.name().to_owned(),
            description: fact.title.clone(),
            status: fact.state.name().to_owned(),
            exit_code: fact.exit,
            failure: fact.reason.clone(),
            output: output::tail(&path, NOTE_BYTES).unwrap_or_default(),
        });
        self.0.notifier.send(note);
    }

    /// Writes what is known of a task beside its output, in the Python program's shapes.
    fn keep(&self, task: &Task) {
        let fact = task.fact();
        let folder = self.0.folder.join(&fact.id);
        let spec = json!({
            "version": 1, "id": fact.id, "kind": fact.kind.name(), "session_id": self.0.session,
            "description": fact.title, "tool_call_id": task.call_id, "owner_role": "root",
            "created_at": fact.started,
        });
        let shell = lock(&task.shell).clone();
        let runtime = json!({
            "status": fact.state.name(), "started_at": fact.started, "updated_at": now(),
            "finished_at": fact.ended, "exit_code": fact.exit,
            "worker_pid": std::process::id(),
            "child_pid": shell.as_ref().map(|shell| shell.pid),
            "child_pgid": shell.as_ref().map(|shell| shell.pid),
            "child_birth": shell.as_ref().map_or("", |shell| shell.when.as_str()),
            "interrupted": fact.state == TaskState::Killed, "failure_reason": fact.reason,
        });
        for (name, value) in [("spec.json", spec), ("runtime.json", runtime)] {
            let written = python_json(&value, NonAscii::Keep)
                .map_err(std::io::Error::from)
                .and_then(|json| files::write_atomic(&folder.join(name), json.as_bytes()));
            if let Err(error) = written {
                tracing::warn!(%error, name, "a task's record could not be written");
            }
        }
    }

    fn find(&self, id: &str) -> Option<Arc<Task>> {
        self.lock().iter().find(|task| lock(&task.fact).id == id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Task>>> {
        lock(&self.0.tasks)
    }
}

impl std::fmt::Debug for BackgroundTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BackgroundTasks").field(&self.list().len()).finish()
    }
}

impl Task {
    fn fact(&self) -> TaskChanged {
        lock(&self.fact).clone()
    }

    fn is_running(&self) -> bool {
        lock(&self.fact).state == TaskState::Running
    }
}

/// `bash-` or `agent-` and eight letters and digits.
fn new_id(kind: TaskKind) -> String {
    let tail: String = (0..8).map(|_| fastrand::char('a'..='z')).collect();
    format!("{}-{tail}", kind.name())
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is changed under a lock is a few assignments.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
