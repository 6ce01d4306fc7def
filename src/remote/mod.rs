//! A door to an engine in another process, over JSON-RPC: one that was started for it, or one whose
//! socket it joined. A server of ours tells everything; of another one, the Python program's for
//! instance, what it does not tell is inferred ([`infer`]).

mod child;
mod infer;
mod link;
mod plain;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::error::user;
use crate::rpc::{self, Id, Incoming, Line, LineReader, Outbox};
use crate::wire::channel::CommandSender;
use crate::wire::record::{Recorded, Story};
use crate::wire::{Door, DoorMessage, Event, PROTOCOL_VERSION, Request, SessionInfo, SlashCommand};

use child::Started;
use infer::Inference;
use link::Link;

/// Bytes a line may have.
const LONGEST_LINE: usize = 100 * 1024 * 1024;
/// How long a server may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A door and what was behind it before.
#[derive(Debug)]
pub struct Connected {
    /// The door.
    pub door: Door,
    /// What happened until now.
    pub story: Story,
}

/// Starts the wire server `command` in `work_dir` and agrees with it.
///
/// # Errors
/// In words for a person: it cannot be started, or it does not speak the wire.
pub async fn start(command: &[String], work_dir: &Path) -> anyhow::Result<Connected> {
    start_within(command, work_dir, PATIENCE).await
}

async fn start_within(
    command: &[String],
    work_dir: &Path,
    patience: Duration,
) -> anyhow::Result<Connected> {
    let Some((program, args)) = command.split_first() else {
        return Err(user("There is no command to start.", "Give one: attach -- kimi-tui --wire"));
    };
    let (started, input, output) = Started::new(program, args, work_dir)?;
    let connected = agree(output, input, work_dir.to_owned(), Some(started), patience).await;
    connected.with_context(|| format!("{} does not speak the wire", command.join(" ")))
}

/// Agrees with the server at the other end of a stream.
///
/// # Errors
/// In words for a person: it does not speak the wire.
pub async fn join(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    work_dir: PathBuf,
) -> anyhow::Result<Connected> {
    agree(from, to, work_dir, None, PATIENCE).await
}

async fn agree(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
    work_dir: PathBuf,
    mut started: Option<Started>,
    patience: Duration,
) -> anyhow::Result<Connected> {
    let greeted = greet(from, to, patience).await;
    let (lines, outbox, result, past) = match (greeted, &mut started) {
        (Ok(greeted), _) => greeted,
        (Err(error), Some(started)) => {
            // What it says last may come a moment after its end.
            if error.is::<Ended>() {
                let _ = started.status().await;
            }
            return Err(anyhow::anyhow!("{error}{}", started.last_words()));
        }
        (Err(error), None) => return Err(error),
    };
    let is_ours = result.get("kimi_tui").is_some();
    let is_working = result.pointer("/kimi_tui/is_working") == Some(&Value::Bool(true));
    let takes_turns = result["kimi_tui"]["methods"]
        .as_array()
        .is_some_and(|methods| methods.contains(&json!("kimi_tui/take_pen")));
    let mut info = session_info(&result, work_dir);
    if takes_turns {
        info.slash_commands.push(SlashCommand {
            name: "pen".to_owned(),
            description: "Be the screen of this session that may act".to_owned(),
            aliases: Vec::new(),
        });
    }
    let mut inference = Inference::new(is_ours);
    let mut events = Vec::new();
    for params in past {
        let at = params.get("timestamp").and_then(Value::as_f64).unwrap_or_else(now);
        if let Ok(event) = serde_json::from_value::<Event>(params) {
            let all = inference.see(event).into_iter();
            events.extend(all.map(|message| Recorded { timestamp: at, message }));
        }
    }
    let (messages, receiver) = mpsc::unbounded_channel();
    if is_working {
        // The turn that runs is news: the screen shows it as one that runs.
        let is_begin = |one: &Recorded| matches!(one.message, Event::TurnBegin(_));
        let begin = events.iter().rposition(is_begin).unwrap_or(events.len());
        for recorded in events.split_off(begin) {
            let _ = messages.send(DoorMessage::Event(recorded.message));
        }
    }
    if takes_turns && result["kimi_tui"]["holds_pen"] == false {
        let told = "Another screen has the pen of this session: you look on. /pen takes it.";
        let _ = messages.send(DoorMessage::Refused(told.to_owned()));
    }
    let (commands, inbox) = CommandSender::channel();
    let link = Link::new(lines, outbox, messages, inference, (is_ours, takes_turns), started);
    tokio::spawn(link.run(inbox));
    let door = Door { info: Arc::new(info), commands, messages: receiver };
    Ok(Connected { door, story: Story { events, bad_lines: 0 } })
}

/// What a server answered to the greeting, and the events of its past.
type Greeted<R> = (LineReader<R>, Outbox, Value, Vec<Value>);

/// It ended instead of answering.
#[derive(Debug, thiserror::Error)]
#[error("It ended without an answer.")]
struct Ended;

async fn greet<R: AsyncRead + Unpin>(
    from: R,
    to: impl AsyncWrite + Unpin + Send + 'static,
    patience: Duration,
) -> anyhow::Result<Greeted<R>> {
    let mut lines = LineReader::new(from, LONGEST_LINE);
    let outbox = Outbox::default();
    let writer = outbox.clone();
    tokio::spawn(async move { writer.write(to).await });
    let greeting = json!({
        "protocol_version": PROTOCOL_VERSION,
        "client": { "name": "kimi-tui", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": {
            "supports_question": true, "supports_plan_mode": true, "kimi_tui": true,
        },
    });
    let ask = |id: &str, method: &str, params: &Value| {
        outbox.push(&rpc::request(&Id::Text(id.to_owned()), method, params));
    };
    ask("hello", "initialize", &greeting);
    let result = answer(&mut lines, "hello", patience, &mut |_| {}).await?;
    let result = result.map_err(|error| anyhow::anyhow!("It refused: {}", error.message))?;
    ask("past", "replay", &json!({}));
    let mut past = Vec::new();
    // One that cannot tell the past has none.
    let _ = answer(&mut lines, "past", patience, &mut |params| past.push(params)).await?;
    Ok((lines, outbox, result, past))
}

/// Reads to the answer to `id`; events on the way go to `hear`. Each line may take `patience`.
async fn answer<R: AsyncRead + Unpin>(
    lines: &mut LineReader<R>,
    id: &str,
    patience: Duration,
    hear: &mut (dyn FnMut(Value) + Send),
) -> anyhow::Result<Result<Value, rpc::RpcError>> {
    loop {
        let line = tokio::time::timeout(patience, lines.next()).await.map_err(|_| {
            anyhow::anyhow!("It did not answer within {} seconds.", patience.as_secs())
        })?;
        let line = match line? {
            Some(Line::Whole(line)) => line,
            Some(Line::TooLong) => continue,
            None => return Err(Ended.into()),
        };
        match rpc::parse(&line) {
            Ok(Incoming::Response { id: Some(Id::Text(of)), result }) if of == id => {
                return Ok(result);
            }
            Ok(Incoming::Notification { method, params }) if method == "event" => hear(params),
            Ok(_) => {}
            Err(_) => anyhow::bail!("It said something that is no message."),
        }
    }
}

fn session_info(result: &Value, work_dir: PathBuf) -> SessionInfo {
    let told = result.pointer("/kimi_tui/session").cloned();
    if let Some(info) = told.and_then(|info| serde_json::from_value(info).ok()) {
        return info;
    }
    let commands = result.get("slash_commands").cloned().unwrap_or_default();
    SessionInfo {
        work_dir,
        agent: result.pointer("/server/name").and_then(Value::as_str).unwrap_or("agent").to_owned(),
        slash_commands: serde_json::from_value(commands).unwrap_or_default(),
        ..SessionInfo::default()
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64())
}

/// A request as it came, where it is one we know.
fn request_of(params: Value) -> Option<Request> {
    serde_json::from_value(params).ok()
}
