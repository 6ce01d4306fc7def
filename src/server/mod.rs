//! The door over JSON-RPC: `--wire` on standard streams, `--daemon` on a socket (`docs/wire.md`).
//!
//! A [`viewer`] is one client of one session: it reads requests ([`methods`]), tells what the
//! engine tells, and keeps its reader from costing more memory than a limit. [`initialize`] agrees
//! on what both can do, [`replay`] tells what was, [`answer`] reads the answers to requests.

mod answer;
pub mod daemon;
mod initialize;
mod methods;
mod pen;
mod replay;
mod viewer;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::config::HookConfig;
use crate::engine::{Host, OpenSession, SessionChoice};
use crate::rpc::Outbox;
use crate::wire::{Command, Equipment};

use viewer::{Role, Viewer};

pub use initialize::{NAME as EXTENSION_NAME, VERSION as EXTENSION_VERSION};

/// Bytes a line may have (`wire/server.py:66`).
pub const LONGEST_LINE: usize = 100 * 1024 * 1024;

/// How long the engine may take to leave, and the client to read the last words.
const FAREWELL: Duration = Duration::from_secs(10);
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What a client is told about the program.
#[derive(Debug, Clone)]
struct Facts {
    /// Hooks that are configured, by event.
    hooks: BTreeMap<&'static str, usize>,
}

impl Facts {
    fn of(configured: &[HookConfig]) -> Self {
        let mut hooks = BTreeMap::new();
        for hook in configured {
            *hooks.entry(hook.event.name()).or_default() += 1;
        }
        Self { hooks }
    }
}

/// Serves one client until its input ends, it no longer reads, or `stop` is done. The session is
/// closed when this returns.
///
/// # Errors
/// When the session cannot be opened.
pub async fn serve(
    host: &Host,
    choice: &SessionChoice,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let session = host.share(choice, Equipment::default()).await?;
    let facts = Facts::of(&host.config().hooks);
    let outbox = Outbox::default();
    let from = outbox.clone();
    let writer = tokio::spawn(async move { from.write(output).await });
    let mut viewer = Viewer::new(&session, &facts, outbox.clone(), Role::Only);
    tokio::select! {
        () = viewer.serve(input) => {}
        () = stop => {}
    }
    end(&session, viewer).await;
    outbox.close();
    if tokio::time::timeout(LAST_WORDS, writer).await.is_err() {
        tracing::info!("the client did not read the last words");
    }
    Ok(())
}

/// Ends the session: what runs is cancelled, and what that tells is still told.
async fn end(session: &OpenSession, mut viewer: Viewer<'_>) {
    if session.commands.send(Command::Shutdown).is_err() {
        return;
    }
    session.start();
    if tokio::time::timeout(FAREWELL, viewer.hear_out()).await.is_err() {
        tracing::warn!("the engine did not end in time");
    }
}
