//! The door for editors: the Agent Client Protocol over standard input and output
//! (`docs/editors.md`).
//!
//! [`connection`] reads what the editor sends and knows the sessions; each [`session`] is a task
//! that turns what its engine tells into updates ([`tell`]) and its requests into questions to the
//! person ([`desk`], [`questions`]). [`client`] is the editor as the others see it.

mod catalog;
mod client;
mod commands;
mod connection;
mod content;
mod desk;
mod live;
mod offer;
mod opening;
mod questions;
mod services;
mod session;
mod subagent;
mod tell;
mod tool_calls;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::engine::{Host, SessionChoice};
use crate::rpc::Outbox;

use connection::Connection;

/// What is served.
#[derive(Debug, Clone)]
pub struct Agent {
    /// What sessions are opened with, but for what the editor says.
    pub host: Host,
    /// The one session there is; none for as many as the editor likes.
    pub only: Option<SessionChoice>,
}

/// Bytes a line may have: a picture is one.
const LONGEST_LINE: usize = 100 * 1024 * 1024;

/// How long engines may take to leave, and the editor to read the last words.
const FAREWELL: Duration = Duration::from_secs(10);
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves one editor until its input ends, it no longer reads, or `stop` is done. All sessions are
/// closed when this returns.
pub async fn serve(
    agent: Agent,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) {
    let outbox = Outbox::default();
    let from = outbox.clone();
    let writer = tokio::spawn(async move { from.write(output).await });
    let connection = Connection::new(agent, outbox.clone());
    tokio::select! {
        () = connection.serve(input) => {}
        () = stop => {}
    }
    connection.end().await;
    outbox.close();
    if tokio::time::timeout(LAST_WORDS, writer).await.is_err() {
        tracing::info!("the editor did not read the last words");
    }
}
