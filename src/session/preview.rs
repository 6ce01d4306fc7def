//! A closer look at one session, for whoever decides whether to open it. Reads only.

use std::fs;
use std::path::Path;

use super::export;
use super::store::Session;
use super::{Holder, SessionState};
use crate::context::generations;
use crate::message::{Message, Role, TodoItem, key_argument, without_tags};
use crate::snapshot::gc;

/// Characters kept of a message.
const SHOWN: usize = 600;

/// What is in a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preview {
    /// The last of what was said, oldest first.
    pub last: Vec<Said>,
    /// Messages in the living context.
    pub messages: usize,
    /// The todo list.
    pub todos: Vec<TodoItem>,
    /// Checkpoints of all generations.
    pub checkpoints: usize,
    /// Generations of the context, the living one included.
    pub generations: usize,
    /// Tokens in the context at each checkpoint, over all generations.
    pub curve: Vec<u64>,
    /// Bytes of everything in its folder.
    pub disk: u64,
    /// Bytes of the contents its snapshots need; what others need too counts for each.
    pub snapshots: u64,
    /// Who has it open.
    pub holder: Option<Holder>,
    /// What is wrong with it, and what can be saved.
    pub problem: Option<String>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub role: Role,
    /// What, cut.
    pub text: String,
}

impl Session {
    /// Bytes of the contents its snapshots need. The journal itself is in its folder.
    #[must_use]
    pub fn snapshot_use(&self) -> u64 {
        gc::contents_use(&self.dir)
    }

    /// Looks at the session, with the last `count` things said in it.
    #[must_use]
    pub fn preview(&self, count: usize) -> Preview {
        let mut preview = Preview {
            todos: SessionState::load(&self.dir).todos,
            disk: disk_use(&self.dir),
            snapshots: self.snapshot_use(),
            holder: self.holder(),
            ..Preview::default()
        };
        let list = match generations::list(&self.dir) {
            Ok(list) => list,
            Err(error) => {
                preview.problem = Some(format!("It cannot be read: {error}"));
                return preview;
            }
        };
        preview.generations = list.len();
        preview.checkpoints = list.iter().map(|generation| generation.steps.len()).sum();
        for generation in &list {
            preview.curve.extend(generation.steps.iter().map(|step| step.size.tokens));
            preview.curve.push(generation.size.tokens);
        }
        let Some(living) = list.last() else { return preview };
        match generations::transcript(&self.dir, living.generation) {
            Ok(transcript) => {
                let said: Vec<&Message> =
                    transcript.messages.iter().filter(|m| !export::is_internal(m)).collect();
                preview.messages = said.len();
                let from = said.len().saturating_sub(count);
                preview.last = said[from..].iter().map(|message| one(message)).collect();
                let bad = transcript.bad_lines.len();
                if bad > 0 {
                    preview.problem = Some(format!(
                        "{bad} of the lines of context.jsonl cannot be read; {} messages can be \
                         opened and exported.",
                        preview.messages
                    ));
                }
            }
            Err(_) if living.bytes == 0 && list.len() == 1 => {
                preview.problem = Some(
                    "There is no context to go on with; what was seen can be replayed.".to_owned(),
                );
            }
            Err(error) => {
                let earlier = list.iter().filter(|g| g.problem.is_none()).count();
                preview.problem = Some(format!(
                    "{error} {earlier} earlier contexts can be read; the zip export has every file."
                ));
            }
        }
        preview
    }
}

fn one(message: &Message) -> Said {
    let text = match message.role {
        Role::Tool => export::parts(&message.content),
        _ => message.text(),
    };
    let mut text: String = without_tags(&text).trim().chars().take(SHOWN).collect();
    for call in message.calls() {
        let name = &call.function.name;
        let key = key_argument(name, call.arguments()).unwrap_or_default();
        let line: String = format!("{name} {key}").chars().take(SHOWN / 3).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    Said { role: message.role, text }
}

/// Bytes of all files below `folder`; links are not followed.
#[must_use]
pub fn disk_use(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => disk_use(&entry.path()),
            Ok(metadata) if metadata.is_file() => metadata.len(),
            _ => 0,
        })
        .sum()
}
