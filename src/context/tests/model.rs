//! A context as a simple list of records, and what can be done to both.

use std::fs;

use super::super::record::Record;
use super::super::{ContextError, rotation};
use super::*;
use crate::message::{CheckpointId, CheckpointRef, Generation, ToolReturn};

/// A change of a context.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Freeze(String),
    Append(Vec<String>),
    Usage(u64),
    Grow { input: Option<u64>, total: Option<u64>, calls: usize, text: String },
    Checkpoint { note: bool },
    Revert { pick: usize },
    Clear,
    Replace { texts: Vec<String>, tokens: u64 },
    Restore { pick: usize },
    Sync,
}

/// A generation that has ended.
#[derive(Debug, Clone)]
struct Life {
    prompt: Option<String>,
    records: Vec<Record>,
    bytes: Vec<u8>,
}

/// The living records, and every earlier generation.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    prompt: Option<String>,
    records: Vec<Record>,
    ended: Vec<Life>,
}

impl Work {
    /// Does it to the context.
    pub(super) fn on(&self, context: &mut Context) -> Result<(), ContextError> {
        match self {
            Self::Freeze(prompt) => context.freeze_system_prompt(prompt),
            Self::Append(texts) => context.append(&said(texts)),
            Self::Usage(tokens) => context.record_usage(*tokens),
            Self::Grow { input, total, calls, text } => {
                let (answer, results) = step(*calls, text);
                context.grow(*input, &answer, *total, &results)
            }
            Self::Checkpoint { note } => context.checkpoint(*note).map(drop),
            Self::Revert { pick } => {
                let ids: Vec<_> = context.checkpoints().iter().map(|mark| mark.id).collect();
                let id = ids.get(pick % ids.len().max(1)).copied().unwrap_or(CheckpointId(0));
                context.revert_to(id).map(drop)
            }
            Self::Clear => context.clear().map(drop),
            Self::Replace { texts, tokens } => context.replace(&said(texts), *tokens).map(drop),
            Self::Restore { pick } => {
                let number = *pick as u64 % (context.generation().0 + 1);
                context.restore(Generation(number)).map(drop)
            }
            Self::Sync => context.sync(),
        }
    }

    /// Does it to the model, and tells whether it can be done.
    pub(super) fn on_model(&self, model: &mut Model, folder: &Path) -> bool {
        let Model { prompt, records, ended } = model;
        match self {
            Self::Freeze(text) => {
                prompt.get_or_insert(text.clone());
            }
            Self::Append(texts) => records.extend(messages_as_records(&said(texts))),
            Self::Usage(tokens) => records.push(Record::Usage(*tokens)),
            Self::Grow { input, total, calls, text } => {
                let (answer, results) = step(*calls, text);
                records.extend(input.map(Record::Usage));
                records.push(Record::Message(answer));
                records.extend(total.map(Record::Usage));
                records.extend(messages_as_records(&results));
            }
            Self::Checkpoint { note } => {
                let id = model.next();
                model.records.push(Record::Checkpoint(id));
                if *note {
                    let note = Message::system_note(&format!("CHECKPOINT {id}"));
                    model.records.push(Record::Message(note));
                }
            }
            Self::Revert { pick } => {
                let marks = model.marks();
                let Some((id, _)) = marks.get(pick % marks.len().max(1)) else { return false };
                model.rotate(folder);
                model.cut(*id);
            }
            Self::Clear => {
                model.rotate(folder);
                model.records.clear();
            }
            Self::Replace { texts, tokens } => {
                model.rotate(folder);
                model.records = vec![Record::Checkpoint(CheckpointId(0))];
                model.records.extend(messages_as_records(&said(texts)));
                model.records.push(Record::Usage(*tokens));
            }
            Self::Restore { pick } => {
                let number = pick % (ended.len() + 1);
                let Some(life) = ended.get(number).cloned() else { return false };
                model.rotate(folder);
                model.records = life.records;
                model.prompt = life.prompt.or(model.prompt.take());
            }
            Self::Sync => {}
        }
        true
    }
}

impl Model {
    /// The states that a kill in the middle of `work` may leave: the old one, the new one, and for a
    /// write of several records any beginning of them.
    pub(super) fn after_kill(&self, work: &Work, folder: &Path) -> Vec<Self> {
        let mut new = self.clone();
        work.on_model(&mut new, folder);
        let mut states = Vec::new();
        if new.ended.len() == self.ended.len() && new.records.len() > self.records.len() {
            for count in self.records.len()..new.records.len() {
                let records = new.records[..count].to_vec();
                states.push(Self { records, ..self.clone() });
            }
        } else {
            states.push(self.clone());
        }
        states.push(new);
        states
    }

    /// The model of a fork at a checkpoint that `pick` chooses, or of everything, and the address.
    pub(super) fn forked(&self, pick: usize) -> (Self, Option<CheckpointRef>) {
        let mut addresses = vec![None];
        let lives = self.ended.iter().map(|life| life.records.as_slice()).chain([&*self.records]);
        for (generation, records) in lives.enumerate() {
            for (id, _) in marks(records) {
                let generation = Generation(generation as u64);
                addresses.push(Some(CheckpointRef { generation, id }));
            }
        }
        let at = addresses[pick % addresses.len()];
        let mut fork = self.clone();
        if let Some(at) = at {
            let number = usize::try_from(at.generation.0).expect("small");
            if let Some(life) = self.ended.get(number) {
                fork.records = life.records.clone();
                fork.prompt = life.prompt.clone();
                fork.ended.truncate(number);
            }
            fork.cut(at.id);
        }
        (fork, at)
    }

    fn cut(&mut self, id: CheckpointId) {
        let mark = Record::Checkpoint(id);
        let at = self.records.iter().position(|record| *record == mark).expect("mark");
        self.records.truncate(at);
    }

    fn rotate(&mut self, folder: &Path) {
        let mut bytes = fs::read(folder.join(CONTEXT_FILE)).unwrap_or_default();
        // Half a line is moved away before anything else.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        if !bytes.is_empty() {
            let (prompt, records) = (self.prompt.clone(), self.records.clone());
            self.ended.push(Life { prompt, records, bytes });
        }
    }

    fn marks(&self) -> Vec<(CheckpointId, usize)> {
        marks(&self.records)
    }

    fn counted(&self) -> u64 {
        let usage = |record: &Record| match record {
            Record::Usage(tokens) => Some(*tokens),
            _ => None,
        };
        self.records.iter().rev().find_map(usage).unwrap_or(0)
    }

    fn tokens(&self) -> u64 {
        let after = self.records.iter().rev().take_while(|r| !matches!(r, Record::Usage(_)));
        let hundredths: u64 = after
            .filter_map(|record| match record {
                Record::Message(message) => Some(crate::message::message_hundredths(message)),
                _ => None,
            })
            .sum();
        self.counted() + hundredths / 100
    }

    fn next(&self) -> CheckpointId {
        CheckpointId(self.marks().last().map_or(0, |(id, _)| id.0 + 1))
    }

    /// What is different between the two; nothing if all is well.
    pub(super) fn difference(&self, context: &Context, folder: &Path) -> Option<String> {
        let marks: Vec<_> = context.checkpoints().iter().map(|c| (c.id, c.messages)).collect();
        let told = |what: &str| Some(what.to_owned());
        if context.generation() != Generation(self.ended.len() as u64) {
            return told("generation");
        }
        if context.system_prompt() != self.prompt.as_deref() {
            return told("prompt");
        }
        if context.history() != messages(&self.records) {
            return told("history");
        }
        if marks != self.marks() || context.next_checkpoint() != self.next() {
            return told("checkpoints");
        }
        if (context.token_count(), context.tokens_with_pending()) != (self.counted(), self.tokens())
        {
            return told("tokens");
        }
        let path = folder.join(CONTEXT_FILE);
        for (index, life) in self.ended.iter().enumerate() {
            let file = rotation::rotated_path(&path, index as u64 + 1);
            if fs::read(&file).ok().as_ref() != Some(&life.bytes) {
                return Some(file.display().to_string());
            }
        }
        None
    }

    /// The transcripts of all generations are those of the model.
    pub(super) fn check_transcripts(&self, context: &Context) {
        let lives = self.ended.iter().map(|life| life.records.as_slice()).chain([&*self.records]);
        for (generation, records) in lives.enumerate() {
            let generation = Generation(generation as u64);
            let transcript = context.transcript(generation).map_or(Vec::new(), |t| t.messages);
            assert_eq!(transcript, messages(records));
        }
        assert_eq!(context.generations().len(), self.ended.len() + 1);
    }
}

fn step(calls: usize, text: &str) -> (Message, Vec<Message>) {
    let ids = &["a", "b", "c"][..calls];
    let result = |id: &&str| Message::tool_result(*id, &ToolReturn::ok(text, "done"));
    (calling(ids), ids.iter().map(result).collect())
}

fn marks(records: &[Record]) -> Vec<(CheckpointId, usize)> {
    let mut marks = Vec::new();
    let mut count = 0;
    for record in records {
        match record {
            Record::Checkpoint(id) => marks.push((*id, count)),
            Record::Message(_) => count += 1,
            _ => {}
        }
    }
    marks
}

fn messages(records: &[Record]) -> Vec<Message> {
    let message = |record: &Record| match record {
        Record::Message(message) => Some(message.clone()),
        _ => None,
    };
    records.iter().filter_map(message).collect()
}

fn said(texts: &[String]) -> Vec<Message> {
    texts.iter().map(|text| Message::user(text.as_str())).collect()
}

fn messages_as_records(messages: &[Message]) -> impl Iterator<Item = Record> {
    messages.iter().cloned().map(Record::Message)
}
