//! A session without a screen, on a socket only its owner can open: viewers come and go while
//! turns run (`docs/wire.md`, "Daemon").

use std::collections::VecDeque;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::net::{UnixListener, UnixStream};

use super::pen::Pen;
use super::viewer::{Role, Viewer};
use super::{FAREWELL, Facts};
use crate::engine::{Host, OpenSession, SessionChoice};
use crate::error::user;
use crate::message::UserInput;
use crate::rpc::Outbox;
use crate::wire::{Command, DoorMessage, Equipment, Event};

/// What a socket's name ends with.
const ENDING: &str = "sock";
/// Bytes a socket's path may have, on every system there is.
const LONGEST_PATH: usize = 100;

/// What reads a line of prompts: the line, and its number.
pub type ReadPrompt = fn(&str, usize) -> anyhow::Result<UserInput>;

/// Keeps the session `choice` open on a socket in `folder` until `stop` is done, a viewer ends it,
/// or the `prompts` are all answered: one a line, and how a line is read. `ready` hears the
/// session's id and the socket.
///
/// # Errors
/// In words for a person: the session cannot be opened, the socket cannot be made, or a line is no
/// prompt. Those before it are answered then, and none after it.
pub async fn run(
    host: &Host,
    choice: &SessionChoice,
    folder: &Path,
    prompts: Option<(impl AsyncRead + Unpin, ReadPrompt)>,
    stop: impl Future<Output = ()>,
    ready: impl FnOnce(&str, &Path),
) -> anyhow::Result<()> {
    let session = host.share(choice, Equipment::full()).await?;
    let id = session.info.id.as_ref().map_or_else(String::new, |id| id.0.clone());
    let (listener, _socket) = match listen(folder, &id).await {
        Ok(made) => made,
        Err(error) => {
            session.start();
            let _ = session.commands.send(Command::Shutdown);
            return Err(error);
        }
    };
    let mut own = session.join(false).messages;
    ready(&id, &folder.join(format!("{id}.{ENDING}")));
    let facts = Facts::of(&host.config().hooks);
    let pen = Pen::new();
    let mut lines = prompts.map(|(prompts, read)| (BufReader::new(prompts).lines(), read, 0));
    let mut has_lines = lines.is_some();
    let mut fault = Ok(());
    let mut waiting = VecDeque::new();
    let mut is_working = false;
    let mut has_news = false;
    let mut hands = pen.changes();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            came = listener.accept() => match came {
                Ok((stream, _)) => welcome(stream, &session, &facts, &pen),
                Err(error) => tracing::warn!(%error, "a viewer could not be let in"),
            },
            message = own.recv() => match message {
                None => return Ok(()),
                Some(DoorMessage::PromptDone(_)) => is_working = false,
                Some(DoorMessage::Event(Event::TurnBegin(_))) => is_working = true,
                Some(DoorMessage::Event(Event::Notification(_))) => has_news = true,
                Some(_) => {}
            },
            _ = hands.changed() => {}
            Some(prompt) = async { Some(next(lines.as_mut()?).await) }, if has_lines => {
                match prompt {
                    Ok(Some(prompt)) => waiting.push_back(prompt),
                    ended => {
                        has_lines = false;
                        fault = ended.map(|_| ());
                    }
                }
            }
        }
        if !is_working && let Some(prompt) = waiting.pop_front() {
            is_working = session.commands.send(Command::Prompt(prompt)).is_ok();
        }
        // A viewer knows when it does not disturb; without one nobody is disturbed.
        if has_news && !is_working && pen.is_free() {
            has_news = false;
            let _ = session.commands.send(Command::ReadNotes);
        }
        if lines.is_some() && !has_lines && !is_working && waiting.is_empty() {
            break;
        }
    }
    let _ = session.commands.send(Command::Shutdown);
    let ended = async { while own.recv().await.is_some() {} };
    if tokio::time::timeout(FAREWELL, ended).await.is_err() {
        tracing::warn!("the engine did not end in time");
    }
    fault
}

/// The next prompt of the input; none at its end. May be dropped while it waits.
async fn next<R: AsyncRead + Unpin>(
    (lines, read, number): &mut (Lines<BufReader<R>>, ReadPrompt, usize),
) -> anyhow::Result<Option<UserInput>> {
    while let Some(line) = lines.next_line().await? {
        *number += 1;
        if !line.trim().is_empty() {
            return read(&line, *number).map(Some);
        }
    }
    Ok(None)
}

/// Lets a viewer in, if it is the same person's.
fn welcome(stream: UnixStream, session: &OpenSession, facts: &Facts, pen: &Pen) {
    let own = rustix::process::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if peer.uid() == own => {}
        Ok(peer) => return tracing::warn!(uid = peer.uid(), "somebody else's viewer is sent away"),
        Err(error) => return tracing::warn!(%error, "a viewer nobody knows is sent away"),
    }
    let (session, facts, pen) = (session.clone(), facts.clone(), pen.clone());
    tokio::spawn(async move {
        let (from, to) = stream.into_split();
        let outbox = Outbox::default();
        let out = outbox.clone();
        let writer = tokio::spawn(async move { out.write(to).await });
        let hand = pen.hand();
        let mut viewer = Viewer::new(&session, &facts, outbox.clone(), Role::OneOf(hand));
        viewer.serve(from).await;
        // Its part of the pen goes with it; the turn goes on.
        drop(viewer);
        outbox.close();
        let _ = tokio::time::timeout(super::LAST_WORDS, writer).await;
    });
}

/// Removes the socket when the daemon ends.
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::info!(%error, "the socket is gone already");
        }
    }
}

async fn listen(folder: &Path, id: &str) -> anyhow::Result<(UnixListener, Socket)> {
    let path = folder.join(format!("{id}.{ENDING}"));
    let told = |error: io::Error| {
        user(
            format!("The socket {} cannot be made ({error}).", path.display()),
            "Make its folder writable, or set XDG_RUNTIME_DIR to another one.",
        )
    };
    if path.as_os_str().len() > LONGEST_PATH {
        return Err(told(io::Error::other("the path is too long for a socket")));
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(told)?;
    // Also where the folder was there before: nobody else may even look.
    fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(told)?;
    if path.exists() {
        if UnixStream::connect(&path).await.is_ok() {
            return Err(user(
                format!("The session {id} has a daemon already."),
                format!("Join it: kimi-tui attach {id}"),
            ));
        }
        fs::remove_file(&path).map_err(told)?;
    }
    let listener = UnixListener::bind(&path).map_err(told)?;
    let socket = Socket(path.clone());
    fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(told)?;
    Ok((listener, socket))
}

/// The daemons that run, as session ids and sockets; sockets nobody listens on are removed.
///
/// # Errors
/// When the folder cannot be read.
pub async fn running(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_socket = path.extension().is_some_and(|ending| ending == ENDING);
        let Some(id) = path.file_stem().and_then(|id| id.to_str()).filter(|_| is_socket) else {
            continue;
        };
        match UnixStream::connect(&path).await {
            Ok(_) => found.push((id.to_owned(), path)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                tracing::info!(path = %path.display(), "a stale socket is removed");
                let _ = fs::remove_file(&path);
            }
            Err(error) => tracing::warn!(%error, path = %path.display(), "a socket"),
        }
    }
    found.sort();
    Ok(found)
}
