//! `catalog.json`: which sessions the index knows, how far each was read, and where its text is.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::extract::Source;
use crate::context::CONTEXT_FILE;
use crate::files;
use crate::wire::record::WIRE_FILE;

/// Goes up when what is extracted or how it is stored changes; an index of another version is made
/// anew.
const VERSION: u32 = 2;
const CATALOG_FILE: &str = "catalog.json";

/// What the index knows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Catalog {
    version: u32,
    /// The name of the data file.
    pub(super) data: String,
    /// Bytes of the data file that this catalog speaks of.
    pub(super) length: u64,
    /// The sessions, newest first.
    pub(super) sessions: Vec<Entry>,
}

/// What the index knows of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Bucket and id.
    pub(super) bucket: String,
    pub(super) id: String,
    /// What its files looked like.
    pub(super) stamps: Stamps,
    /// What lists show of it.
    pub(super) title: String,
    pub(super) archived: bool,
    pub(super) is_empty: bool,
    /// The file its text is from, and how far that was read.
    pub(super) source: Source,
    pub(super) read: u64,
    /// A hash of what stands before that place: a file that was only added to has it still.
    pub(super) tail: u64,
    /// Where its text is, oldest first.
    pub(super) segments: Vec<Segment>,
}

/// A piece of text in the data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Segment {
    /// Where it begins.
    pub(super) at: u64,
    /// Bytes of its signature.
    pub(super) signature: u32,
    /// Bytes of its text.
    pub(super) text: u32,
}

/// What the files of a session looked like: another look tells whether anything changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stamps {
    pub(super) context: Option<Stamp>,
    pub(super) wire: Option<Stamp>,
    pub(super) state: Option<Stamp>,
}

/// Length and time of last change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    seconds: u64,
    nanos: u32,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| {
            let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let since = since.unwrap_or_default();
            Self { bytes: metadata.len(), seconds: since.as_secs(), nanos: since.subsec_nanos() }
        })
    }

    fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::new(self.seconds, self.nanos)
    }
}

impl Stamps {
    /// How the files of the session in `dir` look now.
    pub(super) fn of(dir: &Path) -> Self {
        Self {
            context: Stamp::of(&dir.join(CONTEXT_FILE)),
            wire: Stamp::of(&dir.join(WIRE_FILE)),
            state: Stamp::of(&dir.join("state.json")),
        }
    }

    /// When the session was last written, as lists have it.
    pub(super) fn updated_at(&self) -> Option<SystemTime> {
        self.context.or(self.wire).map(|stamp| stamp.time())
    }

    /// Bytes of context and record.
    pub(super) fn bytes(&self) -> u64 {
        [self.context, self.wire].into_iter().flatten().map(|stamp| stamp.bytes).sum()
    }
}

impl Entry {
    /// Bytes it takes in the data file.
    pub(super) fn weight(&self) -> u64 {
        self.segments.iter().map(Segment::weight).sum()
    }
}

impl Catalog {
    /// An empty catalog over a data file of this name.
    pub(super) fn over(data: String) -> Self {
        Self { version: VERSION, data, ..Self::default() }
    }

    /// The catalog in `folder`; none when there is none that fits its data file.
    pub(super) fn load(folder: &Path) -> Option<Self> {
        let bytes = fs::read(folder.join(CATALOG_FILE)).ok()?;
        let catalog: Self = match serde_json::from_slice(&bytes) {
            Ok(catalog) => catalog,
            Err(error) => {
                tracing::warn!(%error, "the index of sessions is damaged and made again");
                return None;
            }
        };
        // The name becomes a path.
        let is_plain =
            catalog.data.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
        let length = fs::metadata(folder.join(&catalog.data)).map_or(0, |data| data.len());
        let is_whole = catalog.version == VERSION
            && is_plain
            && length >= catalog.length
            && catalog.sessions.iter().flat_map(|entry| &entry.segments).all(|segment| {
                segment.at.checked_add(segment.weight()).is_some_and(|end| end <= catalog.length)
            });
        is_whole.then_some(catalog)
    }

    /// Replaces the catalog in `folder`.
    pub(super) fn save(&self, folder: &Path) -> io::Result<()> {
        files::write_atomic(&folder.join(CATALOG_FILE), &serde_json::to_vec(self)?)
    }

    /// Bytes of the data file that belong to a session.
    pub(super) fn live(&self) -> u64 {
        self.sessions.iter().map(Entry::weight).sum()
    }
}
