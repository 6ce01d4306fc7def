//! What was, told again: the session's record as events.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rpc::{self, Id, Outbox};
use crate::wire::record::{self, Recorded, StoryEnd};
use crate::wire::{Event, Request};

/// Bytes that may wait for the reader before more is told.
const MANY: usize = 1 << 20;

/// What is told.
pub(super) struct Source {
    /// The session's folder.
    pub(super) folder: PathBuf,
    /// How far.
    pub(super) end: StoryEnd,
}

/// How much was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Told {
    events: u64,
    requests: u64,
    cancelled: bool,
}

/// An event as it is told to a client of ours: with its time.
#[derive(Serialize)]
struct Timed<'a> {
    timestamp: f64,
    #[serde(flatten)]
    event: &'a Event,
}

/// Tells the record into `outbox`, not faster than it is read.
pub(super) async fn tell(
    source: Source,
    is_ours: bool,
    outbox: Outbox,
    cancel: CancellationToken,
) -> Result<Told, String> {
    let read = move || record::read_story_until(&source.folder, source.end);
    let story = tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    let mut told = Told::default();
    for recorded in story.events {
        if outbox.bytes() > MANY {
            tokio::select! {
                () = outbox.until(MANY / 4) => {}
                () = cancel.cancelled() => {}
            }
        } else {
            tokio::task::coop::consume_budget().await;
        }
        if cancel.is_cancelled() {
            told.cancelled = true;
            break;
        }
        one(&recorded, is_ours, &outbox, &mut told);
    }
    Ok(told)
}

fn one(recorded: &Recorded, is_ours: bool, outbox: &Outbox, told: &mut Told) {
    let event = &recorded.message;
    if !event.is_standard() && !is_ours {
        return;
    }
    // Older records have requests among the events.
    if let Event::Unknown(value) = event
        && let Ok(request) = serde_json::from_value::<Request>(value.clone())
        && !matches!(request, Request::Unknown(_))
        && let Some(id) = request.id()
    {
        outbox.push(&rpc::request(&Id::Text(id.to_owned()), "request", &request));
        told.requests += 1;
        return;
    }
    if is_ours {
        let timed = Timed { timestamp: recorded.timestamp, event };
        outbox.push(&rpc::notification("event", &timed));
    } else {
        outbox.push(&rpc::notification("event", event));
    }
    told.events += 1;
}

/// The answer to a replay.
pub(super) fn result(told: Told) -> Value {
    let status = if told.cancelled { "cancelled" } else { "finished" };
    json!({ "status": status, "events": told.events, "requests": told.requests })
}
