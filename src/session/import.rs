//! A file or another session as something the model is given to know.

use std::fs;
use std::path::Path;

use super::error::SessionError;
use super::export;
use super::store::SessionStore;
use crate::context::Context;
use crate::message::{Message, SessionId};

/// The largest file that is taken, in bytes (`kimi-cli` `utils/export.py`).
const LARGEST: u64 = 10 * 1024 * 1024;

/// What was read, ready to be added to a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Where it is from, in words.
    pub source: String,
    /// `<imported_context source="…">` with the text in it, as a person's message.
    pub message: Message,
    /// A guess at its tokens. Refuse it where they do not fit.
    pub tokens: u64,
}

/// Reads `what` for a session of `work_dir`: a text file (relative to `work_dir`), else the id of a
/// session of this or any folder.
///
/// # Errors
/// When it is neither, or no text, or too long, or cannot be read.
pub fn import_text(
    store: &SessionStore,
    work_dir: &Path,
    what: &str,
) -> Result<Imported, SessionError> {
    let path = work_dir.join(what);
    if path.is_file() {
        return wrap(&format!("file '{what}'"), &read_file(&path)?);
    }
    let id = SessionId(what.to_owned());
    let found = match store.find(work_dir, &id) {
        Err(SessionError::BadId { .. }) => None,
        found => found?,
    };
    let session = match found {
        Some(session) => Some(session),
        None => store.find_anywhere(&id)?.map(|summary| summary.session()),
    };
    let Some(session) = session else {
        return Err(refused(
            what,
            "there is no such file or session",
            "Give the path of a text file or the id of a session.",
        ));
    };
    let (context, _) = Context::open_read_only(&session.dir)?;
    let text = export::as_text(context.history());
    wrap(&format!("session '{}'", session.id), &text)
}

fn read_file(path: &Path) -> Result<String, SessionError> {
    let length = fs::metadata(path).map_err(SessionError::io("look at", path))?.len();
    let told = path.display().to_string();
    if length > LARGEST {
        return Err(refused(&told, "it is larger than 10 MB", "Give a part of it."));
    }
    let bytes = fs::read(path).map_err(SessionError::io("read", path))?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(refused(&told, "it is no text in UTF-8", "Convert it to text first.")),
    }
}

fn wrap(source: &str, text: &str) -> Result<Imported, SessionError> {
    if text.trim().is_empty() {
        return Err(refused(source, "there is nothing in it", "Give another one."));
    }
    let attribute = source.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let text = format!(
        "<imported_context source=\"{attribute}\">\n{}\n</imported_context>",
        text.trim_end_matches('\n')
    );
    let tokens = export::weight(&text);
    Ok(Imported { source: source.to_owned(), message: Message::user(text), tokens })
}

fn refused(what: &str, reason: &'static str, advice: &'static str) -> SessionError {
    SessionError::Refused { what: format!("cannot import {what}"), reason, advice }
}
