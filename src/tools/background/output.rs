//! What a background task prints: a file that never grows beyond its budget.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Stands where older output was dropped.
const DROPPED: &str = "[... older output was dropped to save space]\n";

/// The output of one task.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    file: Option<File>,
    bytes: u64,
    most: u64,
}

impl OutputFile {
    /// An empty file at `path` that holds at most `most` bytes.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(path: &Path, most: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
        Ok(Self { path: path.to_owned(), file: Some(file), bytes: 0, most })
    }

    /// The file of a task that writes no more, or by itself.
    pub fn closed(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, bytes: 0, most: 0 }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends `text`; when there is too much, the older half goes. A disk that is full ends the
    /// writing, not the task.
    pub fn write(&mut self, text: &str) {
        if let Err(error) = self.try_write(text) {
            tracing::warn!(%error, path = %self.path.display(), "a task's output is not kept");
            self.file = None;
        }
    }

    fn try_write(&mut self, text: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        if self.bytes > self.most {
            let kept = tail(&self.path, self.most / 2)?;
            let mut file = OpenOptions::new().truncate(true).write(true).open(&self.path)?;
            file.write_all(DROPPED.as_bytes())?;
            file.write_all(kept.as_bytes())?;
            self.bytes = (DROPPED.len() + kept.len()) as u64;
            self.file = Some(file);
        }
        Ok(())
    }
}

/// The last `most` bytes of the file at `path`, from the beginning of a character on.
///
/// # Errors
/// When it cannot be read.
pub(super) fn tail(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    let cut = if length > most {
        bytes.iter().take(3).take_while(|byte| (**byte & 0xC0) == 0x80).count()
    } else {
        0
    };
    Ok(String::from_utf8_lossy(&bytes[cut..]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_end_and_stays_within_the_budget() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a/output.log");
        let mut output = OutputFile::create(&path, 10_000).expect("file");
        for n in 0..20_000 {
            output.write(&format!("line é {n}\n"));
            assert!(std::fs::metadata(&path).expect("file").len() <= 10_000 + 100);
        }
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.starts_with(DROPPED) && text.ends_with("line é 19999\n"), "{text}");
        assert_eq!(tail(&path, 10).expect("tail"), " é 19999\n".to_owned());
        for most in 0..40 {
            assert!(!tail(&path, most).expect("tail").contains('\u{fffd}'));
        }
    }
}
