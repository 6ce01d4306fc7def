//! Tasks of earlier runs of the program, as their files tell: listed, marked as lost when nobody
//! knows what became of them, and followed when they still run after the program was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures::FutureExt;
use serde_json::Value;

use super::{BackgroundTasks, Ended, KEPT, TaskHandle};
use crate::tools::birth::Birth;
use crate::tools::process::Group;
use crate::wire::{TaskChanged, TaskKind, TaskState};

/// How often a command whose end nobody is told of is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A task of an earlier run.
pub(super) struct Earlier {
    pub(super) fact: TaskChanged,
    pub(super) call_id: String,
    /// The shell, where it was ours and its birth is known.
    pub(super) shell: Option<Birth>,
    /// Was it written by this program, and running when that ended?
    pub(super) was_cut_off: bool,
}

/// The tasks in `folder`, oldest first.
pub(super) fn read(folder: &Path) -> Vec<Earlier> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let runtime = entry.path().join("runtime.json");
            Some((fs::metadata(&runtime).ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    files.sort();
    let skipped = files.len().saturating_sub(KEPT);
    let mut found: Vec<Earlier> =
        files.iter().skip(skipped).filter_map(|(_, folder)| read_one(folder)).collect();
    found.sort_by(|a, b| a.fact.started.total_cmp(&b.fact.started));
    found
}

fn read_one(folder: &Path) -> Option<Earlier> {
    let json = |name: &str| -> Option<Value> {
        serde_json::from_slice(&fs::read(folder.join(name)).ok()?).ok()
    };
    let (spec, runtime) = (json("spec.json")?, json("runtime.json")?);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id = folder.file_name()?.to_str()?.to_owned();
    let state: TaskState = serde_json::from_value(runtime["status"].clone()).ok()?;
    let shell = runtime["child_birth"].as_str().and_then(|when| {
        let pid = i32::try_from(runtime["child_pid"].as_i64()?).ok()?;
        Some(Birth { pid, when: when.to_owned() })
    });
    let kind = if spec["kind"] == "agent" { TaskKind::Agent } else { TaskKind::Bash };
    let is_cut_off = state == TaskState::Running;
    let started = runtime["started_at"].as_f64().or(spec["created_at"].as_f64());
    Some(Earlier {
        call_id: text(&spec["tool_call_id"]),
        // One of the Python program's may run on under its own worker.
        was_cut_off: is_cut_off && !runtime["child_birth"].is_null(),
        shell,
        fact: TaskChanged {
            id,
            kind,
            title: text(&spec["description"]),
            state: if is_cut_off { TaskState::Lost } else { state },
            started: started.unwrap_or_default(),
            ended: runtime["finished_at"].as_f64(),
            exit: runtime["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
            reason: match text(&runtime["failure_reason"]) {
                reason if reason.is_empty() && is_cut_off => {
                    "The program ended while it ran.".to_owned()
                }
                reason => reason,
            },
        },
    })
}

impl BackgroundTasks {
    /// Takes in the tasks of earlier runs, to be called once when the session begins. Gives those
    /// that still run.
    pub fn take_up_earlier(&self) -> Vec<TaskChanged> {
        let mut running = Vec::new();
        for earlier in read(&self.0.folder) {
            let shell = earlier.shell.clone().filter(Birth::is_alive);
            let was_cut_off = earlier.was_cut_off;
            let task = self.add_earlier(earlier, shell.is_some());
            match shell {
                Some(shell) => {
                    running.push(task.fact());
                    let handle = TaskHandle { tasks: self.clone(), task };
                    self.spawn(handle.clone(), follow(shell, handle).boxed());
                }
                None if was_cut_off => {
                    self.keep(&task);
                    self.tell_lost(&task);
                }
                None => {}
            }
        }
        running
    }
}

/// Waits for the end of a command that another run of the program started.
async fn follow(shell: Birth, handle: TaskHandle) -> Ended {
    let Some(mut group) = Group::led_by(&shell) else { return lost() };
    loop {
        tokio::select! {
            () = handle.cancelled().cancelled() => {
                group.end_rest(handle.config().kill_grace).await;
                return Ended::killed(None);
            }
            () = handle.released().cancelled() => {
                group.release();
                return Ended { state: TaskState::Running, exit: None, reason: String::new() };
            }
            () = tokio::time::sleep(LOOK_AGAIN) => {
                if !shell.is_alive() {
                    group.release();
                    return lost();
                }
            }
        }
    }
}

fn lost() -> Ended {
    Ended {
        state: TaskState::Lost,
        exit: None,
        reason: "It has ended, but its exit code is not known: another run of the program started \
                 it."
        .to_owned(),
    }
}
