//! Tools: what the agent can do. One file a tool; The registry knows them all.

mod tool;

pub use tool::{Approval, ApprovalAsk, DMail, LiveOutput, Tool, ToolContext, ToolServices};
