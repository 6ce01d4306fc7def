//! Tools: what the agent can do. One file a tool; the registry knows them all.

mod ask_user;
mod background;
mod bash;
mod birth;
mod blocking;
mod call;
#[cfg(test)]
mod cancel_tests;
mod diff;
mod edit_file;
mod equipment;
mod errand;
#[cfg(test)]
mod escape_tests;
mod fetch_url;
mod file_change;
mod files_seen;
mod firm;
#[cfg(test)]
mod fuzz_tests;
mod glob;
#[cfg(test)]
mod greet;
mod grep;
mod ls;
mod notifier;
mod output;
mod path;
mod plan;
pub(crate) mod process;
mod read_file;
mod read_media_file;
mod registry;
mod schema;
mod search_web;
mod send_dmail;
mod service;
mod task;
mod tasks;
#[cfg(test)]
pub(crate) mod testing;
mod think;
mod todo;
mod tool;
mod typed;
mod watch;
mod write_file;

pub use background::BackgroundTasks;
pub(crate) use background::{Ended, TaskHandle};
pub use call::call_tool;
pub use equipment::Equipment;
pub use errand::Errand;
pub use files_seen::FilesSeen;
pub use notifier::{Note, Notifier, TaskNote};
pub use registry::{Toolset, UnknownTool};
pub(crate) use tasks::{block as task_block, facts as task_facts};
pub use tool::{
    Answers, Approval, ApprovalAsk, DMail, Delegation, LiveOutput, Tool, ToolContext, ToolServices,
};
