//! What a person typed in a folder, over all its sessions: lines of `{"content":"…"}`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;

/// Entries kept in memory; the file keeps all.
const KEPT: usize = 1000;

#[derive(Serialize, Deserialize)]
struct Line {
    content: String,
}

/// The inputs of a folder, oldest first, in the Python program's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputHistory {
    /// The last 1000 of them, without consecutive duplicates.
    pub entries: Vec<String>,
    path: PathBuf,
}

impl InputHistory {
    /// Reads the file at `path`. One that is missing or cannot be read is an empty one, and a line
    /// that says nothing is passed over: what was typed once must never stop a session.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let entries = read(path).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(path = %path.display(), %error, "the input history cannot be read");
            }
            VecDeque::new()
        });
        Self { entries: entries.into(), path: path.to_owned() }
    }

    /// Adds what was typed, unless it is blank or what was typed last.
    ///
    /// # Errors
    /// When the file cannot be written; the entry is in memory all the same.
    pub fn append(&mut self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return Ok(());
        }
        self.entries.push(text.to_owned());
        if self.entries.len() > KEPT {
            self.entries.remove(0);
        }
        if let Some(folder) = self.path.parent() {
            files::create_private_folder(folder)?;
        }
        let mut file = files::open_append(&self.path)?;
        let mut line = Vec::new();
        if ends_torn(&mut file)? {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, &Line { content: text.to_owned() })?;
        line.push(b'\n');
        file.write_all(&line)
    }
}

fn read(path: &Path) -> io::Result<VecDeque<String>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut entries: VecDeque<String> = VecDeque::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(entries);
        }
        let Ok(Line { content }) = serde_json::from_str(&String::from_utf8_lossy(&line)) else {
            continue;
        };
        if content.trim().is_empty() || entries.back() == Some(&content) {
            continue;
        }
        if entries.len() == KEPT {
            entries.pop_front();
        }
        entries.push_back(content);
    }
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0_u8; 1];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last[0] != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_there_again_without_repeats() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("user-history/x.jsonl");
        let mut history = InputHistory::load(&path);
        for text in ["one", "one", " \n", "two\nlines \"é\"", "one"] {
            history.append(text).expect("append");
        }
        assert_eq!(
            std::fs::read_to_string(&path).expect("file"),
            "{\"content\":\"one\"}\n{\"content\":\"two\\nlines \\\"é\\\"\"}\n{\"content\":\"one\"}\n"
        );
        assert_eq!(InputHistory::load(&path), history);
        assert_eq!(history.entries, ["one", "two\nlines \"é\"", "one"]);
    }

    #[test]
    fn damage_is_passed_over_and_does_not_swallow_the_next_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.jsonl");
        let bytes =
            b"junk\n{\"content\": \"a\", \"new\": 1}\n{\"content\":\"a\"}\n\xff\n{\"content\":\"to";
        std::fs::write(&path, bytes).expect("file");
        let mut history = InputHistory::load(&path);
        assert_eq!(history.entries, ["a"]);
        history.append("b").expect("append");
        assert_eq!(InputHistory::load(&path).entries, ["a", "b"]);
        assert!(std::fs::read(&path).expect("file").starts_with(bytes));
    }

    #[test]
    fn memory_keeps_the_last_thousand_and_the_file_all() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.jsonl");
        let lines: String = (0..1500).map(|n| format!("{{\"content\":\"{n}\"}}\n")).collect();
        std::fs::write(&path, &lines).expect("file");
        let mut history = InputHistory::load(&path);
        history.append("new").expect("append");
        assert_eq!((history.entries.len(), history.entries[0].as_str()), (1000, "501"));
        assert_eq!(std::fs::read_to_string(&path).expect("file").lines().count(), 1501);
    }
}
