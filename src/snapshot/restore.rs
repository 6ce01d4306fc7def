//! Carrying a plan out: all of it or nothing, and after a kill at any point finished at the next
//! start.
//!
//! What is about to be done is written to `snapshots.restore` first. Every single change of the
//! workspace is one that leaves a path as it was or as it is to be; so whoever finds that file knows
//! what is left to do. Links are never followed.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::capture::{Keep, capture, look};
use super::journal::{By, Change, Journal, Record, Rewound, Step};
use super::node::{Node, mode_of};
use super::store::Store;
use crate::files;

/// Says what is being restored, while it is.
pub const RESTORE_FILE: &str = "snapshots.restore";

/// A restoration under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    rewound: Rewound,
}

/// Called before every write. An error from it is a failure of that write; tests make it one, or a
/// kill ([`is_kill`]).
pub(crate) type Gate<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;

/// A gate that lets everything pass.
pub(crate) fn open_gate(_: &str) -> io::Result<()> {
    Ok(())
}

/// Does `error` stand for the death of the program? Then nothing is undone.
fn is_kill(error: &io::Error) -> bool {
    cfg!(test) && error.kind() == io::ErrorKind::Interrupted
}

/// Carries out `rewound`. On an error nothing has been changed.
///
/// # Errors
/// When a content is missing or damaged, a path has changed since it was planned, or the disk fails.
pub(crate) fn restore(
    dir: &Path,
    store: &mut Store,
    journal: &mut Journal,
    rewound: Rewound,
    gate: Gate<'_>,
) -> io::Result<()> {
    if rewound.steps.is_empty() {
        return Ok(());
    }
    for step in &rewound.steps {
        check(store, step)?;
    }
    let order = Order { rewound };
    let paper = dir.join(RESTORE_FILE);
    gate("order")?;
    files::write_atomic(&paper, &serde_json::to_vec(&order)?)?;
    if let Err(error) = apply(store, &order.rewound.steps, gate) {
        if is_kill(&error) {
            return Err(error);
        }
        let back: Vec<Step> = order.rewound.steps.iter().map(reversed).collect();
        if let Err(second) = apply(store, &back, &mut open_gate) {
            // The order stays: the next start tries again.
            return Err(io::Error::other(format!("{error}; undoing it failed too: {second}")));
        }
        fs::remove_file(&paper)?;
        return Err(error);
    }
    finish(&paper, journal, order, gate)
}

/// Finishes what a kill has cut off. The number of paths that somebody has changed meanwhile, which
/// are left alone; none when there was nothing to finish.
///
/// # Errors
/// When the disk fails; then the next start tries again.
pub(crate) fn recover(
    dir: &Path,
    store: &mut Store,
    journal: &mut Journal,
    gate: Gate<'_>,
) -> io::Result<Option<usize>> {
    let paper = dir.join(RESTORE_FILE);
    let text = match fs::read(&paper) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let Ok(order) = serde_json::from_slice::<Order>(&text) else {
        // It is written atomically: this is not ours any more.
        fs::rename(&paper, dir.join("snapshots.restore.broken"))?;
        return Ok(None);
    };
    if journal.rewound.iter().any(|known| known.id == order.rewound.id) {
        gate("remove the order")?;
        fs::remove_file(&paper)?;
        return Ok(Some(0));
    }
    let (ours, theirs): (Vec<Step>, Vec<Step>) =
        order.rewound.steps.iter().cloned().partition(|step| {
            let now = capture(&step.path, u64::MAX, Keep::No);
            // A folder in the way of a file, or a file that had to go first, is half way.
            now.is_ok_and(|(now, _)| {
                now == step.then
                    || now == step.now
                    || now == Node::Absent
                    || now.is_folder() && (step.now.is_folder() || step.then.is_folder())
            })
        });
    apply(store, &ours, gate)?;
    let order = Order { rewound: Rewound { steps: ours, ..order.rewound } };
    finish(&paper, journal, order, gate)?;
    Ok(Some(theirs.len()))
}

fn finish(paper: &Path, journal: &mut Journal, order: Order, gate: Gate<'_>) -> io::Result<()> {
    gate("journal")?;
    let rewound = order.rewound;
    let mut records: Vec<Record> = rewound
        .steps
        .iter()
        .map(|step| {
            Record::Change(Change {
                moment: rewound.moment,
                path: step.path.clone(),
                before: step.now.clone(),
                after: step.then.clone(),
                by: By::Rewind,
            })
        })
        .collect();
    records.push(Record::Rewound(rewound));
    journal.add(records)?;
    journal.sync()?;
    gate("remove the order")?;
    fs::remove_file(paper)
}

fn reversed(step: &Step) -> Step {
    Step { path: step.path.clone(), now: step.then.clone(), then: step.now.clone() }
}

/// Both contents are there and whole, and the path is what it was planned for.
fn check(store: &Store, step: &Step) -> io::Result<()> {
    for blob in [step.now.blob(), step.then.blob()].into_iter().flatten() {
        store.get(blob).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", step.path.display()))
        })?;
        store.sync(blob)?;
    }
    let (now, _) = capture(&step.path, u64::MAX, Keep::No)?;
    if now != step.now {
        let told = format!("{} has changed just now; look again", step.path.display());
        return Err(io::Error::other(told));
    }
    refuse_links(&step.path)
}

/// The way to `path` must not lead through links: it would leave the place it names.
fn refuse_links(path: &Path) -> io::Result<()> {
    let Some(folder) = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok())
    else {
        return Ok(());
    };
    let is_straight = fs::canonicalize(folder)? == folder || cfg!(windows);
    if is_straight {
        return Ok(());
    }
    let told = format!("{} is behind a link now", path.display());
    Err(io::Error::other(told))
}

/// Makes every path what it is to be. Takes what is half done for granted, so it can be repeated.
fn apply(store: &Store, steps: &[Step], gate: Gate<'_>) -> io::Result<()> {
    // What goes, from the inside out: also what has to make room for something of another kind.
    for step in steps.iter().rev() {
        let goes = step.then == Node::Absent || step.now.is_folder() != step.then.is_folder();
        if goes {
            remove(step, gate)?;
        }
    }
    for step in steps {
        put(store, step, gate)?;
    }
    // Modes of folders last: one that may not be written has to be filled first.
    for step in steps.iter().rev() {
        if let Node::Folder { mode } = step.then
            && let Some(meta) = look(&step.path)?
            && meta.is_dir()
            && mode_of(&meta) != mode
        {
            gate("mode of a folder")?;
            set_mode(&step.path, mode)?;
        }
    }
    Ok(())
}

fn remove(step: &Step, gate: Gate<'_>) -> io::Result<()> {
    let Some(meta) = look(&step.path)? else { return Ok(()) };
    if meta.is_dir() {
        // Done before, or a folder that others have put something into.
        if step.then.is_folder() {
            return Ok(());
        }
        gate("remove a folder")?;
        return match fs::remove_dir(&step.path) {
            Err(error)
                if error.kind() == io::ErrorKind::DirectoryNotEmpty
                    && step.then == Node::Absent =>
            {
                Ok(())
            }
            done => done,
        };
    }
    if step.then != Node::Absent && !step.then.is_folder() {
        return Ok(());
    }
    gate("remove a file")?;
    fs::remove_file(&step.path)
}

fn put(store: &Store, step: &Step, gate: Gate<'_>) -> io::Result<()> {
    let path = &step.path;
    let folder = path.parent().unwrap_or(Path::new("/"));
    match &step.then {
        Node::Absent | Node::Unkept { .. } => Ok(()),
        Node::Folder { .. } => {
            if look(path)?.is_some_and(|meta| meta.is_dir()) {
                return Ok(());
            }
            gate("make a folder")?;
            fs::create_dir_all(path)
        }
        Node::Link { target } => {
            if capture(path, 0, Keep::No)?.0 == step.then {
                return Ok(());
            }
            gate("make the folders above")?;
            fs::create_dir_all(folder)?;
            let new = beside(path);
            remove_leftover(&new)?;
            gate("make a link")?;
            link(target, &new)?;
            gate("rename")?;
            fs::rename(&new, path)
        }
        Node::File { blob, mode, .. } => {
            if capture(path, u64::MAX, Keep::No)?.0 == step.then {
                return Ok(());
            }
            gate("make the folders above")?;
            fs::create_dir_all(folder)?;
            let new = beside(path);
            remove_leftover(&new)?;
            gate("write a file")?;
            let written = write(&new, &store.get(*blob)?, *mode);
            let renamed = written.and_then(|()| {
                gate("rename")?;
                fs::rename(&new, path)
            });
            match renamed {
                Err(error) if !is_kill(&error) => {
                    remove_leftover(&new)?;
                    Err(error)
                }
                done => done,
            }
        }
    }
}

/// The name a file has until it is whole: always the same, so that a repetition cleans it up.
fn beside(path: &Path) -> PathBuf {
    let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
    path.with_file_name(format!(".kimi-tui-restore-{}", &name.as_str()[..16]))
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file that nobody may read before it has its mode; long runs of zeros stay holes.
fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    const PIECE: usize = 64 * 1024;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    for piece in content.chunks(PIECE) {
        if piece.len() == PIECE && piece.iter().all(|&byte| byte == 0) {
            file.seek(SeekFrom::Current(i64::try_from(PIECE).unwrap_or_default()))?;
        } else {
            file.write_all(piece)?;
        }
    }
    file.set_len(content.len() as u64)?;
    set_mode(path, mode)?;
    file.sync_all()
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links cannot be restored on this system"))
}
