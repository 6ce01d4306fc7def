//! What can stand at a path: nothing, a file, a link, a folder, or something that is not kept.

use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The blake3 hash of a content, which is also its name in the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// The id of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }

    /// As 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }

    /// Reads [`Self::hex`].
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex()[..12])
    }
}

impl Serialize for BlobId {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("no hash"))
    }
}

/// What stands at a path. Equal nodes mean: nothing to tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Node {
    /// Nothing.
    Absent,
    /// A file whose content is in the store.
    File {
        /// Its content.
        blob: BlobId,
        /// Its permission bits.
        mode: u32,
        /// Its length in bytes.
        size: u64,
    },
    /// A symbolic link.
    Link {
        /// Where it points, as it is written in it.
        #[serde(with = "path_text")]
        target: PathBuf,
    },
    /// A folder; what is in it has nodes of its own.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// Something whose content is not kept.
    Unkept {
        /// Why.
        why: Unkept,
        /// Tells two states of it apart: a hash of its size and times.
        mark: u64,
    },
}

/// Why a content is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unkept {
    /// The file is larger than one may be.
    TooLarge,
    /// The snapshot was full already.
    Full,
    /// It cannot be read.
    Unreadable,
    /// A device, a pipe or a socket.
    Special,
}

impl Unkept {
    /// Why, for a person.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "it is larger than snapshots keep",
            Self::Full => "the snapshot was full",
            Self::Unreadable => "it could not be read",
            Self::Special => "it is no regular file",
        }
    }
}

impl Node {
    /// The content it needs from the store.
    #[must_use]
    pub fn blob(&self) -> Option<BlobId> {
        match self {
            Self::File { blob, .. } => Some(*blob),
            _ => None,
        }
    }

    /// Is it a folder?
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

/// The metadata by which a change is noticed without reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) modified: i128,
    pub(crate) changed: i128,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let nanos =
                |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            Self {
                modified: nanos(meta.mtime(), meta.mtime_nsec()),
                changed: nanos(meta.ctime(), meta.ctime_nsec()),
                size: meta.size(),
                inode: meta.ino(),
                mode: meta.mode(),
            }
        }
        #[cfg(not(unix))]
        {
            let modified = meta.modified().ok().map_or(0, nanos_since_1970);
            Self { modified, changed: modified, size: meta.len(), inode: 0, mode: mode_of(meta) }
        }
    }

    /// Could the file have been written again without this showing it? File systems count time in
    /// ticks of some milliseconds.
    pub(crate) fn is_fresh(&self, now: i128) -> bool {
        self.modified.max(self.changed) + 50_000_000 > now
    }

    /// A number that tells two states apart.
    pub(crate) fn mark(&self) -> u64 {
        let text = format!("{self:?}");
        let hash = blake3::hash(text.as_bytes());
        hash.as_bytes()[..8].iter().fold(0, |all, byte| (all << 8) | u64::from(*byte))
    }
}

/// Now, in nanoseconds since 1970.
pub(crate) fn now_nanos() -> i128 {
    nanos_since_1970(std::time::SystemTime::now())
}

fn nanos_since_1970(time: std::time::SystemTime) -> i128 {
    time.duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}

/// The permission bits of a file or folder.
pub(crate) fn mode_of(meta: &Metadata) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        meta.permissions().mode() & 0o7777
    }
    #[cfg(not(unix))]
    {
        if meta.permissions().readonly() { 0o444 } else { 0o644 }
    }
}

/// Paths in JSON: as they are, or `%x:` and the bytes in hexadecimal when they are no UTF-8.
pub(crate) mod path_text {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serializer};

    /// The text of `path`.
    pub(crate) fn encode(path: &Path) -> String {
        if let Some(text) = path.to_str()
            && !text.starts_with("%x:")
        {
            return text.to_owned();
        }
        let bytes = path.as_os_str().as_encoded_bytes();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("%x:{hex}")
    }

    /// Reads [`encode`].
    pub(crate) fn decode(text: &str) -> Option<PathBuf> {
        let Some(hex) = text.strip_prefix("%x:") else { return Some(PathBuf::from(text)) };
        let bytes: Option<Vec<u8>> = (0..hex.len())
            .step_by(2)
            .map(|at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
            .collect();
        from_bytes(bytes?)
    }

    #[cfg(unix)]
    fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    }

    #[cfg(not(unix))]
    fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
        String::from_utf8(bytes).ok().map(PathBuf::from)
    }

    pub(crate) fn serialize<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&encode(path))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        decode(&text).ok_or_else(|| serde::de::Error::custom("no path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_of_any_bytes_survive_as_text() {
        use std::os::unix::ffi::OsStrExt;
        for bytes in [&b"/a/\xffb%"[..], b"/plain", b"%x:2f", "/ä ö".as_bytes()] {
            let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
            assert_eq!(path_text::decode(&path_text::encode(path)).as_deref(), Some(path));
        }
    }
}
