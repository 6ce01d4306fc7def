//! Signals that end print mode, as messages.

use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::print::Interrupt;

/// A file that may not grow (`ulimit -f`) is then an error of that write, as a full disk is, and not
/// the sudden end of the program.
pub(super) fn survive_file_limits(runtime: &tokio::runtime::Runtime) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let _on_it = runtime.enter();
        let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        // Once somebody has listened, the signal does no more than arrive.
        if let Err(error) = signal(kind) {
            tracing::warn!(%error, "a limit of the size of files would end the program");
        }
    }
    #[cfg(not(unix))]
    let _ = runtime;
}

/// What arrives from now on. Must be called on the runtime.
#[cfg(unix)]
pub(super) fn listen() -> std::io::Result<UnboundedReceiver<Interrupt>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (sender, receiver) = mpsc::unbounded_channel();
    let kinds = [
        (SignalKind::interrupt(), Interrupt::Keyboard),
        (SignalKind::terminate(), Interrupt::Terminate),
        (SignalKind::hangup(), Interrupt::Terminate),
    ];
    for (kind, interrupt) in kinds {
        let mut signals = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() && sender.send(interrupt).is_ok() {}
        });
    }
    Ok(receiver)
}

/// What arrives from now on. Must be called on the runtime.
#[cfg(not(unix))]
pub(super) fn listen() -> std::io::Result<UnboundedReceiver<Interrupt>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && sender.send(Interrupt::Keyboard).is_ok() {}
    });
    Ok(receiver)
}
