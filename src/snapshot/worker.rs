//! A session's [`Tracker`] on a thread of its own: jobs are done in the order they are given, so the
//! scan after one call is over before the next call begins, and nobody else waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::Tracker;

type Job = Box<dyn FnOnce(&mut Tracker) + Send>;

/// Gives work to a tracker. Cheap to clone; the thread ends with the last of them.
#[derive(Debug, Clone)]
pub struct Worker(Sender<Job>);

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start(tracker: Tracker) -> std::io::Result<Self> {
        let (sender, jobs) = channel();
        thread::Builder::new().name("snapshots".to_owned()).spawn(move || run(tracker, &jobs))?;
        Ok(Self(sender))
    }

    /// Has `job` done some time, in order.
    pub fn later(&self, job: impl FnOnce(&mut Tracker) + Send + 'static) {
        // Without the thread there are no snapshots; that was told when it died.
        let _ = self.0.send(Box::new(job));
    }

    /// Has `job` done and waits for it, on a thread that may block. None when the thread is gone.
    pub fn now<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Tracker) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = channel();
        self.later(move |tracker| {
            let _ = sender.send(job(tracker));
        });
        answer.recv().ok()
    }

    /// Has `job` done and waits for it. None when the thread is gone.
    pub async fn soon<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Tracker) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = futures::channel::oneshot::channel();
        self.later(move |tracker| {
            let _ = sender.send(job(tracker));
        });
        answer.await.ok()
    }
}

fn run(mut tracker: Tracker, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(&mut tracker)));
        if done.is_err() {
            tracing::error!("a snapshot failed because of a defect in this program");
        }
    }
    tracker.close_windows();
    tracker.forget_old();
}
