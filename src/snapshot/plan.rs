//! What going back would do to files. Pure: what stands on the disk is asked through [`World`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::journal::{Change, Rewound, Step};
use super::node::{Node, Unkept};

/// The files as they are.
pub trait World {
    /// What stands at `path`; the content is named by its hash.
    fn now(&self, path: &Path) -> Node;
    /// What is directly in the folder `path`.
    fn entries(&self, path: &Path) -> Vec<PathBuf>;
}

/// Why a path is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// Somebody else has changed it since.
    ChangedSince,
    /// Somebody else changed it between two changes of this session.
    ChangedBetween,
    /// What stood there was not kept.
    NotKept(Unkept),
    /// What is around it is in the way: a file where a folder has to be, or others' files in a
    /// folder that would have to go.
    Blocked,
}

impl Conflict {
    /// May the person choose to restore it all the same?
    #[must_use]
    pub fn can_be_chosen(self) -> bool {
        matches!(self, Self::ChangedSince | Self::ChangedBetween)
    }

    /// Why, for a person.
    #[must_use]
    pub fn reason(self) -> String {
        match self {
            Self::ChangedSince => "changed since by somebody else".to_owned(),
            Self::ChangedBetween => "changed in between by somebody else".to_owned(),
            Self::NotKept(why) => format!("its earlier content was not kept: {}", why.reason()),
            Self::Blocked => "something of somebody else is in the way".to_owned(),
        }
    }
}

/// One path that would be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Which.
    pub path: PathBuf,
    /// What stands there.
    pub now: Node,
    /// What would stand there.
    pub then: Node,
    /// Why it is left alone.
    pub conflict: Option<Conflict>,
}

/// The plan: a path each, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What would be done and what is left alone.
    pub items: Vec<Item>,
}

/// What undoing `changes`, in the order they were made, would do.
#[must_use]
pub fn plan<'a>(changes: impl IntoIterator<Item = &'a Change>, world: &dyn World) -> Plan {
    let mut paths: BTreeMap<&Path, (&Node, &Node, bool)> = BTreeMap::new();
    for change in changes {
        paths
            .entry(&change.path)
            .and_modify(|(_, last, is_whole)| {
                *is_whole &= **last == change.before;
                *last = &change.after;
            })
            .or_insert((&change.before, &change.after, true));
    }
    let items = paths.into_iter().filter_map(|(path, (first, last, is_whole))| {
        let now = world.now(path);
        if now == *first {
            return None;
        }
        let conflict = match first {
            Node::Unkept { why, .. } => Some(Conflict::NotKept(*why)),
            _ if now != *last => Some(Conflict::ChangedSince),
            _ if !is_whole => Some(Conflict::ChangedBetween),
            _ => None,
        };
        Some(Item { path: path.to_owned(), now, then: first.clone(), conflict })
    });
    Plan { items: items.collect() }.settled(&BTreeSet::new(), world)
}

/// What taking `rewound` back would do.
#[must_use]
pub fn plan_redo(rewound: &Rewound, world: &dyn World) -> Plan {
    let undone: Vec<Change> = rewound
        .steps
        .iter()
        .map(|step| Change {
            moment: rewound.moment,
            path: step.path.clone(),
            before: step.now.clone(),
            after: step.then.clone(),
            by: super::journal::By::Rewind,
        })
        .collect();
    plan(&undone, world)
}

impl Plan {
    /// The steps to take when the conflicts at `chosen` are restored all the same, and what is left
    /// alone then.
    #[must_use]
    pub fn steps(&self, chosen: &BTreeSet<PathBuf>, world: &dyn World) -> (Vec<Step>, Vec<Item>) {
        let settled = self.clone().settled(chosen, world);
        let is_left = |item: &Item| {
            item.conflict.is_some_and(|c| !(c.can_be_chosen() && chosen.contains(&item.path)))
        };
        let (left, done): (Vec<Item>, Vec<Item>) = settled.items.into_iter().partition(is_left);
        let step = |item: Item| Step { path: item.path, now: item.now, then: item.then };
        (done.into_iter().map(step).collect(), left)
    }

    /// Finds what is blocked by what stays as it is, until nothing more is.
    fn settled(mut self, chosen: &BTreeSet<PathBuf>, world: &dyn World) -> Self {
        loop {
            let outcome: BTreeMap<&Path, &Node> = self
                .items
                .iter()
                .filter(|item| {
                    item.conflict.is_none_or(|c| c.can_be_chosen() && chosen.contains(&item.path))
                })
                .map(|item| (item.path.as_path(), &item.then))
                .collect();
            let blocked: Vec<usize> = (0..self.items.len())
                .filter(|&at| {
                    let item = &self.items[at];
                    outcome.contains_key(item.path.as_path()) && is_blocked(item, &outcome, world)
                })
                .collect();
            if blocked.is_empty() {
                return self;
            }
            for at in blocked {
                self.items[at].conflict = Some(Conflict::Blocked);
            }
        }
    }
}

fn is_blocked(item: &Item, outcome: &BTreeMap<&Path, &Node>, world: &dyn World) -> bool {
    if item.then != Node::Absent {
        for folder in item.path.ancestors().skip(1) {
            match outcome.get(folder) {
                Some(node) if node.is_folder() => break,
                Some(_) => return true,
                None => {}
            }
            match world.now(folder) {
                Node::Folder { .. } => break,
                // It is made again, though nobody knows its mode.
                Node::Absent => {}
                _ => return true,
            }
        }
    }
    // A folder that has to make room takes nothing of others with it.
    item.now.is_folder() && !item.then.is_folder() && !is_cleared(&item.path, outcome, world)
}

fn is_cleared(folder: &Path, outcome: &BTreeMap<&Path, &Node>, world: &dyn World) -> bool {
    world.entries(folder).iter().all(|entry| {
        outcome.get(entry.as_path()) == Some(&&Node::Absent)
            && (!world.now(entry).is_folder() || is_cleared(entry, outcome, world))
    })
}
