//! A context's ways between its generations: looking at them, and bringing one back.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::error::ContextError;
use super::generations::{self, GenerationInfo, Redo, RevertPreview, Transcript};
use super::load::{Loaded, Tail, load};
use super::record::Record;
use super::rotation::Piece;
use super::store::Context;
use super::timeline;
use crate::message::{CheckpointId, Generation};
use crate::wire::{ContextChange, ContextRewritten};

impl Context {
    /// All generations, oldest first, the living one last. Reads every file; call it off the loop.
    #[must_use]
    pub fn generations(&self) -> Vec<GenerationInfo> {
        generations::list(self.session_dir()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the generations of the context cannot be listed");
            Vec::new()
        })
    }

    /// The messages of one generation, to be read.
    ///
    /// # Errors
    /// [`ContextError::UnknownGeneration`], or when its file cannot be read.
    pub fn transcript(&self, generation: Generation) -> Result<Transcript, ContextError> {
        generations::transcript(self.session_dir(), generation)
    }

    /// What [`Self::revert_to`] would drop. Nothing is changed.
    ///
    /// # Errors
    /// [`ContextError::UnknownCheckpoint`].
    pub fn preview_revert(&self, id: CheckpointId) -> Result<RevertPreview, ContextError> {
        let timeline = timeline::read(self.session_dir());
        generations::preview(self.memory(), self.generation(), id, &timeline)
    }

    /// What the last revert took away, if this generation began with one. [`Self::restore`] brings
    /// it back.
    #[must_use]
    pub fn redo(&self) -> Option<Redo> {
        generations::redo(&self.generations())
    }

    /// What the last compaction did to the messages, as far as it is on record.
    #[must_use]
    pub fn last_rewrite(&self) -> Option<ContextRewritten> {
        timeline::read(self.session_dir()).rewritten
    }

    /// Makes an earlier generation the living one again: a copy of it, as the next generation. The
    /// present one is kept like any other, so restoring it undoes this.
    ///
    /// # Errors
    /// [`ContextError::UnknownGeneration`], [`ContextError::IsCurrent`], or when the files cannot be
    /// read or written; then nothing has changed.
    pub fn restore(&mut self, generation: Generation) -> Result<ContextChange, ContextError> {
        if generation == self.generation() {
            return Err(ContextError::IsCurrent { generation });
        }
        let path = generations::existing(self.session_dir(), generation)?;
        let mut file = File::open(&path).map_err(ContextError::io("read", &path))?;
        let loaded = load(&file).map_err(ContextError::io("read", &path))?;
        let end = line_end(&mut file, &loaded).map_err(ContextError::io("read", &path))?;
        let Loaded { mut memory, length, .. } = loaded;
        // One of an old version may lack the prompt that this session has got since.
        let prompt = match (&memory.system_prompt, self.system_prompt()) {
            (None, Some(prompt)) => Some(Record::SystemPrompt(prompt.to_owned())),
            _ => None,
        };
        let line = prompt.as_ref().map_or(Ok(Vec::new()), |record| self.encode(record))?;
        let pieces = [Piece::Bytes(&line), Piece::From(&path, length), Piece::Bytes(end)];
        let before = self.size();
        let kept = self.rotate(&pieces)?;
        memory.shift(line.len() as u64);
        if let Some(record) = prompt {
            memory.apply(record, 0);
        }
        self.set_memory(memory);
        Ok(self.changed(before, kept))
    }

    fn session_dir(&self) -> &Path {
        self.path().parent().unwrap_or_else(|| Path::new("."))
    }
}

/// What the last whole record lacks at its end.
pub(super) fn line_end(file: &mut File, loaded: &Loaded) -> std::io::Result<&'static [u8]> {
    if loaded.tail == Tail::NoNewline {
        return Ok(b"\n");
    }
    // A torn line may follow one that ends well; an empty file needs nothing.
    let Some(last) = loaded.length.checked_sub(1) else { return Ok(b"") };
    file.seek(SeekFrom::Start(last))?;
    let mut byte = [0_u8; 1];
    file.read_exact(&mut byte)?;
    Ok(if byte[0] == b'\n' { b"" } else { b"\n" })
}
