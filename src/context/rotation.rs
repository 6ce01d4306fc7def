//! How `context.jsonl` is exchanged for a new one without a moment in which a kill loses anything.
//!
//! The order is: write `context.jsonl.next` and sync it, link the old file as the next free
//! `context_N.jsonl`, rename `.next` over `context.jsonl`. Until the rename the old file is the one
//! that counts. Where there are no links the old file is copied to `context.jsonl.copy` instead and
//! gets its number after the rename, so that a copy beside a `.next` is void and one alone is an old
//! generation. [`clean_up`] finishes or undoes what a kill left.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::disk;

/// A part of a new file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many bytes from the start of the old file.
    Old(u64),
    /// So many bytes from the start of this file.
    From(&'a Path, u64),
}

/// `path` with `suffix` after its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(suffix);
    path.with_file_name(name)
}

/// Where the new file is made.
pub(super) fn next_path(path: &Path) -> PathBuf {
    beside(path, ".next")
}

/// Where a copy of the old file is made on a disk without hard links.
fn copy_path(path: &Path) -> PathBuf {
    beside(path, ".copy")
}

/// `context_N.jsonl` beside `path`.
pub(super) fn rotated_path(path: &Path, number: u64) -> PathBuf {
    path.with_file_name(format!("context_{number}.jsonl"))
}

/// The highest N of the `context_N.jsonl` in `folder`; 0 when there is none or no such folder.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn highest(folder: &Path) -> io::Result<u64> {
    Ok(numbers(folder)?.last().copied().unwrap_or(0))
}

/// Every N of the `context_N.jsonl` in `folder`, rising.
///
/// # Errors
/// When the folder cannot be read. One that is missing has none.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        numbers.extend(entry?.file_name().to_str().and_then(number_of));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("context_")?.strip_suffix(".jsonl")?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Writes and syncs the new file beside the old one, and returns it with its length, open for
/// appending.
///
/// # Errors
/// When that fails; the caller calls [`discard`].
pub(super) fn write_next(path: &Path, pieces: &[Piece<'_>]) -> io::Result<(File, u64)> {
    let next = next_path(path);
    disk::remove_if_there(&next)?;
    let mut new = disk::create_new(&next)?;
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => disk::write(&mut new, bytes)?,
            Piece::Old(length) => copy_start(path, *length, &mut new)?,
            Piece::From(other, length) => copy_start(other, *length, &mut new)?,
        }
    }
    if let Ok(old) = fs::metadata(path) {
        disk::set_permissions(&new, old.permissions())?;
    }
    disk::sync_all(&new)?;
    let length = new.metadata()?.len();
    Ok((disk::open_append(&next)?, length))
}

fn copy_start(from: &Path, length: u64, to: &mut File) -> io::Result<()> {
    let copied = disk::pour(&mut File::open(from)?.take(length), to)?;
    if copied == length {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the old file has become shorter"))
    }
}

/// How the old file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It has a second name: `context_N.jsonl` with this N.
    Linked(u64),
    /// There is a copy of it, which is to get this number.
    Copied(u64),
}

/// Keeps the old file for the first free N from `number` on. What is kept is on disk when this
/// returns.
///
/// # Errors
/// When neither a link nor a copy can be made.
pub(super) fn keep_old(path: &Path, number: u64) -> io::Result<Kept> {
    let mut number = number;
    let kept = loop {
        match disk::hard_link(path, &rotated_path(path, number)) {
            Ok(()) => break Kept::Linked(number),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number = number.checked_add(1).ok_or(error)?;
            }
            // Not every file system has links, and each says so in its own way.
            Err(_) => {
                copy_old(path)?;
                break Kept::Copied(number);
            }
        }
    };
    if let Err(error) = sync_parent(path) {
        discard(path, Some(kept));
        return Err(error);
    }
    Ok(kept)
}

/// Copies the old file to its passing name.
pub(super) fn copy_old(path: &Path) -> io::Result<()> {
    let copy = copy_path(path);
    disk::copy(path, &copy)?;
    disk::sync_all(&File::open(&copy)?)
}

/// Puts the new file in the place of the old one, and returns the number of the latter.
///
/// # Errors
/// When it cannot be renamed; the old file is then still in its place.
pub(super) fn commit(path: &Path, kept: Option<Kept>) -> io::Result<Option<u64>> {
    disk::rename(&next_path(path), path)?;
    Ok(match kept {
        None => None,
        Some(Kept::Linked(number)) => Some(number),
        Some(Kept::Copied(number)) => {
            // The exchange is done; what fails here is made good by the next `clean_up`.
            if let Err(error) = disk::rename(&copy_path(path), &rotated_path(path, number)) {
                tracing::warn!(path = %path.display(), %error, "cannot number the old context");
            }
            Some(number)
        }
    })
}

/// Takes back what was done before a [`commit`] that did not come. The new file goes last: without
/// it a copy would pass for an old generation.
pub(super) fn discard(path: &Path, kept: Option<Kept>) {
    let undone = match kept {
        Some(Kept::Linked(number)) => disk::remove_if_there(&rotated_path(path, number)),
        _ => disk::remove_if_there(&copy_path(path)),
    };
    if let Err(error) = undone.and_then(|()| disk::remove_if_there(&next_path(path))) {
        tracing::warn!(path = %path.display(), %error, "cannot remove a half-made new context");
    }
}

/// Finishes or undoes what a kill between the steps of an exchange left.
///
/// # Errors
/// When the folder cannot be read or written. The session can be opened all the same.
pub(super) fn clean_up(path: &Path) -> io::Result<()> {
    let next = next_path(path);
    let copy = copy_path(path);
    let number = highest(path.parent().unwrap_or_else(|| Path::new(".")))?;
    let linked = rotated_path(path, number);
    // A second name of the living file is never an old generation.
    if number > 0 && same_file(path, &linked)? {
        disk::remove_if_there(&linked)?;
    }
    if next.try_exists()? {
        disk::remove_if_there(&copy)?;
        disk::remove_if_there(&next)?;
    } else if copy.try_exists()? {
        disk::rename(&copy, &rotated_path(path, number.saturating_add(1)))?;
    }
    Ok(())
}

/// Moves what follows byte `from` of `file` to `context.jsonl.torn`, and cuts it off.
///
/// # Errors
/// When it cannot be kept; then it is not cut off either.
pub(super) fn move_tail(path: &Path, file: &mut File, from: u64) -> io::Result<()> {
    let mut torn = disk::open_append(&beside(path, ".torn"))?;
    file.seek(SeekFrom::Start(from))?;
    disk::pour(file, &mut torn)?;
    disk::write(&mut torn, b"\n")?;
    disk::sync_all(&torn)?;
    disk::cut(file, from)
}

/// Makes names in the folder of `path` last.
///
/// # Errors
/// When the folder cannot be synced.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), disk::sync_folder)
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (Some(one), Some(other)) = (metadata(one)?, metadata(other)?) else { return Ok(false) };
    Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

fn metadata(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
