//! What the editor does in the engine's place: reading and writing files with what is not saved
//! yet, and commands in a terminal the person sees.

use agent_client_protocol_schema::v1 as acp;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::client::Client;
use crate::message::ToolReturn;
use crate::wire::{ToolCallAnswer, ToolCallRequest};

/// A call runs in a terminal.
pub(super) struct Seen {
    /// The call.
    pub(super) call: String,
    /// Where it runs.
    pub(super) terminal: acp::TerminalId,
    /// Done when the editor was told.
    pub(super) told: oneshot::Sender<()>,
}

/// Does what `call` asks for.
pub(super) async fn serve(
    client: &Client,
    session: &str,
    call: &ToolCallRequest,
    seen: &UnboundedSender<Seen>,
) -> ToolCallAnswer {
    let _ = (client, session, seen);
    let why = format!("The editor has no tool {}.", call.name);
    ToolCallAnswer {
        tool_call_id: call.id.clone(),
        return_value: ToolReturn::error(why.clone(), why),
    }
}
