//! [`Context`]: the conversation in memory and on disk, changed together.

use std::fs::File;
use std::io;
use std::path::Path;

use super::CONTEXT_FILE;
use super::error::ContextError;
use super::file::ContextFile;
use super::load::{OpenReport, Tail, load};
use super::memory::{Checkpoint, Memory};
use super::record::Record;
use super::rotation::{self, Piece};
use crate::message::{CheckpointId, Generation, Message, Role, ToolCall};
use crate::wire::{ContextChange, ContextSize};

/// One session's conversation, over `context.jsonl` in its folder.
///
/// Every call that changes it has written the file before it changes memory, and changes neither
/// when it fails. Kill the program at any moment: what a call had returned from is in the file.
/// One `Context` a session: hold the session's lock while one is open.
///
/// ```
/// use kimi_tui::{context::Context, message::Message};
/// # let folder = tempfile::tempdir()?;
/// let (mut context, report) = Context::open(folder.path())?;
/// assert!(report.bad_lines.is_empty());
/// let before = context.checkpoint(false)?;
/// context.append(&[Message::user("hello")])?;
/// context.revert_to(before)?;
/// assert!(context.history().is_empty());
/// assert!(folder.path().join("context_1.jsonl").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Context {
    file: ContextFile,
    memory: Memory,
    generation: Generation,
}

impl Context {
    /// Opens the context of the session in `session_dir`. A missing file is an empty context.
    ///
    /// What a kill left half done is put in order: see `docs/sessions.md`. Where the folder cannot
    /// be written that waits for the first change, so a session can still be read.
    ///
    /// # Errors
    /// When the file is there but cannot be read. Damaged lines are no error; the report has them.
    pub fn open(session_dir: &Path) -> Result<(Self, OpenReport), ContextError> {
        let path = session_dir.join(CONTEXT_FILE);
        if let Err(error) = rotation::clean_up(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot clear up after a killed program");
        }
        let (mut context, report) = Self::read(session_dir)?;
        if !context.file.is_whole()
            && let Err(error) = context.file.ready()
        {
            tracing::warn!(%error, "the end of the context is mended with the next change");
        }
        Ok((context, report))
    }

    /// Opens it for reading: nothing in the folder is touched, and every change is refused. For a
    /// session that another program holds, which may be writing meanwhile: a torn last line is then
    /// one that is not finished yet.
    ///
    /// # Errors
    /// When the file is there but cannot be read.
    pub fn open_read_only(session_dir: &Path) -> Result<(Self, OpenReport), ContextError> {
        let (mut context, report) = Self::read(session_dir)?;
        context.file.forbid();
        Ok((context, report))
    }

    fn read(session_dir: &Path) -> Result<(Self, OpenReport), ContextError> {
        let path = session_dir.join(CONTEXT_FILE);
        let generation = rotation::highest(session_dir)
            .map(Generation)
            .map_err(ContextError::io("read the folder", session_dir))?;
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = ContextFile::missing(path);
                let context = Self { file, memory: Memory::default(), generation };
                return Ok((context, OpenReport::default()));
            }
            Err(error) => return Err(ContextError::io("read", &path)(error)),
        };
        let loaded = load(file).map_err(ContextError::io("read", &path))?;
        let file = ContextFile::read(path, &loaded);
        let report =
            OpenReport { bad_lines: loaded.bad_lines, torn_tail: loaded.tail == Tail::Torn };
        Ok((Self { file, memory: loaded.memory, generation }, report))
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// Has nothing been said yet? (A system prompt and checkpoints do not count.)
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memory.history.is_empty()
    }

    /// The system prompt this session was begun with.
    #[must_use]
    pub fn system_prompt(&self) -> Option<&str> {
        self.memory.system_prompt.as_deref()
    }

    /// Keeps `prompt` as the system prompt of this session for good, unless it has one. It becomes
    /// the file's first record, also in a file of an old version that has messages but no prompt.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn freeze_system_prompt(&mut self, prompt: &str) -> Result<(), ContextError> {
        if self.memory.system_prompt.is_some() {
            return Ok(());
        }
        let record = Record::SystemPrompt(prompt.to_owned());
        self.file.ready()?;
        let length = self.file.length();
        if length == 0 {
            return self.write(vec![record]);
        }
        let line = self.encode(&record)?;
        self.file.exchange(&[Piece::Bytes(&line), Piece::Old(length)], None)?;
        self.memory.shift(line.len() as u64);
        self.memory.apply(record, 0);
        Ok(())
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.memory.history
    }

    /// Tokens as the provider last counted them; 0 when none has.
    #[must_use]
    pub fn token_count(&self) -> u64 {
        self.memory.counted
    }

    /// [`Self::token_count`] and an estimate of what came after it.
    #[must_use]
    pub fn tokens_with_pending(&self) -> u64 {
        self.memory.tokens()
    }

    /// Messages, and tokens with the estimate.
    #[must_use]
    pub fn size(&self) -> ContextSize {
        self.memory.size()
    }

    /// Which life of the file this is: the highest N of the `context_N.jsonl` beside it.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The id that the next checkpoint gets.
    #[must_use]
    pub fn next_checkpoint(&self) -> CheckpointId {
        self.memory.next_checkpoint
    }

    /// The checkpoints of this generation, oldest first.
    #[must_use]
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.memory.checkpoints
    }

    /// The calls of the last assistant message that have no result, when nothing but results comes
    /// after it: a step was killed half way. No provider takes such a history, so give each a result.
    #[must_use]
    pub fn dangling_calls(&self) -> Vec<ToolCall> {
        let results = self.memory.history.iter().rev().take_while(|m| m.role == Role::Tool).count();
        let (before, results) =
            self.memory.history.split_at(self.memory.history.len().saturating_sub(results));
        let Some(asking) = before.last().filter(|m| m.role == Role::Assistant) else {
            return Vec::new();
        };
        let answered = |call: &ToolCall| {
            results.iter().any(|result| result.tool_call_id.as_deref() == Some(&call.id))
        };
        asking.calls().iter().filter(|call| !answered(call)).cloned().collect()
    }

    /// Adds messages, in one write.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, messages: &[Message]) -> Result<(), ContextError> {
        self.write(messages.iter().cloned().map(Record::Message).collect())
    }

    /// Keeps the provider's count of the tokens in the context.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_usage(&mut self, tokens: u64) -> Result<(), ContextError> {
        self.write(vec![Record::Usage(tokens)])
    }

    /// Adds a whole step in one write: the input's tokens, the answer, the total, and the results of
    /// the tools in the order of the calls. Counts are left out when the provider gave none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn grow(
        &mut self,
        input_tokens: Option<u64>,
        assistant: &Message,
        total_tokens: Option<u64>,
        tool_messages: &[Message],
    ) -> Result<(), ContextError> {
        let mut records: Vec<Record> = input_tokens.map(Record::Usage).into_iter().collect();
        records.push(Record::Message(assistant.clone()));
        records.extend(total_tokens.map(Record::Usage));
        records.extend(tool_messages.iter().cloned().map(Record::Message));
        self.write(records)
    }

    /// Makes a point to go back to and returns its id. `with_note` tells the model its number, for
    /// agents that can send a D-Mail.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn checkpoint(&mut self, with_note: bool) -> Result<CheckpointId, ContextError> {
        let id = self.memory.next_checkpoint;
        let mut records = vec![Record::Checkpoint(id)];
        if with_note {
            records.push(Record::Message(Message::system_note(&format!("CHECKPOINT {id}"))));
        }
        self.write(records)?;
        Ok(id)
    }

    /// Goes back to before checkpoint `id`: it and everything after it leave the context, and the
    /// next checkpoint gets its id again. The old file stays as `context_N.jsonl`. No other file is
    /// touched.
    ///
    /// # Errors
    /// When there is no such checkpoint, or the files cannot be written.
    pub fn revert_to(&mut self, id: CheckpointId) -> Result<ContextChange, ContextError> {
        let index = self.memory.checkpoint_index(id)?;
        let before = self.size();
        let cut = self.memory.checkpoints[index].offset;
        // Only in a file made by hand does the prompt come after a checkpoint; it must not go.
        let late_prompt = match &self.memory.system_prompt {
            Some(text) if self.memory.prompt_offset >= cut => {
                Some(Record::SystemPrompt(text.clone()))
            }
            _ => None,
        };
        let line = late_prompt.as_ref().map_or(Ok(Vec::new()), |record| self.encode(record))?;
        let kept = self.rotate(&[Piece::Bytes(&line), Piece::Old(cut)])?;
        self.memory.cut(index);
        self.memory.shift(line.len() as u64);
        if let Some(record) = late_prompt {
            self.memory.apply(record, 0);
        }
        Ok(self.changed(before, kept))
    }

    /// Empties the context; the system prompt stays. The old file stays as `context_N.jsonl`.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn clear(&mut self) -> Result<ContextChange, ContextError> {
        self.begin_again(Vec::new())
    }

    /// Begins again with `messages`, which a compaction made and estimated at `tokens`: the system
    /// prompt, checkpoint 0, the messages, the count. The old file stays as `context_N.jsonl`.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn replace(
        &mut self,
        messages: &[Message],
        tokens: u64,
    ) -> Result<ContextChange, ContextError> {
        let mut records = vec![Record::Checkpoint(CheckpointId(0))];
        records.extend(messages.iter().cloned().map(Record::Message));
        records.push(Record::Usage(tokens));
        self.begin_again(records)
    }

    /// Waits until everything is on the disk itself, safe from a power cut.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn sync(&mut self) -> Result<(), ContextError> {
        self.file.sync()
    }

    /// A new file with the system prompt and `records` in the place of the old one.
    pub(super) fn begin_again(
        &mut self,
        records: Vec<Record>,
    ) -> Result<ContextChange, ContextError> {
        let before = self.size();
        let prompt = self.memory.system_prompt.clone().map(Record::SystemPrompt);
        let mut memory = Memory::default();
        let mut bytes = Vec::new();
        for record in prompt.into_iter().chain(records) {
            let offset = bytes.len() as u64;
            record
                .write(&mut bytes)
                .map_err(ContextError::io("write a record for", self.file.path()))?;
            memory.apply(record, offset);
        }
        let kept = self.rotate(&[Piece::Bytes(&bytes)])?;
        self.memory = memory;
        Ok(self.changed(before, kept))
    }

    /// Exchanges the file; the old one is kept unless it holds nothing.
    pub(super) fn rotate(&mut self, pieces: &[Piece<'_>]) -> Result<Option<u64>, ContextError> {
        self.file.ready()?;
        let keep_as = (self.file.length() > 0).then(|| self.generation.0.saturating_add(1));
        self.file.exchange(pieces, keep_as)
    }

    pub(super) fn changed(&mut self, before: ContextSize, kept: Option<u64>) -> ContextChange {
        let old_generation = self.generation;
        if let Some(number) = kept {
            self.generation = Generation(number);
        }
        ContextChange {
            old_generation,
            new_generation: self.generation,
            before,
            after: self.size(),
            next_checkpoint: self.memory.next_checkpoint,
        }
    }

    pub(super) fn encode(&self, record: &Record) -> Result<Vec<u8>, ContextError> {
        let mut bytes = Vec::new();
        record
            .write(&mut bytes)
            .map_err(ContextError::io("write a record for", self.file.path()))?;
        Ok(bytes)
    }

    /// Writes `records` in one go, then takes them into memory.
    fn write(&mut self, records: Vec<Record>) -> Result<(), ContextError> {
        if records.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut offsets = Vec::with_capacity(records.len());
        for record in &records {
            offsets.push(bytes.len() as u64);
            record
                .write(&mut bytes)
                .map_err(ContextError::io("write a record for", self.file.path()))?;
        }
        self.file.append(&bytes)?;
        let start = self.file.length() - bytes.len() as u64;
        for (record, offset) in records.into_iter().zip(offsets) {
            self.memory.apply(record, start + offset);
        }
        Ok(())
    }
}
