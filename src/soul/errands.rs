//! What the front end does in the engine's place, asked like a tool of its own.

use serde_json::json;

use super::client_tools::ClientTools;
use crate::message::ToolReturn;
use crate::tools::{Errand, ToolContext};
use crate::wire::Errands;

/// A front end that does errands.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    pub(super) does: Errands,
    pub(super) calls: ClientTools,
}

impl Runner {
    /// Has `errand` done; none when the front end does not do such things.
    pub(super) async fn run(
        &self,
        context: &ToolContext,
        errand: Errand<'_>,
    ) -> Option<ToolReturn> {
        let (name, arguments) = match errand {
            Errand::ReadText { path } if self.does.read_files => {
                (Errands::READ, json!({ "path": path }))
            }
            Errand::WriteText { path, text } if self.does.write_files => {
                (Errands::WRITE, json!({ "path": path, "text": text }))
            }
            Errand::Run { command, timeout } if self.does.run_commands => (
                Errands::RUN,
                json!({
                    "command": command, "timeout": timeout, "work_dir": context.work_dir,
                    "tool_call_id": context.call_id,
                }),
            ),
            _ => return None,
        };
        // Calls run side by side, and one may read and write.
        let id = uuid::Uuid::new_v4().to_string();
        Some(self.calls.call(name, &id, &arguments).await)
    }
}
