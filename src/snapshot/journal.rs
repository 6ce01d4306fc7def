//! What one session did to files: `snapshots.jsonl` in the session's folder, one record a line.
//!
//! A *moment* is counted up by every checkpoint; a change belongs to the moment of the call that made
//! it. Going back to a checkpoint undoes the changes of its moment and later ones.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::node::{BlobId, Node, path_text};
use crate::files;
use crate::message::{CheckpointId, CheckpointRef, Generation};

/// The journal's file in a session's folder.
pub const JOURNAL_FILE: &str = "snapshots.jsonl";

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A tool that writes files.
    Tool,
    /// A command.
    Shell,
    /// The person, going back or forth.
    Rewind,
}

/// One path that the session changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub moment: u64,
    /// What.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What stood there before.
    pub before: Node,
    /// What the session left there.
    pub after: Node,
    /// Who did it.
    pub by: By,
}

/// A path that a restoration changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What stood there.
    pub now: Node,
    /// What is to stand there.
    pub then: Node,
}

/// A restoration that was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewound {
    /// Its number in the session, from 1.
    pub id: u64,
    /// The moment it belongs to.
    pub moment: u64,
    /// The one it took back; none when it went back itself.
    #[serde(default)]
    pub redoes: Option<u64>,
    /// Was the conversation taken back with the files?
    #[serde(default)]
    pub with_conversation: bool,
    /// What it changed.
    pub steps: Vec<Step>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line: where the contents are.
    Begin {
        /// The store's folder.
        #[serde(with = "path_text")]
        store: PathBuf,
    },
    /// A checkpoint was made.
    Mark {
        /// Its address.
        at: CheckpointRef,
        /// Its moment.
        moment: u64,
        /// Does it begin a turn?
        turn: bool,
        /// Seconds since 1970.
        time: u64,
    },
    /// Checkpoints came along into a new generation.
    Carried {
        /// From this one,
        from: Generation,
        /// to this one,
        to: Generation,
        /// those below; none for all.
        below: Option<CheckpointId>,
    },
    /// A path was changed.
    Change(Change),
    /// A restoration.
    Rewound(Rewound),
    /// What was changed in a moment is not known in full.
    Gap {
        /// Which.
        moment: u64,
        /// Why, for a person.
        reason: String,
    },
    /// Changes before this moment are no longer kept.
    Floor {
        /// The first that is.
        moment: u64,
    },
}

/// The journal of one session, in memory and on disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// Records before the first change: a session that changes nothing writes nothing.
    waiting: Vec<Record>,
    /// Where the contents are.
    pub store: PathBuf,
    /// The present moment.
    pub moment: u64,
    /// The first moment of which changes are kept.
    pub floor: u64,
    marks: HashMap<CheckpointRef, u64>,
    turns: Vec<(u64, u64)>,
    /// All changes, in order.
    pub changes: Vec<Change>,
    /// Restorations, in order.
    pub rewound: Vec<Rewound>,
    /// Moments that are not known in full.
    pub gaps: Vec<(u64, String)>,
    /// Lines that could not be read.
    pub bad_lines: usize,
}

impl Journal {
    /// The journal of the session in `dir`; contents of a new one go to `store`. A damaged line is
    /// passed over.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn open(dir: &Path, store: &Path) -> io::Result<Self> {
        let mut journal = Self {
            path: dir.join(JOURNAL_FILE),
            file: None,
            waiting: vec![Record::Begin { store: store.to_owned() }],
            store: store.to_owned(),
            moment: 0,
            floor: 0,
            marks: HashMap::new(),
            turns: Vec::new(),
            changes: Vec::new(),
            rewound: Vec::new(),
            gaps: Vec::new(),
            bad_lines: 0,
        };
        let text = match fs::read(&journal.path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
            Err(error) => return Err(error),
        };
        journal.waiting.clear();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str(line) {
                Ok(record) => journal.take(record),
                Err(_) => journal.bad_lines += 1,
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            // The next record must not continue a torn line.
            files::open_append(&journal.path)?.write_all(b"\n")?;
        }
        Ok(journal)
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Begin { store } => self.store = store,
            Record::Mark { at, moment, turn, time } => {
                self.moment = self.moment.max(moment);
                self.marks.insert(at, moment);
                if turn {
                    self.turns.push((moment, time));
                }
            }
            Record::Carried { from, to, below } => {
                let carried: Vec<(CheckpointRef, u64)> = self
                    .marks
                    .iter()
                    .filter(|(at, _)| at.generation == from && below.is_none_or(|b| at.id < b))
                    .map(|(at, moment)| (CheckpointRef { generation: to, id: at.id }, *moment))
                    .collect();
                self.marks.extend(carried);
            }
            Record::Change(change) => self.changes.push(change),
            Record::Rewound(rewound) => self.rewound.push(rewound),
            Record::Gap { moment, reason } => self.gaps.push((moment, reason)),
            Record::Floor { moment } => {
                self.floor = self.floor.max(moment);
                self.changes.retain(|change| change.moment >= moment);
            }
        }
    }

    /// Takes `records` down with one write. Those that matter only with changes wait for one.
    ///
    /// # Errors
    /// When the file cannot be written. In memory they count all the same.
    pub fn add(&mut self, records: Vec<Record>) -> io::Result<()> {
        let matters = records.iter().any(|record| {
            !matches!(record, Record::Begin { .. } | Record::Mark { .. } | Record::Carried { .. })
        });
        for record in &records {
            self.take(record.clone());
        }
        self.waiting.extend(records);
        if self.file.is_none() && !matters && !self.path.exists() {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = lines(&self.waiting)?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(files::open_append(&self.path)?),
        };
        file.write_all(text.as_bytes())?;
        self.waiting.clear();
        Ok(())
    }

    /// Makes everything last beyond a power cut.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// The moment of a checkpoint, if it is known.
    #[must_use]
    pub fn moment_of(&self, at: CheckpointRef) -> Option<u64> {
        self.marks.get(&at).copied()
    }

    /// Is nothing known to have been changed?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.gaps.is_empty() && self.floor == 0
    }

    /// The contents it needs.
    #[must_use]
    pub fn blobs(&self) -> BTreeSet<BlobId> {
        let changes = self.changes.iter().flat_map(|change| [&change.before, &change.after]);
        let steps = self.rewound.iter().flat_map(|rewound| &rewound.steps);
        changes
            .chain(steps.flat_map(|step| [&step.now, &step.then]))
            .filter_map(Node::blob)
            .collect()
    }

    /// Forgets changes before the last `turns` turns, and those older than the time `oldest`
    /// (seconds since 1970). True when something was forgotten.
    ///
    /// # Errors
    /// When the file cannot be replaced.
    pub fn forget(&mut self, turns: u64, oldest: u64) -> io::Result<bool> {
        let by_count = usize::try_from(turns)
            .ok()
            .and_then(|turns| self.turns.len().checked_sub(turns))
            .and_then(|at| self.turns.get(at));
        // The first turn that is young enough, or the moment after everything.
        let by_age = self.turns.iter().find(|(_, time)| *time >= oldest);
        let by_age = match (by_age, self.turns.is_empty()) {
            (Some((moment, _)), _) => *moment,
            (None, false) => self.moment + 1,
            (None, true) => 0,
        };
        let floor = by_count.map_or(0, |(moment, _)| *moment).max(by_age);
        if floor <= self.floor || !self.changes.iter().any(|change| change.moment < floor) {
            return Ok(false);
        }
        self.take(Record::Floor { moment: floor });
        self.rewound.retain(|rewound| rewound.moment >= floor);
        self.gaps.retain(|(moment, _)| *moment >= floor);
        let mut records = vec![Record::Begin { store: self.store.clone() }];
        records.push(Record::Floor { moment: floor });
        let time_of: HashMap<u64, u64> = self.turns.iter().copied().collect();
        let mut marks: Vec<_> = self.marks.iter().collect();
        marks.sort();
        records.extend(marks.into_iter().map(|(at, moment)| Record::Mark {
            at: *at,
            moment: *moment,
            turn: time_of.contains_key(moment),
            time: time_of.get(moment).copied().unwrap_or_default(),
        }));
        records.extend(self.changes.iter().cloned().map(Record::Change));
        records.extend(self.rewound.iter().cloned().map(Record::Rewound));
        records.extend(
            self.gaps.iter().cloned().map(|(moment, reason)| Record::Gap { moment, reason }),
        );
        files::write_atomic(&self.path, lines(&records)?.as_bytes())?;
        self.file = None;
        Ok(true)
    }
}

fn lines(records: &[Record]) -> io::Result<String> {
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    Ok(text)
}
