//! What the model is given: `context.jsonl` and its twin in memory.
//!
//! [`Context`] keeps the two equal: append, restore, checkpoint, revert, clear, replace.
//! [`compaction`] is the pure part of summarising a long one, [`rewrite`] shortens one without a model. When to do any of that is for `soul`
//! to say, and who may open a session's context at all for `session` (its lock).

pub mod compaction;
mod error;
mod file;
mod fork;
pub mod generations;
mod head;
pub mod hide;
pub mod ledger;
mod load;
mod memory;
pub mod pin;
mod record;
pub mod rewrite;
mod rotation;
mod store;
#[cfg(test)]
mod tests;
mod timeline;
mod travel;

use crate::files::disk;
pub use crate::message::estimate_tokens;
pub use error::ContextError;
pub(crate) use fork::fork;
pub use generations::GenerationInfo;
pub(crate) use head::read_head;
pub use load::{BadLine, OpenReport};
pub use memory::Checkpoint;
pub use store::Context;

/// File name of the context in a session's folder.
pub const CONTEXT_FILE: &str = "context.jsonl";
