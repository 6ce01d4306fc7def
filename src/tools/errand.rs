//! What a front end may do in this process's place: an editor knows files that are not saved yet, and
//! has terminals the person watches.

use std::path::Path;

use super::tool::ToolContext;
use super::typed::Failure;

/// Something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand<'a> {
    /// Give the text of a file.
    ReadText {
        /// The file, absolute.
        path: &'a Path,
    },
    /// Make this the text of a file.
    WriteText {
        /// The file, absolute.
        path: &'a Path,
        /// All of it.
        text: &'a str,
    },
    /// Run a command in the work folder.
    Run {
        /// For bash.
        command: &'a str,
        /// Seconds it may take.
        timeout: u64,
    },
}

/// The text of a file as the front end has it; none when it does not read files, or not this one.
pub(crate) async fn text_of(context: &ToolContext, path: &Path) -> Option<String> {
    let read = context.services.errand(context, Errand::ReadText { path }).await?;
    (!read.is_error).then(|| read.output.text())
}

/// Has the front end write `new` where `old` stands; false when it does not write files, or none
/// like these.
///
/// # Errors
/// When the file is not what it was, or cannot be written.
pub(crate) async fn write(
    context: &ToolContext,
    raw: &str,
    path: &Path,
    old: Option<&[u8]>,
    new: &[u8],
) -> Result<bool, Failure> {
    let Ok(text) = str::from_utf8(new) else { return Ok(false) };
    let now = text_of(context, path).await;
    if let (Some(now), Some(old)) = (&now, old)
        && now.as_bytes() != old
    {
        return Err(super::file_change::changed_meanwhile(raw));
    }
    let write = Errand::WriteText { path, text };
    match context.services.errand(context, write).await {
        None => Ok(false),
        Some(written) if written.is_error => Err(Failure::new(
            format!("`{raw}` was not written: {}", written.message),
            "File not written",
        )),
        Some(_) => Ok(true),
    }
}
