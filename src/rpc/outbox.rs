//! What waits to be written. Putting something in never waits; whoever puts looks at how much there
//! is, and stops what makes it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Bytes that are written in one go, about.
const BATCH: usize = 1 << 16;

/// Lines on their way to a stream, in order. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    waiting: Mutex<Vec<u8>>,
    /// Bytes that wait or are being written.
    bytes: AtomicUsize,
    is_closed: AtomicBool,
    /// Something came, or nothing will come any more.
    came: Notify,
    /// Something went.
    went: Notify,
}

impl Outbox {
    /// Puts a line in. One that comes after the end is dropped.
    pub fn push(&self, line: &[u8]) {
        if self.is_closed() {
            return;
        }
        self.0.bytes.fetch_add(line.len(), Ordering::Relaxed);
        self.lock().extend_from_slice(line);
        self.0.came.notify_one();
    }

    /// Bytes that have not been written.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Nothing more comes, or nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed.load(Ordering::Acquire)
    }

    /// No more lines: [`Outbox::write`] ends when all is written.
    pub fn close(&self) {
        self.0.is_closed.store(true, Ordering::Release);
        self.0.came.notify_one();
        self.0.went.notify_waiters();
    }

    /// Waits until nobody reads any more.
    pub async fn unread(&self) {
        loop {
            let went = self.0.went.notified();
            tokio::pin!(went);
            went.as_mut().enable();
            if self.is_closed() {
                return;
            }
            went.await;
        }
    }

    /// Waits until at most `bytes` wait, or nobody reads any more.
    pub async fn until(&self, bytes: usize) {
        loop {
            let went = self.0.went.notified();
            tokio::pin!(went);
            went.as_mut().enable();
            if self.bytes() <= bytes || self.is_closed() {
                return;
            }
            went.await;
        }
    }

    /// Writes what comes to `to` until [`Outbox::close`], or until it cannot be written.
    ///
    /// # Errors
    /// When it cannot be written: then nothing more is taken in.
    pub async fn write(&self, mut to: impl AsyncWrite + Unpin) -> std::io::Result<()> {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            // Asked first: what was put in before the end must not be left behind.
            let is_last = self.is_closed();
            std::mem::swap(&mut *self.lock(), &mut batch);
            if batch.is_empty() {
                if is_last {
                    return Ok(());
                }
                self.0.came.notified().await;
                continue;
            }
            let written = async {
                for piece in batch.chunks(BATCH) {
                    to.write_all(piece).await?;
                    self.0.bytes.fetch_sub(piece.len(), Ordering::Relaxed);
                    self.0.went.notify_waiters();
                }
                to.flush().await
            };
            if let Err(error) = written.await {
                self.lock().clear();
                self.0.bytes.store(0, Ordering::Relaxed);
                self.close();
                return Err(error);
            }
            batch.clear();
            batch.shrink_to(BATCH);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
