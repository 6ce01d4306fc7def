//! A copy of a session's contexts in another folder, whole or up to a checkpoint.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::error::ContextError;
use super::load::load;
use super::record::Record;
use super::travel::line_end;
use super::{CONTEXT_FILE, generations, rotation};
use crate::files;
use crate::message::{CheckpointRef, Generation};

/// Copies the contexts of the session in `from` to the folder `to`, in which there must be none:
/// the generations before, under their numbers, and the living one, which with `at` is that
/// checkpoint's generation with what stands before its marker. Checkpoints keep their addresses.
///
/// # Errors
/// When there is no such checkpoint, or files cannot be read or written.
pub(crate) fn fork(
    from: &Path,
    to: &Path,
    at: Option<CheckpointRef>,
) -> Result<Generation, ContextError> {
    let numbers = rotation::numbers(from).map_err(ContextError::io("read the folder", from))?;
    let generation =
        at.map_or(Generation(numbers.last().copied().unwrap_or(0)), |at| at.generation);
    let living = generations::existing(from, generation)?;
    let target = to.join(CONTEXT_FILE);
    match File::open(&living) {
        Ok(file) => copy_living(file, &living, &target, at)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && at.is_none() => {}
        Err(error) => return Err(ContextError::io("read", &living)(error)),
    }
    for number in numbers.into_iter().filter(|number| *number <= generation.0) {
        let (old, new) = (
            rotation::rotated_path(&from.join(CONTEXT_FILE), number),
            rotation::rotated_path(&target, number),
        );
        fs::copy(&old, &new).map_err(ContextError::io("copy", &old))?;
    }
    Ok(generation)
}

fn copy_living(
    mut file: File,
    path: &Path,
    target: &Path,
    at: Option<CheckpointRef>,
) -> Result<(), ContextError> {
    let loaded = load(&file).map_err(ContextError::io("read", path))?;
    let end = line_end(&mut file, &loaded).map_err(ContextError::io("read", path))?;
    let mut bytes = Vec::new();
    let length = match at {
        None => loaded.length,
        Some(at) => {
            let index = loaded.memory.checkpoint_index(at.id)?;
            let cut = loaded.memory.checkpoints[index].offset;
            if let Some(prompt) = &loaded.memory.system_prompt
                && loaded.memory.prompt_offset >= cut
            {
                Record::SystemPrompt(prompt.clone())
                    .write(&mut bytes)
                    .map_err(ContextError::io("write a record for", target))?;
            }
            cut
        }
    };
    File::open(path)
        .and_then(|file| file.take(length).read_to_end(&mut bytes))
        .map_err(ContextError::io("read", path))?;
    if at.is_none() {
        bytes.extend_from_slice(end);
    }
    let made = files::create_private_folder(target.parent().unwrap_or_else(|| Path::new(".")));
    made.and_then(|()| files::write_atomic(target, &bytes))
        .map_err(ContextError::io("write", target))
}
