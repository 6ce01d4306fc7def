//! Tools: what the agent can do. One file a tool; the registry knows them all.

mod ask_user;
mod bash;
mod blocking;
mod call;
mod diff;
mod edit_file;
mod file_change;
mod glob;
mod grep;
mod ls;
mod notifier;
mod output;
mod path;
mod plan;
pub(crate) mod process;
mod read_file;
mod registry;
mod schema;
mod send_dmail;
#[cfg(test)]
pub(crate) mod testing;
mod think;
mod todo;
mod tool;
mod typed;
mod write_file;

pub use call::call_tool;
pub use notifier::{Note, Notifier, TaskNote};
pub use registry::{Toolset, UnknownTool};
pub use tool::{
    Answers, Approval, ApprovalAsk, DMail, LiveOutput, Tool, ToolContext, ToolServices,
};
