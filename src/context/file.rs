//! `context.jsonl` as a file that only grows by whole writes, or is exchanged whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::disk;
use super::error::ContextError;
use super::load::{Loaded, Tail};
use super::rotation::{self, Kept, Piece};

/// The file, and how much of it is ours to build on.
#[derive(Debug)]
pub(super) struct ContextFile {
    path: PathBuf,
    /// Opened with the first write.
    file: Option<File>,
    /// Bytes that hold whole records.
    length: u64,
    /// Bytes altogether, as far as we know.
    on_disk: u64,
    tail: Tail,
    /// Is there a file at all?
    exists: bool,
    /// Does the folder hold a new name that is not synced yet?
    new_name: bool,
    /// Opened for reading only.
    is_forbidden: bool,
}

impl ContextFile {
    /// A file that is not there yet.
    pub(super) fn missing(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            length: 0,
            on_disk: 0,
            tail: Tail::Whole,
            exists: false,
            new_name: false,
            is_forbidden: false,
        }
    }

    /// A file that has just been read.
    pub(super) fn read(path: PathBuf, loaded: &Loaded) -> Self {
        Self {
            length: loaded.length,
            on_disk: loaded.on_disk,
            tail: loaded.tail,
            exists: true,
            ..Self::missing(path)
        }
    }

    /// Refuses every change from now on.
    pub(super) fn forbid(&mut self) {
        self.is_forbidden = true;
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that hold whole records: where the next one begins, once [`Self::ready`].
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Does the file end as it should?
    pub(super) fn is_whole(&self) -> bool {
        self.tail == Tail::Whole
    }

    /// Opens the file and brings its end in order.
    ///
    /// # Errors
    /// When that fails, or when another program has been at the file.
    pub(super) fn ready(&mut self) -> Result<(), ContextError> {
        if self.is_forbidden {
            return Err(ContextError::ReadOnly { path: self.path.clone() });
        }
        if self.file.is_none() {
            let file = disk::open_append(&self.path);
            self.file = Some(file.map_err(ContextError::io("open", &self.path))?);
            self.new_name |= !self.exists;
            self.exists = true;
        }
        self.check_unchanged()?;
        let mended = match self.tail {
            Tail::Whole => Ok(()),
            Tail::NoNewline => self.write(b"\n").map(|()| self.length += 1),
            Tail::Torn => match &mut self.file {
                Some(file) => rotation::move_tail(&self.path, file, self.length),
                None => Ok(()),
            },
            Tail::GivenUp => self.cut(),
        };
        mended.map_err(ContextError::io("mend the end of", &self.path))?;
        self.tail = Tail::Whole;
        self.on_disk = self.length;
        Ok(())
    }

    /// Adds `bytes`, which are whole lines, in one write.
    ///
    /// # Errors
    /// When they are not all there; then none of them is.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), ContextError> {
        self.ready()?;
        if let Err(error) = self.write(bytes) {
            self.tail = Tail::GivenUp;
            if self.cut().is_ok() {
                self.tail = Tail::Whole;
            }
            return Err(ContextError::io("append to", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        self.on_disk = self.length;
        Ok(())
    }

    /// Exchanges the content for `pieces`. With `keep_as` the old file stays as the first free
    /// `context_N.jsonl` from that N on, and that N is returned.
    ///
    /// # Errors
    /// When that fails; the file is then as it was.
    pub(super) fn exchange(
        &mut self,
        pieces: &[Piece<'_>],
        keep_as: Option<u64>,
    ) -> Result<Option<u64>, ContextError> {
        self.ready()?;
        let mut kept = None;
        let made = self.prepare(pieces, keep_as, &mut kept).and_then(|new| {
            let number = rotation::commit(&self.path, kept)?;
            Ok((new, number))
        });
        match made {
            Ok(((file, length), number)) => {
                self.file = Some(file);
                self.length = length;
                self.on_disk = length;
                // The exchange is done; if the folder cannot be synced now, `sync` says so.
                self.new_name = rotation::sync_parent(&self.path).is_err();
                if let Some(number) = number {
                    let kept = rotation::rotated_path(&self.path, number);
                    tracing::info!("Rotated context file: {}", kept.display());
                }
                Ok(number)
            }
            Err(error) => {
                rotation::discard(&self.path, kept);
                Err(ContextError::io("write a new version of", &self.path)(error))
            }
        }
    }

    fn prepare(
        &self,
        pieces: &[Piece<'_>],
        keep_as: Option<u64>,
        kept: &mut Option<Kept>,
    ) -> io::Result<(File, u64)> {
        rotation::clean_up(&self.path)?;
        let new = rotation::write_next(&self.path, pieces)?;
        if let Some(number) = keep_as {
            if let Some(file) = &self.file {
                disk::sync_all(file)?;
            }
            *kept = Some(rotation::keep_old(&self.path, number)?);
        }
        Ok(new)
    }

    /// Waits until everything is on the disk itself.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub(super) fn sync(&mut self) -> Result<(), ContextError> {
        let Some(file) = &self.file else { return Ok(()) };
        disk::sync_data(file).map_err(ContextError::io("sync", &self.path))?;
        if self.new_name {
            rotation::sync_parent(&self.path)
                .map_err(ContextError::io("sync the folder of", &self.path))?;
            self.new_name = false;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::ErrorKind::NotFound.into()) };
        disk::write(file, bytes)
    }

    /// Drops what is behind the last whole record.
    fn cut(&mut self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| disk::cut(file, self.length))
    }

    /// The Python program knows no lock, and a person has an editor: writing on would mix two
    /// conversations, or go to a file that is no longer `context.jsonl`.
    fn check_unchanged(&self) -> Result<(), ContextError> {
        let Some(file) = &self.file else { return Ok(()) };
        let ours = file.metadata().map_err(ContextError::io("look at", &self.path))?;
        let same_length =
            ours.len() == self.on_disk || (self.tail == Tail::GivenUp && ours.len() >= self.length);
        let there = match fs::metadata(&self.path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(ContextError::io("look at", &self.path)(error)),
        };
        let same_file = there.is_some_and(|there| is_same(&ours, &there));
        if same_length && same_file {
            Ok(())
        } else {
            Err(ContextError::Changed { path: self.path.clone() })
        }
    }
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    one.len() == other.len()
}
