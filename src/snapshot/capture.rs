//! Taking down what stands at a path.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::node::{BlobId, Node, Stamp, Unkept, mode_of};
use super::store::Store;

/// The metadata of what stands at `path`, links not followed; none when nothing does. Where names
/// differ by case only, a file of another case is not at `path`.
pub(crate) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(_) if cfg!(any(target_os = "macos", windows)) && !has_that_case(path) => Ok(None),
        Ok(meta) => Ok(Some(meta)),
        // A file where a folder would have to be.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn has_that_case(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return true };
    match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().any(|entry| entry.file_name() == name),
        Err(_) => true,
    }
}

/// What to do with a content.
pub(crate) enum Keep<'a> {
    /// Name it only.
    No,
    /// Keep it, as long as there is room for this many bytes.
    Yes(&'a mut Store, &'a mut u64),
}

/// What stands at `path` now.
pub(crate) fn capture(
    path: &Path,
    max_file: u64,
    keep: Keep<'_>,
) -> io::Result<(Node, Option<Stamp>)> {
    match look(path)? {
        None => Ok((Node::Absent, None)),
        Some(meta) => capture_known(path, &meta, max_file, keep),
    }
}

/// What stands at `path`, of which `meta` is known.
pub(crate) fn capture_known(
    path: &Path,
    meta: &Metadata,
    max_file: u64,
    keep: Keep<'_>,
) -> io::Result<(Node, Option<Stamp>)> {
    let stamp = Stamp::of(meta);
    let unkept = |why| Node::Unkept { why, mark: stamp.mark() };
    let node = if meta.is_symlink() {
        Node::Link { target: fs::read_link(path)? }
    } else if meta.is_dir() {
        Node::Folder { mode: mode_of(meta) }
    } else if !meta.is_file() {
        unkept(Unkept::Special)
    } else if meta.len() > max_file {
        unkept(Unkept::TooLarge)
    } else {
        match read(path, max_file) {
            Ok(Some(content)) => {
                let size = content.len() as u64;
                let blob = match keep {
                    Keep::No => Some(BlobId::of(&content)),
                    Keep::Yes(_, room) if *room < size => None,
                    Keep::Yes(store, room) => {
                        *room -= size;
                        Some(store.put(&content)?)
                    }
                };
                match blob {
                    Some(blob) => Node::File { blob, mode: mode_of(meta), size },
                    None => unkept(Unkept::Full),
                }
            }
            Ok(None) => unkept(Unkept::TooLarge),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Node::Absent,
            Err(_) => unkept(Unkept::Unreadable),
        }
    };
    Ok((node, Some(stamp)))
}

/// The content of `path`; none when it has grown beyond `max`.
fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= max).then_some(content))
}
