//! The data file: segments one behind the other, never changed once written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::catalog::Segment;
use super::signature::Signature;
use crate::files;

/// What every segment begins with: a file that is something else is noticed.
const MAGIC: [u8; 4] = *b"KTS1";
const HEADER: u64 = 12;
/// Bytes of text in a segment, about.
pub(super) const SEGMENT_TEXT: usize = 64 * 1024;

impl Segment {
    /// Bytes it takes in the file.
    pub(super) fn weight(&self) -> u64 {
        HEADER + u64::from(self.signature) + u64::from(self.text)
    }
}

/// Adds segments at the end of a data file.
pub(super) struct Writer {
    file: File,
    length: u64,
}

impl Writer {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = files::open_append(path)?;
        // Behind whatever is there: another catalog may speak of it.
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }

    /// Writes `text`, which must be shorter than 4 GB.
    pub(super) fn add(&mut self, text: &str) -> io::Result<Segment> {
        let signature = Signature::of(text.as_bytes());
        let segment = Segment {
            at: self.length,
            signature: size(signature.bytes().len())?,
            text: size(text.len())?,
        };
        let mut bytes = Vec::with_capacity(text.len() + signature.bytes().len() + 12);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&segment.signature.to_le_bytes());
        bytes.extend_from_slice(&segment.text.to_le_bytes());
        bytes.extend_from_slice(signature.bytes());
        bytes.extend_from_slice(text.as_bytes());
        self.file.write_all(&bytes)?;
        self.length += bytes.len() as u64;
        Ok(segment)
    }

    /// Has everything on the disk; says how long the file is.
    pub(super) fn sync(&mut self) -> io::Result<u64> {
        self.file.sync_data()?;
        Ok(self.length)
    }
}

fn size(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(|_| io::Error::other("a segment of 4 GB"))
}

/// Reads segments.
#[derive(Debug)]
pub(super) struct Reader(File);

impl Reader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// The signature of `segment`.
    ///
    /// # Errors
    /// When the file is not what the catalog says.
    pub(super) fn signature(&self, segment: &Segment) -> io::Result<Signature> {
        let mut bytes = vec![0; HEADER as usize + segment.signature as usize];
        self.0.read_exact_at(&mut bytes, segment.at)?;
        let (header, signature) = bytes.split_at(HEADER as usize);
        let fits = header[..4] == MAGIC
            && header[4..8] == segment.signature.to_le_bytes()
            && header[8..] == segment.text.to_le_bytes();
        if !fits {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not the segment it should be"));
        }
        Ok(Signature::from_bytes(signature.into()))
    }

    /// Reads the text of `segment` into `buffer`.
    pub(super) fn text(&self, segment: &Segment, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.resize(segment.text as usize, 0);
        self.0.read_exact_at(buffer, segment.at + HEADER + u64::from(segment.signature))
    }
}

/// Removes data files that no catalog speaks of any more. One that is still open elsewhere can be
/// read on there.
pub(super) fn remove_others(folder: &Path, kept: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_data = name.to_str().is_some_and(|name| name.starts_with("text-") && name != kept);
        if is_data && let Err(error) = fs::remove_file(entry.path()) {
            tracing::debug!(%error, "an old data file stays");
        }
    }
}
