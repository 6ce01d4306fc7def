//! What the terminal sends: read as bytes, made into events.
//!
//! Crossterm's own reader drops keys that xterm and tmux tell in xterm's way (`modifyOtherKeys`), and
//! what kitty's protocol says about keys of other layouts, so the bytes are read here; the events are
//! crossterm's all the same.

mod csi;
mod decode;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use crossterm::event::Event;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use decode::Decoder;

/// How long an escape character waits for what it begins. Longer, and Esc would be felt to be late;
/// shorter, and a slow line would tear sequences apart.
const ESCAPE_WAITS: Duration = Duration::from_millis(25);

/// The terminal as a source of bytes.
#[derive(Debug)]
enum Tty {
    Stdin(io::Stdin),
    /// Where standard input is something else.
    Own(File),
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin(stdin) => stdin.as_fd(),
            Self::Own(file) => file.as_fd(),
        }
    }
}

impl AsRawFd for Tty {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// The events of the terminal. While none is waited for, nothing is read, so that another program can
/// have the terminal meanwhile.
#[derive(Debug)]
pub(super) struct Input {
    tty: AsyncFd<Tty>,
    resized: Signal,
    decoder: Decoder,
    ready: VecDeque<Event>,
    /// When what has come stands for itself.
    expires: Option<Instant>,
}

impl Input {
    /// Listens to the terminal.
    pub(super) fn open() -> io::Result<Self> {
        let stdin = io::stdin();
        let tty =
            if stdin.is_terminal() { Tty::Stdin(stdin) } else { Tty::Own(File::open("/dev/tty")?) };
        #[expect(deprecated, reason = "the other way is unsafe; a Tty keeps its descriptor open")]
        let tty = AsyncFd::with_interest(tty, Interest::READABLE)?;
        Ok(Self {
            tty,
            resized: signal(SignalKind::window_change())?,
            decoder: Decoder::default(),
            ready: VecDeque::new(),
            expires: None,
        })
    }

    /// The next event; none when the terminal is gone. Nothing is lost when it is not awaited to the
    /// end.
    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let expires = self.expires.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                readable = self.tty.readable() => {
                    let mut guard = match readable {
                        Ok(guard) => guard,
                        Err(error) => return Some(Err(error)),
                    };
                    let is_closed = guard.ready().is_read_closed();
                    // The terminal is not set to non-blocking: standard output may be the same one.
                    if !is_closed && available(guard.get_inner())? == 0 {
                        guard.clear_ready();
                        continue;
                    }
                    let mut bytes = [0; 4096];
                    match rustix::io::read(guard.get_inner(), &mut bytes) {
                        Ok(0) => return None,
                        Ok(count) => self.ready.extend(self.decoder.feed(&bytes[..count])),
                        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                        Err(error) => return Some(Err(error.into())),
                    }
                    self.expires = self.decoder.waits().then(|| Instant::now() + ESCAPE_WAITS);
                }
                () = sleep_until(expires), if self.expires.is_some() => {
                    self.expires = None;
                    self.ready.extend(self.decoder.give_up());
                }
                _ = self.resized.recv() => match crossterm::terminal::size() {
                    Ok((width, height)) => self.ready.push_back(Event::Resize(width, height)),
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

/// Bytes that can be read without waiting; none when the terminal is gone.
fn available(tty: &Tty) -> Option<u64> {
    rustix::io::ioctl_fionread(tty).ok()
}
