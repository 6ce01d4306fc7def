//! `kimi-tui daemon list` and `stop`: the sessions that run without a screen.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::cli::outcome::End;
use crate::error::user;
use crate::paths::Paths;
use crate::server::daemon;

/// How long a daemon may take to say who it is, and to end with everything written.
const PATIENCE: Duration = Duration::from_secs(5);
const FAREWELL: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, clap::Subcommand)]
pub(in crate::cli) enum DaemonCommand {
    /// List the sessions that run without a screen
    List,
    /// End one: what runs is cancelled, everything is written
    Stop {
        /// Its id, or the beginning of it; the only one if none is given
        session: Option<String>,
    },
}

/// Where sockets are: the person's runtime folder, else one below the data.
pub(in crate::cli) fn folder(paths: &Paths) -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_absolute()) {
        Some(folder) => PathBuf::from(folder).join("kimi-tui"),
        None => paths.share.join("run"),
    }
}

pub(super) fn run(command: &DaemonCommand) -> anyhow::Result<End> {
    let folder = folder(&Paths::from_env()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            DaemonCommand::List => {
                let mut out = std::io::stdout();
                for (id, socket) in daemon::running(&folder).await? {
                    let title = ask(&socket, "initialize").await;
                    let title = title.unwrap_or_else(|_| "(does not answer)".to_owned());
                    let title = crate::ui::render::sanitize::sanitize(&title).replace('\n', " ");
                    writeln!(out, "{id}  {title}")?;
                }
            }
            DaemonCommand::Stop { session } => {
                let (id, socket) = find(&folder, session.as_deref()).await?;
                ask(&socket, "kimi_tui/shutdown").await.map_err(|error| {
                    user(
                        format!("The daemon of session {id} does not answer ({error})."),
                        "Look for its process, kimi-tui --daemon, and end it with kill.",
                    )
                })?;
            }
        }
        Ok(End::Done)
    })
}

/// The daemon whose session's id begins with `id`.
pub(super) async fn find(folder: &Path, id: Option<&str>) -> anyhow::Result<(String, PathBuf)> {
    let wanted = id.unwrap_or_default();
    let mut found = daemon::running(folder).await?;
    found.retain(|(id, _)| id.starts_with(wanted));
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(user(
            format!("No daemon runs a session {wanted}").trim_end().to_owned() + ".",
            "Begin one with kimi-tui --daemon; kimi-tui daemon list tells which run.",
        )),
        _ => Err(user(
            "Several daemons run.",
            "Say which: kimi-tui daemon list tells their sessions.",
        )),
    }
}

/// Greets the daemon, asks `method` of it, and waits for the end of the answer. Gives the
/// session's folder and title.
async fn ask(socket: &Path, method: &str) -> anyhow::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    let greeting = json!({
        "protocol_version": crate::wire::PROTOCOL_VERSION, "capabilities": { "kimi_tui": true },
    });
    let hello = json!({ "id": "1", "method": "initialize", "params": greeting });
    stream.write_all(format!("{hello}\n").as_bytes()).await?;
    let mut lines = BufReader::new(&mut stream).lines();
    let answer = timeout(PATIENCE, lines.next_line()).await.context("nothing came in time")??;
    let Some(answer) = answer else { anyhow::bail!("The daemon said nothing.") };
    let answer: serde_json::Value = serde_json::from_str(&answer)?;
    let session = &answer["result"]["kimi_tui"]["session"];
    let text = |key: &str| session[key].as_str().unwrap_or_default().to_owned();
    if method != "initialize" {
        let request = json!({ "id": "2", "method": method });
        stream.write_all(format!("{request}\n").as_bytes()).await?;
        // It ends when everything is written: so does the socket.
        let mut nowhere = tokio::io::sink();
        let rest = tokio::io::copy(&mut stream, &mut nowhere);
        timeout(FAREWELL, rest).await.context("it does not end")??;
    }
    Ok(format!("{}  {}", text("work_dir"), text("title")))
}
