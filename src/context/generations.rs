//! The lives of a context: which there were, why each began, what each says, what a step back drops.
//!
//! Everything here only reads. Generation *g* is `context.jsonl` while it lives and
//! `context_{g+1}.jsonl` once it has ended. Reasons and times come from `timeline.jsonl`; without it
//! they are unknown and all else is there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::error::ContextError;
use super::load::{BadLine, load};
use super::memory::{Checkpoint, Memory};
use super::timeline::{self, Timeline};
use super::{CONTEXT_FILE, rotation};
use crate::message::{CheckpointId, CheckpointRef, Generation, Message, Role, key_argument};
use crate::wire::{ContextSize, RevertCause};

/// Tools that change files, under all their names.
const WRITERS: [&str; 4] = ["WriteFile", "EditFile", "StrReplaceFile", "MultiEdit"];

/// One life of a session's context.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationInfo {
    /// Its number.
    pub generation: Generation,
    /// The file that holds it.
    pub file: PathBuf,
    /// Is it the one that lives?
    pub is_current: bool,
    /// How it began. `None` for the first, and where the sidecar does not say.
    pub began: Option<Beginning>,
    /// What it holds, or held when it ended.
    pub size: ContextSize,
    /// Bytes of its file.
    pub bytes: u64,
    /// Its checkpoints, oldest first, and what came after each.
    pub steps: Vec<StepInfo>,
    /// Lines of its file that are no records.
    pub bad_lines: usize,
    /// Why its file cannot be read, if it cannot.
    pub problem: Option<String>,
}

/// How a generation began.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// Why.
    pub cause: Cause,
    /// When, in seconds since 1970.
    pub at: f64,
    /// The generation that ended then.
    pub ended: Generation,
    /// What that one held.
    pub before: ContextSize,
    /// What the new one began with.
    pub after: ContextSize,
}

/// Why a generation began.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// The context went back to a checkpoint of the generation that ended.
    Reverted {
        /// The checkpoint.
        to: CheckpointRef,
        /// Who did it.
        by: RevertCause,
        /// The message sent to the past.
        mail: Option<String>,
    },
    /// The context was emptied.
    Cleared,
    /// The context was summarised.
    Compacted,
    /// A person hid tool results.
    Hidden,
    /// An earlier generation was brought back.
    Restored {
        /// Which, if that was recorded.
        generation: Option<Generation>,
    },
}

/// A checkpoint, and what was said and done until the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct StepInfo {
    /// The checkpoint's address.
    pub at: CheckpointRef,
    /// The step that follows it, from 1; `None` before a person's message, or when unknown.
    pub step: Option<u64>,
    /// When it was made, in seconds since 1970, if the sidecar knows.
    pub made_at: Option<f64>,
    /// What the context held at it.
    pub size: ContextSize,
    /// Messages that came after it.
    pub messages: u64,
    /// Tokens that came after it; a guess where no provider counted.
    pub tokens: u64,
    /// What the person said right behind it, if the person did.
    pub said: Option<String>,
    /// The tools that ran.
    pub tools: Vec<ToolUse>,
    /// Files that were written, each once.
    pub files: Vec<String>,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// What tells this call from others: a path, a command.
    pub key_argument: Option<String>,
    /// Did it fail, was it rejected, or has it no result?
    pub failed: bool,
}

/// A generation's messages, to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Which generation.
    pub generation: Generation,
    /// The system prompt, if the file has one.
    pub system_prompt: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Its checkpoints, oldest first.
    pub checkpoints: Vec<Checkpoint>,
    /// Lines that were skipped.
    pub bad_lines: Vec<BadLine>,
}

/// What going back to a checkpoint would do.
#[derive(Debug, Clone, PartialEq)]
pub struct RevertPreview {
    /// The checkpoint.
    pub to: CheckpointRef,
    /// What the context holds.
    pub before: ContextSize,
    /// What it would hold.
    pub after: ContextSize,
    /// The messages that would go, oldest first.
    pub dropped: Vec<Message>,
    /// The steps that would go, with their tools.
    pub steps: Vec<StepInfo>,
    /// Files those steps wrote, each once. They stay as they are.
    pub files: Vec<String>,
}

/// What could be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redo {
    /// The generation to restore.
    pub generation: Generation,
    /// Has nothing been said since? Else restoring it takes that away (and it can be brought back in
    /// its turn).
    pub is_clean: bool,
}

/// All generations of the session in `session_dir`, oldest first, the living one last.
///
/// # Errors
/// When the folder cannot be read. A generation that cannot be read is listed and says why.
pub fn list(session_dir: &Path) -> Result<Vec<GenerationInfo>, ContextError> {
    let timeline = timeline::read(session_dir);
    let numbers =
        rotation::numbers(session_dir).map_err(ContextError::io("read the folder", session_dir))?;
    let current = Generation(numbers.last().copied().unwrap_or(0));
    let ended = numbers.iter().map(|number| Generation(number.saturating_sub(1)));
    Ok(ended
        .chain([current])
        .map(|generation| {
            let is_current = generation == current;
            let file = file_of(session_dir, generation, is_current);
            info(generation, file, is_current, &timeline)
        })
        .collect())
}

/// The messages of one generation of the session in `session_dir`.
///
/// # Errors
/// [`ContextError::UnknownGeneration`], or when its file cannot be read.
pub fn transcript(session_dir: &Path, generation: Generation) -> Result<Transcript, ContextError> {
    let file = existing(session_dir, generation)?;
    let opened = File::open(&file).map_err(ContextError::io("read", &file))?;
    let loaded = load(opened).map_err(ContextError::io("read", &file))?;
    Ok(Transcript {
        generation,
        system_prompt: loaded.memory.system_prompt,
        messages: loaded.memory.history,
        checkpoints: loaded.memory.checkpoints,
        bad_lines: loaded.bad_lines,
    })
}

/// What the last revert took away, if the living generation began with one.
#[must_use]
pub fn redo(generations: &[GenerationInfo]) -> Option<Redo> {
    let current = generations.last()?;
    let began = current.began.as_ref()?;
    let there = generations.iter().any(|known| known.generation == began.ended);
    (there && matches!(began.cause, Cause::Reverted { .. })).then_some(Redo {
        generation: began.ended,
        is_clean: current.size.messages == began.after.messages,
    })
}

/// The file of a generation that must be there.
pub(super) fn existing(
    session_dir: &Path,
    generation: Generation,
) -> Result<PathBuf, ContextError> {
    let numbers =
        rotation::numbers(session_dir).map_err(ContextError::io("read the folder", session_dir))?;
    let current = Generation(numbers.last().copied().unwrap_or(0));
    let is_current = generation == current;
    if is_current || numbers.contains(&generation.0.saturating_add(1)) {
        return Ok(file_of(session_dir, generation, is_current));
    }
    let ended = numbers.iter().map(|number| Generation(number.saturating_sub(1)));
    let known = ended.chain([current]).collect();
    Err(ContextError::UnknownGeneration { generation, known })
}

fn file_of(session_dir: &Path, generation: Generation, is_current: bool) -> PathBuf {
    let path = session_dir.join(CONTEXT_FILE);
    if is_current { path } else { rotation::rotated_path(&path, generation.0.saturating_add(1)) }
}

fn info(
    generation: Generation,
    file: PathBuf,
    is_current: bool,
    timeline: &Timeline,
) -> GenerationInfo {
    let mut info = GenerationInfo {
        generation,
        is_current,
        began: timeline.beginnings.get(&generation).cloned(),
        size: ContextSize::default(),
        bytes: 0,
        steps: Vec::new(),
        bad_lines: 0,
        problem: None,
        file,
    };
    match File::open(&info.file).and_then(load) {
        Ok(loaded) => {
            info.size = loaded.memory.size();
            info.bytes = loaded.on_disk;
            info.bad_lines = loaded.bad_lines.len();
            info.steps = steps(&loaded.memory, generation, timeline);
        }
        // A session in which nothing has been said has no file yet.
        Err(error) if is_current && error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => info.problem = Some(error.to_string()),
    }
    info
}

/// The checkpoints of `memory` and what came after each.
pub(super) fn steps(memory: &Memory, generation: Generation, timeline: &Timeline) -> Vec<StepInfo> {
    let end = memory.size();
    let marks = &memory.checkpoints;
    let size_at = |index: usize| {
        marks
            .get(index)
            .map_or(end, |mark| ContextSize { messages: mark.messages as u64, tokens: mark.tokens })
    };
    let mut out = Vec::with_capacity(marks.len());
    for (index, mark) in marks.iter().enumerate() {
        let at = CheckpointRef { generation, id: mark.id };
        let made = timeline.checkpoints.get(&at);
        let (size, next) = (size_at(index), size_at(index + 1));
        let until = marks.get(index + 1).map_or(memory.history.len(), |next| next.messages);
        let messages = memory.history.get(mark.messages..until).unwrap_or_default();
        let tools = tools(messages);
        out.push(StepInfo {
            at,
            step: made.and_then(|made| made.step),
            made_at: made.map(|made| made.at),
            size,
            messages: next.messages.saturating_sub(size.messages),
            tokens: next.tokens.saturating_sub(size.tokens),
            said: said(messages),
            files: written(&tools),
            tools,
        });
    }
    out
}

/// What the person said at the beginning of `messages`.
fn said(messages: &[Message]) -> Option<String> {
    messages
        .iter()
        .find(|message| !message.is_checkpoint_note() && !message.is_reminder())
        .filter(|message| message.role == Role::User)
        .map(Message::text)
}

fn tools(messages: &[Message]) -> Vec<ToolUse> {
    let mut uses = Vec::new();
    for call in messages.iter().flat_map(Message::calls) {
        let result = messages.iter().find(|message| {
            message.role == Role::Tool && message.tool_call_id.as_deref() == Some(&call.id)
        });
        let failed = result.is_none_or(|result| {
            let first = result.content.first().and_then(|part| part.as_text());
            first.is_some_and(|text| text.starts_with("<system>ERROR: "))
        });
        let name = call.function.name.clone();
        let key_argument = key_argument(&name, call.arguments());
        uses.push(ToolUse { name, key_argument, failed });
    }
    uses
}

fn written(tools: &[ToolUse]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for tool in tools.iter().filter(|tool| !tool.failed && WRITERS.contains(&tool.name.as_str())) {
        if let Some(path) = tool.key_argument.as_ref().filter(|path| !files.contains(path)) {
            files.push(path.clone());
        }
    }
    files
}

/// What going back to checkpoint `id` would drop.
pub(super) fn preview(
    memory: &Memory,
    generation: Generation,
    id: CheckpointId,
    timeline: &Timeline,
) -> Result<RevertPreview, ContextError> {
    let index = memory.checkpoint_index(id)?;
    let mark = &memory.checkpoints[index];
    let steps = steps(memory, generation, timeline).split_off(index);
    let mut files: Vec<String> = Vec::new();
    for file in steps.iter().flat_map(|step| &step.files) {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    Ok(RevertPreview {
        to: CheckpointRef { generation, id },
        before: memory.size(),
        after: ContextSize { messages: mark.messages as u64, tokens: mark.tokens },
        dropped: memory.history.get(mark.messages..).unwrap_or_default().to_vec(),
        steps,
        files,
    })
}
