//! Sessions on disk: where they are, which there are, who holds one, what they are called.
//!
//! The layout and the files are the Python program's; `docs/sessions.md` has them. What a session
//! says is `context`'s and `wire::record`'s; running one is `engine`'s.

mod error;
mod history;
mod lock;
mod metadata;
mod peek;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod title;

pub use error::SessionError;
pub use history::InputHistory;
pub use lock::SessionLock;
pub use state::SessionState;
pub use store::{Session, SessionStore, SessionSummary};
pub use title::short_title;
