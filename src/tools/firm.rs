//! Files that are what they were when they were looked at: opened without waiting for anybody, and
//! written to the folder that was decided about, whatever stands at its path by then.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};

/// Attempts at finding a free name for a new file.
const ATTEMPTS: usize = 16;

/// Opens a regular file to read it. What became a pipe or a device since it was looked at is an
/// error; nothing waits for the other end of a pipe.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    regular(file)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}

/// A folder, held open: names below it mean what they meant when it was opened.
pub(crate) struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at `path`, which is absolute and has no links: a link on the way, put there
    /// since the path was resolved, is an error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut folder = openat(CWD, "/", FOLDER, Mode::empty())?;
        for part in path.components() {
            match part {
                Component::RootDir => {}
                Component::Normal(name) => {
                    folder = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
                }
                _ => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
            }
        }
        Ok(Self(folder))
    }

    /// The content of the regular file `name`; `None` when there is none. A link is an error.
    pub fn read(&self, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
        match self.file(name) {
            Ok(mut file) => {
                let mut content = Vec::new();
                file.read_to_end(&mut content)?;
                Ok(Some(content))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        regular(File::from(openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Replaces the file `name`: a reader sees the old or the new one, and a crash leaves one of them.
    /// The mode stays; a new file gets what the umask gives.
    pub fn replace(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let mode = self.file(name).and_then(|file| file.metadata()).map(|meta| meta.mode()).ok();
        let (mut file, temporary) = self.temporary()?;
        let written = (|| {
            file.write_all(content)?;
            if let Some(mode) = mode {
                file.set_permissions(PermissionsExt::from_mode(mode & 0o7777))?;
            }
            file.sync_all()?;
            renameat(&self.0, &temporary, &self.0, name)?;
            // Some file systems cannot sync a folder; the file itself is on disk.
            let _ = openat(&self.0, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .and_then(rustix::fs::fsync);
            Ok(())
        })();
        if written.is_err() {
            let _ = unlinkat(&self.0, &temporary, AtFlags::empty());
        }
        written
    }

    fn temporary(&self) -> io::Result<(File, String)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = format!(".tmp{:016x}", fastrand::u64(..));
            match openat(&self.0, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok((File::from(file), name)),
                Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

/// How folders on the way are opened: to go through one needs no right to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_in_the_folder_that_was_opened() {
        let temp = tempfile::tempdir().expect("folder");
        let root = temp.path().canonicalize().expect("root");
        std::fs::create_dir_all(root.join("a/b")).expect("folders");
        std::fs::create_dir(root.join("evil")).expect("folder");
        let folder = Folder::open(&root.join("a/b")).expect("open");
        // The folder moves away, and a link takes its place.
        std::fs::rename(root.join("a/b"), root.join("a/c")).expect("move");
        symlink(root.join("evil"), root.join("a/b")).expect("link");
        folder.replace("x".as_ref(), b"new").expect("replace");
        assert_eq!(std::fs::read(root.join("a/c/x")).expect("file"), b"new");
        assert_eq!(std::fs::read_dir(root.join("evil")).expect("list").count(), 0);
        assert_eq!(std::fs::read_dir(root.join("a/c")).expect("list").count(), 1);
        assert!(Folder::open(&root.join("a/b")).is_err());
        symlink("x", root.join("a/c/link")).expect("link");
        assert!(folder.read("link".as_ref()).is_err());
        assert_eq!(folder.read("none".as_ref()).expect("none"), None);
    }
}
