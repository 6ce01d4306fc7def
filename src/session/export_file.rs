//! Writing a session's document to a file that is not there yet.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::SessionError;
use super::store::Session;
use super::{export_html, export_markdown, export_zip};
use crate::files;

/// What a document of a session looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Markdown.
    Markdown,
    /// One HTML page.
    Html,
    /// All files of the session.
    Zip,
}

impl ExportFormat {
    /// All of them, as they are offered.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Html, Self::Zip];

    /// Its name for a person.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Html => "HTML page",
            Self::Zip => "zip of all files",
        }
    }

    /// What the ending of `path` says.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            "zip" => Some(Self::Zip),
            _ => None,
        }
    }
}

/// Writes `session` to `path`, which may be a folder, or else to a file of a made name in `folder`.
/// Returns the file. Nothing is written over.
///
/// # Errors
/// When there is such a file, nothing was said, or files cannot be read or written.
pub fn export_file(
    session: &Session,
    format: ExportFormat,
    folder: &Path,
    path: Option<&Path>,
) -> Result<PathBuf, SessionError> {
    let now = SystemTime::now();
    let at = |name: String| match path.map(|path| folder.join(path)) {
        Some(path) if path.is_dir() => path.join(name),
        Some(path) => path,
        None => folder.join(name),
    };
    let exported = match format {
        ExportFormat::Markdown => export_markdown(session, now)?,
        ExportFormat::Html => export_html(session, now)?,
        ExportFormat::Zip => {
            let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
            let local = time.to_zoned(jiff::tz::TimeZone::system());
            let id = session.id.short();
            let file = at(format!("kimi-export-{id}-{}.zip", local.strftime("%Y%m%d-%H%M%S")));
            export_zip(session, &file)?;
            return Ok(file);
        }
    };
    let file = at(exported.file_name);
    if file.exists() {
        return Err(SessionError::Refused {
            what: format!("cannot export to {}", file.display()),
            reason: "there is a file of that name",
            advice: "Choose another name.",
        });
    }
    files::write_atomic_shared(&file, exported.text.as_bytes())
        .map_err(SessionError::io("write", &file))?;
    Ok(file)
}
