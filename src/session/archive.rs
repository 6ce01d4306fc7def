//! A session's folder as a zip file, to be sent or kept.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use super::error::SessionError;
use super::store::Session;

/// Writes every file of `session` to a new zip file at `path`, with a `manifest.json` that says what
/// it is. Logs, configuration and keys are not in it; what was said and seen is. Returns the number
/// of files.
///
/// # Errors
/// When `path` is there already, or files cannot be read or written; then nothing is left.
pub fn export_zip(session: &Session, path: &Path) -> Result<usize, SessionError> {
    if path.exists() {
        return Err(SessionError::Refused {
            what: format!("cannot export to {}", path.display()),
            reason: "there is a file of that name",
            advice: "Choose another name.",
        });
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().tempfile_in(folder);
    let mut file = file.map_err(SessionError::io("write in", folder))?;
    let count = write(session, file.as_file_mut()).map_err(SessionError::io("export to", path))?;
    file.persist_noclobber(path).map_err(|error| SessionError::io("write", path)(error.error))?;
    Ok(count)
}

fn write(session: &Session, out: &mut File) -> io::Result<usize> {
    let mut zip = ZipWriter::new(out);
    let manifest = json!({
        "session_id": session.id,
        "work_dir": session.work_dir,
        "title": session.summary().title,
        "program": "kimi-tui",
        "version": env!("CARGO_PKG_VERSION"),
    });
    zip.start_file("manifest.json", options()).map_err(plain)?;
    zip.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    let count = add_folder(&mut zip, &session.dir, &PathBuf::new())?;
    zip.finish().map_err(plain)?.sync_all()?;
    Ok(count)
}

/// Adds files and folders; links and devices are left out, and so is the lock.
fn add_folder<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    folder: &Path,
    name: &Path,
) -> io::Result<usize> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut count = 0;
    for entry in entries {
        let (kind, name) = (entry.file_type()?, name.join(entry.file_name()));
        if kind.is_dir() {
            count += add_folder(zip, &entry.path(), &name)?;
        } else if kind.is_file() && entry.file_name() != ".lock" {
            zip.start_file(name.to_string_lossy(), options()).map_err(plain)?;
            io::copy(&mut File::open(entry.path())?, zip)?;
            count += 1;
        }
    }
    Ok(count)
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().large_file(true).unix_permissions(0o600)
}

fn plain(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}
