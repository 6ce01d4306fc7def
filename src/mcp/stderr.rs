//! What a server writes to its standard error: never to our screen, the end of it kept for advice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

/// Bytes of it that are kept.
const KEPT: usize = 4096;

/// The end of what was written so far.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Set when nothing more comes.
    over: CancellationToken,
}

impl Tail {
    /// Reads `from` to its end, on a task of its own, however much comes.
    #[must_use]
    pub fn read(mut from: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let tail = Self::default();
        let kept = tail.clone();
        tokio::spawn(async move {
            let mut bytes = vec![0; 8192];
            while let Ok(count @ 1..) = from.read(&mut bytes).await {
                kept.push(&bytes[..count]);
            }
            kept.over.cancel();
        });
        tail
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    /// Waits until nothing more comes.
    pub async fn is_over(&self) {
        self.over.cancelled().await;
    }

    /// Its last lines that are not blank, on one line.
    #[must_use]
    pub fn last_lines(&self, count: usize) -> String {
        let bytes: Vec<u8> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.iter().copied().collect()
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let tail = Tail::default();
        for n in 0..10_000 {
            tail.push(format!("line {n}\n\n").as_bytes());
        }
        tail.push(&vec![b'x'; 10 * KEPT]);
        assert_eq!(tail.kept.lock().expect("kept").len(), KEPT);
        tail.push(b"\none\n\ntwo\n");
        assert_eq!(tail.last_lines(2), "one / two");
    }
}
