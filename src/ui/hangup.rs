//! Notices that the terminal is gone.
//!
//! A terminal that closes usually sends SIGHUP, but not to a program that a supervisor or a shell which
//! let it go had started. The reader of keys takes the end of input for "nothing yet", and would ask
//! again and again with one core at full load, for ever.

use std::io;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::Notify;

/// Tells, once, when the terminal that the screen is written to has hung up.
pub(super) fn watch() -> Arc<Notify> {
    let told = Arc::new(Notify::new());
    let teller = Arc::clone(&told);
    // It sleeps in the kernel and ends with the process: nothing can wake it before.
    let thread = std::thread::Builder::new().name("hangup".to_owned());
    let started = thread.spawn(move || {
        if has_hung_up(&io::stdout()) {
            teller.notify_one();
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "a terminal that goes away would not be noticed");
    }
    told
}

/// Waits for `terminal` to hang up; `false` when that cannot be known.
fn has_hung_up(terminal: &impl std::os::fd::AsFd) -> bool {
    loop {
        // Asked for nothing, the kernel still tells of these.
        let mut ends = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut ends, None) {
            Ok(_) => {
                let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
                return ends[0].revents().intersects(gone);
            }
            Err(Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(%error, "a terminal that goes away will not be noticed");
                return false;
            }
        }
    }
}
