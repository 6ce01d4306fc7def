//! Starting the full screen.

use crate::engine::{Host, SessionChoice};
use crate::message::SessionId;

/// Runs the screen until the person leaves; gives the session that was open last.
pub(super) fn run(
    _host: Host,
    _session: SessionChoice,
    _first_prompt: Option<String>,
    _theme: String,
    _runtime: &tokio::runtime::Runtime,
) -> anyhow::Result<Option<SessionId>> {
    Err(crate::error::user("The screen is not built into this program.", "Use --print."))
}
