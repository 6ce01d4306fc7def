//! Sessions on disk: where they are, which there are, who holds one, what they are called.
//!
//! The layout and the files are the Python program's; `docs/sessions.md` has them. What a session
//! says is `context`'s and `wire::record`'s; running one is `engine`'s.

mod archive;
mod error;
mod export;
mod fork;
pub mod generations;
mod history;
mod import;
pub mod index;
mod legacy;
mod lock;
mod metadata;
mod peek;
mod shelf;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod title;
mod trash;

pub use archive::export_zip;
pub use error::SessionError;
pub use export::{Exported, export_markdown};
pub use fork::{Fork, WireCut};
pub use history::InputHistory;
pub use import::{Imported, import_text};
pub use lock::{Holder, SessionLock};
pub use shelf::{FolderSessions, Place};
pub use state::SessionState;
pub use store::{Session, SessionStore, SessionSummary};
pub use title::short_title;
pub use trash::Trashed;
