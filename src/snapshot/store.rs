//! Contents of files, by their hash: compressed, each once, readable by their owner only.
//!
//! `objects/<first two digits>/<the other 62>`, zlib. One store serves all sessions of a folder, so
//! what several of them know is kept once. Who uses it holds a shared lock; collecting garbage needs
//! it alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::node::BlobId;
use crate::files;

/// Contents by their hash.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Held as long as this lives.
    _lock: Option<File>,
}

impl Store {
    /// The store in `folder`, which is made at the first content.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), _lock: None }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes it and keeps others from collecting garbage in it.
    ///
    /// # Errors
    /// When the folder cannot be written, or garbage is being collected right now.
    pub fn hold(&mut self) -> io::Result<()> {
        if self._lock.is_none() {
            let lock = self.lock_file()?;
            lock.lock_shared()?;
            self._lock = Some(lock);
        }
        Ok(())
    }

    /// The lock for collecting garbage; none while somebody uses the store.
    pub(super) fn alone(&self) -> io::Result<Option<File>> {
        let lock = self.lock_file()?;
        Ok(lock.try_lock().is_ok().then_some(lock))
    }

    fn lock_file(&self) -> io::Result<File> {
        files::create_private_folder(&self.folder)?;
        files::open_append(&self.folder.join("lock"))
    }

    /// Where the content `id` is.
    #[must_use]
    pub fn path(&self, id: BlobId) -> PathBuf {
        let hex = id.hex();
        self.folder.join("objects").join(&hex[..2]).join(&hex[2..])
    }

    /// Keeps `content`. One that is there already is not written again.
    ///
    /// # Errors
    /// When it cannot be written; then nothing of it is there.
    pub fn put(&mut self, content: &[u8]) -> io::Result<BlobId> {
        self.hold()?;
        let id = BlobId::of(content);
        let path = self.path(id);
        if path.exists() {
            return Ok(id);
        }
        let folder = path.parent().unwrap_or(&self.folder);
        files::create_private_folder(folder)?;
        // Its mode is 600 from the beginning.
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        let mut packer = ZlibEncoder::new(&mut file, Compression::fast());
        packer.write_all(content)?;
        packer.finish()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(id)
    }

    /// The content `id`, checked against its hash.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn get(&self, id: BlobId) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        ZlibDecoder::new(File::open(self.path(id))?).read_to_end(&mut content)?;
        if BlobId::of(&content) != id {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the kept content is damaged"));
        }
        Ok(content)
    }

    /// Makes the content `id` last beyond a power cut.
    pub(super) fn sync(&self, id: BlobId) -> io::Result<()> {
        OpenOptions::new().read(true).open(self.path(id))?.sync_all()
    }

    /// Its size on the disk; 0 when it is not there.
    #[must_use]
    pub fn size(&self, id: BlobId) -> u64 {
        fs::metadata(self.path(id)).map_or(0, |meta| meta.len())
    }

    /// All that is kept: id, size on the disk, when it was written. Leftovers of a kill have no id.
    pub(super) fn list(&self) -> Vec<(Option<BlobId>, PathBuf, u64, SystemTime)> {
        let mut found = Vec::new();
        for folder in entries(&self.folder.join("objects")) {
            for path in entries(&folder) {
                let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                let name = |path: &Path| {
                    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
                };
                let id = BlobId::from_hex(&format!("{}{}", name(&folder), name(&path)));
                let written = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push((id, path, meta.len(), written));
            }
        }
        found
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_kept_once_small_private_and_checked() {
        let folder = tempfile::tempdir().expect("folder");
        let mut store = Store::new(&folder.path().join("s"));
        let content = b"the same line\n".repeat(1000);
        let id = store.put(&content).expect("put");
        assert_eq!(store.put(&content).expect("again"), id);
        assert_eq!(store.list().len(), 1);
        assert!(store.size(id) < 1000, "{}", store.size(id));
        assert_eq!(store.get(id).expect("get"), content);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).expect("meta").permissions().mode() & 0o777;
            assert_eq!(mode(&store.path(id)), 0o600);
            assert_eq!(mode(store.path(id).parent().expect("folder")), 0o700);
            assert_eq!(mode(store.folder()), 0o700);
        }
        fs::write(store.path(id), b"rubbish").expect("damage");
        assert!(store.get(id).is_err());
    }

    #[test]
    fn garbage_is_not_collected_under_a_user() {
        let folder = tempfile::tempdir().expect("folder");
        let mut store = Store::new(folder.path());
        store.put(b"x").expect("put");
        assert!(Store::new(folder.path()).alone().expect("lock").is_none());
        drop(store);
        assert!(Store::new(folder.path()).alone().expect("lock").is_some());
    }
}
