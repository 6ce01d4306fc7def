//! Every way in which a session's files are changed, one function each, so that a test can make any
//! of them fail or be the last thing a program did.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// What is done to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Open,
    Create,
    Write,
    Sync,
    Link,
    Rename,
    Remove,
    Copy,
    Cut,
}

#[cfg(not(test))]
#[inline]
fn gate(_: Deed) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
fn gate(deed: Deed) -> io::Result<()> {
    plan::ask(deed).map_or(Ok(()), |fault| Err(fault.into()))
}

/// Opens `path` for appending, and makes it if it is not there.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    gate(Deed::Open)?;
    super::open_append_ungated(path)
}

/// Makes a new file for its owner only.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    gate(Deed::Create)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a file in `folder` that goes away unless it gets a name.
pub(crate) fn temporary(
    builder: &tempfile::Builder<'_, '_>,
    folder: &Path,
) -> io::Result<NamedTempFile> {
    gate(Deed::Create)?;
    builder.tempfile_in(folder)
}

/// Gives `file` the name `path`; one that was there goes.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    gate(Deed::Rename)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

pub(crate) fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    #[cfg(test)]
    if let Some(fault) = plan::ask(Deed::Write) {
        file.write_all(&bytes[..fault.written.min(bytes.len())])?;
        return Err(fault.into());
    }
    file.write_all(bytes)
}

/// Copies the rest of `from` to the end of `to`, and tells how many bytes that were.
pub(crate) fn pour(from: &mut impl Read, to: &mut File) -> io::Result<u64> {
    gate(Deed::Write)?;
    io::copy(from, to)
}

pub(crate) fn set_permissions(file: &File, permissions: Permissions) -> io::Result<()> {
    gate(Deed::Create)?;
    file.set_permissions(permissions)
}

pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    gate(Deed::Sync)?;
    // A test kills the program, not the machine, and makes thousands of files.
    if cfg!(test) { Ok(()) } else { file.sync_all() }
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    gate(Deed::Sync)?;
    if cfg!(test) { Ok(()) } else { file.sync_data() }
}

pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    gate(Deed::Sync)?;
    if cfg!(test) { Ok(()) } else { super::sync_folder(folder) }
}

pub(crate) fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    gate(Deed::Link)?;
    fs::hard_link(from, to)
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    gate(Deed::Rename)?;
    fs::rename(from, to)
}

pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    gate(Deed::Copy)?;
    fs::copy(from, to).map(drop)
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    gate(Deed::Remove)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Drops what is behind byte `length`.
pub(crate) fn cut(file: &File, length: u64) -> io::Result<()> {
    gate(Deed::Cut)?;
    file.set_len(length)
}

/// What goes wrong, and when, on this thread.
#[cfg(test)]
pub(crate) mod plan {
    use std::cell::RefCell;
    use std::io;

    use super::Deed;

    /// One deed that fails.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Fault {
        /// What the system says: an errno.
        pub(crate) errno: i32,
        /// Bytes that a write leaves all the same.
        pub(crate) written: usize,
    }

    impl From<Fault> for io::Error {
        fn from(fault: Fault) -> Self {
            Self::from_raw_os_error(fault.errno)
        }
    }

    type Plan = Box<dyn FnMut(usize, Deed) -> Option<Fault>>;

    thread_local! {
        static PLAN: RefCell<(usize, Option<Plan>)> = const { RefCell::new((0, None)) };
    }

    /// Runs `work` while `plan`, which is given the number of each deed from 0, says what fails.
    /// Tells how many deeds there were.
    pub(crate) fn during<T>(
        plan: impl FnMut(usize, Deed) -> Option<Fault> + 'static,
        work: impl FnOnce() -> T,
    ) -> (T, usize) {
        begin(plan);
        let result = work();
        (result, end())
    }

    /// From now on `plan` says what fails, for work that is no function call.
    pub(crate) fn begin(plan: impl FnMut(usize, Deed) -> Option<Fault> + 'static) {
        PLAN.with(|slot| *slot.borrow_mut() = (0, Some(Box::new(plan))));
    }

    /// From now on nothing fails. Tells how many deeds there were.
    pub(crate) fn end() -> usize {
        PLAN.with(RefCell::take).0
    }

    pub(super) fn ask(deed: Deed) -> Option<Fault> {
        PLAN.with(|slot| {
            let (count, plan) = &mut *slot.borrow_mut();
            *count += 1;
            plan.as_mut()?(*count - 1, deed)
        })
    }
}
