//! Sessions on disk: where they are, which there are, who holds one, what they are called.
//!
//! The layout and the files are the Python program's; `docs/sessions.md` has them. What a session
//! says is `context`'s and `wire::record`'s; running one is `engine`'s.

mod archive;
mod error;
mod export;
mod export_file;
mod export_html;
mod fork;
pub mod generations;
mod history;
mod import;
mod import_zip;
pub mod index;
mod legacy;
mod lock;
mod metadata;
mod peek;
mod preview;
mod shelf;
mod snapshots;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod title;
mod trash;

pub use archive::export_zip;
pub use error::SessionError;
pub use export::{Exported, export_markdown};
pub use export_file::{ExportFormat, export_file};
pub use export_html::export_html;
pub use fork::{Fork, WireCut};
pub use history::InputHistory;
pub use import::{Imported, import_text};
pub use lock::{Holder, SessionLock};
pub use preview::{Preview, Said, disk_use};
pub use shelf::{FolderSessions, Place};
pub use state::SessionState;
pub use store::{Session, SessionStore, SessionSummary};
pub use title::short_title;
pub use trash::Trashed;
