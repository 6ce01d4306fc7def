//! How this program writes files: atomically, and with JSON that looks like the Python program's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

pub(crate) mod disk;

use serde::Serialize;
use serde_json::ser::Formatter;

/// Whether non-ASCII characters are written as they are or as `\uXXXX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonAscii {
    /// As they are.
    Keep,
    /// As escapes, as Python's `json.dumps` does unless told otherwise.
    Escape,
}

/// Spaces after `:` and `,`, as Python's `json.dumps` puts them.
struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// `value` as one line of JSON with Python's spacing, without a newline.
///
/// # Errors
/// When `value` cannot be serialised.
pub fn python_json<T: Serialize>(value: &T, non_ascii: NonAscii) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, PythonFormatter))?;
    let text = String::from_utf8(bytes).map_err(serde::ser::Error::custom)?;
    Ok(match non_ascii {
        NonAscii::Keep => text,
        NonAscii::Escape if text.is_ascii() => text,
        NonAscii::Escape => escape_non_ascii(&text),
    })
}

fn escape_non_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 2);
    let mut units = [0_u16; 2];
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Replaces the file at `path` with `content`: a reader sees the old file or the new one, and a
/// crash leaves one of them. The new file is on disk when this returns.
///
/// # Errors
/// When the folder cannot be written; the old file is then untouched.
pub fn write_atomic(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, content, &tempfile::Builder::new())
}

/// Like [`write_atomic`], for the person's own files: a new file gets the mode the umask gives,
/// not the private one of this program's data.
///
/// # Errors
/// When the folder cannot be written; the old file is then untouched.
pub fn write_atomic_shared(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    replace(path, content, &builder)
}

fn replace(path: &Path, content: &[u8], builder: &tempfile::Builder<'_, '_>) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = disk::temporary(builder, folder)?;
    disk::write(file.as_file_mut(), content)?;
    // A temporary file has its own mode; a replaced one keeps the mode it had.
    if let Ok(old) = fs::metadata(path) {
        disk::set_permissions(file.as_file(), old.permissions())?;
    }
    disk::sync_all(file.as_file())?;
    disk::persist(file, path)?;
    disk::sync_folder(folder)
}

/// Makes a rename or a new name in `folder` last.
///
/// # Errors
/// When the folder cannot be opened.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes `path` and what is missing above it, for their owner only. One that is there stays as it is.
///
/// # Errors
/// When that is not allowed.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens `path` for appending whole lines, readable by its owner only; makes its folder.
///
/// # Errors
/// When that is not allowed.
pub fn open_append(path: &Path) -> io::Result<File> {
    disk::open_append(path)
}

fn open_append_ungated(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_looks_like_pythons() {
        let value =
            serde_json::json!({"role": "_checkpoint", "id": 0, "list": [1, 2], "s": "a, b: é😀"});
        assert_eq!(
            python_json(&value, NonAscii::Escape).expect("json"),
            r#"{"role": "_checkpoint", "id": 0, "list": [1, 2], "s": "a, b: \u00e9\ud83d\ude00"}"#
        );
    }

    #[test]
    fn an_atomic_write_replaces_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("deep/state.json");
        write_atomic(&path, b"one").expect("first");
        write_atomic(&path, b"two").expect("second");
        assert_eq!(fs::read(&path).expect("file"), b"two");
        assert_eq!(fs::read_dir(path.parent().expect("folder")).expect("list").count(), 1);
    }
}
